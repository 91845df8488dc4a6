"""Vectors, their squared lengths and their number, to estimate a mean and a typical length.

A person's vector x is scaled to a length of at most 1 and contributes (x, √2·‖x‖², 1). The
contributions of two people differ by at most 2, as much as the vectors alone: the squared length
and the count add nothing.

Guarantee   docs/guarantees/aggregators.md, Lemma 7
Runtime     O(d) per person, one compiled pass
"""

from dataclasses import dataclass
from math import sqrt

import numpy as np

from discreet.arrays import Floats
from discreet.errors import ConfigError
from discreet.release.aggregators.base import Aggregate, as_shape, check_levels, products
from discreet.release.aggregators.rounded import Rounded

MOST_FEATURES = 2**20
"""The largest dimension for which one step covers the floating-point errors of the rounding."""


@dataclass(frozen=True)
class Spread(Rounded):
    """Sums of vectors, of their squared lengths, and a count.

    Parameters
    ----------
    shape
        (dimension of a vector + 2,); `Spread.of` computes it.
    levels
        The number of integer steps up to 1.

    Examples
    --------
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
                f"shape must be 1 to 2^20 numbers, plus two, got {self.shape}: use Spread.of"
            )
        check_levels(self.levels)

    @classmethod
    def of(cls, size: int, levels: int = 1) -> "Spread":
        """Return the aggregator for vectors of `size` numbers."""
        return cls((size + 2,), levels)

    def add(self, aggregate: Aggregate, rows: Floats) -> None:
        """Scale, square, quantise and add one row per person; non-finite rows add nothing."""
        rows = np.ascontiguousarray(rows, dtype=np.float64).reshape(len(rows), self.size - 2)
        unit = self.unit
        aggregate.additions += 1
        products.add_spread(rows, unit, aggregate.values)

    def parted(self, totals: Floats) -> tuple[Floats, float, float]:
        """Split totals into the sum of vectors, of squared lengths, and the number of people."""
        return totals[:-2], float(totals[-2] / sqrt(2)), float(totals[-1])
