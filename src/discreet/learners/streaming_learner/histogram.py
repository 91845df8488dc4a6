"""Quantiles and means of sizes, read off a noisy histogram with geometric bins.

    bin i holds sizes in (top/r^(i+1), top/r^i]; the first also larger ones, the last also smaller

Each sample falls into one bin, so replacing a sample moves two cells; the aggregator is
`OneChoice`. All results are functions of the noisy counts.
"""

from dataclasses import dataclass

import numpy as np

from discreet.arrays import Floats, Integers

SURE = 3.0
"""Bins count from the first one at which the cumulative count exceeds this number of standard
deviations of its noise."""


@dataclass(frozen=True)
class Sizes:
    """The geometric bins of a histogram of sizes, and what noisy counts tell.

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
    """The ratio of the ends of a bin."""

    def cells(self, sizes: Floats, top: float) -> Integers:
        """Return the bin of each size; −1 if the size is not finite."""
        finite = np.isfinite(sizes)
        ratios = np.maximum(np.where(finite, sizes, 0.0) / top, self.ratio ** -(self.bins + 1.0))
        steps = np.clip(np.floor(-np.log(ratios) / np.log(self.ratio)), 0, self.bins - 1)
        return np.where(finite, steps, -1).astype(np.int64)

    def quantile(
        self, counts: Floats, *, top: float, level: float, people: float, noise: float
    ) -> float:
        """Return a bound on all but a share of about 1 − level of the sizes, from noisy counts.

        `noise` is the standard deviation of the noise of each count.
        """
        steps = self._first(counts, (1 - level) * people, noise) or 0
        return float(top * self.ratio**-steps)

    def mean(self, counts: Floats, *, top: float, noise: float, power: float = 1.0) -> float | None:
        """Return the mean of a power of the sizes, from noisy counts; None if noise hides it.

        >>> counts = np.bincount(np.repeat([2, 3], [500, 500]), minlength=8)
        >>> round(Sizes(bins=8).mean(counts, top=1.0, noise=0.1), 3)
        0.133
        """
        first = self._first(counts, 0.0, noise)
        if first is None:
            return None
        bins = np.arange(first, self.bins)
        weights = np.maximum(counts[first:], 0.0)
        middles = top * self.ratio ** -(bins + 0.5)
        return float((weights * middles**power).sum() / weights.sum())

    def _first(self, counts: Floats, least: float, noise: float) -> int | None:
        """Return the first bin at which the cumulative count exceeds `least` and its noise.

        None if there is no such bin.
        """
        margins = SURE * noise * np.sqrt(np.arange(1, self.bins + 1))
        exceeding = np.flatnonzero(np.cumsum(counts) > np.maximum(least, margins))
        return int(exceeding[0]) if len(exceeding) else None
