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
from discreet.budget.ledger import Spending
from discreet.budget.privacy import Charge
from discreet.engine.coins import Coins
from discreet.engine.flat_state import of_flat
from discreet.engine.plan import Plan, State
from discreet.engine.request import Block
from discreet.errors import ConfigError
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
from discreet.release.aggregators import Aggregator, Rows
from discreet.release.door import Door
from discreet.release.selection import Selection

GRADIENT = "gradient"
"""The name of the aggregate of gradients in a block."""
LEVELS = 2**20
"""The number of integer steps from 0 to the clip."""
MOST_DRAWS = 10**5
"""The largest number of draws: the plan has a table of their charges."""


@dataclass(frozen=True, eq=False)
class Public:
    """Public state of the Frank–Wolfe mode."""

    coefficients: Floats
    before: Floats
    """The coefficients before the newest release."""
    sums: State
    """The running total of gradients; empty where corners are drawn."""


class FrankWolfeView(CoefficientsView[Public]):
    """View of a block of samples whose gradients determine the next corner."""

    problem: "FrankWolfe"

    def aggregators(self) -> dict[str, Aggregator]:
        return {GRADIENT: self.problem.corners.rows}

    def gather(self, block: Block, answers: Answers) -> None:
        rows = self.problem.corners.rows
        self.problem.gradients.add(rows, block[GRADIENT], answers.samples, self._points)

    @cached_property
    def _points(self) -> Points:
        """The points of the recursive gradient."""
        return Points(self.public.coefficients, self.public.before, float(self.index))

    def release(
        self, mask_counts: State, hidden: State, block: Block, door: Door
    ) -> tuple[Public, State]:
        step = self.problem.corners.next(self.public.sums, hidden, block, door)
        here = self.public.coefficients
        moved = here + 1 / (self.index + 2) * (step.corner - here)
        return Public(moved, here, step.sums), step.hidden


class FrankWolfe(GradientMode):
    """Mode whose coefficients move towards one corner of the domain per block."""

    @classmethod
    def serves(cls, settings: StreamingLearnerSettings) -> bool:
        return settings.chosen_method == "frank-wolfe"

    def check(self) -> None:
        check_grid(self.corners.rows)

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
    def plan(self) -> Plan:
        settings = self.settings
        schedule = settings.schedule
        return self.corners.plan(
            {
                "method": "frank-wolfe",
                "why": settings.why,
                "clip": settings.clip,
                "block": schedule.block,
                "releases": schedule.releases,
            }
        )

    def start(self) -> tuple[Public, State]:
        sums, hidden = self.corners.start()
        begin = self.settings.domain.start()
        return Public(begin, begin, sums), hidden

    def view(self, public: State, index: int, begin: int, coins: Coins) -> FrankWolfeView:
        return FrankWolfeView(self, of_flat(Public, public), index, begin, coins)


# --- rules that choose a corner -------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class NextCorner:
    """A corner of the domain, and the state of the sum that determined it."""

    corner: Floats
    sums: State
    hidden: State


@dataclass(frozen=True)
class NoisyCorners:
    """Rule that takes the best corner for a noisy running total of gradients."""

    settings: StreamingLearnerSettings

    @cached_property
    def total(self) -> RunningTotal[Rows]:
        """The noisy total of gradients."""
        return gradient_total(self.settings)

    @property
    def rows(self) -> Rows:
        """The aggregator of gradients."""
        return self.total.aggregator

    def plan(self, facts: dict[str, object]) -> Plan:
        """Return the plan, with these facts and the noise."""
        return self.total.plan(facts | {"noise_in_samples": self.total.noise})

    def start(self) -> tuple[State, State]:
        """Return the public and the hidden state of the sum before the first block."""
        return self.total.start()

    def next(self, sums: State, hidden: State, block: Block, door: Door) -> NextCorner:
        """Return the next corner, from a total that the door releases."""
        total = self.total.next(sums, hidden, block, door)
        return NextCorner(self.settings.domain.corner(total.values), total.public, total.hidden)


@dataclass(frozen=True)
class DrawnCorners:
    """Rule that draws a corner by the exponential mechanism on the exact sum."""

    settings: StreamingLearnerSettings

    @cached_property
    def rows(self) -> Rows:
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
        amounts = budget.amount * (1 - 1e-9) * weights / weights.sum()
        return np.asarray(amounts, dtype=np.float64)

    def selection(self, index: int) -> Selection:
        """Return the exponential mechanism of draw `index`."""
        share = Charge(self.settings.privacy.budget.measure, float(self.shares[index]))
        return Selection.for_budget(share, self.rows, draws=1)

    def charge(self, index: int) -> Charge:
        """Return the charge of draw `index`."""
        return self.selection(index).charge(self.settings.privacy.budget.measure)

    def plan(self, facts: dict[str, object]) -> Plan:
        """Return the plan, with these facts and the rate of the first draw."""
        schedule = self.settings.schedule
        measure = self.settings.privacy.budget.measure
        whole = sum(self.charge(index).amount for index in range(schedule.releases)) * (1 + 1e-12)
        return Plan.scheduled(
            schedule,
            self.charge,
            Spending(Charge(measure, whole)),
            facts=facts | {"first_rate": self.selection(0).rate * LEVELS},
            constants=(self.rows, self.shares),
        )

    def start(self) -> tuple[State, State]:
        """Return the public and the hidden state of the sum before the first block."""
        return {}, {GRADIENT: self.rows.empty().values}

    def next(self, sums: State, hidden: State, block: Block, door: Door) -> NextCorner:
        """Return the next corner, which the door draws; the sum itself stays hidden."""
        domain = self.settings.domain
        total = self.rows.merge(self.rows.holding(hidden[GRADIENT]), block[GRADIENT])
        scores = self.rows.opposites(total, both=domain.corners > domain.dimension)
        drawn = door.select(self.selection(door.index), scores)
        return NextCorner(domain.corner_at(drawn), {}, {GRADIENT: total.values})
