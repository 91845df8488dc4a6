"""One noisy release of one block's aggregate, as a typed handle (for running sums: `RunningTotal`).

A phase names it once, and then adds, charges and releases through it:

    clicks = OneRelease.for_budget("clicks", budget, OneChoice((items,)))
    clicks.aggregator.add(clicks.of(block), cells)          the aggregator has its own type
    sums = clicks.drawn(block, door)
"""

from dataclasses import dataclass
from typing import Generic, TypeVar

from discreet.arrays import Floats
from discreet.budget.privacy import Charge
from discreet.engine.request import Block
from discreet.release.aggregators import Aggregate, Aggregator
from discreet.release.door import Door
from discreet.release.noise import CalibratedNoise

Kind = TypeVar("Kind", bound=Aggregator)


@dataclass(frozen=True)
class OneRelease(Generic[Kind]):
    """Noise for the aggregate of one block under a name; its people enter this release only."""

    name: str
    calibrated: CalibratedNoise[Kind]

    @classmethod
    def for_budget(
        cls, name: str, budget: Charge, aggregator: Kind, most: int = 2**16
    ) -> "OneRelease[Kind]":
        """Return the least noise that this budget pays for, on a grid of at most `most` levels."""
        return cls(name, CalibratedNoise.for_budget(budget, aggregator, most))

    @property
    def aggregator(self) -> Kind:
        """The aggregator of the block, on the grid of the noise."""
        return self.calibrated.aggregator

    def of(self, block: Block) -> Aggregate:
        """Return the aggregate of the block so far."""
        return block[self.name]

    @property
    def charge(self) -> Charge:
        """Cost of the release for each of its people."""
        return self.calibrated.charge

    @property
    def standard_deviation(self) -> float:
        """Standard deviation of the noise of each number, in the units of people's numbers."""
        return self.calibrated.standard_deviation * self.aggregator.bound

    @property
    def variance(self) -> float:
        """Variance of the noise of each number, in the squared units of people's numbers."""
        return self.standard_deviation**2

    def drawn(self, block: Block, door: Door) -> Floats:
        """Release the aggregate through the door, in the units of people's numbers."""
        return door.release(self.calibrated, self.of(block))
