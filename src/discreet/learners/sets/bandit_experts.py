"""Bandit, any stream: the papers' ordered experts, redrawn after explorations.

Exploring rounds are sampled in advance with probability γ; each tries one item for one slot, S^{i−1} + a, and adds the reward to copy i at
coordinate a. Explorations come in groups of k, one for each slot; after a group all copies are redrawn, because explorations of them
were scheduled, whether or not feedback came. A visitor touches one public coordinate of one copy: the range of a draw of that copy is
η, the other copies' draws do not depend on it, and R redraws of all copies cost R·η²/8: η = √(8ρ/R) (pure: ε/R).

`block=1` redraws all copies every round (the papers' B.1). `published` has the printed γ and η and redraws all copies after each
exploration, at most 2γT times (Algorithm 3, with the rounds sampled in advance as in B.2).

On the streams of benchmarks/display.py the running sum of discreet/learners/sets/exploration.py keeps more; this is for comparison.

Guarantee   docs/guarantees/sets.md, Theorem 7
Runtime     O(slots) a round, O(items) a redrawn copy
References  Perez-Salazar, Cummings (2021), Algorithm 3, Appendix B
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from discreet.learners.hedge import LEVELS
from discreet.learners.sets.mode import Setting, restricted
from discreet.release.arrays import Floats, Integers, Mask
from discreet.release.calibrations.published import bandit_exploration, bandit_rate
from discreet.release.coins import Coin
from discreet.release.door import Door
from discreet.release.schedule import EqualBlocks, ListedBlocks
from discreet.release.selection import Selection
from discreet.release.turn import Batch, Plan, State

__all__ = ["BanditExperts"]


@dataclass(frozen=True)
class BanditExperts:
    """See the module's docstring."""

    setting: Setting
    explore: float | None = None
    published: tuple[float, float] | None = None

    @cached_property
    def share(self) -> float:
        """γ, the chance that a round explores."""
        if self.published:
            return bandit_exploration(self.setting.items, self.setting.slots, self.setting.horizon)
        return self.explore or 0.3

    @cached_property
    def _sampled(self) -> tuple[Integers, Integers, Integers]:
        """The exploring rounds, and the slot and item of each: public, sampled before anyone comes."""
        setting, generator = self.setting, Coin(self.setting.name[:16], 1).generator()
        rounds = np.flatnonzero(generator.random(setting.horizon) < self.share)
        groups = len(rounds) // setting.slots + 1
        slots = generator.permuted(np.tile(np.arange(setting.slots), (groups, 1)), axis=1)
        orders = np.tile(np.arange(setting.items), (setting.slots, groups // setting.items + 1, 1))
        items = generator.permuted(orders, axis=2).reshape(setting.slots, -1)  # for each slot, shuffled cycles of all items
        number = np.arange(len(rounds))
        slot = slots.reshape(-1)[: len(rounds)]
        return rounds, slot, items[slot, number // setting.slots]

    @cached_property
    def schedule(self) -> EqualBlocks | ListedBlocks:
        if self.setting.block == 1:
            return EqualBlocks(self.setting.horizon, 1, last=False)
        rounds = self._sampled[0]
        if self.published:
            redraws = rounds[: int(2 * self.share * self.setting.horizon)]
        else:
            redraws = rounds[self.setting.slots - 1 :: self.setting.slots]
        redraws = redraws[redraws < self.setting.horizon - 1]  # no decision follows the last round
        return ListedBlocks(self.setting.horizon, tuple(np.diff(redraws + 1, prepend=0).tolist()))

    @cached_property
    def selection(self) -> Selection:
        setting = self.setting
        if self.published:
            rate = bandit_rate(*self.published, setting.slots, setting.horizon, self.share)
            return Selection.at_rate(rate / LEVELS, span=LEVELS)
        return Selection.for_budget(setting.budget, draws=max(1, self.schedule.releases), span=LEVELS)

    def plan(self) -> Plan:
        each = self.selection.charge(self.setting.budget.measure)
        releases, rate = self.schedule.releases, self.selection.rate * LEVELS
        facts: dict[str, Any] = {"expert": "ordered experts", "releases": releases, "explore": self.share, "rate": rate}
        facts["noise_in_visitors"] = 1 / rate
        if self.share >= 1:
            facts["warning"] = "the published exploration exceeds 1: every round explores and nothing is ever earned"
        return Plan(self.schedule, lambda index: each, each * releases, facts=facts, constants=repr(self.selection))

    def start(self) -> tuple[State, State]:
        shape = (self.setting.slots, self.setting.items)
        return {"slate": self.setting.first_slate()}, {"scores": np.zeros(shape, dtype=np.int64)}

    def digest(self, public: State, secret: State, people: Floats, batch: Batch) -> State:
        here, slots, items = self._explorations(batch.rounds)
        steps = np.floor(people[here] * LEVELS + 0.5).astype(np.int64)
        np.add.at(secret["scores"], (slots, items), steps)
        return secret

    def release(self, public: State, secret: State, door: Door) -> tuple[State, State]:
        slate = np.array(door.select_side_by_side(self.selection, list(secret["scores"])))
        _, first = np.unique(slate, return_index=True)
        repeated = np.setdiff1d(np.arange(len(slate)), first)
        slate[repeated] = -1  # copies may agree: an item is shown once
        return {"slate": slate}, secret

    def decide(self, public: State, round: int, available: Mask | None) -> Integers:
        padded: Integers = self.decide_many(public, [round])[0]
        slate = padded[padded >= 0]
        return slate if available is None else restricted(slate, available)

    def decide_many(self, public: State, rounds: range | list[int]) -> Integers:
        """One slate a round; −1 where a slot shows nothing."""
        slates = np.tile(public["slate"], (len(rounds), 1))
        places, slots, items = self._explorations(rounds)
        for slot in np.unique(slots):
            here = slots == slot
            slates[places[here], slot:] = -1
            slates[places[here], slot] = np.where(np.isin(items[here], public["slate"][:slot]), -1, items[here])
        return slates

    def _explorations(self, rounds: range | list[int]) -> tuple[Integers, Integers, Integers]:
        """Which of these rounds explore (their places in the list), and the slot and item of each."""
        sampled, slots, items = self._sampled
        number = np.searchsorted(sampled, np.asarray(rounds))
        explores = np.append(sampled, -1)[number] == np.asarray(rounds)
        return np.flatnonzero(explores), slots[number[explores]], items[number[explores]]
