"""A vector, its squared length, and a count: what a mean and a typical length are estimated from.

A person's vector x is scaled to a length of at most 1 and entered as (x, √2·‖x‖², 1). Two people's
entries differ by at most 2, as far as the vectors alone: the length and the count cost nothing.

Guarantee   docs/guarantees/aggregators.md, Lemma 7
Runtime     O(d) a person, one compiled pass
"""

from dataclasses import dataclass
from math import sqrt

import numpy as np

from discreet.arrays import Floats
from discreet.errors import ConfigError
from discreet.release.aggregators.base import Aggregate, as_shape, check_levels, passes
from discreet.release.aggregators.rounded import Rounded

MOST_FEATURES = 2**20
"""Up to here one step is enough for what floating point adds to the rounding."""


@dataclass(frozen=True)
class Spread(Rounded):
    """Vectors with their squared lengths and a count; `shape` is how many numbers a vector has, and
    two more.

    >>> spread = Spread.of(2, levels=10**6)
    >>> people = spread.empty()
    >>> spread.add(people, np.array([[0.6, 0.0], [30.0, 40.0], [np.nan, 1.0]]))
    >>> total, squares, count = spread.parted(people.values * spread.grid)
    >>> total.round(3), round(squares, 3), round(count, 3)
    (array([1.2, 0.8]), 1.36, 2.0)
    """

    shape: tuple[int, ...]
    levels: int = 1

    distance = 2.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "shape", as_shape(self.shape))
        if len(self.shape) != 1 or not 3 <= self.shape[0] <= MOST_FEATURES + 2:
            raise ConfigError(
                f"a spread has between 1 and 2^20 numbers, and two more, got {self.shape}"
            )
        check_levels(self.levels)

    @classmethod
    def of(cls, size: int, levels: int = 1) -> "Spread":
        """For vectors of so many numbers."""
        return cls((size + 2,), levels)

    def add(self, aggregate: Aggregate, rows: Floats) -> None:
        """Scale, square, quantise and add one row a person; what is not finite counts as zero."""
        rows = np.ascontiguousarray(rows, dtype=np.float64).reshape(len(rows), self.size - 2)
        unit = self.unit
        aggregate.additions += 1
        passes.add_spread(rows, unit, aggregate.values)

    def parted(self, totals: Floats) -> tuple[Floats, float, float]:
        """Totals as the sum of people's vectors, of their squared lengths, and how many people
        there were.
        """
        return totals[:-2], float(totals[-2] / sqrt(2)), float(totals[-1])
