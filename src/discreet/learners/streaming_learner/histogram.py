"""How large sizes usually are, read off a noisy histogram: bins that shrink from a public bound downwards.

    bin i holds sizes in (top/r^(i+1), top/r^i]; the first also what is larger, the last what is smaller

One sample, one bin: that is `OneChoice`, of which neighbours move two cells. What is read is a function of
the noisy counts.
"""

from dataclasses import dataclass

import numpy as np

from discreet.arrays import Floats, Integers

__all__ = ["Sizes"]

SURE = 5.0
"""So many standard deviations of the noise must be exceeded: else noise alone would say now and then that
sizes are as large as the bound."""


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

    def quantile(self, counts: Floats, *, top: float, level: float, people: float, noise: float) -> float:
        """A bound that all but about 1 − level of the sizes keep, from counts with so much noise each."""
        above = np.cumsum(counts)
        margins = SURE * noise * np.sqrt(np.arange(1, self.bins + 1))
        found = np.flatnonzero(above > np.maximum((1 - level) * people, margins))
        steps = int(found[0]) if len(found) else 0
        return float(top * self.ratio**-steps)
