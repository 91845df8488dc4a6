"""What a mode declares besides its statistics, and what a phase declares besides its hooks.

    of a mode     Promise         what is promised to each person
                  Questions       what comes with the question of a round: a context, a mask
                  Answer          what a person brings, and how it is read
                  DecisionForm    what is decided: one candidate, a slate, a set, or numbers
    of a phase    Masks           public counts of the rounds with masks
                  Events          what public events have changed, and which ones are taken
                  Readings        what may be read: the decision as plain data, scores, notices
    of a state    Stored          which of its arrays grow, and what a state file may hold

Each has a default, so that a mode declares what differs.

Guarantee   docs/guarantees/engine.md
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from discreet.arrays import Integers, Mask
from discreet.budget.guarantee import Wording
from discreet.engine.labels import Decides, Label, Labels
from discreet.engine.plan import State
from discreet.engine.readings import Scores
from discreet.engine.request import EMPTY_REQUEST, Batch, Request, all_leave_some
from discreet.engine.signals import held
from discreet.entries import entries_of
from discreet.errors import ConfigError, OutOfBounds, StateError
from discreet.silence import silence

if TYPE_CHECKING:
    from discreet.engine.mode import Mode
    from discreet.engine.phase import Phase

# --- of a mode ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Promise:
    """What a mode promises to each person, in the words of its guarantee."""

    proof: str
    """The page of docs/guarantees/ with the proof."""
    assumes: str = ""
    """The assumptions about the stream on which value rests, in words; "" without any."""
    notion: str = "DP"
    neighbours: str = "replace one round"
    words: Wording = field(default_factory=Wording)
    """Words for what a person brings, in the text of the guarantee."""
    retry: str = "release_if_due() tries again"
    """Remedy after a failed commit, for the error message."""


@dataclass(frozen=True)
class Questions:
    """What comes with the question of a round: by default nothing, or a mask of candidates."""

    candidates: int | None = None
    """Number of candidates in a mask; None if the learner takes no masks."""
    in_rounds: bool = True
    """Whether people come in rounds; otherwise they come all at once (`Engine.admit`)."""

    takes_context: ClassVar[bool] = False

    @property
    def blank(self) -> Request:
        """A valid request without information."""
        return EMPTY_REQUEST

    def request(
        self, context: object, available: object, count: int, *, one: bool = False
    ) -> Request:
        """Return the checked request of some rounds; refuse what the learner does not use."""
        if context is None and available is None:
            return EMPTY_REQUEST
        if context is not None:
            raise ConfigError("this learner does not use a context: leave it out")
        if self.candidates is None:
            raise ConfigError("this learner does not use `available`: leave it out")
        if type(available) is np.ndarray:  # reading it runs no foreign code
            return Request(None, self.mask(available, count, one))
        with held, silence():
            return Request(None, self.mask(available, count, one))

    def mask(self, available: object, count: int, one: bool) -> Mask | None:
        """Return a copy of one mask for all rounds, or of one per round, after a check."""
        if available is None:
            return None
        candidates = self.candidates
        try:
            mask = np.asarray(available)
        except Exception:
            mask = np.zeros(0)
        shape = mask.shape
        fits = shape == (candidates,) or (not one and shape == (count, candidates))
        if not fits or mask.dtype.kind != "b" or not all_leave_some(mask):
            raise ConfigError(
                f"available must say yes or no for each of {candidates} items, and yes at least "
                "once"
            )
        return mask.copy()


class Answer(ABC):
    """What a person brings to a round, and how it is read.

    One malformed answer among many adds nothing; a single one is refused.
    """

    @property
    @abstractmethod
    def blank(self) -> object:
        """Feedback that adds the same as a missing answer."""

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

    def read(self, batch: Batch) -> Any:
        """Return the feedback of some rounds as typed answers; refuse a malformed single one.

        By default the batch itself: a phase that reads answers to its own decisions overrides
        `Phase.read`.
        """
        return batch


@dataclass(frozen=True)
class DecisionForm:
    """What a mode decides: one candidate, a slate, a set, or a row of numbers."""

    kind: Literal["one", "slate", "set", "numbers"]
    size: int = 1
    """Largest number of array entries that one decision takes."""
    candidates: Sequence[Label] | None = None
    """The names of the candidates (their numbers if they have none); None without candidates."""
    labels: Labels | None = None
    """The translation of decisions into labels; None if decisions stay numbers."""
    previews: bool = True
    """Whether decisions of later rounds may be shown; False if value rests on their secrecy."""

    @classmethod
    def among(
        cls,
        kind: Decides,
        count: int,
        labels: Sequence[Label] | None,
        *,
        size: int = 1,
        previews: bool = True,
    ) -> "DecisionForm":
        """Return the form of decisions among this number of candidates, which may have labels."""
        if labels is None:
            return cls(kind, size, range(count), None, previews)
        return cls(kind, size, labels, Labels(tuple(labels), kind), previews)

    def named(self, numbers: Iterable[object]) -> dict[Label, object]:
        """Return one number per candidate, by label."""
        return dict(zip(self.candidates or (), numbers, strict=True))

    def single(self, decisions: np.ndarray) -> object:
        """Return the decision to show in a single round, from a table of one row.

        It has labels if there are any, and no padding by −1. What the caller writes into it changes
        nothing: it is read-only, or a copy.
        """
        decision = decisions[0]
        if self.labels is not None:
            return self.labels.single(decision)
        kind = self.kind
        if kind == "one":
            return int(decision)
        if kind == "numbers" or (kind == "slate" and decision[-1] >= 0):
            return decision.copy() if decision.flags.writeable else decision
        return np.asarray(decision[decision >= 0])


# --- of a phase -----------------------------------------------------------------------------------


class Masks(ABC):
    """Public counts of the rounds with masks, added when they are opened.

    Rounds without a mask are not counted: they follow the schedule.
    """

    @abstractmethod
    def start(self) -> State:
        """Return the counts before the first round with a mask.

        As long as no round of the block has a mask, `Released.mask_counts` is {} instead.
        """

    @abstractmethod
    def add(self, counts: State, rounds: Integers, request: Request) -> None:
        """Add rounds with masks to the counts."""


class Events(ABC):
    """The public events that a block takes, and what earlier ones have changed."""

    phase: Any
    """The phase of this block; a subclass annotates it with its own class."""

    def __init__(self, phase: "Phase[Any]") -> None:
        self.phase = phase

    @property
    def promise(self) -> Promise:
        """What is promised after these events."""
        promise: Promise = self.phase.mode.promise
        return promise

    @property
    def decisions(self) -> DecisionForm:
        """The form of decisions, with the candidates and labels that there are now."""
        form: DecisionForm = self.phase.mode.decisions
        return form

    def horizon(self, planned: int | None) -> int | None:
        """Return the number of rounds, given the planned one; None without end."""
        return planned

    @property
    def log_rows(self) -> int:
        """Number of rows of the warm-start log that was read before the first round."""
        return 0

    @abstractmethod
    def noted(self, event: Any) -> Any:
        """Return the public state after a public event."""

    def admitted(self, request: Request) -> Request:
        """Return the request, restricted to what public events allow now."""
        return request

    def refuse_next(self, request: Request) -> None:  # noqa: B027  most have nothing to refuse
        """Raise if this request would be refused after the release that is due."""


@dataclass(frozen=True)
class Readings:
    """What may be read of a phase, from released values only; it costs no privacy."""

    plain: dict[str, object]
    """The current decision as plain data by name: a slate, probabilities, weights."""
    scores: Callable[[object], Scores] | None = None
    """Returns the estimated value of each candidate for a context."""
    notices: dict[str, str] = field(default_factory=dict)
    """Notices about the released values, by a key."""

    def scores_of(self, context: object) -> Scores:
        """Return the estimated value of each candidate."""
        if self.scores is None:
            raise StateError(
                "this mode releases choices only, no scores: see the learner's other modes"
            )
        return self.scores(context)


# --- of a state -----------------------------------------------------------------------------------

GROWING = tuple[tuple[str, ...], ...]
"""Type of `Stored.growing`."""


class Stored:
    """Base class of public states whose arrays grow, whose plan varies, or that have indices."""

    growing: ClassVar[GROWING] = ()
    """Names of arrays (as in the flat state) whose number of rows changes.

    Arrays of one inner tuple always have equally many rows.
    """

    def shape(self, mode: Any, index: int) -> object:
        """Return public state with the names, dtypes and shapes of the block before a release."""
        typed: Mode = mode
        return typed.first

    def check(self, mode: Any) -> None:
        """Raise if a state that was read from a file is one that no release can have produced.

        Names, dtypes and shapes are checked before; compiled code relies on the values of indices,
        too.
        """
