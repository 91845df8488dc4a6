"""Frank–Wolfe on a stream: a recursive gradient as a running sum, and one corner of the domain per
block.

    g_i = ∇f(θ_r; x_i) + (r − 1)·(∇f(θ_r; x_i) − ∇f(θ_{r−1}; x_i))     each sample i of block r, clipped
    d_r = (1/rB)·Σ g_i
    v_r = argmin over C of ⟨d_r, v⟩
    θ_{r+1} = θ_r + (v_r − θ_r)/(r + 1)

g_i is clipped as a whole. The sum telescopes: up to block r it estimates r·B·∇F(θ_r), without bias
from older points. (As printed, x_1 has another weight.) There are two ways to the corner v_r:

    noisy sum   l_p balls with p > 1, boxes: the sum is a noisy running total, and its best corner is taken
    drawn       l₁ balls and simplices, which have few corners: P(corner) ∝ exp(−rate_r·⟨sum, corner⟩), one of
                2d (or d) by the exponential mechanism. The sum is exact and never leaves; without
                noise in d numbers, the loss grows with log d, not with √d. A sample stays in all
                later sums, so charges add up; rates ∝ r^(−1/3) favour the last iterate

Guarantee   docs/guarantees/streaming.md, Theorem 1 (noisy sum) and Theorem 2 (drawn)
Runtime     O(d) per sample in one compiled pass; one noise vector, or one draw in O(d), per block
References  Han et al. (2022), "Optimal Private Streaming SCO in l_p-geometry with Applications in High
            Dimensional Online Decision Making", Algorithm 1, and Algorithm 2 with the exponential
            mechanism for report-noisy-max; Xie et al. (2020), recursive Frank–Wolfe
"""

from dataclasses import dataclass
from functools import cached_property
from math import inf
from typing import Any

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
"""The name under which blocks gather gradients."""
LEVELS = 2**20
"""Integer steps up to the clip."""
MOST_DRAWS = 10**5
"""The price of each draw is known in advance, and there is a table of them."""


@dataclass(frozen=True, eq=False)
class Public:
    """What releases have produced."""

    coefficients: Floats
    before: Floats
    """The coefficients before the newest release."""
    sums: State
    """The running total of gradients; empty where corners are drawn."""


class FrankWolfeView(CoefficientsView[Public]):
    """A block of samples whose gradients lead to the next corner."""

    problem: "FrankWolfe"

    def aggregators(self) -> dict[str, Aggregator]:
        return {GRADIENT: self.problem.corners.rows}

    def gather(self, block: Block, answers: Answers) -> None:
        rows = self.problem.corners.rows
        self.problem.gradients.add(rows, block[GRADIENT], answers.samples, self._points)

    @cached_property
    def _points(self) -> Points:
        """Where gradients are computed."""
        return Points(self.public.coefficients, self.public.before, float(self.index))

    def release(
        self, mask_counts: State, hidden: State, block: Block, door: Door
    ) -> tuple[Public, State]:
        found = self.problem.corners.next(self.public.sums, hidden, block, door)
        here = self.public.coefficients
        moved = here + 1 / (self.index + 2) * (found.corner - here)
        return Public(moved, here, found.sums), found.hidden


class FrankWolfe(GradientMode):
    """Coefficients that move towards one corner of the domain per block."""

    @classmethod
    def serves(cls, settings: Any) -> bool:
        return bool(settings.chosen_method == "frank-wolfe")

    def check(self) -> None:
        check_grid(self.corners.rows)

    @cached_property
    def corners(self) -> "NoisyCorners | DrawnCorners":
        """How the corner that a sum of gradients calls for is found."""
        if self.settings.domain.corners:
            return DrawnCorners(self.settings)
        return NoisyCorners(self.settings)

    @cached_property
    def gradients(self) -> Gradients:
        """How gradients are computed."""
        return gradients_of(self.settings)

    @cached_property
    def plan(self) -> Plan:
        settings, schedule = self.settings, self.settings.schedule
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


# --- how corners are found ------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class NextCorner:
    """A corner of the domain, and the state of the sum that called for it."""

    corner: Floats
    sums: State
    hidden: State


@dataclass(frozen=True)
class NoisyCorners:
    """The best corner for a noisy running total of gradients."""

    settings: StreamingLearnerSettings

    @cached_property
    def total(self) -> RunningTotal[Rows]:
        """The noisy total of gradients."""
        return gradient_total(self.settings)

    @property
    def rows(self) -> Rows:
        """What a block is aggregated with."""
        return self.total.aggregator

    def plan(self, facts: dict[str, Any]) -> Plan:
        """Return the plan, with these facts and those of the noise."""
        return self.total.plan(facts | {"noise_in_samples": self.total.noise})

    def start(self) -> tuple[State, State]:
        """Return public and kept state of the sum before anyone came."""
        return self.total.start()

    def next(self, sums: State, hidden: State, block: Block, door: Door) -> NextCorner:
        """Return the next corner, through the door."""
        total = self.total.next(sums, hidden, block, door)
        return NextCorner(self.settings.domain.corner(total.values), total.public, total.hidden)


@dataclass(frozen=True)
class DrawnCorners:
    """A corner of an l₁ ball or a simplex, drawn by the exponential mechanism on the exact sum."""

    settings: StreamingLearnerSettings

    @cached_property
    def rows(self) -> Rows:
        """What a block is aggregated with.

        Each coordinate is clipped by itself: replacing a sample moves it by twice the clip at most.
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
        """What each draw may cost."""
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
        """Return what draw `index` costs."""
        return self.selection(index).charge(self.settings.privacy.budget.measure)

    def plan(self, facts: dict[str, Any]) -> Plan:
        """Return the plan, with these facts and the rate of the first draw."""
        schedule, measure = self.settings.schedule, self.settings.privacy.budget.measure
        whole = sum(self.charge(index).amount for index in range(schedule.releases)) * (1 + 1e-12)
        return Plan.scheduled(
            schedule,
            self.charge,
            Spending(Charge(measure, whole)),
            facts=facts | {"first_rate": self.selection(0).rate * LEVELS},
            constants=(self.rows, self.shares),
        )

    def start(self) -> tuple[State, State]:
        """Return public and kept state of the sum before anyone came."""
        return {}, {GRADIENT: self.rows.empty().values}

    def next(self, sums: State, hidden: State, block: Block, door: Door) -> NextCorner:
        """Return the next corner, through the door; the sum itself is never published."""
        domain = self.settings.domain
        total = self.rows.merge(self.rows.holding(hidden[GRADIENT]), block[GRADIENT])
        scores = self.rows.opposites(total, both=domain.corners > domain.dimension)
        drawn = door.select(self.selection(door.index), scores)
        return NextCorner(domain.corner_at(drawn), {}, {GRADIENT: total.values})
