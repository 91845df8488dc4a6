"""Second moments: every person's vector times itself.

A person's vector z is scaled to a length of at most 1 and (zzᵀ, 1) entered, the matrix packed: the
diagonal, and what is beside it times √2, so that the length of the packed numbers is that of the
matrix. Two people's entries are at most √2 apart; the count costs nothing.

Guarantee   docs/guarantees/aggregators.md, Lemma 8
Runtime     O(d²) a person, one compiled pass
"""

from dataclasses import dataclass
from functools import lru_cache
from math import isqrt, sqrt

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.errors import ConfigError
from discreet.release.aggregators.base import Aggregate, as_shape, check_levels, passes
from discreet.release.aggregators.rounded import Rounded


@dataclass(frozen=True)
class Gram(Rounded):
    """Packed products of vectors with themselves, and a count.

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
            raise ConfigError(f"second moments are a packed triangle and a count, got {self.shape}")
        check_levels(self.levels)

    @classmethod
    def of(cls, size: int, levels: int = 1) -> "Gram":
        """For vectors of so many numbers."""
        return cls((size * (size + 1) // 2 + 1 if size > 0 else 0,), levels)

    @property
    def width(self) -> int:
        """How many numbers a vector has."""
        return (isqrt(max(0, 8 * self.size - 7)) - 1) // 2

    def add(self, aggregate: Aggregate, rows: Floats) -> None:
        """Scale, multiply, quantise and add one row a person; what is not finite counts as zero."""
        rows = np.ascontiguousarray(rows, dtype=np.float64).reshape(len(rows), self.width)
        unit = self.unit
        aggregate.additions += 1
        passes.add_gram(rows, unit, aggregate.values)

    def parted(self, totals: Floats) -> tuple[Floats, float]:
        """Totals as a symmetric matrix, and how many people there were."""
        return unpacked(totals[:-1]), float(totals[-1])


def unpacked(packed: Floats) -> Floats:
    """Symmetric matrices from their packed lower triangles, in which what is off the diagonal
    counts √2.
    """
    size = (isqrt(8 * packed.shape[-1] + 1) - 1) // 2
    rows, columns, scale = _triangle(size)
    matrix = np.empty((*packed.shape[:-1], size, size))
    matrix[..., rows, columns] = packed / scale
    matrix[..., columns, rows] = packed / scale
    return matrix


@lru_cache(maxsize=8)
def _triangle(size: int) -> tuple[Integers, Integers, Floats]:
    rows, columns = np.tril_indices(size)
    return rows, columns, np.where(rows == columns, 1.0, sqrt(2))
