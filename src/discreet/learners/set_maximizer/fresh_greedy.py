"""Full information, i.i.d. streams: greedy on fresh data, in doubling blocks.

Blocks double. Each block's slate is chosen from the PREVIOUS block's visitors alone, greedily, by a sampled
path (discreet/release/sampled.py): each visitor is kept by a secret coin, and items are drawn among those
kept. A visitor's gains along a slate add up to at most 1, so the whole budget goes into every slot; and each
visitor is in one release only, whatever the horizon. The guarantee of this mode is pure.

At most `held` visitors of a block are held, the first ones; later ones of that block are not used (their
share of the choice would not change it). Value assumes that visitors are alike over time; privacy does not.

Guarantee   docs/guarantees/sets.md, Theorem 3
Runtime     O(k·n) a held visitor and release; memory for 20,000 rows of two-byte numbers, 64 MB at most
"""

from functools import cached_property
from math import ceil
from typing import Any

import numpy as np

from discreet.arrays import Mask
from discreet.arrivals.chains import FamilyChain
from discreet.budget.privacy import Charge
from discreet.errors import ConfigError
from discreet.learners.set_maximizer.mode import ConstantSlate
from discreet.release.door import Door
from discreet.release.gathering import Gathering, HeldRows
from discreet.release.gathering.gain_path import GainPath
from discreet.release.sampled import SampledPath
from discreet.turn.plan import Plan, State, paid_by_cohorts
from discreet.turn.problem import Batch, Block
from discreet.turn.schedule import DoublingBlocks

__all__ = ["FreshGreedy"]

MOST_ROWS, MOST_NUMBERS = 20_000, 2**25
"""How many visitors, and how many of their numbers, are held at most."""
LEVELS = 2**16
"""How many integer steps a worth of 1 has."""
FIRST = 8
"""The visitors of the first block, in units of what the noise of a slate is worth."""


class FreshGreedy(ConstantSlate):
    """Slates chosen greedily from the block before; for whole preferences and i.i.d. streams."""

    @classmethod
    def serves(cls, settings: Any) -> bool:
        return bool(settings.feedback == "full" and settings.stream == "iid")

    def check(self) -> None:
        if self.settings.functions is None:
            raise ConfigError(
                "stream='iid' holds visitors as rows: choose a built-in function, "
                "or stream='any' for callables"
            )
        if self.settings.expert != "auto" or self.settings.explore != "auto":
            raise ConfigError(
                "stream='iid' has one way to learn from whole preferences: leave expert and explore"
            )

    @cached_property
    def budget(self) -> Charge:
        """What a visitor pays in their one release: pure, whatever δ is granted."""
        return self.settings.privacy.budgets[0]

    @cached_property
    def paths(self) -> list[SampledPath]:
        """How the slate of each release is drawn."""
        return [self._path(max(1, self.held(index))) for index in range(self.schedule.releases)]

    def _path(self, people: int) -> SampledPath:
        settings = self.settings
        return SampledPath.for_budget(
            self.budget.amount, people=people, steps=settings.slots, candidates=settings.items
        )

    @cached_property
    def noise(self) -> float:
        """How many visitors' whole gains the noise of a draw is worth, in a small block."""
        small = self._path(1)
        return 1 / (small.chance * small.exponent)

    @cached_property
    def schedule(self) -> DoublingBlocks:
        settings = self.settings
        usual = max(1, min(ceil(FIRST * settings.slots * self.noise), settings.rounds // 8))
        first = usual if settings.block == "auto" else settings.block
        return DoublingBlocks(settings.rounds, first, last=False)

    def held(self, index: int) -> int:
        """How many visitors of a block are held."""
        if index >= self.schedule.releases:
            return 0
        begin = self.schedule.end(index - 1) if index else 0
        width: int = self._family.width(self.settings.items)
        return min(MOST_ROWS, max(1, MOST_NUMBERS // width), self.schedule.end(index) - begin)

    @property
    def _family(self) -> Any:
        return self.settings.functions

    @cached_property
    def plan(self) -> Plan:
        releases = self.schedule.releases
        paths = self.paths
        facts = {
            "expert": "fresh greedy",
            "block": self.schedule.first,
            "releases": releases,
            "noise_in_visitors": self.noise,
        }
        return Plan.scheduled(
            self.schedule,
            lambda index: paths[index].charge,
            paid_by_cohorts(self.settings.privacy, [path.charge for path in paths]),
            cohort=lambda index: index,
            facts=facts,
            constants=(*paths, LEVELS, MOST_ROWS, MOST_NUMBERS),
        )

    def start(self) -> tuple[State, State]:
        return {"slate": self.first_slate(), "index": 0}, {}

    def gatherings(self, public: State) -> dict[str, Gathering]:
        return {"visitors": HeldRows((self.held(public["index"]), self._family.width(self.settings.items)))}

    def gather(self, public: State, block: Block, batch: Batch) -> None:
        held = block["visitors"].gathering
        assert isinstance(held, HeldRows)
        people = np.asarray(self.people(batch))
        held.add(block["visitors"], batch.rounds - batch.begin, people)

    def release(
        self, public: State, tally: State, kept: State, block: Block, door: Door
    ) -> tuple[State, State]:
        gains = GainPath(block["visitors"], FamilyChain(self._family), np.ones(self.settings.items), LEVELS)
        slate = door.select_path(self.paths[door.index], gains, self._left)
        return {"slate": np.array(slate, dtype=np.int64), "index": door.index + 1}, {}

    def _left(self, chosen: list[int]) -> Mask:
        """What is not on the slate yet."""
        left = np.ones(self.settings.items, dtype=np.bool_)
        left[chosen] = False
        return left
