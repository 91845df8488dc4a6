"""How much items, pairs and single sets are believed to matter for the cost of a set."""

from dataclasses import astuple, dataclass, replace

import numpy as np

from discreet.arrays import Floats

LEARNED = ("common_item", "common_pair", "item", "pair", "own")
"""The sizes that are learned, in this order; that of the level stays."""


@dataclass(frozen=True)
class Sizes:
    """Standard deviations of the parts of a cost, in units of the bound."""

    level: float
    """Cost of all sets alike."""
    common_item: float
    """What all items share."""
    common_pair: float
    """What all pairs share."""
    item: float
    """One item's own part."""
    pair: float
    """One pair's own part."""
    own: float
    """One set's own part, where costs are not quadratic."""

    @property
    def variances(self) -> "Sizes":
        """The squares of all sizes."""
        return Sizes(*(size * size for size in astuple(self)))

    def of(self, name: str) -> float:
        """Return one size."""
        size: float = getattr(self, name)
        return size

    def scaled(self, name: str, factor: float) -> "Sizes":
        """Return the sizes with one of them multiplied by a factor."""
        return replace(self, **{name: self.of(name) * factor})

    def distance(self, other: "Sizes") -> float:
        """Return the squared distance from other sizes, in logarithms."""
        return float((np.log(self._array / other._array) ** 2).sum())

    @property
    def _array(self) -> Floats:
        return np.array(astuple(self))
