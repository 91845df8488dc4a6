"""What a leader keeps of its releases, to tell how far published coefficients are off.

Every release showed a noisy total of gradients, all computed at a public point. Both are kept. What
follows from them is in discreet/optim/roots.py; it reads released values, public counts and
calibrated variances.

No errors are given

    too early               in the first releases points still swing, and a few more are needed
    for many coefficients   there are fewer releases than would tell all their slopes
    for many releases       more than MOST_ROWS would make the state large
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from discreet.arrays import Floats
from discreet.learners.running_total import RunningTotal
from discreet.optim.roots import Root, root_of_path
from discreet.optim.spiked_covariance import SpikedCovariance
from discreet.release.aggregators import Rows

MOST_ROWS = 250
ROWS_PER_COEFFICIENT = 4
"""With fewer releases per coefficient, slopes are not told."""


@dataclass(frozen=True, eq=False)
class Path:
    """The released totals of gradients of whitened rows, in clips, one row per release."""

    totals: Floats
    points: Floats
    """The points at which the gradients of each release were computed."""


@dataclass(frozen=True, eq=False)
class ReleasedPath:
    """How much is kept of releases, and what it tells."""

    total: RunningTotal[Rows]
    blocks: Sequence[int]
    """The samples of each release."""
    size: int
    settling: int
    """Releases at the beginning that are left out."""

    @property
    def rows(self) -> int:
        """How many releases are kept: all, or none."""
        count = len(self.blocks)
        return count if ROWS_PER_COEFFICIENT * (self.size + 1) <= count <= MOST_ROWS else 0

    def start(self) -> Path:
        """Return the path before the first release."""
        nothing = np.zeros((self.rows, self.size))
        return Path(nothing, nothing)

    def followed(self, path: Path, release: int, total: Floats, point: Floats) -> Path:
        """Return the path after a release: its total, and the point of its gradients."""
        if not self.rows:
            return path
        totals, points = path.totals.copy(), path.points.copy()
        totals[release] = total
        points[release] = point
        return Path(totals, points)

    def root(self, path: Path, releases: int, covariance: SpikedCovariance) -> Root | None:
        """Return what releases tell about the root of whitened gradients, in clips.

        None if that is too little.
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
            # A clipped gradient is at most 1 long, and its coordinates are about alike.
            most_scatter=1 / self.size,
        )

    @cached_property
    def _noise(self) -> Floats:
        """The covariance of one coordinate of what each release adds to the total."""
        covariance = self.total.covariance(np.arange(1, self.rows + 1))
        return _steps(_steps(covariance).T)


def _steps(prefixes: Floats) -> Floats:
    """Return what each row adds to the one before."""
    return np.diff(prefixes, axis=0, prepend=np.zeros_like(prefixes[:1]))
