"""The leader mode: follow the regularised leader on one noisy total of clipped gradients.

    convex             θ_{r+1} = argmin over C of ⟨v_r, θ⟩ + h·ψ(θ)
    strongly convex    θ_{r+1} = Proj_C((c·mean(θ_1 … θ_r) + h·start − v_r) / (c + h))

v_r is the noisy total of all gradients, h the stiffness of discreet/optim/leader.py and
c = curvature · samples. The first line is dual averaging in the geometry of the domain. The second
minimises

    ⟨v_r, θ⟩ + (h/2)‖θ − start‖² + (curvature/2)·Σ‖θ − θ_i‖²        (the sum over samples)

so each gradient is linearised at the point where it was computed.

The average of the points with weights ∝ r is released: later points count more, and averaging
removes most of the noise. Where noise explains its distance from the start, the average is shrunk
towards the start (discreet/optim/shrinkage.py).

Guarantee   docs/guarantees/streaming.md, Theorem 1
Runtime     O(d) per sample in one compiled pass; one noise vector per block
References  Kairouz et al. (2021), "Practical and Private (Deep) Learning without Sampling or
            Shuffling"; Guha Thakurta, Smith (2013); Shamir, Zhang (2013), averaging
"""

from dataclasses import dataclass
from functools import cached_property
from math import inf, sqrt

from discreet.arrays import Floats
from discreet.engine.phases import Scheduled
from discreet.engine.request import Block
from discreet.engine.statistics import Released, RunningTotal
from discreet.learners.streaming_learner.clipped_gradients import (
    Gradients,
    Points,
    check_grid,
    gradient_total,
    gradients_of,
)
from discreet.learners.streaming_learner.mode import CoefficientsPhase, GradientMode
from discreet.learners.streaming_learner.sample_answer import Answers
from discreet.learners.streaming_learner.settings import StreamingLearnerSettings
from discreet.learners.streaming_learner.shrunk import learned_part, shrunk
from discreet.optim.leader import Leader, LeaderMemory
from discreet.release.aggregators import Rows


@dataclass(frozen=True)
class Tuning:
    """The tuned constants of this mode.

    A benchmark in brackets runs the kind of cells on which the value was chosen. The run that chose
    `curved` is not recorded; benchmarks/ways.py measures this mode, and shows the effect of a
    change.
    """

    curved: float = 1 / 16
    """Assumed curvature, as a share of `largest_curvature`. Too large a value stops learning where
    features vary little; too small a value leaves the work to the regulariser."""
    shrunk: float = 2.0
    """The curvature from which the noise of coefficients is computed, in units of
    `largest_curvature` (benchmarks/ways.py)."""
    shrunk_many: float = 0.8
    """`shrunk` for more than `few` coefficients, unless the domain is an l₁ ball or a simplex
    (benchmarks/ways.py)."""
    few: int = 5
    """Up to this number of coefficients the threshold of shrinkage is so high that good estimates
    would shrink too (benchmarks/ways.py)."""
    usual_target: float = 0.3
    """The typical size of a target, as a share of its bound (benchmarks/ways.py)."""


TUNED = Tuning()


@dataclass(frozen=True, eq=False)
class Public:
    """Public state of the leader mode."""

    coefficients: Floats
    """The average after shrinkage: the decision of every round."""
    average: Floats
    """The average of all points, with weights ∝ r."""
    mean: Floats
    """The mean of the points at which gradients were computed."""
    memory: LeaderMemory


class LeaderPhase(CoefficientsPhase[Public]):
    """Phase of a block of samples whose gradients are computed at the point of the leader."""

    mode: "GradientLeader"

    def gather(self, block: Block, answers: Answers) -> None:
        mode = self.mode
        total = mode.gradient.of(block)
        mode.gradients.add(mode.gradient.aggregator, total, answers.samples, self._points)

    @cached_property
    def _points(self) -> Points:
        """The point at which gradients are computed."""
        return Points.at(self.public.memory.point)

    def update(self, released: Released) -> Public:
        mode = self.mode
        public = self.public
        count = self.at.index + 1
        samples = self.settings.schedule.end(self.at.index)
        total = released[mode.gradient]
        mean = public.mean + (public.memory.point - public.mean) / count
        memory = mode.leader.follow_curved(
            public.memory,
            total.values.reshape(-1),
            mean=mean,
            curvature=mode.curvature * samples,
            variance=total.variance,
            step_variance=total.step_variance,
        )
        average = public.average + (memory.point - public.average) * (2 / (count + 1))
        published = mode.shrunk(average, total.variance, samples, memory.steps.stiffness)
        return Public(published, average, mean, memory)


class GradientLeader(GradientMode):
    """Mode that publishes the regularised leader on a noisy total of gradients; the default."""

    def check(self) -> None:
        check_grid(self.gradient.aggregator)

    @cached_property
    def gradient(self) -> RunningTotal[Rows]:
        """The noisy total of gradients."""
        return gradient_total(self.settings)

    @cached_property
    def gradients(self) -> Gradients:
        """The gradients of the loss."""
        return gradients_of(self.settings)

    @cached_property
    def leader(self) -> Leader:
        """The regularised leader over the domain."""
        return Leader(self.settings.domain)

    @cached_property
    def curvature(self) -> float:
        """The assumed curvature of the loss of one sample; 0 if it is treated as linear."""
        if self.settings.domain.dual == inf:
            return 0.0
        return largest_curvature(self.settings) * TUNED.curved

    @cached_property
    def phases(self) -> Scheduled:
        return Scheduled.one(LeaderPhase, self.gradient.schedule, self.gradient)

    @property
    def facts(self) -> dict[str, object]:
        settings = self.settings
        schedule = settings.schedule
        return {
            "method": "leader",
            "curvature": self.curvature,
            "why": settings.why,
            "clip": settings.clip,
            "block": schedule.block,
            "releases": schedule.releases,
            "noise_in_samples": self.gradient.noise,
        }

    @property
    def first(self) -> Public:
        begin = self.settings.domain.start()
        return Public(begin, begin, begin, self.leader.start())

    # --- shrinkage --------------------------------------------------------------------------------

    def shrunk(self, average: Floats, variance: float, samples: int, stiffness: float) -> Floats:
        """Return the average shrunk towards the start; intercepts are unchanged.

        Nothing is measured in this mode, so the noise is computed from the largest curvature that
        rows within their bound can have, which gives a lower bound. Where rows are shorter, the
        average is shrunk less than it should be.
        """
        settings = self.settings
        if not settings.loss.curvature:  # a callable loss: its noise is unknown
            return average
        learned = learned_part(settings, average)
        steepness = self._steepness(samples, stiffness)
        squared = float(learned @ learned) * steepness**2 / variance
        return shrunk(settings, average, learned, squared)

    def _steepness(self, samples: int, stiffness: float) -> float:
        """Return the ratio of the noise of a total to the noise of coefficients."""
        settings = self.settings
        is_cornered = settings.domain.corners > 0
        are_many = settings.features * settings.classes > TUNED.few
        share = TUNED.shrunk_many if are_many and not is_cornered else TUNED.shrunk
        steepness = share * largest_curvature(settings) * samples
        if is_cornered:  # there the stiffness refers to another norm
            return steepness * min(1.0, settings.clip / self._usual_gradient)
        return steepness + stiffness

    @property
    def _usual_gradient(self) -> float:
        """The norm of a gradient of a row whose entries are uniform up to the bound.

        It is the norm in which gradients are clipped: l₂, or l₁ for a pure guarantee.
        """
        settings = self.settings
        width = settings.domain.dimension
        row = settings.feature_bound * (width / 2 if settings.privacy.pure else sqrt(width / 3))
        residual = 1.0 if settings.classifies else TUNED.usual_target * settings.target_bound
        return float(settings.loss.curvature * residual * row)


def largest_curvature(settings: StreamingLearnerSettings) -> float:
    """Return the curvature of the expected loss for isotropic features of the largest norm."""
    dimension = settings.domain.dimension
    squared_length = settings.feature_bound**2 * dimension ** (1 - 2 / settings.domain.dual)
    return float(settings.loss.curvature * squared_length / dimension)
