"""A problem: what a learner does, as a pure function of its settings; its hooks are in its views.

A problem has no journal, clock or thread, and can be pickled and sent to another machine.

    phases                            which blocks there are, and what each of them measures
    first                             what is published before the first round
    facts                             public numbers for a person who plans with this learner
    request, rows, blank, single      questions and feedback, as far as they do not depend on state

From them follow the plan, the state before the first round, and the view of each block.

State has four parts: `public` (everything that releases produced: with `mask_counts`, all that
decisions read), `mask_counts` (public counts that grow within a block), `hidden` (noise buffers and
sums that outlive a block: never shown) and `block` (aggregates since the last release; the engine
empties it).

Guarantee   docs/guarantees/engine.md
"""

from abc import ABC, abstractmethod
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar, Self, final

import numpy as np

from discreet.arrays import Floats, Mask
from discreet.budget.guarantee import Wording
from discreet.engine.coins import Coins
from discreet.engine.flat_state import Published
from discreet.engine.phases import Measured, Phases, Scheduled, state_of
from discreet.engine.plan import Plan, State
from discreet.engine.request import EMPTY_REQUEST, Answer, Request, all_leave_some
from discreet.engine.settings import Settings
from discreet.engine.signals import held
from discreet.engine.snapshot import Snapshot
from discreet.engine.view import View
from discreet.entries import entries_of
from discreet.errors import ConfigError, OutOfBounds
from discreet.silence import silence


class Problem(ABC):
    """A mode of a learner: its plan, its first state, and the views of its blocks.

    Guarantee: docs/guarantees/engine.md.
    """

    notion: ClassVar[str] = "DP"
    neighbours: ClassVar[str] = "replace one round"
    words: ClassVar[Wording] = Wording()
    """Words for what a person brings, in the text of the guarantee."""
    proof: ClassVar[str]
    takes_context: ClassVar[bool] = False
    retry: ClassVar[str] = "release_if_due() tries again"
    """Remedy after a failed commit, for the error message."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.check()

    @classmethod
    def serves(cls, settings: Any) -> bool:
        """Return whether these settings ask for this mode."""
        return True

    def check(self) -> None:  # noqa: B027  most have nothing to refuse
        """Raise `ConfigError` for settings that this mode cannot serve."""

    def __reduce__(self) -> tuple[type[Self], tuple[Settings]]:
        return type(self), (self.settings,)

    @cached_property
    def name(self) -> bytes:
        """Key of public shuffles, a hash of the settings: fixed before the first round."""
        return bytes.fromhex(self.settings.hash)

    @property
    def assumes(self) -> str:
        """The assumptions about the stream on which value rests, in words; "" without any."""
        return ""

    @property
    def previews(self) -> bool:
        """Whether decisions of later rounds may be shown; False if value rests on their secrecy."""
        return True

    @property
    def candidates(self) -> int | None:
        """Number of candidates in a mask; None if the learner takes no masks."""
        return None

    @property
    def decision_size(self) -> int:
        """Largest number of array entries that one decision takes."""
        return 1

    # --- what is measured, and what follows -------------------------------------------------------

    @property
    @abstractmethod
    def phases(self) -> Phases:
        """Which blocks there are, and what is measured of the people of each."""

    @property
    @abstractmethod
    def first(self) -> object:
        """The public state before the first round, without that of statistics."""

    @property
    def facts(self) -> dict[str, object]:
        """Public numbers for a person who plans with this learner."""
        return {}

    @property
    def constants(self) -> tuple[object, ...]:
        """What the state depends on besides settings and statistics: tuned numbers, say."""
        return ()

    @cached_property
    def plan(self) -> Plan:
        """When data is released, and the charge of each release."""
        return self.phases.plan(self.settings.privacy, self.facts, self.constants)

    @final
    def start(self) -> tuple[object, State]:
        """Return the public state, typed, and the hidden state before the first round."""
        states, hidden = state_of((each, each.start()) for each in self.phases.statistics)
        return Published(self.first, states), hidden

    @final
    def view(self, public: Any, index: int, begin: int, coins: Coins) -> View[Any]:
        """Return the view of the block that begins with `begin` and ends with release `index`.

        `public` is the public state from `start` or from the release before: typed, or flat as
        files store it.
        """
        if not isinstance(public, Published):
            public = Published.of_flat(self._public_type, self._statistics, public)
        learned, states = public.learned, public.states
        phases = self.phases
        if isinstance(phases, Scheduled):
            run, number = phases.at(index)
            return run.phase(
                self,
                learned,
                index,
                begin,
                coins,
                states=states,
                measured=run.measured,
                number=number,
            )
        phase = phases.phase(learned)
        view = phase(self, learned, index, begin, coins, states=states, number=index)
        return replace(view, measured=Measured.of(view.statistics))

    @cached_property
    def _public_type(self) -> type[Any]:
        return type(self.first)

    @cached_property
    def _statistics(self) -> tuple[str, ...]:
        """The names of all statistics."""
        return tuple({statistic.name: None for statistic in self.phases.statistics})

    @property
    def answer(self) -> Answer:
        """How feedback is read; a mode without it overrides `View.read` and `blank`."""
        raise NotImplementedError

    def blank(self) -> object:
        """Return feedback that adds the same as a missing answer."""
        return self.answer.blank

    def blank_request(self) -> Request:
        """Return a valid request without information."""
        return EMPTY_REQUEST

    def single(self, decisions: np.ndarray) -> object:
        """Return the decision of a single round from a table of one row."""
        return decisions[0]

    def rows(self, feedback: Any) -> Any:
        """Return the feedback of many rounds as a list or array with one entry per round."""
        entries = feedback
        with held, silence(), suppress(Exception):  # its text may hold a person's data
            entries = entries_of(feedback)
            is_row = isinstance(entries, list | tuple | np.ndarray | str | bytes)
            if hasattr(type(entries), "__len__") and not is_row:
                entries = list(entries)
        if isinstance(entries, list | tuple) or (isinstance(entries, np.ndarray) and entries.ndim):
            return entries
        raise OutOfBounds("feedback must be one entry or row per round: a list or an array")

    # --- questions --------------------------------------------------------------------------------

    def request(
        self, context: object, available: object, count: int, *, one: bool = False
    ) -> Request:
        """Return the checked request of some rounds; refuse what the learner does not use."""
        if context is None and available is None:
            return EMPTY_REQUEST
        if context is not None and not self.takes_context:
            raise ConfigError("this learner does not use a context: leave it out")
        if available is not None and self.candidates is None:
            raise ConfigError("this learner does not use `available`: leave it out")
        if context is None and type(available) is np.ndarray:  # reading it runs no foreign code
            return Request(None, self._masks(available, count, one))
        with held, silence():
            return Request(self._contexts(context, count, one), self._masks(available, count, one))

    def _contexts(self, context: object, count: int, one: bool) -> Floats | None:
        if context is None:
            return None
        try:
            rows = np.asarray(context, dtype=np.float64)
        except Exception:  # its text may hold a person's data
            raise OutOfBounds("a context must be numbers") from None
        rows = rows[None] if one else rows
        if rows.ndim != 2 or len(rows) != count:
            raise OutOfBounds("contexts must be one row of numbers per round")
        return rows.copy()

    def _masks(self, available: object, count: int, one: bool) -> Mask | None:
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


def view_of(problem: Problem, snapshot: Snapshot) -> View[object]:
    """Return the view of a problem after a snapshot: all that a replica needs to decide."""
    return problem.view(snapshot.public, snapshot.index, snapshot.begin, Coins(snapshot.coin_key))
