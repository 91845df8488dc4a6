"""The learning phase: the regularised leader on whitened rows, with one ridge per direction.

    θ′_{r+1} = (μb·mean(θ′) − v_r) / (μb + h)        h = s/(αb) + ς·√s        s = var(v_r) / (w · H)

Here v_r is the noisy total of gradients of z = H^(−½)x after b samples, μ and α are shares of the
curvature of the loss, ς is a share of stiffness, and w is the variance of a coefficient that the
domain allows. The first term of h is the Bayesian ridge for each direction (one ridge for all would
shrink the strong direction); the second damps the oscillations that noise in early totals causes.

Guarantee   docs/guarantees/streaming.md, Theorem 3
"""

from dataclasses import dataclass, replace
from functools import cached_property
from math import sqrt

import numpy as np

from discreet.arrays import Floats
from discreet.engine.request import Block
from discreet.engine.statistics import Released
from discreet.learners.streaming_learner.feature_rows import rows_at_once, whitened_rows
from discreet.learners.streaming_learner.sample_answer import Answers
from discreet.learners.streaming_learner.shrunk import learned_part, shrunk
from discreet.learners.streaming_learner.whitened.phase import WhitenedPhase
from discreet.learners.streaming_learner.whitened.public import Public
from discreet.learners.streaming_learner.whitened.tuning import TUNED
from discreet.optim.spiked_covariance import SpikedCovariance
from discreet.release.aggregators import SampleBounds

FAR = 1e100
"""A norm that no whitened row reaches."""


@dataclass(frozen=True)
class Stiffness:
    """The stiffness h, as a function of the second moment of a direction."""

    noise: float
    """The variance of a total, over the variance of a coefficient that the domain allows."""
    actual: float
    """αb, the curvature of all gradients together."""

    def __call__(self, moments: Floats) -> Floats:
        scaled = self.noise / moments
        return np.asarray(scaled / self.actual + TUNED.stiff * np.sqrt(scaled))


class Learning(WhitenedPhase):
    """Phase of a block of samples whose gradients are added to the running total."""

    @property
    def moments(self) -> SpikedCovariance:
        """The second moments H of rows."""
        return self.public.measured.moments

    def gather(self, block: Block, answers: Answers) -> None:
        mode = self.mode
        measured = self.public.measured
        rows = mode.gradient.aggregator
        total = mode.gradient.of(block)
        here = self._whitened_point
        slope = (mode.loss.slope, mode.loss.parameter)
        # Whitened rows are already within the declared bound, and contain the constant.
        bounds = SampleBounds(2.0, FAR, self._target_bound, constant=0.0, worth=1 / measured.clip)
        for piece in answers.samples.dense(rows_at_once(mode.size)):
            whitened = whitened_rows(self.settings, piece.features, measured.moments)
            people = (whitened, piece.targets, piece.shares)
            rows.add_gradients(total, *slope, people, (here, here, 0.0), bounds)

    @cached_property
    def _whitened_point(self) -> Floats:
        """The point of the leader, as coefficients of whitened rows."""
        return self.moments.times(self.public.point, 0.5)

    @property
    def _target_bound(self) -> float:
        """The bound to which targets are clipped."""
        measured = TUNED.target_room * self.public.measured.target
        return float(min(measured, self.settings.target_bound))

    # --- the release ------------------------------------------------------------------------------

    def update(self, released: Released) -> Public:
        mode = self.mode
        public = self.public
        clip = public.measured.clip
        count = self.at.number + 1
        total = released[mode.gradient]
        variance = total.variance * clip**2
        mean = public.mean + (public.point - public.mean) / count
        point = self._leader(total.values * clip, variance, mean)
        weight = mode.newest / (count + mode.newest - 1)
        average = public.average + (point - public.average) * weight
        return replace(
            public,
            coefficients=self._shrunk(average, variance),
            point=point,
            mean=mean,
            average=average,
            path=mode.path.followed(public.path, self.at.number, total.values, public.point),
        )

    @cached_property
    def _samples(self) -> int:
        """The number of samples whose gradients were computed by the end of this block."""
        return self.mode.schedule.end(self.at.index) - sum(self.mode.preparation)

    def _stiffness(self, variance: float) -> Stiffness:
        """Return h for a total with this variance."""
        mode = self.mode
        radius = self.settings.domain.diameter(2.0) / 2
        allowed = radius**2 / mode.size
        return Stiffness(variance / allowed, TUNED.actual * mode.loss.curvature * self._samples)

    def _leader(self, total: Floats, variance: float, mean: Floats) -> Floats:
        """Return the point of the leader with one ridge per direction, moved into the domain."""
        mode = self.mode
        domain = self.settings.domain
        begin = domain.start()
        stiffness = self._stiffness(variance)
        curvature = mode.curved * mode.loss.curvature * self._samples

        def weight(moments: Floats) -> Floats:
            return np.asarray(1 / (curvature + stiffness(moments)))

        target = curvature * self.moments.times(mean - begin, 0.5) - total
        whitened = self.moments.scaled(target, weight)
        unwhitened = self.moments.times(whitened, -0.5)
        moved = self.moments.nearest(unwhitened, domain.diameter(2.0) / 2)
        return domain.project(begin + moved)

    def _shrunk(self, average: Floats, variance: float) -> Floats:
        """Return the average shrunk towards the start; an intercept is unchanged.

        Near the solution a total with noise Z moves whitened coefficients by
        Z / (curvature · samples + h).
        """
        stiffness = self._stiffness(variance)
        curvature = TUNED.shrunk * self.mode.loss.curvature * self._samples

        def sharpness(moments: Floats) -> Floats:
            return np.asarray((curvature + stiffness(moments)) / sqrt(variance))

        learned = learned_part(self.settings, average)
        scaled = self.moments.scaled(self.moments.times(learned, 0.5), sharpness)
        return shrunk(self.settings, average, learned, float(scaled @ scaled))

    # --- standard errors --------------------------------------------------------------------------

    def _errors(self) -> Floats:
        mode = self.mode
        moments = self.moments
        if self.settings.classifies:
            return super()._errors()
        root = mode.path.root(self.public.path, self.at.number, moments)
        if root is None or root.scatter * mode.usual_norm**2 > TUNED.most_clipped:
            return super()._errors()
        unmapped = np.array([moments.times(row, -0.5) for row in np.eye(mode.size)])
        settings = self.settings
        return root.known_errors(
            self.public.coefficients, unmapped, settings.domain, settings.directions
        )
