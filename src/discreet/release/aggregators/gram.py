"""Second moments: the sum of zzᵀ over people's vectors z, and their number.

A person's vector z is scaled to a length of at most 1 and contributes (zzᵀ, 1). The matrix is
packed: the diagonal, and entries off the diagonal times √2, so that the packed vector is as long as
the matrix. The contributions of two people are at most √2 apart; the count adds nothing to that.

Guarantee   docs/guarantees/aggregators.md, Lemma 8
Runtime     O(d²) per person, one compiled pass
"""

from dataclasses import dataclass
from functools import lru_cache
from math import isqrt, sqrt

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.errors import ConfigError
from discreet.release.aggregators.base import Aggregate, as_shape, check_levels, products
from discreet.release.aggregators.rounded import Rounded


@dataclass(frozen=True)
class Gram(Rounded):
    """Sums of packed second moments, and a count.

    Parameters
    ----------
    shape
        (packed numbers and one for the count,); `Gram.of` computes it.
    levels
        The number of integer steps up to 1.

    Examples
    --------
    >>> gram = Gram.of(2, levels=10**6)
    >>> people = gram.empty()
    >>> gram.add(people, np.array([[0.6, 0.8], [0.0, 0.5]]))
    >>> matrix, count = gram.parted(people.values * gram.grid)
    >>> matrix.round(3), round(count, 3)
    (array([[0.36, 0.48],
           [0.48, 0.89]]), 2.0)
    """

    shape: tuple[int, ...]
    levels: int = 1

    distance = sqrt(2)

    def __post_init__(self) -> None:
        object.__setattr__(self, "shape", as_shape(self.shape))
        width = self.width
        if len(self.shape) != 1 or width < 1 or width * (width + 1) // 2 + 1 != self.size:
            raise ConfigError(
                f"shape must be a packed triangle and a count, got {self.shape}: use Gram.of"
            )
        check_levels(self.levels)

    @classmethod
    def of(cls, size: int, levels: int = 1) -> "Gram":
        """Return the aggregator for vectors of `size` numbers."""
        return cls((size * (size + 1) // 2 + 1 if size > 0 else 0,), levels)

    @property
    def width(self) -> int:
        """The dimension of the vectors."""
        return (isqrt(max(0, 8 * self.size - 7)) - 1) // 2

    def add(self, aggregate: Aggregate, rows: Floats) -> None:
        """Scale, multiply, quantise and add one row per person; non-finite rows add nothing."""
        rows = np.ascontiguousarray(rows, dtype=np.float64).reshape(len(rows), self.width)
        unit = self.unit
        aggregate.additions += 1
        products.add_gram(rows, unit, aggregate.values)

    def parted(self, totals: Floats) -> tuple[Floats, float]:
        """Split totals into the matrix of second moments and the number of people."""
        return unpacked(totals[:-1]), float(totals[-1])


def unpacked(packed: Floats) -> Floats:
    """Return symmetric matrices from packed lower triangles, whose off-diagonals count √2."""
    size = (isqrt(8 * packed.shape[-1] + 1) - 1) // 2
    rows, columns, scale = _triangle(size)
    matrix = np.empty((*packed.shape[:-1], size, size))
    matrix[..., rows, columns] = packed / scale
    matrix[..., columns, rows] = packed / scale
    return matrix


@lru_cache(maxsize=8)
def _triangle(size: int) -> tuple[Integers, Integers, Floats]:
    """Rows, columns and factors of the entries of a packed triangle."""
    rows, columns = np.tril_indices(size)
    return rows, columns, np.where(rows == columns, 1.0, sqrt(2))
