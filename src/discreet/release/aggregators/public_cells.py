"""One number per person, in cells that the public schedule fixes: rewards of a tried item.

The cells of a person are public before the number arrives, so neighbours have the same cells and
differ in the number only.

Guarantee   docs/guarantees/aggregators.md, Lemma 2
Runtime     O(cells of a person), one compiled pass
"""

from dataclasses import dataclass
from math import ceil, floor, sqrt

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.errors import ConfigError
from discreet.release.aggregators.base import Aggregate, Aggregator, as_shape, check_levels, kernels


@dataclass(frozen=True)
class PublicCells(Aggregator):
    """Sums of one number per person, added to public cells.

    Parameters
    ----------
    shape
        Shape of the cells, or their number.
    low, high
        The range to which numbers are clipped.
    copies
        The largest number of different cells per person.
    levels
        The number of integer steps up to the larger of |low| and |high|.

    Examples
    --------
    Cell −1 stands for none:

    >>> cells = PublicCells((2, 3), low=0.0, high=1.0, levels=100)
    >>> people = cells.empty()
    >>> cells.add(people, np.array([[4], [4], [-1]]), np.array([0.5, 7.0, 1.0]))
    >>> people.values, cells.sensitivity(2)
    (array([[  0,   0,   0],
           [  0, 150,   0]]), 100.0)
    """

    shape: tuple[int, ...]
    low: float = 0.0
    high: float = 1.0
    copies: int = 1
    levels: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "shape", as_shape(self.shape))
        check_range(self.low, self.high)
        if not 1 <= self.copies <= self.size:
            raise ConfigError(
                f"copies must be between 1 and the number of cells ({self.size}), got {self.copies}"
            )
        check_levels(self.levels)

    @property
    def bound(self) -> float:
        return max(abs(self.low), abs(self.high))

    @property
    def cells(self) -> int:
        return self.copies

    @property
    def _width(self) -> float:
        """The largest change of one number, in units of the bound; a missing number is zero."""
        return (max(self.high, 0.0) - min(self.low, 0.0)) / self.bound

    def unit_sensitivity(self, norm: int) -> float:
        """w · copies in l₁ and w · √copies in l₂, with w the width of the range (Lemma 2)."""
        return self._width * (self.copies if norm == 1 else sqrt(self.copies))

    @property
    def span(self) -> int:
        """w · levels, rounded up (Lemma 2)."""
        # All cells of a person move by the same number of steps; the other cells do not move.
        return int(np.ceil(self._width * self.levels))

    def add(self, aggregate: Aggregate, cells: Integers, numbers: Floats) -> None:
        """Clip, quantise and add one number per person, to each cell of a row (−1 for none)."""
        if cells.ndim != 2 or cells.shape[1] > self.copies or len(cells) != len(numbers):
            raise ConfigError(f"every person must have at most {self.copies} cells and one number")
        cells = np.ascontiguousarray(cells, dtype=np.int64)
        total = aggregate.values.reshape(-1)
        steps = steps_within(numbers, self.low, self.high, self.levels)
        aggregate.additions += 1
        if not kernels.enter_steps(cells, steps, total):
            raise ConfigError("the cells of a person must be different from each other")


def check_range(low: float, high: float) -> None:
    """Raise if a range is empty, infinite or zero only."""
    if not (np.isfinite([low, high]).all() and low <= high and max(abs(low), abs(high)) > 0):
        raise ConfigError(
            f"a range must be finite, with low ≤ high, and not zero only, got {low} to {high}"
        )


def steps_within(numbers: Floats, low: float, high: float, levels: int) -> Integers:
    """Return numbers in integer steps, clipped; the ends of the range are rounded inwards.

    Numbers that are not finite count as zero.
    """
    bound = max(abs(low), abs(high))
    low = min(low, 0.0)
    high = max(high, 0.0)
    # The division comes first: an end that equals the bound must be exactly `levels` steps.
    least = ceil(low / bound * levels)
    most = floor(high / bound * levels)
    scale = levels / bound
    steps = np.empty(len(numbers), dtype=np.int64)
    numbers = np.ascontiguousarray(numbers, dtype=np.float64)
    kernels.fill_steps(numbers, low, high, scale, least, most, steps)
    return steps
