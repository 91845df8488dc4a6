"""One row of numbers per person, in a slot that the person chooses.

A contextual bandit adds up the reward times each feature, in the slot of the arm played. Each
number lies between −1 and 1. Replacing a person moves every number of one slot by at most 2, or
those of two slots by at most 1 each, so selections in all slots cost no more than in one slot.

Guarantee   docs/guarantees/aggregators.md, Lemma 10
Runtime     O(d) per person, one compiled pass
"""

from dataclasses import dataclass, replace
from math import sqrt

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.errors import ConfigError
from discreet.release.aggregators.base import Aggregate, Aggregator, as_shape, check_levels, kernels


@dataclass(frozen=True)
class ChosenRows(Aggregator):
    """Sums of rows with entries in [−1, 1], each row in one slot.

    Parameters
    ----------
    shape
        (slots, numbers per row).
    levels
        The number of integer steps up to 1.

    Examples
    --------
    >>> chosen = ChosenRows((2, 3), levels=100)
    >>> people = chosen.empty()
    >>> chosen.add(people, np.array([[0.5, -7.0, 0.0], [1.0, 0.1, np.nan]]), np.array([1, -1]))
    >>> people.values, chosen.magnitudes(people).values[1]
    (array([[   0,    0,    0],
           [  50, -100,    0]]), array([ 50, 100,   0]))
    """

    shape: tuple[int, ...]
    levels: int = 1

    is_by_slots = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "shape", as_shape(self.shape))
        if len(self.shape) != 2 or min(self.shape) < 1:
            raise ConfigError(f"shape must be (slots, numbers per row), got {self.shape}")
        check_levels(self.levels)

    @property
    def bound(self) -> float:
        return 1.0

    @property
    def cells(self) -> int:
        return min(2, self.shape[0]) * self.shape[1]

    def unit_sensitivity(self, norm: int) -> float:
        """2w in l₁ and 2√w in l₂, with w numbers per row (Lemma 10)."""
        # One slot: each number moves from one end to the other. Two slots: half as far each.
        return 2.0 * (self.shape[1] if norm == 1 else sqrt(self.shape[1]))

    @property
    def span(self) -> int:
        """4 · levels in one slot, half of that in each of two slots (Lemma 10)."""
        return 4 * self.levels

    def add(self, aggregate: Aggregate, rows: Floats, slots: Integers) -> None:
        """Clip, quantise and add one row per person, in the person's slot (−1 for none).

        Numbers that are not finite count as zero.
        """
        if len(rows) != len(slots):
            raise ConfigError("rows and slots must have one row and one slot per person")
        rows = np.ascontiguousarray(rows, dtype=np.float64).reshape(len(rows), self.shape[1])
        slots = np.ascontiguousarray(slots, dtype=np.int64)
        aggregate.additions += 1
        kernels.enter_rows(rows, slots, float(self.levels), aggregate.values)

    def magnitudes(self, aggregate: Aggregate) -> Aggregate:
        """Return the absolute values of the sums, which move no farther than the sums."""
        self.check_own(aggregate)
        return Aggregate(self, np.abs(aggregate.values))

    def picked(self, aggregate: Aggregate, columns: Integers) -> Aggregate:
        """Return some columns per slot, as an aggregate with a smaller sensitivity.

        `columns` has one row of column numbers per slot.
        """
        self.check_own(aggregate)
        if columns.ndim != 2 or len(columns) != self.shape[0]:
            raise ConfigError(f"columns must have one row for each of {self.shape[0]} slots")
        fewer = replace(self, shape=columns.shape)
        return Aggregate(fewer, np.take_along_axis(aggregate.values, columns, axis=1))
