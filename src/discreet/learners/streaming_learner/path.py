"""What a leader keeps of its releases, to tell how far published coefficients are off.

Every release showed a noisy total of gradients, all taken at public points. Both are kept: at most MOST_ROWS
of them, each of some releases in a row. What follows from them is in discreet/decide/roots.py; it reads
released values, public counts and calibrated variances, so it costs nothing.

No errors are given

    too early              for the first releases, in which points still swing, and a few more
    for many coefficients  there are fewer releases than would tell all their slopes
    for clipped gradients  where many are, they vanish elsewhere than the gradients that people have
    for what is not learned  an error beyond the radius of the domain
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import ceil

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.decide.evening import Evening
from discreet.decide.roots import Root, root_of_path
from discreet.learners.totals import RunningTotal
from discreet.turn.plan import State

__all__ = ["ReleasedPath"]

MOST_ROWS = 200
ROWS_PER_COEFFICIENT = 4
"""With fewer releases per coefficient, slopes are not told."""


@dataclass(frozen=True, eq=False)
class ReleasedPath:
    """The released totals of gradients of evened rows, and the points that they were taken at."""

    total: RunningTotal
    blocks: Sequence[int]
    """The samples of each release."""
    size: int
    settling: int
    """Releases at the beginning that are left out."""

    @property
    def stride(self) -> int:
        """How many releases make one row."""
        return ceil(len(self.blocks) / MOST_ROWS)

    @property
    def rows(self) -> int:
        """How many rows are kept."""
        rows = ceil(len(self.blocks) / self.stride)
        return rows if rows >= ROWS_PER_COEFFICIENT * (self.size + 1) else 0

    def start(self) -> State:
        """Before the first release."""
        nothing = np.zeros((self.rows, self.size))
        return {"path.totals": nothing, "path.means": nothing}

    def followed(self, public: State, releases: int, total: Floats, mean: Floats) -> State:
        """After a release: its total, in clips, and the mean of all points up to it."""
        kept = {"path.totals": public["path.totals"], "path.means": public["path.means"]}
        if not self.rows:
            return kept
        place = (releases - 1) // self.stride
        for name, newest in (("path.totals", total), ("path.means", mean)):
            kept[name] = kept[name].copy()
            kept[name][place] = newest
        return kept

    def root(self, public: State, releases: int, evening: Evening) -> Root | None:
        """What the rows tell about the root of evened gradients, in clips; None if that is too little."""
        if not self.rows:
            return None
        counts = np.minimum(np.arange(1, ceil(releases / self.stride) + 1) * self.stride, releases)
        first = ceil(self.settling / self.stride)
        if len(counts) <= first:
            return None
        samples, noise = self._samples[counts], self._noise(counts)
        sums = public["path.means"][: len(counts)] * counts[:, None]
        points = _steps(sums) / _steps(counts)[:, None]
        evened = np.array([evening.times(point, 0.5) for point in points])
        totals = _steps(public["path.totals"][: len(counts)])
        return root_of_path(evened[first:], _steps(samples)[first:], totals[first:], noise[first:, first:])

    @cached_property
    def _samples(self) -> Floats:
        """The samples up to each release."""
        return np.append(0.0, np.cumsum(self.blocks))

    def _noise(self, counts: Integers) -> Floats:
        """The covariance of one coordinate of what each row adds to the total."""
        covariance = self._covariance[: len(counts), : len(counts)]
        if counts[-1] % self.stride:  # the newest row is not complete
            covariance = self.total.covariance(counts)
        return _steps(_steps(covariance).T)

    @cached_property
    def _covariance(self) -> Floats:
        """Of the totals of all rows that are complete."""
        return self.total.covariance(np.arange(1, len(self.blocks) // self.stride + 1) * self.stride)


def _steps(prefixes: Floats) -> Floats:
    """What each row adds to the one before."""
    return np.diff(prefixes, axis=0, prepend=np.zeros_like(prefixes[:1]))
