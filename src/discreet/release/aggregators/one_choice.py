"""One number per person, in a cell that the person chooses: clicks per item, a histogram.

The cell is personal data: replacing a person removes a number from one cell and adds a number to
another.

Guarantee   docs/guarantees/aggregators.md, Lemma 3
Runtime     O(1) per person
"""

from dataclasses import dataclass
from functools import cached_property
from math import sqrt

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.errors import ConfigError
from discreet.release.aggregators.base import Aggregate, Aggregator, as_shape, check_levels
from discreet.release.aggregators.public_cells import check_range, steps_within


@dataclass(frozen=True)
class OneChoice(Aggregator):
    """Sums of one number per person, in a cell of the person's choice; by default a count.

    Parameters
    ----------
    shape
        Shape of the cells, or their number.
    low, high
        The range to which numbers are clipped.
    levels
        The number of integer steps up to the larger of |low| and |high|.

    Examples
    --------
    Cell −1 stands for no click:

    >>> clicks = OneChoice(3, levels=100)
    >>> people = clicks.empty()
    >>> clicks.add(people, np.array([1, 1, 2, -1]))
    >>> people.values, clicks.sensitivity(1)
    (array([  0, 200, 100]), 200.0)
    """

    shape: tuple[int, ...]
    low: float = 0.0
    high: float = 1.0
    levels: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "shape", as_shape(self.shape))
        check_range(self.low, self.high)
        check_levels(self.levels)

    @property
    def bound(self) -> float:
        return max(abs(self.low), abs(self.high))

    @property
    def cells(self) -> int:
        return min(2, self.size)

    def unit_sensitivity(self, norm: int) -> float:
        """max(w, 2) in l₁ and max(w, √2) in l₂; w if there is one cell only (Lemma 3)."""
        # In one cell, the number moves from one end of the range to the other. In two cells, one
        # number of full size is removed and another is added.
        same = (max(self.high, 0.0) - min(self.low, 0.0)) / self.bound
        if self.size == 1:
            return same
        return max(same, 2.0 if norm == 1 else sqrt(2))

    @property
    def span(self) -> int:
        """2 · levels (Lemma 3)."""
        return 2 * self.levels

    @cached_property
    def _most(self) -> int:
        """The largest number, in integer steps."""
        return int(steps_within(np.array([self.high]), self.low, self.high, self.levels)[0])

    def add(self, aggregate: Aggregate, cells: Integers, numbers: Floats | None = None) -> None:
        """Add one number per person (by default the largest) to one cell (−1 for none)."""
        if cells.ndim != 1 or (numbers is not None and len(numbers) != len(cells)):
            raise ConfigError("every person must have one cell and one number")
        there = (cells >= 0) & (cells < self.size)
        if numbers is None:
            aggregate.additions += 1
            np.add.at(aggregate.values.reshape(-1), cells[there], self._most)
            return
        steps = steps_within(numbers, self.low, self.high, self.levels)
        aggregate.additions += 1
        np.add.at(aggregate.values.reshape(-1), cells[there], steps[there])
