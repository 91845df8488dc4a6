"""The Frank–Wolfe mode: a recursive gradient as a running sum, and one corner per block.

    g_i = ∇f(θ_r; x_i) + (r − 1)·(∇f(θ_r; x_i) − ∇f(θ_{r−1}; x_i))     sample i of block r, clipped
    d_r = (1/rB)·Σ g_i
    v_r = argmin over C of ⟨d_r, v⟩
    θ_{r+1} = θ_r + (v_r − θ_r)/(r + 1)

g_i is clipped as a whole. The sum telescopes: up to block r it estimates r·B·∇F(θ_r), without bias
from older points. (The paper prints another weight for x_1.) There are two ways to choose the
corner v_r:

    noisy sum   l_p balls with p > 1, and boxes: the best corner for a noisy running total
    drawn       l₁ balls and simplices, which have 2d or d corners: the exponential mechanism draws
                one of them with P(corner) ∝ exp(−rate_r·⟨sum, corner⟩). The exact sum stays hidden.
                Without noise in d numbers, the loss grows with log d, not with √d. A sample stays
                in all later sums, so charges add up; rates ∝ r^(−1/3) favour the last iterate.

Guarantee   docs/guarantees/streaming.md, Theorem 1 (noisy sum) and Theorem 2 (drawn)
Runtime     O(d) per sample in one compiled pass; one noise vector, or one draw in O(d), per block
References  Han et al. (2022), "Optimal Private Streaming SCO in l_p-geometry with Applications in
            High Dimensional Online Decision Making", Algorithm 1, and Algorithm 2 with the
            exponential mechanism for report-noisy-max; Xie et al. (2020), recursive Frank–Wolfe
"""

from dataclasses import dataclass
from functools import cached_property
from math import inf

import numpy as np

from discreet.arrays import Floats
from discreet.budget.privacy import Charge
from discreet.engine.phases import Scheduled
from discreet.engine.plan import State
from discreet.engine.request import Block
from discreet.engine.statistics import Occasion, Released, RunningTotal, Statistic
from discreet.errors import ConfigError
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
from discreet.release.aggregators import Aggregate, Rows
from discreet.release.door import Door
from discreet.release.selection import Selection

GRADIENT = "gradient"
"""The name of the aggregate of gradients in a block."""
LEVELS = 2**20
"""The number of integer steps from 0 to the clip."""
MOST_DRAWS = 10**5
"""The largest number of draws: the plan has a table of their charges."""
GRID = 2.0**30
"""The number of steps from 0 to the weight of the first draw."""


@dataclass(frozen=True, eq=False)
class Public:
    """Public state of the Frank–Wolfe mode."""

    coefficients: Floats
    before: Floats
    """The coefficients before the newest release."""


class FrankWolfePhase(CoefficientsPhase[Public]):
    """Phase of a block of samples whose gradients determine the next corner."""

    mode: "FrankWolfe"

    def gather(self, block: Block, answers: Answers) -> None:
        gradient = self.mode.corners.gradient
        total = gradient.of(block)
        self.mode.gradients.add(gradient.aggregator, total, answers.samples, self._points)

    @cached_property
    def _points(self) -> Points:
        """The points of the recursive gradient."""
        return Points(self.public.coefficients, self.public.before, float(self.at.index))

    def update(self, released: Released) -> Public:
        corner = self.mode.corners.corner(released)
        here = self.public.coefficients
        return Public(here + 1 / (self.at.index + 2) * (corner - here), here)


class FrankWolfe(GradientMode):
    """Mode whose coefficients move towards one corner of the domain per block."""

    def check(self) -> None:
        check_grid(self.corners.gradient.aggregator)

    @cached_property
    def corners(self) -> "NoisyCorners | DrawnCorners":
        """The rule that chooses the corner: drawn if the domain has few corners, else noisy."""
        if self.settings.domain.corners:
            return DrawnCorners(self.settings)
        return NoisyCorners(self.settings)

    @cached_property
    def gradients(self) -> Gradients:
        """The gradients of the loss."""
        return gradients_of(self.settings)

    @cached_property
    def phases(self) -> Scheduled:
        schedule = self.settings.schedule
        return Scheduled.one(FrankWolfePhase, schedule, self.corners.gradient)

    @property
    def facts(self) -> dict[str, object]:
        settings = self.settings
        schedule = settings.schedule
        facts: dict[str, object] = {
            "method": "frank-wolfe",
            "why": settings.why,
            "clip": settings.clip,
            "block": schedule.block,
            "releases": schedule.releases,
        }
        return facts | self.corners.facts

    @property
    def first(self) -> Public:
        begin = self.settings.domain.start()
        return Public(begin, begin)


# --- rules that choose a corner -------------------------------------------------------------------


@dataclass(frozen=True)
class NoisyCorners:
    """Rule that takes the best corner for a noisy running total of gradients."""

    settings: StreamingLearnerSettings

    @cached_property
    def gradient(self) -> RunningTotal[Rows]:
        """The noisy total of gradients."""
        return gradient_total(self.settings)

    @property
    def facts(self) -> dict[str, object]:
        """The noise of the total."""
        return {"noise_in_samples": self.gradient.noise}

    def corner(self, released: Released) -> Floats:
        """Return the next corner."""
        return self.settings.domain.corner(released[self.gradient].values)


@dataclass(frozen=True)
class DrawnCorners:
    """Rule that draws a corner by the exponential mechanism on the exact sum."""

    settings: StreamingLearnerSettings

    @cached_property
    def gradient(self) -> "ExactTotal":
        """The exact total of gradients, which stays hidden."""
        return ExactTotal(self.settings)

    @property
    def facts(self) -> dict[str, object]:
        """The rate of the first draw."""
        return {"first_rate": self.gradient.selection(0).rate * LEVELS}

    def corner(self, released: Released) -> Floats:
        """Return the next corner, which the door has drawn."""
        return self.settings.domain.corner_at(released[self.gradient])


@dataclass(frozen=True)
class ExactTotal(Statistic[Rows, int]):
    """The exact running total of gradients: hidden, but for the corner that each release draws."""

    settings: StreamingLearnerSettings

    name = GRADIENT

    @cached_property
    def aggregator(self) -> Rows:
        """The aggregator of gradients.

        It clips each coordinate separately: replacing a sample moves it by at most twice the clip.
        """
        return Rows((self.settings.domain.dimension,), self.settings.clip, inf, levels=LEVELS)

    def __post_init__(self) -> None:
        schedule = self.settings.schedule
        if schedule.releases > MOST_DRAWS:
            raise ConfigError(
                f"at most {MOST_DRAWS} draws, got {schedule.releases}: ask for a larger block"
            )
        if schedule.releases * schedule.block * LEVELS > 2**62:
            raise ConfigError(
                f"{schedule.horizon} samples are too many for exact sums: leave out method"
            )

    @cached_property
    def shares(self) -> Floats:
        """The amount of the budget that each draw may spend."""
        budget = self.settings.privacy.budget
        rates = np.arange(1, self.settings.schedule.releases + 1) ** (-1 / 3)
        weights = rates**2 if budget.measure == "zcdp" else rates
        # On a grid powers and their sum are the same on every processor, as the calibration is.
        weights = np.rint(weights * GRID) / GRID
        amounts = budget.amount * (1 - 1e-9) * weights / weights.sum()
        return np.asarray(amounts, dtype=np.float64)

    def selection(self, index: int) -> Selection:
        """Return the exponential mechanism of draw `index`."""
        share = Charge(self.settings.privacy.budget.measure, float(self.shares[index]))
        return Selection.for_budget(share, self.aggregator, draws=1)

    def charge(self, index: int) -> Charge:
        """Return the charge of draw `index`."""
        return self.selection(index).charge(self.settings.privacy.budget.measure)

    @property
    def spent(self) -> Charge:
        measure = self.settings.privacy.budget.measure
        releases = range(self.settings.schedule.releases)
        return Charge(measure, sum(self.charge(index).amount for index in releases) * (1 + 1e-12))

    @property
    def constants(self) -> tuple[object, ...]:
        return self.aggregator, self.shares

    def start(self) -> tuple[State, State]:
        return {}, {"total": self.aggregator.empty().values}

    def release(
        self, at: Occasion, public: State, hidden: State, aggregate: Aggregate, door: Door
    ) -> tuple[int, State, State]:
        """Return the number of the corner that the door draws."""
        domain = self.settings.domain
        rows = self.aggregator
        total = rows.merge(rows.holding(hidden["total"]), aggregate)
        scores = rows.opposites(total, both=domain.corners > domain.dimension)
        return door.select(self.selection(at.number), scores), {}, {"total": total.values}
