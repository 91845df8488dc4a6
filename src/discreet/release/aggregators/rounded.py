"""Base class of aggregators of products: vectors computed in floats, rounded with room to spare.

The vectors of any two people, or of one person and nobody, differ by at most `distance` in l₂. A
vector v contributes ⌊unit·v + ½⌋, with `unit` a little below `levels`. Rounding moves each entry by
at most ½, so the INTEGER vectors of any two people differ by at most levels · distance. Totals are
too small by the factor unit/levels.

    unit · s + √entries + 1 ≤ levels · s        s = distance; one step for floating point

Guarantee   docs/guarantees/aggregators.md, Lemma 6
"""

from math import sqrt

from discreet.errors import ConfigError
from discreet.release.aggregators.base import Aggregator


class Rounded(Aggregator):
    """Base class of aggregators whose integers are rounded products of people's numbers."""

    distance: float
    """The largest l₂ distance of two people's vectors, in units of the bound."""

    @property
    def entries(self) -> int:
        """The number of integers that one person adds to."""
        return self.size

    @property
    def bound(self) -> float:
        return 1.0

    @property
    def cells(self) -> int:
        return self.entries

    def unit_sensitivity(self, norm: int) -> float:
        """`distance` in l₂, and √cells times that in l₁ (Lemma 6)."""
        return self.distance if norm == 2 else self.distance * sqrt(self.cells)

    @property
    def span(self) -> int:
        """2 · levels · distance, rounded up (Lemma 6)."""
        # Every entry moves by at most the distance, up or down.
        return 2 * int(self.distance * self.levels + 1)

    @property
    def unit(self) -> float:
        """The factor by which vectors are multiplied before rounding."""
        unit = self.levels - (sqrt(self.entries) + 1) / self.distance
        if unit < self.levels / 2:
            raise ConfigError(
                f"{self.entries} numbers per person are too many for this budget: use fewer "
                "features, or raise epsilon"
            )
        return unit
