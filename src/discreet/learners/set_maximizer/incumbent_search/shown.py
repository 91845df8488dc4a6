"""The slates that the rounds of a block show: the protocol, and blocks with one constant slate.

    ConstantSlates     the same slate in every round                             this file
    ScreeningSlates    a table of slates, cycled through                         shown_screening.py
    ExchangeSlates     the incumbent, and trials of it in shuffled rounds        shown_exchange.py

All slates follow from values released before the block began, from public coins and from public
masks. A phase needs the number of views of each item. Without masks it follows from the plan of the
block (`planned`); changes by masks are counted when rounds are opened (`count_masked`), and the two
are added at the release. Counts are integers in steps of 2⁻¹⁶, so that their sum does not depend on
the order.
"""

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from discreet.arrays import Integers, Mask
from discreet.engine.declarations import Masks
from discreet.engine.plan import State
from discreet.engine.request import Request
from discreet.learners.set_maximizer.slates import filled_up

UNIT = 2**16
"""Number of steps in a count of 1."""


class Shown(Protocol):
    """The slates of a block; positions of rounds are counted from its beginning."""

    def slate_of_one(self, position: int, available: Mask | None) -> Integers:
        """Return the slate of one round, without unavailable items."""

    def slates(self, positions: Integers, available: Mask | None) -> Integers:
        """Return one slate per round, without unavailable items."""

    def no_mask_counts(self) -> State:
        """Return the mask counts before any round has a mask."""

    def count_masked(self, positions: Integers, available: Mask, mask_counts: State) -> None:
        """Add the changes by masks to the mask counts: only shown items count."""


@dataclass(frozen=True)
class ShownMasks(Masks):
    """Counts of the views that masks have changed."""

    shown: Shown
    begin: int
    """First round of the block."""

    def start(self) -> State:
        return self.shown.no_mask_counts()

    def add(self, counts: State, rounds: Integers, request: Request) -> None:
        if request.available is not None:
            self.shown.count_masked(rounds - self.begin, request.available, counts)


@dataclass(frozen=True, eq=False)
class ConstantSlates:
    """A block that shows one slate in every round, and counts nothing."""

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
        """Count nothing: no phase uses the views of a constant slate."""


@dataclass(eq=False, slots=True)
class NewestSlate:
    """Slate of the newest single round with a mask: needed again when its answer comes."""

    position: int = -1
    available: Mask | None = None
    slate: Integers = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
