"""Full information, any stream: one running total of all gains, and the leaders of the noisy table.

A visitor's gains of all n items on top of each prefix of the slate, k·n numbers, are scaled to length at most
1 (l₂; l₁ for the pure guarantee) and added up. The running total of the whole table is released after each
block: one mechanism, sensitivity √2, no factor k or √(kn). The slate is read off the noisy table, slot by
slot: post-processing. The short length weighs visitors more evenly.

Guarantee   docs/guarantees/sets.md, Theorem 1
Runtime     O(k·n) a visitor in one compiled pass; memory O(k·n)
References  Streeter, Golovin (2008); Perez-Salazar, Cummings (2021), Algorithm 2 with another expert
"""

from functools import cached_property
from math import ceil, sqrt
from typing import Any

import numpy as np

from discreet.arrays import Integers, Mask
from discreet.arrivals.set_functions import ClickModel
from discreet.learners.set_maximizer.mode import ConstantSlate
from discreet.learners.set_maximizer.slates import distinct_leaders
from discreet.learners.totals import RunningTotal
from discreet.release.door import Door
from discreet.release.gathering import Gathering, Rows
from discreet.turn.plan import Plan, State
from discreet.turn.problem import Batch, Block, Scores
from discreet.turn.schedule import EqualBlocks

__all__ = ["SumExpert"]


class SumExpert(ConstantSlate):
    """Slates from a running total of everyone's gains; the default for whole preferences and δ > 0."""

    @classmethod
    def serves(cls, settings: Any) -> bool:
        wanted = settings.expert == "sum" or (settings.expert == "auto" and settings.delta > 0)
        return bool(settings.feedback == "full" and settings.stream == "any" and wanted)

    @cached_property
    def gains(self) -> RunningTotal:
        settings = self.settings
        # The first block is lost, and every release adds noise: √T balances the two, as measured in
        # benchmarks/display.py.
        block = ceil(sqrt(settings.rounds)) if settings.block == "auto" else settings.block
        schedule = EqualBlocks(settings.rounds, block, last=False)
        norm = 1 if settings.privacy.pure else 2
        rows = Rows((settings.slots, settings.items), norm=norm, nonnegative=True)
        return RunningTotal("gains", rows, schedule, settings.privacy, people=schedule.block)

    @cached_property
    def plan(self) -> Plan:
        facts = {"expert": "sum", "block": self.gains.schedule.end(0), "releases": self.gains.releases}
        return self.gains.plan(facts | {"noise_in_visitors": self.gains.noise})

    def start(self) -> tuple[State, State]:
        public, kept = self.gains.start()
        table = np.zeros((self.settings.slots, self.settings.items))
        return public | {"table": table, "slate": self.first_slate(), "variance": 0.0}, kept

    def gatherings(self, public: State) -> dict[str, Gathering]:
        return {"gains": self.gains.gathering}

    def gather(self, public: State, block: Block, batch: Batch) -> None:
        rows = self.gains.gathering
        assert isinstance(rows, Rows)
        people, slate = self.people(batch), public["slate"]
        if isinstance(self.settings.functions, ClickModel) and rows.norm == 2 and rows.is_fine:
            rows.add_through("add_click_gains", block["gains"], len(people), people, slate)
            return
        for gains in self.gains_along(people, slate):
            rows.add(block["gains"], gains)

    def release(
        self, public: State, tally: State, kept: State, block: Block, door: Door
    ) -> tuple[State, State]:
        total = self.gains.next(public, kept, block, door)
        table = {"table": total.values, "slate": distinct_leaders(total.values), "variance": total.variance}
        return total.public | table, total.kept

    def restricted(self, public: State, available: Mask) -> Integers:
        if not public["table"].any():
            return super().restricted(public, available)
        slate = distinct_leaders(public["table"], available)
        return np.pad(slate, (0, self.settings.slots - len(slate)), constant_values=-1)

    def scores(self, public: State, index: int, context: Any) -> Scores:
        table = public["table"]
        return Scores(table.copy(), np.full(table.shape, sqrt(public["variance"])))
