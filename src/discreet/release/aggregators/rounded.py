"""What aggregators of products share: vectors that are computed in floats, and rounded with room to
spare.

Any two people's vectors, or one person's and nobody's, differ by at most `distance` in l₂. A vector
v is entered as ⌊unit·v + ½⌋, with `unit` a little below `levels`: rounding moves each entry by at
most ½, so the INTEGER vectors of any two people differ by at most levels · distance. Totals come
out unit/levels too small.

    unit · s + √entries + 1 ≤ levels · s        s = distance; one step for floating point

Guarantee   docs/guarantees/aggregators.md, Lemma 6
"""

from math import sqrt

from discreet.errors import ConfigError
from discreet.release.aggregators.base import Aggregator


class Rounded(Aggregator):
    """Integers that stand for computed numbers: the parent of aggregators whose entries are
    products.
    """

    distance: float
    """How far two people's vectors can be apart, in l₂, in units of the bound: a fact about the
    products.
    """

    @property
    def entries(self) -> int:
        """How many integers one person adds to."""
        return self.size

    @property
    def bound(self) -> float:
        return 1.0

    @property
    def cells(self) -> int:
        return self.entries

    def unit_sensitivity(self, norm: int) -> float:
        return self.distance if norm == 2 else self.distance * sqrt(self.cells)

    @property
    def span(self) -> int:
        # Every entry moves by at most the distance, up or down.
        return 2 * int(self.distance * self.levels + 1)

    @property
    def unit(self) -> float:
        """What a length of 1 is multiplied with before rounding."""
        found = self.levels - (sqrt(self.entries) + 1) / self.distance
        if found < self.levels / 2:
            raise ConfigError(
                f"{self.entries} numbers a person are too many for this budget: use fewer "
                "features, "
                "or raise epsilon"
            )
        return found
