"""A number in cells that the public schedule fixes: rewards of a tried item, costs of a tried set.

Which cells a person's number is entered in is public before it comes, so neighbours touch the same
ones: only the number differs.

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
    """A number between `low` and `high`, in at most `copies` different cells.

    >>> cells = PublicCells((2, 3), low=0.0, high=1.0, levels=100)
    >>> people = cells.empty()
    >>> cells.add(people, np.array([[4], [4], [-1]]), np.array([0.5, 7.0, 1.0]))      # −1: nowhere
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
        """How far one number can move, in units of the bound; a missing one is zero."""
        return (max(self.high, 0.0) - min(self.low, 0.0)) / self.bound

    def unit_sensitivity(self, norm: int) -> float:
        return self._width * (self.copies if norm == 1 else sqrt(self.copies))

    @property
    def span(self) -> int:
        # All cells of a person move by the same number of steps; others do not move.
        return int(np.ceil(self._width * self.levels))

    def add(self, aggregate: Aggregate, cells: Integers, numbers: Floats) -> None:
        """Clip, quantise and add one number per person, in a row of cells (−1 for none)."""
        if cells.ndim != 2 or cells.shape[1] > self.copies or len(cells) != len(numbers):
            raise ConfigError(f"a person has at most {self.copies} cells and one number")
        cells = np.ascontiguousarray(cells, dtype=np.int64)
        total = aggregate.values.reshape(-1)
        steps = steps_within(numbers, self.low, self.high, self.levels)
        aggregate.additions += 1
        if not kernels.enter_steps(cells, steps, total):
            raise ConfigError("the cells of a person must be different from each other")


def check_range(low: float, high: float) -> None:
    """Refuse ranges that are empty, endless or without a size."""
    if not (np.isfinite([low, high]).all() and low <= high and max(abs(low), abs(high)) > 0):
        raise ConfigError(
            f"a range must be finite, with low ≤ high, and not only zero, got {low} to {high}"
        )


def steps_within(numbers: Floats, low: float, high: float, levels: int) -> Integers:
    """The numbers on the grid, clipped; at the ends of the range they are rounded inwards.

    What is not finite counts as zero.
    """
    bound = max(abs(low), abs(high))
    low, high = min(low, 0.0), max(high, 0.0)
    # Divided first: an end that is the bound itself must be exactly all levels.
    least, most = ceil(low / bound * levels), floor(high / bound * levels)
    scale = levels / bound
    steps = np.empty(len(numbers), dtype=np.int64)
    kernels.fill_steps(
        np.ascontiguousarray(numbers, dtype=np.float64), low, high, scale, least, most, steps
    )
    return steps
