"""Full information, drifting streams: k ordered copies of private experts.

Copy i learns the gains on top of the items that copies 1 … i−1 chose. After each block all copies are redrawn
by exponential mechanisms with weights e^(η·cumulative gain). A visitor moves each copy's scores by changes in
[−1, 1]: k·R draws at range 2η cost k·R·η²/2 of zCDP, so η = √(2ρ/(kR)). Each copy draws among the items that
are not shown yet.

Guarantee   docs/guarantees/sets.md, Theorem 2
Runtime     O(k·n) a visitor and a release
References  Perez-Salazar, Cummings (2021), Algorithm 2
"""

from functools import cached_property
from math import inf
from typing import Any

import numpy as np

from discreet.budget.ledger import Spending
from discreet.errors import ConfigError
from discreet.learners.set_maximizer.mode import ConstantSlate
from discreet.release.door import Door
from discreet.release.gathering import Gathering, Rows
from discreet.release.selection import Selection
from discreet.turn.plan import Plan, State
from discreet.turn.problem import Batch, Block
from discreet.turn.schedule import EqualBlocks

__all__ = ["HedgeExpert"]

LEVELS = 2**20
"""How many integer steps a gain of 1 has."""


class HedgeExpert(ConstantSlate):
    """Slates drawn by ordered experts."""

    @classmethod
    def serves(cls, settings: Any) -> bool:
        return bool(settings.feedback == "full" and settings.expert == "hedge")

    def check(self) -> None:
        if self.settings.max_items is not None:
            raise ConfigError(
                'max_items needs another expert: those of "hedge" compare what items gained since the start'
            )

    @cached_property
    def schedule(self) -> EqualBlocks:
        settings = self.settings
        # The bound on the regret of any stream asks for many short blocks; on streams that are not out to
        # harm, a hundred long ones learn far more (benchmarks/display.py).
        block = max(1, settings.rounds // 100) if settings.block == "auto" else settings.block
        return EqualBlocks(settings.rounds, block, last=False)

    @cached_property
    def gains(self) -> Rows:
        return Rows((self.settings.slots, self.settings.items), norm=inf, nonnegative=True, levels=LEVELS)

    @cached_property
    def selection(self) -> Selection:
        draws = max(1, self.settings.slots * self.schedule.releases)
        return Selection.for_budget(self.settings.privacy.budget, self.gains, draws=draws)

    @cached_property
    def plan(self) -> Plan:
        charge = self.selection.charge(self.settings.privacy.budget.measure) * self.settings.slots
        releases, rate = self.schedule.releases, self.selection.rate * LEVELS
        facts = {
            "expert": "hedge",
            "block": self.schedule.block,
            "releases": releases,
            "rate": rate,
            "noise_in_visitors": 1 / rate,
        }
        return Plan.scheduled(
            self.schedule,
            lambda index: charge,
            Spending(charge * releases),
            facts=facts,
            constants=(self.gains, self.selection),
        )

    def start(self) -> tuple[State, State]:
        return self.first_catalogue() | {"slate": self.first_slate()}, {"gains": self.gains.empty().values}

    def gatherings(self, public: State) -> dict[str, Gathering]:
        return {"gains": self.gains}

    def gather(self, public: State, block: Block, batch: Batch) -> None:
        for gains in self.gains_along(self.people(batch), public["slate"]):
            self.gains.add(block["gains"], gains)

    def release(
        self, public: State, tally: State, kept: State, block: Block, door: Door
    ) -> tuple[State, State]:
        total = self.gains.merge(self.gains.holding(kept["gains"]), block["gains"])
        catalogue = self.next_catalogue(public)
        left, slate = catalogue["living"].copy(), []
        for slot in range(self.settings.slots):
            slate.append(door.select(self.selection, total.part(slot), left))
            left[slate[-1]] = False
        return catalogue | {"slate": np.array(slate, dtype=np.int64)}, {"gains": total.values}
