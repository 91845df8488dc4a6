"""A problem: a learner's pure hooks, made from its settings.

It knows no journal, clock or thread, and can be pickled and shipped.

    plan                                         when data is released, and the charge of each release
    start()                                      public and kept state before anyone came
    gatherings(public)                           what a block adds up, by name
    no_counts(public)                            the tally before any round has a mask
    tally(public, tally, rounds, asked, coins)   public counts that masks change, when rounds are opened
    gather(public, block, batch)                 clip, quantise, add: rounds of the block, in any order
    release(public, tally, kept, block, door)    asks the Door for noise or selections, nothing else
    decide(public, rounds, asked, coins)         pure, for many rounds at once

State is four flat dictionaries: `public` (all that releases produced: with `tally`, the only thing decisions
read), `tally` (public numbers that grow within a block), `kept` (noise buffers and what must outlive a block:
never shown) and `block` (gathered since the last release; the engine empties it).

Guarantee   docs/guarantees/turn.md
"""

from abc import ABC, abstractmethod
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from discreet.arrays import Floats, Integers, Mask
from discreet.budget.guarantee import Wording
from discreet.errors import ConfigError, OutOfBounds, StateError
from discreet.release.door import Door
from discreet.release.gathering import Gathered, Gathering
from discreet.silence import silence
from discreet.turn.coins import Coins
from discreet.turn.labels import Label, Labels
from discreet.turn.plan import Plan, State
from discreet.turn.settings import Settings
from discreet.turn.signals import held

__all__ = ["NOTHING", "Asked", "Batch", "Block", "Problem", "Report", "Scores", "all_leave_some"]

Block = dict[str, Gathered]


@dataclass(frozen=True, eq=False)
class Asked:
    """What came with the questions of some rounds: a row of context each, and what was available.

    `available` is one mask of candidates for all of them, or one a round.
    """

    context: Any = field(default=None, repr=False)
    available: Any = None

    def row(self, place: int) -> "Asked":
        """What came with one of the questions."""
        return self[place : place + 1]

    def __getitem__(self, part: Any) -> "Asked":
        if self is NOTHING:
            return self
        mask = self.available
        mask = mask if mask is None or mask.ndim == 1 else mask[part]
        return Asked(None if self.context is None else self.context[part], mask)

    def same(self, other: "Asked") -> bool:
        """Whether two questions are the same."""
        if (self.context is None) != (other.context is None):
            return False
        if self.context is not None and not np.array_equal(self.context, other.context, equal_nan=True):
            return False
        masks = self.available, other.available
        return (masks[0] is None) == (masks[1] is None) and np.array_equal(*masks)


NOTHING = Asked()


@dataclass(eq=False, slots=True)
class Batch:
    """Feedback of some rounds of one block, on its way to `gather`.

    `single` feedback comes from one `close`: it is refused if it is wrong, and the round stays open.
    Otherwise `feedback` holds one entry or row a round, and whoever is malformed adds nothing.
    """

    index: int
    """Of the release that will read it."""
    begin: int
    """The first round of the block."""
    rounds: Integers
    feedback: Any = field(repr=False)
    asked: Asked
    coins: Coins
    single: bool = False

    def __len__(self) -> int:
        return len(self.rounds)


@dataclass(frozen=True)
class Scores:
    """How good each candidate is, from released values only, and how far off the noise makes that.

    One entry per candidate, in the order of `labels` (their numbers if they have no labels); for slates, one
    row per slot.
    """

    values: Floats
    standard_deviations: Floats | None
    labels: tuple[Label, ...] = ()

    def as_dict(self) -> Any:
        """Values by label: a dictionary; for slates, a list with one per slot.

        >>> Scores(np.array([0.25, 0.5]), None, ("tea", "milk")).as_dict()
        {'tea': 0.25, 'milk': 0.5}
        """
        if self.values.ndim == 1:
            return dict(zip(self.labels, self.values.tolist(), strict=True))
        return [dict(zip(self.labels, row, strict=True)) for row in self.values.tolist()]


@dataclass(frozen=True)
class Report:
    """What was earned, from released values only: one entry a release.

    `value` is the mean reward (clicks: the share who clicked; costs: the mean cost) of the people between two
    releases, up to `rounds`. Whoever gave no answer counts with what a missing answer is taken for: the
    middle of the rewards' range (ContextualBandit), or 0 (sets: no reward, no click, no cost).
    """

    rounds: Integers
    value: Floats
    standard_deviation: Floats
    what: str = "mean reward"
    """What the values are, in words."""


def all_leave_some(masks: Mask) -> bool:
    """Whether every mask, one or one a row, has a yes."""
    if masks.ndim == 1:
        return bool(np.count_nonzero(masks))  # what one visitor waits for
    return bool(masks.any(axis=-1).all())


class Problem(ABC):
    """A way of learning: what the engine calls to plan, gather, release and decide.

    A mode of a learner is one of these.
    """

    notion: ClassVar[str] = "DP"
    neighbours: ClassVar[str] = "replace one round"
    words: ClassVar[Wording] = Wording()
    """In which the guarantee speaks of what a person brings."""
    proof: ClassVar[str]
    takes_context: ClassVar[bool] = False
    growing: ClassVar[tuple[tuple[str, ...], ...]] = ()
    """Names of public arrays whose number of rows changes, those that change together side by side."""
    retry: ClassVar[str] = "turn() tries again"
    """What to do after a commit that failed."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.check()

    @classmethod
    def serves(cls, settings: Any) -> bool:
        """Whether these settings ask for this way of learning."""
        return True

    def check(self) -> None:  # noqa: B027  most have nothing to refuse
        """Refuse settings that this way of learning cannot serve."""

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.settings,)

    @cached_property
    def name(self) -> bytes:
        """Tells these settings from others: the key of public shuffles, chosen before anyone came."""
        return bytes.fromhex(self.settings.hash)

    @property
    def assumes(self) -> str:
        """What the value assumes about the stream, if anything."""
        return ""

    @property
    def previews(self) -> bool:
        """Whether decisions of rounds to come may be shown: not where value rests on nobody knowing them."""
        return True

    def neighbours_after(self, public: State) -> str:
        """What is replaced in neighbouring streams: rounds, and whatever was read besides them."""
        return self.neighbours

    def noticed(self, public: State) -> dict[str, str]:
        """What a user should know of what was released so far, by a key: free, it reads nothing else."""
        return {}

    @property
    def candidates(self) -> int | None:
        """How many candidates a mask is about; None if masks are not taken."""
        return None

    @property
    def decision_size(self) -> int:
        """How many numbers one decision takes, at most."""
        return 1

    @property
    @abstractmethod
    def plan(self) -> Plan:
        """When data is released, and the charge of each release."""

    @abstractmethod
    def start(self) -> tuple[State, State]:
        """Public and kept state before anyone came."""

    def layout(self, public: State, index: int) -> tuple[State, State]:
        """Public and kept state as they look after `index` releases: the names, dtypes and shapes count."""
        return self.start()

    @abstractmethod
    def gatherings(self, public: State) -> dict[str, Gathering]:
        """What a block adds up, by name."""

    @abstractmethod
    def gather(self, public: State, block: Block, batch: Batch) -> None:
        """Clip, quantise and add: any rounds of the block, in any order."""

    @abstractmethod
    def release(
        self, public: State, tally: State, kept: State, block: Block, door: Door
    ) -> tuple[State, State]:
        """New public and kept state, from what the door gives for what was gathered."""

    @abstractmethod
    def decide(self, public: State, rounds: Integers, asked: Asked, coins: Coins) -> Any:
        """The decisions of many rounds at once, one a row: a pure function of what is public."""

    @abstractmethod
    def blank(self) -> Any:
        """Feedback that says nothing: adds the same as a missing answer."""

    def blank_question(self) -> Asked:
        """A question that says nothing."""
        return NOTHING

    @abstractmethod
    def plain(self, public: State) -> dict[str, Any]:
        """What is decided now, as plain data under its name: a slate, chances, coefficients, weights."""

    def no_counts(self, public: State) -> State:
        """The tally of a block before any of its rounds has a mask."""
        return {}

    def tally(  # noqa: B027  most count nothing
        self, public: State, tally: State, rounds: Integers, asked: Asked, coins: Coins
    ) -> None:
        """Add public counts of rounds with masks to the tally.

        Rounds without are not counted: the schedule says what they do.
        """

    def names(self, public: State) -> list[Label] | None:
        """The candidates' labels by number, their numbers if they have none; None without candidates."""
        return None

    def labels(self, public: State) -> Labels | None:
        """How decisions are told in labels; None if they are numbers."""
        return None

    def noted(self, public: State, event: dict[str, Any]) -> State:
        """The public state after a public event."""
        raise ConfigError(f"{type(self).__name__} takes no public events")

    def horizon(self, public: State) -> int | None:
        """How many rounds are planned by now."""
        return self.plan.horizon

    def foreseen(self, public: State) -> State:
        """The public state after the release that is due, as far as it is known before."""
        return public

    def admitted(self, public: State, asked: Asked) -> Asked:
        """What is asked for, within what public events allow now."""
        return asked

    def single(self, decisions: Any) -> Any:
        """The decision of the one round that was asked for."""
        return decisions[0]

    def rows(self, feedback: Any) -> Any:
        """Feedback of many rounds as something with a length and slices, one entry a round."""
        if hasattr(feedback, "to_numpy"):
            feedback = feedback.to_numpy()
        if isinstance(feedback, list | tuple) or (isinstance(feedback, np.ndarray) and feedback.ndim):
            return feedback
        with held, silence(), suppress(Exception):  # its text may hold a person's data
            if hasattr(type(feedback), "__len__"):
                return list(feedback)
        raise OutOfBounds("feedback must be one entry or row a round: a list or an array")

    def scores(self, public: State, index: int, context: Any) -> Scores:
        """How good each candidate is, after `index` releases."""
        raise StateError(
            "this way of learning releases choices only, no scores: see the learner's other modes"
        )

    def report(self, public: State) -> Report:
        """What was earned so far, if it was paid for."""
        raise StateError("this learner reports nothing: see the `report` setting of those that see rewards")

    # --- questions ----------------------------------------------------------------------------------------

    def asked(self, context: Any, available: Any, count: int, *, one: bool = False) -> Asked:
        """What came with some questions, checked; refused where the learner does not use it."""
        if context is None and available is None:
            return NOTHING
        if context is not None and not self.takes_context:
            raise ConfigError("this learner does not use a context: leave it out")
        if available is not None and self.candidates is None:
            raise ConfigError("this learner does not use `available`: leave it out")
        if context is None and type(available) is np.ndarray:  # reading it runs no code of others
            return Asked(None, self._masks(available, count, one))
        with held, silence():
            return Asked(self._contexts(context, count, one), self._masks(available, count, one))

    def _contexts(self, context: Any, count: int, one: bool) -> Any:
        if context is None:
            return None
        try:
            rows = np.asarray(context, dtype=np.float64)
        except Exception:  # its text may hold a person's data
            raise OutOfBounds("a context must be numbers") from None
        rows = rows[None] if one else rows
        if rows.ndim != 2 or len(rows) != count:
            raise OutOfBounds("contexts must be one row of numbers a round")
        return rows.copy()

    def _masks(self, available: Any, count: int, one: bool) -> Any:
        if available is None:
            return None
        items = self.candidates
        try:
            mask = np.asarray(available)
        except Exception:
            mask = np.zeros(0)
        shape = mask.shape
        fits = shape == (items,) or (not one and shape == (count, items))
        if not fits or mask.dtype.kind != "b" or not all_leave_some(mask):
            raise ConfigError(
                f"available must say yes or no for each of {items} items, and yes at least once"
            )
        return mask.copy()
