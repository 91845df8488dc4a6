"""Full information, any stream: one running sum of all gains, and the leaders of the noisy table.

A visitor's gains of all n items on top of each prefix of the slate, k·n numbers, are scaled to l₂ length at most `clip` and
added up. The running sum of the whole table is released after each block: one mechanism, sensitivity √2·clip, no factor k or
√(kn). The slate is read off the noisy table, slot by slot: post-processing. A short `clip` weighs visitors more evenly.

Guarantee   docs/guarantees/sets.md, Theorem 1
Runtime     O(k·n) a visitor in one compiled pass; memory O(k·n)
References  Streeter, Golovin (2008); Perez-Salazar, Cummings (2021), Algorithm 2 with another expert
"""

from dataclasses import dataclass
from functools import cached_property
from math import ceil, sqrt
from typing import Any

import numpy as np

from discreet.arrivals.set_functions import ClickModel
from discreet.learners.sets.mode import ConstantSlate, People, Setting, distinct_leaders, gains_along
from discreet.learners.totals import next_total
from discreet.release.arrays import Integers, Mask
from discreet.release.door import Door
from discreet.release.entrance import Entrance
from discreet.release.schedule import EqualBlocks
from discreet.release.sums import PrefixSum, Stream, calibrate
from discreet.release.turn import Batch, Plan, State

__all__ = ["SumExpert"]

MOST_CELLS, MOST_ROWS = 2**26, 2**28
"""Up to here the compiled pass is exact (docs/guarantees/sets.md, Lemma 4)."""
CHUNK = 256
"""How many people's gains are held at once, where no compiled pass exists."""


@dataclass(frozen=True)
class SumExpert(ConstantSlate):
    """See the module's docstring."""

    setting: Setting
    clip: float = 1.0

    @cached_property
    def schedule(self) -> EqualBlocks:
        setting = self.setting
        # The first block is lost, and every release adds noise: √T balances the two (measured: benchmarks/display.py).
        block = ceil(sqrt(setting.horizon)) if setting.block == "auto" else setting.block
        return EqualBlocks(setting.horizon, block, last=False)  # type: ignore[arg-type]

    @cached_property
    def sums(self) -> PrefixSum:
        setting = self.setting
        norm = 2 if setting.budget.measure == "zcdp" else 1
        stream = Stream(max(1, self.schedule.releases), setting.slots * setting.items, norm, nonnegative=True, people=self.schedule.block)
        return calibrate("auto", setting.budget, stream)

    @cached_property
    def entrance(self) -> Entrance:
        norm = 2 if self.setting.budget.measure == "zcdp" else 1
        return Entrance(self.setting.slots * self.setting.items, self.clip, norm, self.sums.levels, nonnegative=True)

    def plan(self) -> Plan:
        releases = self.schedule.releases
        noise = self.sums.variance(max(1, releases)) ** 0.5 * self.entrance.grid
        facts: dict[str, Any] = {"expert": "sum", "block": self.schedule.block, "releases": releases, "noise_in_visitors": noise}
        return Plan(self.schedule, self.sums.charge, self.sums.spent(releases), facts=facts, constants=repr((self.clip, self.sums)))

    def start(self) -> tuple[State, State]:
        shape = (self.setting.slots, self.setting.items)
        return {"table": np.zeros(shape), "slate": self.setting.first_slate()}, {"gains": np.zeros(shape, dtype=np.int64)}

    def digest(self, public: State, secret: State, people: People, batch: Batch) -> State:
        slate, total = public["slate"], secret["gains"]
        room = sqrt(total.size) / 2 + 1  # rounding every entry by ½ makes a vector no longer than this
        fits = self.entrance.levels > 8 * room and total.size <= MOST_CELLS and len(people) <= MOST_ROWS
        if isinstance(self.setting.functions, ClickModel) and self.entrance.norm == 2 and fits:
            from discreet.arrivals import kernels

            rounded = np.zeros(total.shape)
            unit = 1 / self.entrance.grid
            kernels.add_click_gains(people, slate, unit, self.entrance.levels - room, rounded)
            total += rounded.astype(np.int64)
            return secret
        for first in range(0, len(people), CHUNK):
            part = people[first : first + CHUNK]
            stacked = np.stack(list(gains_along(self.setting, part, slate)), axis=1).reshape(len(part), -1)
            self.entrance.add(stacked, total.reshape(-1))
        return secret

    def release(self, public: State, secret: State, door: Door) -> tuple[State, State]:
        gains = secret["gains"]
        total, public, secret = next_total(self.sums, public, secret, gains, door)
        table = total * self.entrance.grid
        return public | {"table": table, "slate": distinct_leaders(table)}, secret | {"gains": np.zeros_like(gains)}

    def decide(self, public: State, round: int, available: Mask | None) -> Integers:
        if available is None or not public["table"].any():
            return super().decide(public, round, available)
        return distinct_leaders(public["table"], available)
