"""The entrance: one person's numbers become integers whose size is bounded for certain.

    Q(x) = ⌊x/g + ½⌋ on a grid g = bound / levels, after clipping; then the norm bound is enforced on the INTEGER vector

so the sensitivity of a sum is a fact about integers, with no term for rounding. Integer sums do not depend on the order of
addition: one machine and a cluster agree bit for bit. A row that is not finite counts as zero and still uses up its round.

Guarantee   docs/guarantees/sums.md, Lemma 1
Runtime     O(d) a person, one compiled pass
"""

from dataclasses import dataclass
from math import inf, sqrt

import numpy as np

from discreet.errors import ConfigError, OutOfBounds
from discreet.release.arrays import Floats, Integers

__all__ = ["Entrance", "as_row", "as_rows", "unit_sensitivity"]


@dataclass(frozen=True)
class Entrance:
    """Clip to `bound` in the l₁, l₂ or l_∞ norm, on a grid with `levels` steps up to the bound.

    >>> door_mat = Entrance(dimension=2, bound=1.0, norm=2, levels=1000)
    >>> door_mat.add(np.array([[0.6, 0.8], [30.0, 40.0], [np.nan, 1.0]]), np.zeros(2, dtype=np.int64))
    array([1200, 1600])
    >>> door_mat.sensitivity(2)
    2000.0
    """

    dimension: int
    bound: float
    norm: float
    levels: int
    nonnegative: bool = False

    def __post_init__(self) -> None:
        if not (np.isfinite(self.bound) and self.bound > 0):
            raise ConfigError(f"bound must be finite and greater than 0, got {self.bound}")
        if self.norm not in (1, 2, inf):
            raise ConfigError(f"norm must be 1, 2 or infinity, got {self.norm}")
        if not 1 <= self.levels <= 2**30:
            raise ConfigError(f"levels must be between 1 and 2^30, got {self.levels}")
        if not 1e-280 <= self.bound <= 1e280:
            raise ConfigError(f"bound must lie between 1e-280 and 1e280, got {self.bound}: rescale the data")

    @property
    def grid(self) -> float:
        """What one integer step is worth."""
        return self.bound / self.levels

    def add(self, rows: Floats, total: Integers) -> Integers:
        """Add the clipped and quantised rows to `total`, in place."""
        from discreet.release import kernels

        scratch = np.empty(self.dimension, dtype=np.int64)
        norm = 0 if self.norm == inf else int(self.norm)
        kernels.admit_rows(rows, norm, float(self.levels), 1 / self.grid, self.nonnegative, scratch, total)
        return total

    def sensitivity(self, norm: int) -> float:
        """The most that replacing one person moves an integer sum, in the l₁ or l₂ norm."""
        return self.levels * unit_sensitivity(self.dimension, self.norm, self.nonnegative, norm)


def unit_sensitivity(dimension: int, bounded: float, nonnegative: bool, norm: int) -> float:
    """max ‖x − x′‖ in the given norm, over x and x′ of at most unit size in the `bounded` norm."""
    width = 1.0 if nonnegative else 2.0
    if dimension == 1:
        return width
    if bounded == inf:
        return width * (dimension if norm == 1 else sqrt(dimension))
    if norm == 1 and bounded == 1:
        return 2.0
    across = sqrt(2) if nonnegative else 2.0  # disjoint supports are the worst that non-negative vectors can do
    return across if norm == 2 else across * sqrt(dimension)


def as_row(feedback: object, dimension: int) -> Floats:
    """One person's numbers as a matrix of one row, or `OutOfBounds` if they have the wrong shape or type or are not finite."""
    row = _as_floats(feedback, dimension)
    if row.shape != (dimension,) and not (dimension == 1 and row.shape == ()):
        raise OutOfBounds(f"feedback must be {dimension} numbers")
    if not np.isfinite(row).all():
        raise OutOfBounds("feedback must be finite: replace NaN and infinite entries before you pass them on")
    return np.ascontiguousarray(row.reshape(1, dimension))


def as_rows(feedback: object, dimension: int, people: int) -> Floats:
    """The numbers of so many people as a matrix; rows that are not finite are left to count as zero."""
    rows = _as_floats(feedback, dimension)
    if rows.ndim == 1 and dimension == 1:
        rows = rows.reshape(-1, 1)
    if rows.shape != (people, dimension):
        raise OutOfBounds(f"feedback must be a matrix with {dimension} numbers a row, one row a round")
    return np.ascontiguousarray(rows)


def _as_floats(feedback: object, dimension: int) -> Floats:
    try:
        return np.asarray(feedback, dtype=np.float64)
    except Exception:  # whatever a person's own type raises may tell about them
        raise OutOfBounds(f"feedback must be numbers, {dimension} a round") from None
