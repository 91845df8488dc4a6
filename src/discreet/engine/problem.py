"""A problem: what a learner does, as a pure function of its settings; its hooks are in its views.

It knows no journal, clock or thread, and can be pickled and shipped.

    plan                              when data is released, and the charge of each release
    start()                           public and kept state before anyone came
    view(public, index, begin, coins) the hooks of the block that follows release `index` − 1
    asked, rows, blank, single        questions and feedback, as far as they do not depend on state

State is four parts: `public` (all that releases produced: with `mask_counts`, the only thing
decisions read), `mask_counts` (public numbers that grow within a block), `hidden` (noise buffers
and what must outlive a block: never shown) and `block` (aggregated since the last release; the
engine empties it).

Guarantee   docs/guarantees/engine.md
"""

from abc import ABC, abstractmethod
from contextlib import suppress
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from discreet.arrays import Floats, Mask
from discreet.budget.guarantee import Wording
from discreet.engine.coins import Coins
from discreet.engine.plan import Plan, State
from discreet.engine.request import EMPTY_REQUEST, Request, all_leave_some
from discreet.engine.settings import Settings
from discreet.engine.signals import held
from discreet.engine.snapshot import Snapshot
from discreet.engine.view import View
from discreet.errors import ConfigError, OutOfBounds
from discreet.silence import silence


class Problem(ABC):
    """A way of learning: what the engine calls to plan, and to view the block that people are in.

    A mode of a learner is one of these.
    """

    notion: ClassVar[str] = "DP"
    neighbours: ClassVar[str] = "replace one round"
    words: ClassVar[Wording] = Wording()
    """In which the guarantee speaks of what a person brings."""
    proof: ClassVar[str]
    takes_context: ClassVar[bool] = False
    retry: ClassVar[str] = "release_if_due() tries again"
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

    def __reduce__(self) -> tuple[type[Self], tuple[Settings]]:
        return type(self), (self.settings,)

    @cached_property
    def name(self) -> bytes:
        """Tells these settings from others: the key of public shuffles, chosen before anyone
        came.
        """
        return bytes.fromhex(self.settings.hash)

    @property
    def assumes(self) -> str:
        """What the value assumes about the stream, if anything."""
        return ""

    @property
    def previews(self) -> bool:
        """Whether decisions of rounds to come may be shown: not where value rests on nobody
        knowing them.
        """
        return True

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
    def start(self) -> tuple[Any, State]:
        """Public state, typed, and kept state before anyone came."""

    @abstractmethod
    def view(self, public: Any, index: int, begin: int, coins: Coins) -> View[object]:
        """The view of the block that ends with release `index` and begins with round `begin`.

        `public` is what `start` or the release before has produced: typed, or flat as files keep
        it.
        """

    @abstractmethod
    def blank(self) -> Any:
        """Feedback that says nothing: adds the same as a missing answer."""

    def blank_request(self) -> Request:
        """A question that says nothing."""
        return EMPTY_REQUEST

    def single(self, decisions: np.ndarray) -> Any:
        """The decision of the one round that was asked for."""
        return decisions[0]

    def rows(self, feedback: Any) -> Any:
        """Feedback of many rounds as something with a length and slices, one entry a round."""
        if hasattr(feedback, "to_numpy"):
            feedback = feedback.to_numpy()
        if isinstance(feedback, list | tuple) or (
            isinstance(feedback, np.ndarray) and feedback.ndim
        ):
            return feedback
        with held, silence(), suppress(Exception):  # its text may hold a person's data
            if hasattr(type(feedback), "__len__"):
                return list(feedback)
        raise OutOfBounds("feedback must be one entry or row a round: a list or an array")

    # --- questions --------------------------------------------------------------------------------

    def request(self, context: Any, available: Any, count: int, *, one: bool = False) -> Request:
        """What came with some questions, checked; refused where the learner does not use it."""
        if context is None and available is None:
            return EMPTY_REQUEST
        if context is not None and not self.takes_context:
            raise ConfigError("this learner does not use a context: leave it out")
        if available is not None and self.candidates is None:
            raise ConfigError("this learner does not use `available`: leave it out")
        if context is None and type(available) is np.ndarray:  # reading it runs no code of others
            return Request(None, self._masks(available, count, one))
        with held, silence():
            return Request(self._contexts(context, count, one), self._masks(available, count, one))

    def _contexts(self, context: Any, count: int, one: bool) -> Floats | None:
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

    def _masks(self, available: Any, count: int, one: bool) -> Mask | None:
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
    """The view of a problem that a turn led to: all that a replica needs to decide."""
    return problem.view(snapshot.public, snapshot.index, snapshot.begin, Coins(snapshot.coin_key))
