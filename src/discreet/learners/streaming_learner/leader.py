"""Follow the regularised leader: one running total of clipped gradients, and its leader.

    convex             θ_{r+1} = argmin over C of ⟨v_r, θ⟩ + h·ψ(θ)
    strongly convex    θ_{r+1} = Proj_C((c·mean(θ_1 … θ_r) + h·start − v_r) / (c + h))

v_r is the noisy total of all gradients, h the stiffness of discreet/optim/leader.py and c =
curvature · samples. The first line is dual averaging in the domain's own geometry. The second
minimises

    ⟨v_r, θ⟩ + (h/2)‖θ − start‖² + (curvature/2)·Σ‖θ − θ_i‖²        (the sum over samples)

so that each gradient keeps the point it was taken at.

What is published is the average of the points with weights ∝ r: later ones count more, and
averaging takes out most of the noise. It is drawn towards the start as far as noise explains it
(discreet/optim/shrinkage.py).

Guarantee   docs/guarantees/streaming.md, Theorem 1
Runtime     O(d) a sample in one compiled pass; one noise vector a block
References  Kairouz et al. (2021), "Practical and Private (Deep) Learning without Sampling or Shuffling"
            Guha Thakurta, Smith (2013); Shamir, Zhang (2013), averaging
"""

from dataclasses import dataclass
from functools import cached_property
from math import inf, sqrt
from typing import Any

from discreet.arrays import Floats
from discreet.engine.coins import Coins
from discreet.engine.flat_state import of_flat
from discreet.engine.plan import Plan, State
from discreet.engine.request import Block
from discreet.learners.running_total import RunningTotal
from discreet.learners.streaming_learner.clipped_gradients import (
    Gradients,
    Points,
    check_grid,
    gradient_total,
    gradients_of,
)
from discreet.learners.streaming_learner.mode import Answers, CoefficientsView, GradientMode
from discreet.learners.streaming_learner.settings import StreamingLearnerSettings
from discreet.learners.streaming_learner.shrunk import learned_part, shrunk
from discreet.optim.leader import Leader, LeaderMemory
from discreet.release.aggregators import Aggregator, Rows
from discreet.release.door import Door


@dataclass(frozen=True)
class Tuning:
    """The tuned constants of this mode.

    A benchmark in brackets runs the kind of cells that the value was chosen on. Which run chose
    `curved` is not recorded: benchmarks/ways.py measures this mode, and shows what a change does.
    """

    curved: float = 1 / 16
    """Guess of the curvature, as a share of `largest_curvature`: too large a guess stops learning
    where features vary little; too small a one leaves the work to the regulariser."""
    shrunk: float = 2.0
    """The curvature that the noise of coefficients is computed with, in units of
    `largest_curvature` (benchmarks/ways.py)."""
    shrunk_many: float = 0.8
    """The same for more than `few` coefficients, where the domain is no l₁ ball or simplex
    (benchmarks/ways.py)."""
    few: int = 5
    """Up to this number of coefficients the threshold of shrinkage is so high that good estimates
    would shrink too (benchmarks/ways.py)."""
    usual_target: float = 0.3
    """The usual size of a target, as a share of its bound (benchmarks/ways.py)."""


TUNED = Tuning()


@dataclass(frozen=True, eq=False)
class Public:
    """What releases have produced."""

    coefficients: Floats
    """The average, shrunk by its noise: what is decided."""
    average: Floats
    """The average of all points, with weights ∝ r."""
    mean: Floats
    """The mean of the points at which gradients were computed."""
    memory: LeaderMemory
    gradient: State
    """The running total of gradients."""


class LeaderView(CoefficientsView[Public]):
    """A block of samples whose gradients are computed at the leader's point."""

    problem: "GradientLeader"

    def aggregators(self) -> dict[str, Aggregator]:
        gradient = self.problem.gradient
        return {gradient.name: gradient.aggregator}

    def gather(self, block: Block, answers: Answers) -> None:
        problem = self.problem
        total = problem.gradient.of(block)
        problem.gradients.add(problem.gradient.aggregator, total, answers.samples, self._points)

    @cached_property
    def _points(self) -> Points:
        """Where gradients are computed."""
        return Points.at(self.public.memory.point)

    def release(
        self, mask_counts: State, hidden: State, block: Block, door: Door
    ) -> tuple[Public, State]:
        problem, public = self.problem, self.public
        count = self.index + 1
        samples = self.settings.schedule.end(self.index)
        total = problem.gradient.next(public.gradient, hidden, block, door)
        mean = public.mean + (public.memory.point - public.mean) / count
        memory = problem.leader.follow_curved(
            public.memory,
            total.values.reshape(-1),
            mean=mean,
            curvature=problem.curvature * samples,
            variance=total.variance,
            step_variance=total.step_variance,
        )
        average = public.average + (memory.point - public.average) * (2 / (count + 1))
        published = problem.shrunk(average, total.variance, samples, memory.steps.stiffness)
        return Public(published, average, mean, memory, total.public), total.hidden


class GradientLeader(GradientMode):
    """Coefficients of the regularised leader on a noisy total of gradients; the default."""

    @classmethod
    def serves(cls, settings: Any) -> bool:
        return bool(settings.chosen_method == "leader")

    def check(self) -> None:
        check_grid(self.gradient.aggregator)

    @cached_property
    def gradient(self) -> RunningTotal[Rows]:
        """The noisy total of gradients."""
        return gradient_total(self.settings)

    @cached_property
    def gradients(self) -> Gradients:
        """How gradients are computed."""
        return gradients_of(self.settings)

    @cached_property
    def leader(self) -> Leader:
        """The regularised leader over the domain."""
        return Leader(self.settings.domain)

    @cached_property
    def curvature(self) -> float:
        """The guessed curvature of the loss of one sample; 0 if it is taken to be linear."""
        if self.settings.domain.dual == inf:
            return 0.0
        return largest_curvature(self.settings) * TUNED.curved

    @cached_property
    def plan(self) -> Plan:
        settings, schedule = self.settings, self.settings.schedule
        return self.gradient.plan(
            {
                "method": "leader",
                "curvature": self.curvature,
                "why": settings.why,
                "clip": settings.clip,
                "block": schedule.block,
                "releases": schedule.releases,
                "noise_in_samples": self.gradient.noise,
            }
        )

    def start(self) -> tuple[Public, State]:
        sums, hidden = self.gradient.start()
        begin = self.settings.domain.start()
        return Public(begin, begin, begin, self.leader.start(), sums), hidden

    def view(self, public: State, index: int, begin: int, coins: Coins) -> LeaderView:
        return LeaderView(self, of_flat(Public, public), index, begin, coins)

    # --- shrinkage --------------------------------------------------------------------------------

    def shrunk(self, average: Floats, variance: float, samples: int, stiffness: float) -> Floats:
        """Return the average, drawn towards the start as far as noise explains it; intercepts stay.

        Nothing was measured, so the noise is computed with the largest curvature that rows within
        their bound can have: it is at least that. Where rows are shorter, the average is shrunk
        less than it should be.
        """
        settings = self.settings
        if not settings.loss.curvature:  # a callable, of whose noise nothing is known
            return average
        learned = learned_part(settings, average)
        steepness = self._steepness(samples, stiffness)
        squared = float(learned @ learned) * steepness**2 / variance
        return shrunk(settings, average, learned, squared)

    def _steepness(self, samples: int, stiffness: float) -> float:
        """Return by what the noise of a total is divided in coefficients."""
        settings = self.settings
        is_cornered = settings.domain.corners > 0
        are_many = settings.features * settings.classes > TUNED.few
        share = TUNED.shrunk_many if are_many and not is_cornered else TUNED.shrunk
        steepness = share * largest_curvature(settings) * samples
        if is_cornered:  # stiffness is of another norm there
            return steepness * min(1.0, settings.clip / self._usual_gradient)
        return steepness + stiffness

    @property
    def _usual_gradient(self) -> float:
        """The norm, as it is clipped, of a gradient of a row with entries spread evenly up to
        the bound.
        """
        settings = self.settings
        width = settings.domain.dimension
        row = settings.feature_bound * (width / 2 if settings.privacy.pure else sqrt(width / 3))
        residual = 1.0 if settings.classifies else TUNED.usual_target * settings.target_bound
        return float(settings.loss.curvature * residual * row)


def largest_curvature(settings: StreamingLearnerSettings) -> float:
    """Return the curvature of the expected loss for features of the largest length, spread
    evenly.
    """
    dimension = settings.domain.dimension
    squared_length = settings.feature_bound**2 * dimension ** (1 - 2 / settings.domain.dual)
    return float(settings.loss.curvature * squared_length / dimension)
