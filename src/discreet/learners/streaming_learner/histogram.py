"""How large sizes usually are, read off a noisy histogram: bins that shrink from a public bound
downwards.

    bin i holds sizes in (top/r^(i+1), top/r^i]; the first also what is larger, the last what is
    smaller

One sample, one bin: that is `OneChoice`, of which neighbours move two cells. What is read is a
function of the noisy counts.
"""

from dataclasses import dataclass

import numpy as np

from discreet.arrays import Floats, Integers

SURE = 3.0
"""Sizes count from the bin on up to which this number of standard deviations of the noise is
exceeded.
"""


@dataclass(frozen=True)
class Sizes:
    """A histogram of sizes.

    >>> sizes = Sizes(bins=8)
    >>> cells = sizes.cells(np.array([0.9, 0.24, 0.2, 0.0, np.nan]), top=1.0)
    >>> cells
    array([ 0,  2,  2,  7, -1])
    >>> counts = np.bincount(np.repeat([2, 3], [5, 95]), minlength=8)
    >>> sizes.quantile(counts, top=1.0, level=0.9, people=100, noise=0.1)
    0.125
    """

    bins: int
    ratio: float = 2.0
    """Of the ends of a bin."""

    def cells(self, sizes: Floats, top: float) -> Integers:
        """The bin of each size; −1 for what is not finite."""
        finite = np.isfinite(sizes)
        ratios = np.maximum(np.where(finite, sizes, 0.0) / top, self.ratio ** -(self.bins + 1.0))
        steps = np.clip(np.floor(-np.log(ratios) / np.log(self.ratio)), 0, self.bins - 1)
        return np.where(finite, steps, -1).astype(np.int64)

    def quantile(
        self, counts: Floats, *, top: float, level: float, people: float, noise: float
    ) -> float:
        """A bound that all but about 1 − level of the sizes keep, from counts with so much noise
        each.
        """
        steps = self._first(counts, (1 - level) * people, noise) or 0
        return float(top * self.ratio**-steps)

    def mean(self, counts: Floats, *, top: float, noise: float, power: float = 1.0) -> float | None:
        """The mean of this power of the sizes, from noisy counts; None if noise hides it.

        >>> counts = np.bincount(np.repeat([2, 3], [500, 500]), minlength=8)
        >>> round(Sizes(bins=8).mean(counts, top=1.0, noise=0.1), 3)
        0.133
        """
        first = self._first(counts, 0.0, noise)
        if first is None:
            return None
        places = np.arange(first, self.bins)
        seen = np.maximum(counts[first:], 0.0)
        return float((seen * (top * self.ratio ** -(places + 0.5)) ** power).sum() / seen.sum())

    def _first(self, counts: Floats, least: float, noise: float) -> int | None:
        """The first bin up to which more than `least`, and more than noise alone makes, are
        counted.
        """
        margins = SURE * noise * np.sqrt(np.arange(1, self.bins + 1))
        found = np.flatnonzero(np.cumsum(counts) > np.maximum(least, margins))
        return int(found[0]) if len(found) else None
