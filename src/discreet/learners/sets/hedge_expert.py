"""Full information, any stream: k ordered copies of private experts.

Copy i learns the gains on top of the items that copies 1 … i−1 chose. After each block all copies are redrawn by exponential
mechanisms with weights e^(η·cumulative gain). A visitor moves each copy's scores by changes in [−1, 1]: k·R draws at range 2η
cost k·R·η²/2 of zCDP, so η = √(2ρ/(kR)). Each copy draws among the items that are not shown yet.

With `published=True`: η = ε/(k√(32 T ln(k/δ))), a draw every round, copies may repeat each other, as printed.

Guarantee   docs/guarantees/sets.md, Theorem 2
Runtime     O(k·n) a visitor and a release
References  Perez-Salazar, Cummings (2021), Algorithm 2
"""

from dataclasses import dataclass
from functools import cached_property
from math import inf

import numpy as np

from discreet.learners.hedge import LEVELS
from discreet.learners.sets.mode import ConstantSlate, People, Setting, gains_along
from discreet.release.calibrations.published import sets_rate
from discreet.release.door import Door
from discreet.release.entrance import Entrance
from discreet.release.schedule import EqualBlocks
from discreet.release.selection import Selection
from discreet.release.turn import Batch, Plan, State

__all__ = ["HedgeExpert"]

CHUNK = 256


@dataclass(frozen=True)
class HedgeExpert(ConstantSlate):
    """See the module's docstring."""

    setting: Setting
    published: tuple[float, float] | None = None
    """(ε, δ) if the paper's own rate is wanted."""

    @cached_property
    def schedule(self) -> EqualBlocks:
        setting = self.setting
        if self.published and setting.block == "auto":
            return EqualBlocks(setting.horizon, 1, last=False)
        # The bound on the regret of any stream asks for many short blocks; on streams that are not out to harm, a hundred long
        # ones learn far more (benchmarks/display.py).
        block = max(1, setting.horizon // 100) if setting.block == "auto" else setting.block
        return EqualBlocks(setting.horizon, block, last=False)  # type: ignore[arg-type]

    @cached_property
    def selection(self) -> Selection:
        setting, span = self.setting, 2 * LEVELS
        if self.published:
            return Selection.at_rate(sets_rate(*self.published, setting.slots, setting.horizon) / LEVELS, span)
        return Selection.for_budget(setting.budget, draws=max(1, setting.slots * self.schedule.releases), span=span)

    def plan(self) -> Plan:
        charge = self.selection.charge(self.setting.budget.measure) * self.setting.slots
        releases = self.schedule.releases
        rate = self.selection.rate * LEVELS
        facts = {"expert": "hedge", "block": self.schedule.block, "releases": releases, "rate": rate, "noise_in_visitors": 1 / rate}
        return Plan(self.schedule, lambda index: charge, charge * releases, facts=facts, constants=repr(self.selection))

    def start(self) -> tuple[State, State]:
        return {"slate": self.setting.first_slate()}, {"scores": np.zeros((self.setting.slots, self.setting.items), dtype=np.int64)}

    def digest(self, public: State, secret: State, people: People, batch: Batch) -> State:
        entrance = Entrance(self.setting.items, 1.0, inf, LEVELS, nonnegative=True)
        for first in range(0, len(people), CHUNK):
            for slot, gains in enumerate(gains_along(self.setting, people[first : first + CHUNK], public["slate"])):
                entrance.add(gains, secret["scores"][slot])
        return secret

    def release(self, public: State, secret: State, door: Door) -> tuple[State, State]:
        left = np.ones(self.setting.items, dtype=np.bool_)
        slate = []
        for scores in secret["scores"]:
            slate.append(door.select(self.selection, scores, left))
            if not self.published:
                left[slate[-1]] = False
        return {"slate": np.array(slate, dtype=np.int64)}, secret
