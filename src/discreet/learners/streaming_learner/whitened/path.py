"""The record of releases from which the whitened mode computes standard errors.

Every release gives a noisy total of gradients that were all computed at one public point. The path
records both. discreet/optim/roots.py computes standard errors from released values, public counts
and calibrated variances.

There are no standard errors

    too early               points swing in the first releases, and a few more are needed
    for many coefficients   there are too few releases to estimate all slopes
    for many releases       more than MOST_ROWS would make the state large
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from discreet.arrays import Floats
from discreet.engine.statistics import RunningTotal
from discreet.optim.roots import Root, root_of_path
from discreet.optim.spiked_covariance import SpikedCovariance
from discreet.release.aggregators import Rows

MOST_ROWS = 250
"""The most releases that are recorded."""
ROWS_PER_COEFFICIENT = 4
"""The least number of releases per coefficient from which slopes can be estimated."""


@dataclass(frozen=True, eq=False)
class Path:
    """Released totals of gradients of whitened rows, in units of the clip, one row per release."""

    totals: Floats
    points: Floats
    """The points at which the gradients of each release were computed."""


@dataclass(frozen=True, eq=False)
class ReleasedPath:
    """Records released totals, and estimates the root of the gradient from them."""

    total: RunningTotal[Rows]
    blocks: Sequence[int]
    """The number of samples of each release."""
    size: int
    settling: int
    """The number of first releases that are left out."""

    @property
    def rows(self) -> int:
        """The number of releases that are recorded: all, or none."""
        count = len(self.blocks)
        return count if ROWS_PER_COEFFICIENT * (self.size + 1) <= count <= MOST_ROWS else 0

    def start(self) -> Path:
        """Return the path before the first release."""
        empty = np.zeros((self.rows, self.size))
        return Path(empty, empty)

    def followed(self, path: Path, release: int, total: Floats, point: Floats) -> Path:
        """Return the path after a release with this total of gradients, computed at this point."""
        if not self.rows:
            return path
        totals = path.totals.copy()
        totals[release] = total
        points = path.points.copy()
        points[release] = point
        return Path(totals, points)

    def root(self, path: Path, releases: int, covariance: SpikedCovariance) -> Root | None:
        """Return the estimated root of the gradient of whitened rows, in units of the clip.

        None if there are too few releases.
        """
        if not self.rows:
            return None
        later = slice(self.settling, releases)
        points = path.points[later]
        return root_of_path(
            np.array([covariance.times(point, 0.5) for point in points]).reshape(points.shape),
            np.array(self.blocks[later], dtype=np.float64),
            _steps(path.totals)[later],
            self._noise[later, later],
            # A clipped gradient has norm at most 1, and its coordinates are about alike.
            most_scatter=1 / self.size,
        )

    @cached_property
    def _noise(self) -> Floats:
        """The covariance matrix of the noise, in one coordinate, of the increments of the total."""
        covariance = self.total.covariance(np.arange(1, self.rows + 1))
        return _steps(_steps(covariance).T)


def _steps(prefixes: Floats) -> Floats:
    """Return the differences of each row from the one before."""
    return np.diff(prefixes, axis=0, prepend=np.zeros_like(prefixes[:1]))
