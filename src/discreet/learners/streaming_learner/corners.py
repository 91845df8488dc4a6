"""Frank–Wolfe over few corners (the l₁ ball, the simplex), drawn by the exponential mechanism.

    P(corner) ∝ exp(−rate · ⟨sum, corner⟩)        one of 2d (or d) corners, after each block

The sum is that of the recursive gradients of frank_wolfe.py, clipped in the l_∞ norm; it is exact and never
leaves. Without noise in d numbers, what is lost grows with log d, not with √d.

A sample stays in all later sums, so charges add up. `allocation="anytime"` draws with rates ∝ 1/√r on the sum
(on the average gradient: √r), so that every iterate is good; "final" with rates ∝ r^(−1/3), which favours the
last one.

Guarantee   docs/guarantees/streaming.md, Theorem 2
Runtime     O(d) a sample, O(d) a draw
References  Han et al. (2022), Algorithm 2, with the exponential mechanism for report-noisy-max
"""

from functools import cached_property
from math import inf
from typing import Any

import numpy as np

from discreet.arrays import Floats
from discreet.budget.ledger import Spending
from discreet.budget.privacy import Charge
from discreet.errors import ConfigError
from discreet.learners.streaming_learner.frank_wolfe import towards
from discreet.learners.streaming_learner.gradients import GradientMode
from discreet.release.door import Door
from discreet.release.gathering import Gathering, Rows
from discreet.release.selection import Selection
from discreet.turn.plan import Plan, State
from discreet.turn.problem import Batch, Block

__all__ = ["FrankWolfeCorners"]

LEVELS = 2**20
"""Integer steps up to the clip."""
MOST_DRAWS = 10**5
"""The price of each is known in advance, and there is a table of them."""


class FrankWolfeCorners(GradientMode):
    """Coefficients that move towards one drawn corner a block."""

    @classmethod
    def serves(cls, settings: Any) -> bool:
        return settings.chosen_method == "frank-wolfe" and bool(settings.domain.corners)

    def check(self) -> None:
        if not self.settings.domain.corners:
            raise ConfigError("corners are drawn of an l₁ ball or a simplex: use method='leader'")
        schedule = self.settings.schedule
        if schedule.releases > MOST_DRAWS:
            raise ConfigError(f"at most {MOST_DRAWS} draws, got {schedule.releases}: ask for a larger block")
        if schedule.releases * schedule.block * LEVELS > 2**62:
            raise ConfigError(f"{schedule.horizon} samples are too many for exact sums: use method='leader'")

    @cached_property
    def gradient(self) -> Rows:
        """Each coordinate clipped by itself: replacing a sample moves it by twice the clip at most."""
        return Rows((self.settings.domain.dimension,), self.settings.clip, inf, levels=LEVELS)

    @cached_property
    def shares(self) -> Floats:
        """What each draw may cost."""
        power = 1 / 2 if self.settings.allocation == "anytime" else 1 / 3
        budget = self.settings.privacy.budget
        rates = np.arange(1, self.settings.schedule.releases + 1) ** -power
        weights = rates**2 if budget.measure == "zcdp" else rates
        return np.asarray(budget.amount * (1 - 1e-9) * weights / weights.sum(), dtype=np.float64)

    def selection(self, index: int) -> Selection:
        """The exponential mechanism of draw `index`."""
        share = Charge(self.settings.privacy.budget.measure, float(self.shares[index]))
        return Selection.for_budget(share, self.gradient, draws=1)

    def charge(self, index: int) -> Charge:
        """What draw `index` costs."""
        return self.selection(index).charge(self.settings.privacy.budget.measure)

    @cached_property
    def plan(self) -> Plan:
        schedule, measure = self.settings.schedule, self.settings.privacy.budget.measure
        whole = sum(self.charge(index).amount for index in range(schedule.releases)) * (1 + 1e-12)
        facts: dict[str, Any] = {
            "method": "frank-wolfe",
            "why": self.settings.why,
            "block": schedule.block,
            "releases": schedule.releases,
            "clip": self.settings.clip,
            "first_rate": self.selection(0).rate * LEVELS,
        }
        total = Spending(Charge(measure, whole))
        constants = (self.gradient, self.shares)
        return Plan.scheduled(schedule, self.charge, total, facts=facts, constants=constants)

    def start(self) -> tuple[State, State]:
        begin = self.settings.domain.start()
        return {"coefficients": begin, "before": begin}, {"gradient": self.gradient.empty().values}

    def gatherings(self, public: State) -> dict[str, Gathering]:
        return {"gradient": self.gradient}

    def gather(self, public: State, block: Block, batch: Batch) -> None:
        here, before = public["coefficients"], public["before"]
        samples = self.samples(batch)
        self.add_gradients(self.gradient, block["gradient"], samples, here, before, float(batch.index))

    def release(
        self, public: State, tally: State, kept: State, block: Block, door: Door
    ) -> tuple[State, State]:
        domain = self.settings.domain
        total = self.gradient.merge(self.gradient.holding(kept["gradient"]), block["gradient"])
        scores = self.gradient.opposites(total, both=domain.corners > domain.dimension)
        drawn = door.select(self.selection(door.index), scores)
        moved = towards(domain.corner_at(drawn), public, self.settings.pace, door.index)
        return moved, {"gradient": total.values}
