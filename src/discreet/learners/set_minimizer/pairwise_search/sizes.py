"""Prior standard deviations of the terms of a set's cost: items, pairs, and single sets."""

from dataclasses import astuple, dataclass, replace

import numpy as np

from discreet.arrays import Floats

LEARNED = ("common_item", "common_pair", "item", "pair", "own")
"""The sizes that are learned, in this order; `level` is fixed."""


@dataclass(frozen=True)
class Sizes:
    """Prior standard deviations of the terms of a cost, in units of the bound."""

    level: float
    """Term that all sets share."""
    common_item: float
    """Term that all items share."""
    common_pair: float
    """Term that all pairs share."""
    item: float
    """Term of one item."""
    pair: float
    """Term of one pair."""
    own: float
    """Term of one set, if costs are not quadratic."""

    @property
    def variances(self) -> "Sizes":
        """The squares of all sizes."""
        return Sizes(*(size * size for size in astuple(self)))

    def of(self, name: str) -> float:
        """Return the size with this name."""
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
