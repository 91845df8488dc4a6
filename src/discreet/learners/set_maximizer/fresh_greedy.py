"""Full information, i.i.d. streams: greedy on fresh data, in doubling blocks.

Blocks double. Each block's slate is chosen from the PREVIOUS block's visitors alone, greedily, by k
exponential mechanisms; so each visitor is in one release only and the whole budget goes into it: k·b²/8 = ρ
(or, pure, k·b = ε, whichever is sharper), whatever the horizon. A visitor whose largest gain exceeds `clip`
is scaled down to it: a span of 2·clip instead of 2. Early blocks, where noise is what hurts, clip at 0.35;
later ones less and less.

At most `held` visitors of a block are held, the first ones; later ones of that block are not used (their
share of the choice would not change it). Value assumes that visitors are alike over time; privacy does not.

Guarantee   docs/guarantees/sets.md, Theorem 3
Runtime     O(k·n) a held visitor and release; memory for 20,000 rows of two-byte numbers, 64 MB at most
"""

from functools import cached_property
from math import ceil, inf
from typing import Any

import numpy as np

from discreet.arrays import Floats
from discreet.budget.privacy import Charge
from discreet.errors import ConfigError
from discreet.learners.set_maximizer.mode import ConstantSlate
from discreet.release.door import Door
from discreet.release.gathering import Gathering, HeldRows, Rows
from discreet.release.selection import Selection
from discreet.turn.plan import Plan, State, paid_by_cohorts
from discreet.turn.problem import Batch, Block
from discreet.turn.schedule import DoublingBlocks

__all__ = ["FreshGreedy"]

MOST_ROWS, MOST_NUMBERS = 20_000, 2**25
"""How many visitors, and how many of their numbers, are held at most."""
LEVELS = 2**20
"""How many integer steps a gain of `clip` has."""


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
        """What a visitor pays in their one release: in the measure that selects more sharply."""
        return max(self.settings.privacy.budgets, key=lambda budget: self._selection(budget).rate)

    @cached_property
    def selection(self) -> Selection:
        """At k draws a release; a score of LEVELS is a gain of `clip`."""
        return self._selection(self.budget)

    def _selection(self, budget: Charge) -> Selection:
        return Selection.for_budget(budget, self.clipped_gains(1.0), draws=self.settings.slots)

    def clipped_gains(self, clip: float) -> Rows:
        """What adds up one gain for each item, from 0 to `clip`."""
        return Rows((self.settings.items,), length=clip, norm=inf, nonnegative=True, levels=LEVELS)

    @cached_property
    def noise(self) -> float:
        """How many visitors' whole gains the noise is worth, if nothing is clipped."""
        return 1 / (self.selection.rate * LEVELS)

    @cached_property
    def schedule(self) -> DoublingBlocks:
        settings = self.settings
        usual = max(1, min(ceil(15 * self.noise), settings.rounds // 8))
        first = usual if settings.block == "auto" else settings.block
        return DoublingBlocks(settings.rounds, first, last=False)

    def clip(self, index: int) -> float:
        """The largest gain that counts, a public number: clipping fades as blocks grow, like noise does."""
        growth = (self.held(index) / (100 * self.noise)) ** 0.3
        return float(min(1.0, 0.35 * max(1.0, growth)))

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
        charge = self.selection.charge(self.budget.measure) * self.settings.slots
        releases = self.schedule.releases
        facts = {
            "expert": "fresh greedy",
            "block": self.schedule.first,
            "releases": releases,
            "noise_in_visitors": self.noise * self.clip(0),
        }
        total = paid_by_cohorts(self.settings.privacy, [charge] * (releases > 0))
        return Plan.scheduled(
            self.schedule,
            lambda index: charge,
            total,
            cohort=lambda index: index,
            facts=facts,
            constants=(self.selection, LEVELS, MOST_ROWS, MOST_NUMBERS),
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
        visitors, held = block["visitors"], block["visitors"].gathering
        assert isinstance(held, HeldRows)
        gains = self.clipped_gains(self.clip(door.index))
        left = np.ones(self.settings.items, dtype=np.bool_)
        slate: list[int] = []
        for _ in range(self.settings.slots):
            scores = held.total(visitors, lambda rows: self._scaled(rows, slate, gains.length), gains)
            slate.append(door.select(self.selection, scores, left))
            left[slate[-1]] = False
        return {"slate": np.array(slate, dtype=np.int64), "index": door.index + 1}, {}

    def _scaled(self, rows: Floats, chosen: list[int], clip: float) -> Floats:
        """Each visitor's gains on top of what is chosen, scaled down to a largest gain of `clip`."""
        covered = self._family.begin(rows)
        for item in chosen:
            covered = self._family.add(rows, covered, item)
        gains = self._family.gains(rows, covered)
        largest = gains.max(axis=1, initial=0.0, keepdims=True)
        shrink = np.minimum(1.0, clip / np.maximum(largest, 1e-300))
        return np.asarray(gains * shrink, dtype=np.float64)
