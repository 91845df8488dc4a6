"""Frank–Wolfe over few corners (the l₁ ball, the simplex): the corner is chosen by the exponential mechanism, without noise in d numbers.

The recursive gradient of discreet/learners/streaming/frank_wolfe.py, clipped in the l_∞ norm, is summed exactly and never leaves; after
each block one of the 2d (or d) corners is drawn with weights e^{−rate · ⟨sum, corner⟩}. What this loses grows with log d, not with √d.

A sample stays in all later sums, so charges add up. `allocation="anytime"` draws with rates ∝ 1/√r on the sum (on the average
gradient: √r), so that every iterate is good; "final" with rates ∝ r^(−1/3), which favours the last one.

Guarantee   docs/guarantees/streaming.md, Theorem 2
Runtime     O(d) a sample, O(d) a draw
References  Han et al. (2022), Algorithm 2, with the exponential mechanism for report-noisy-max
"""

from dataclasses import dataclass
from functools import cached_property
from math import inf
from typing import Any

import numpy as np

from discreet.arrivals.losses import Samples
from discreet.errors import ConfigError
from discreet.learners.streaming.frank_wolfe import towards
from discreet.learners.streaming.mode import Setting, SumOfGradients
from discreet.release.arrays import Floats
from discreet.release.door import Door
from discreet.release.entrance import Entrance
from discreet.release.privacy import Charge
from discreet.release.selection import Selection
from discreet.release.turn import Plan, State

__all__ = ["FrankWolfeCorners"]

LEVELS = 2**20
"""Integer steps up to the clip."""
MOST_DRAWS = 10**5


@dataclass(frozen=True)
class FrankWolfeCorners:
    """See the module's docstring."""

    setting: Setting
    allocation: str = "anytime"

    @cached_property
    def gradients(self) -> SumOfGradients:
        return SumOfGradients(self.setting, Entrance(self.setting.domain.dimension, self.setting.clip, inf, LEVELS))

    @cached_property
    def shares(self) -> Floats:
        """What each draw may cost."""
        power = 1 / 2 if self.allocation == "anytime" else 1 / 3
        rates = np.arange(1, self.setting.schedule.releases + 1) ** -power
        weights = rates**2 if self.setting.budget.measure == "zcdp" else rates
        return np.asarray(self.setting.budget.amount * (1 - 1e-9) * weights / weights.sum(), dtype=np.float64)

    def selection(self, index: int) -> Selection:
        """The exponential mechanism of draw `index`: replacing a sample moves each coordinate of the sum by up to 2·LEVELS, either way."""
        return Selection.for_budget(Charge(self.setting.budget.measure, float(self.shares[index])), draws=1, span=4 * LEVELS)

    def charge(self, index: int) -> Charge:
        return self.selection(index).charge(self.setting.budget.measure)

    def plan(self) -> Plan:
        schedule, measure = self.setting.schedule, self.setting.budget.measure
        if schedule.releases > MOST_DRAWS:
            raise ConfigError(f"at most {MOST_DRAWS} draws, got {schedule.releases}: ask for a larger block")
        if schedule.releases * schedule.block * LEVELS > 2**62:
            raise ConfigError(f"{schedule.horizon} samples are too many for exact sums: use method='leader'")
        total = Charge(measure, sum(self.charge(index).amount for index in range(schedule.releases)) * (1 + 1e-12))
        facts: dict[str, Any] = {"method": "frank-wolfe", "block": schedule.block, "releases": schedule.releases, "clip": self.setting.clip}
        facts["first_rate"] = self.selection(0).rate * LEVELS
        return Plan(schedule, self.charge, total, facts=facts, constants=repr((self.setting.clip, LEVELS, self.allocation)))

    def start(self) -> tuple[State, State]:
        begin = self.setting.domain.start()
        return {"coefficients": begin, "before": begin}, {"sum": np.zeros(self.setting.domain.dimension, dtype=np.int64)}

    def digest(self, public: State, secret: State, samples: Samples, index: int) -> State:
        self.gradients.add(samples, public["coefficients"], public["before"], float(index), secret["sum"])
        return secret

    def release(self, public: State, secret: State, door: Door) -> tuple[State, State]:
        domain, total = self.setting.domain, secret["sum"]
        scores = -total if domain.corners == len(total) else np.concatenate([-total, total])
        drawn = door.select(self.selection(door.index), scores)
        return towards(domain.corner_at(drawn), public, self.setting.pace, door.index), secret
