"""One noisy release of what one block gathers: a typed handle (sums of blocks: `RunningTotal`).

A phase names it once, and then gathers, charges and releases through it:

    clicks = OneRelease.for_budget("clicks", budget, OneChoice((items,)))
    clicks.gathering.add(clicks.of(block), cells)          the gathering has its own type
    sums = clicks.drawn(block, door)
"""

from dataclasses import dataclass
from typing import Generic, TypeVar

from discreet.arrays import Floats
from discreet.budget.privacy import Charge
from discreet.release.door import Door
from discreet.release.gathering import Gathered, Gathering
from discreet.release.noise import Once
from discreet.turn.questions import Block

__all__ = ["OneRelease"]

Kind = TypeVar("Kind", bound=Gathering)


@dataclass(frozen=True)
class OneRelease(Generic[Kind]):
    """Noise for what one block gathers under a name; its people enter this release only."""

    name: str
    once: Once[Kind]

    @classmethod
    def for_budget(cls, name: str, budget: Charge, gathering: Kind, most: int = 2**16) -> "OneRelease[Kind]":
        """Return the least noise that this budget pays for, on a grid of at most `most` levels."""
        return cls(name, Once.for_budget(budget, gathering, most))

    @property
    def gathering(self) -> Kind:
        """What the block is gathered with: on the grid of the noise."""
        return self.once.gathering

    def of(self, block: Block) -> Gathered:
        """Return what was gathered so far."""
        return block[self.name]

    @property
    def charge(self) -> Charge:
        """What the release costs each of its people."""
        return self.once.charge

    @property
    def standard_deviation(self) -> float:
        """Standard deviation of the noise of each number, in the units of people's numbers."""
        return self.once.standard_deviation * self.gathering.bound

    @property
    def variance(self) -> float:
        """Variance of the noise of each number, in the squared units of people's numbers."""
        return self.standard_deviation**2

    def drawn(self, block: Block, door: Door) -> Floats:
        """Release what was gathered, in the units of people's numbers."""
        return door.release(self.once, self.of(block))
