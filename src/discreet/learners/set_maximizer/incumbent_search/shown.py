"""Which slates the rounds of a block show: the protocol, and blocks that always show the same one.

    ConstantSlates      the same slate in every round                                this file
    ScreeningSlates     a table of slates, again and again                           shown_screening.py
    ExchangeSlates      the incumbent, and in shuffled rounds one slot exchanged     shown_exchange.py

Everything here follows from what was released before the block began, from public coins and from
public masks. A phase needs to know how often each item was seen. Without masks that follows from
the plan of the block (`planned`); what masks change is counted when rounds are opened
(`count_masked`), and the two are added at the release. Counts are whole numbers of steps of 2⁻¹⁶,
so that they add up the same in any order.
"""

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from discreet.arrays import Integers, Mask
from discreet.engine.plan import State
from discreet.learners.set_maximizer.slates import filled_up

UNIT = 2**16
"""Steps of counts: a count of 1 is this many."""


class Shown(Protocol):
    """Which slates a block shows; positions of rounds are counted from its beginning."""

    def slate_of_one(self, position: int, available: Mask | None) -> Integers:
        """Return the slate of one round, without what is unavailable."""

    def slates(self, positions: Integers, available: Mask | None) -> Integers:
        """Return one slate per round, without what is unavailable."""

    def no_mask_counts(self) -> State:
        """Return what is counted before any round has a mask."""

    def count_masked(self, positions: Integers, available: Mask, mask_counts: State) -> None:
        """Add to the tally what masks change: only what is shown counts."""


@dataclass(frozen=True, eq=False)
class ConstantSlates:
    """The same slate in every round; nothing is counted."""

    slate: Integers
    order: Integers

    def slate_of_one(self, position: int, available: Mask | None) -> Integers:
        if available is None:
            return self.slate
        return np.asarray(filled_up(self.slate[None], available, self.order)[0])

    def slates(self, positions: Integers, available: Mask | None) -> Integers:
        slates = np.tile(self.slate, (len(positions), 1))
        return slates if available is None else filled_up(slates, available, self.order)

    def no_mask_counts(self) -> State:
        return {}

    def count_masked(self, positions: Integers, available: Mask, mask_counts: State) -> None:
        """Masks change no count."""


@dataclass(eq=False, slots=True)
class NewestSlate:
    """The slate of the newest single round with a mask: asked for again when its answer comes."""

    position: int = -1
    available: Mask | None = None
    slate: Integers = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
