"""Frank–Wolfe on a stream: a recursive gradient as a running sum, and one corner of the domain per block.

    g_i = ∇f(θ_r; x_i) + (r − 1)·(∇f(θ_r; x_i) − ∇f(θ_{r−1}; x_i))     each sample i of block r, clipped
    d_r = (1/rB)·Σ g_i
    v_r = argmin over C of ⟨d_r, v⟩
    θ_{r+1} = θ_r + (v_r − θ_r)/(r + 1)

g_i is clipped as a whole. The sum telescopes: up to block r it estimates r·B·∇F(θ_r), without bias from older
points. (As printed, x_1 has another weight.) There are two ways to the corner v_r:

    noisy sum   l_p balls with p > 1, boxes: the sum is a noisy running total, and its best corner is taken
    drawn       l₁ balls and simplices, which have few corners: P(corner) ∝ exp(−rate_r·⟨sum, corner⟩), one of
                2d (or d) by the exponential mechanism. The sum is exact and never leaves; without noise in d
                numbers, the loss grows with log d, not with √d. A sample stays in all later sums, so charges
                add up; rates ∝ r^(−1/3) favour the last iterate

Guarantee   docs/guarantees/streaming.md, Theorem 1 (noisy sum) and Theorem 2 (drawn)
Runtime     O(d) per sample in one compiled pass; one noise vector, or one draw in O(d), per block
References  Han et al. (2022), "Optimal Private Streaming SCO in l_p-geometry with Applications in High
            Dimensional Online Decision Making", Algorithm 1, and Algorithm 2 with the exponential mechanism
            for report-noisy-max; Xie et al. (2020), recursive Frank–Wolfe
"""

from dataclasses import dataclass
from functools import cached_property
from math import inf
from typing import Any

import numpy as np

from discreet.arrays import Floats
from discreet.budget.ledger import Spending
from discreet.budget.privacy import Charge
from discreet.errors import ConfigError
from discreet.learners.streaming_learner.gradients import GradientMode
from discreet.learners.streaming_learner.settings import StreamingLearnerSettings
from discreet.learners.totals import RunningTotal
from discreet.release.door import Door
from discreet.release.gathering import Gathering, Rows
from discreet.release.selection import Selection
from discreet.turn.plan import Plan, State
from discreet.turn.questions import Batch, Block

__all__ = ["DrawnCorners", "FrankWolfe", "NoisyCorners"]

LEVELS = 2**20
"""Integer steps up to the clip."""
MOST_DRAWS = 10**5
"""The price of each draw is known in advance, and there is a table of them."""


class FrankWolfe(GradientMode):
    """Coefficients that move towards one corner of the domain per block."""

    @classmethod
    def serves(cls, settings: Any) -> bool:
        return bool(settings.chosen_method == "frank-wolfe")

    def check(self) -> None:
        self.check_grid(self.corners.rows)

    @cached_property
    def corners(self) -> "NoisyCorners | DrawnCorners":
        """The way to the corner that a sum of gradients calls for."""
        return DrawnCorners(self.settings) if self.settings.domain.corners else NoisyCorners(self.settings)

    @cached_property
    def plan(self) -> Plan:
        settings, schedule = self.settings, self.settings.schedule
        facts = {"method": "frank-wolfe", "why": settings.why, "clip": settings.clip}
        return self.corners.plan(facts | {"block": schedule.block, "releases": schedule.releases})

    def start(self) -> tuple[State, State]:
        public, kept = self.corners.start()
        begin = self.settings.domain.start()
        return public | {"coefficients": begin, "before": begin}, kept

    def gatherings(self, public: State) -> dict[str, Gathering]:
        return {"gradient": self.corners.rows}

    def gather(self, public: State, block: Block, batch: Batch) -> None:
        here, before = public["coefficients"], public["before"]
        samples = self.samples(batch)
        self.add_gradients(self.corners.rows, block["gradient"], samples, here, before, float(batch.index))

    def release(
        self, public: State, tally: State, kept: State, block: Block, door: Door
    ) -> tuple[State, State]:
        corner, sums, kept = self.corners.next(public, kept, block, door)
        here = public["coefficients"]
        moved = here + 1 / (door.index + 2) * (corner - here)
        return sums | {"coefficients": moved, "before": here}, kept


@dataclass(frozen=True)
class NoisyCorners:
    """The best corner for a noisy running total of gradients, clipped to l₂ length (pure: l₁)."""

    settings: StreamingLearnerSettings

    @cached_property
    def total(self) -> RunningTotal[Any]:
        settings = self.settings
        rows = Rows(settings.shape, settings.clip, 1 if settings.privacy.pure else 2)
        schedule = settings.schedule
        return RunningTotal("gradient", rows, schedule, settings.privacy, people=schedule.block)

    @property
    def rows(self) -> Rows:
        rows = self.total.gathering
        assert isinstance(rows, Rows)
        return rows

    def plan(self, facts: dict[str, Any]) -> Plan:
        return self.total.plan(facts | {"noise_in_samples": self.total.noise})

    def start(self) -> tuple[State, State]:
        public, kept = self.total.start()
        return self.total.named(public), kept

    def next(self, public: State, kept: State, block: Block, door: Door) -> tuple[Floats, State, State]:
        """The corner, and the public and kept state of the sum."""
        total = self.total.next(self.total.own(public), kept, block, door)
        return self.settings.domain.corner(total.values), self.total.named(total.public), total.kept


@dataclass(frozen=True)
class DrawnCorners:
    """A corner of an l₁ ball or a simplex, drawn by the exponential mechanism on the exact sum."""

    settings: StreamingLearnerSettings

    @cached_property
    def rows(self) -> Rows:
        """Each coordinate is clipped by itself: replacing a sample moves it by twice the clip at most."""
        return Rows((self.settings.domain.dimension,), self.settings.clip, inf, levels=LEVELS)

    def __post_init__(self) -> None:
        schedule = self.settings.schedule
        if schedule.releases > MOST_DRAWS:
            raise ConfigError(f"at most {MOST_DRAWS} draws, got {schedule.releases}: ask for a larger block")
        if schedule.releases * schedule.block * LEVELS > 2**62:
            raise ConfigError(f"{schedule.horizon} samples are too many for exact sums: leave out method")

    @cached_property
    def shares(self) -> Floats:
        """What each draw may cost."""
        budget = self.settings.privacy.budget
        rates = np.arange(1, self.settings.schedule.releases + 1) ** (-1 / 3)
        weights = rates**2 if budget.measure == "zcdp" else rates
        return np.asarray(budget.amount * (1 - 1e-9) * weights / weights.sum(), dtype=np.float64)

    def selection(self, index: int) -> Selection:
        """The exponential mechanism of draw `index`."""
        share = Charge(self.settings.privacy.budget.measure, float(self.shares[index]))
        return Selection.for_budget(share, self.rows, draws=1)

    def charge(self, index: int) -> Charge:
        """What draw `index` costs."""
        return self.selection(index).charge(self.settings.privacy.budget.measure)

    def plan(self, facts: dict[str, Any]) -> Plan:
        schedule, measure = self.settings.schedule, self.settings.privacy.budget.measure
        whole = sum(self.charge(index).amount for index in range(schedule.releases)) * (1 + 1e-12)
        total = Spending(Charge(measure, whole))
        facts = facts | {"first_rate": self.selection(0).rate * LEVELS}
        constants = (self.rows, self.shares)
        return Plan.scheduled(schedule, self.charge, total, facts=facts, constants=constants)

    def start(self) -> tuple[State, State]:
        return {}, {"gradient": self.rows.empty().values}

    def next(self, public: State, kept: State, block: Block, door: Door) -> tuple[Floats, State, State]:
        """The corner, and the public and kept state of the sum."""
        domain = self.settings.domain
        total = self.rows.merge(self.rows.holding(kept["gradient"]), block["gradient"])
        scores = self.rows.opposites(total, both=domain.corners > domain.dimension)
        drawn = door.select(self.selection(door.index), scores)
        return domain.corner_at(drawn), {}, {"gradient": total.values}
