"""Bandit and clicks, i.i.d. streams: slot by slot, a race among candidates, then commit.

Stage by stage, in blocks whose lengths are fixed in advance, the free slots of the slate are filled with candidates in shuffled
cycles, behind the items chosen so far. Each block's visitors are read once: for every candidate, the reward of the slates it was
in (bandit), or how often it was the first click (clicks), summed and released with noise. The best third races on, then the
best one takes the next slot. All eliminations read released numbers only. Since every visitor is in one release, each release has
the whole budget, whatever the number of slots, stages and rounds. Value assumes that visitors are alike over time; privacy does not.

A visitor moves the rewards of the `free` candidates of one public slate by at most 1 each: l₂ √free, l₁ free. A click moves one
count down and one up: l₂ √2, l₁ 2.

Guarantee   docs/guarantees/sets.md, Theorem 5
Runtime     O(slots) a round, O(items) a release
References  Nie et al. (2022), explore-then-commit greedy; Even-Dar, Mannor, Mansour (2006), successive elimination
"""

from dataclasses import dataclass
from functools import cached_property
from math import sqrt
from typing import Any

import numpy as np

from discreet.errors import ConfigError
from discreet.learners.sets.mode import Setting
from discreet.release.arrays import Integers, Mask
from discreet.release.coins import Coin
from discreet.release.door import Door
from discreet.release.noise import Noise, noise_for
from discreet.release.schedule import ListedBlocks
from discreet.release.turn import Batch, Plan, State

__all__ = ["Race"]

MOST_CELLS = 2**17
"""Shuffled orders of the candidates take turns: as many as fit, so that no candidate keeps the same company."""
HEATS = 2
"""How many blocks a slot's race has, from the second slot on."""
CARRIED = 0.3
"""How much of a race's sums the next one starts with: old news of what an item adds, from before the slot was filled."""
MOST_LEVELS = 2**16


@dataclass(frozen=True)
class Race:
    """See the module's docstring."""

    setting: Setting
    clicks: bool
    explore: float | None = None

    @cached_property
    def stages(self) -> list[tuple[int, int, int]]:
        """Slot, heat and length of each exploring block."""
        setting = self.setting
        share = self.explore or (0.25 if self.clicks else 0.12)
        # The first race has all items in it and a quarter of the exploration for itself.
        first = int(share * setting.horizon / 4) if setting.slots > 1 else int(share * setting.horizon)
        later = int(share * setting.horizon * 3 / 4 / max(1, setting.slots - 1) / HEATS)
        stages = [(0, 0, max(1, first))] + [(slot, heat, max(1, later)) for slot in range(1, setting.slots) for heat in range(HEATS)]
        if sum(length for _, _, length in stages) > setting.horizon:
            raise ConfigError(f"a horizon of {setting.horizon} is too short for {len(stages)} exploring blocks: use fewer slots")
        return stages

    @cached_property
    def schedule(self) -> ListedBlocks:
        return ListedBlocks(self.setting.horizon, tuple(length for _, _, length in self.stages))

    def _noise(self, index: int) -> tuple[int, Noise, float]:
        """Levels, noise and sensitivity of a release."""
        free = self.setting.slots - self.stages[index][0]
        l1, l2 = (2.0, sqrt(2)) if self.clicks else (float(free), sqrt(free))
        levels, noise = noise_for(self.setting.budget, l1, l2, MOST_LEVELS)
        return levels, noise, levels * (l2 if self.setting.budget.measure == "zcdp" else l1)

    def plan(self) -> Plan:
        charges = [noise.charge(sensitivity) for _, noise, sensitivity in map(self._noise, range(len(self.stages)))]
        levels, noise, _ = self._noise(0)
        visitors = noise.variance**0.5 / levels
        shown = self.stages[0][2] * self.setting.slots / self.setting.items
        facts: dict[str, Any] = {"expert": "race", "releases": len(charges), "explore": sum(self.schedule.lengths) / self.setting.horizon}
        facts |= {"noise_in_visitors": visitors, "first_views_of_an_item": shown}
        if 0.1 * shown < visitors:
            facts["warning"] = "the horizon is too short: in the first race noise is larger than what a good item can gain"
        total = max(charges, key=lambda charge: charge.amount)
        constants = repr([self._noise(index) for index in range(len(charges))])
        return Plan(self.schedule, lambda index: charges[index], total, cohort=lambda index: index, facts=facts, constants=constants)

    def start(self) -> tuple[State, State]:
        everything = np.arange(self.setting.items)
        nothing = np.zeros(self.setting.items)
        public = {"chosen": np.empty(0, dtype=np.int64), "order": everything, "sums": nothing, "shown": nothing}
        return public | self._field(everything, 0), {"counts": np.zeros(self.setting.items, dtype=np.int64)}

    def digest(self, public: State, secret: State, people: Any, batch: Batch) -> State:
        if batch.index >= len(self.stages):
            return secret  # committed: nobody is read any more
        candidates = self.decide_many(public, batch.rounds)[:, len(public["chosen"]) :]
        levels, _, _ = self._noise(batch.index)
        if self.clicks:  # one click counts for one candidate, behind the chosen items
            hit = (candidates == people[:, None]).any(axis=1)
            secret["counts"] += levels * np.bincount(people[hit], minlength=self.setting.items)
        else:
            steps = np.floor(people * levels + 0.5)
            rewards = np.bincount(candidates.reshape(-1), np.repeat(steps, candidates.shape[1]), minlength=self.setting.items)
            secret["counts"] += rewards.astype(np.int64)
        return secret

    def release(self, public: State, secret: State, door: Door) -> tuple[State, State]:
        slot, heat, length = self.stages[door.index]
        levels, noise, sensitivity = self._noise(door.index)
        noisy = door.add_noise(noise, secret["counts"], sensitivity=sensitivity) / levels
        block = range(self.schedule.end(door.index) - length, self.schedule.end(door.index))
        views = np.bincount(self.decide_many(public, block)[:, slot:].reshape(-1), minlength=self.setting.items)
        sums, shown = public["sums"] + noisy * (views > 0), public["shown"] + views
        candidates = public["candidates"]
        ranked = candidates[np.argsort(-(sums / np.maximum(shown, 1))[candidates], kind="stable")]
        # Those who race now come first, in their new order; the others keep the places of their last race.
        order = np.concatenate([ranked, public["order"][~np.isin(public["order"], ranked)]])
        chosen = public["chosen"]
        if heat + 1 < HEATS and slot > 0:
            field = ranked[: max(self.setting.slots - slot, len(ranked) // 3)]
        else:
            # The race is over: the best takes the slot; the next race starts from its ranking, and a little of its sums.
            chosen = np.append(chosen, ranked[0])
            field = order[~np.isin(order, chosen)][: self._size(slot + 1)]
            sums, shown = CARRIED * sums, CARRIED * shown
        public = {"chosen": chosen, "order": order, "sums": sums, "shown": shown} | self._field(field, door.index + 1)
        return public, {"counts": np.zeros(self.setting.items, dtype=np.int64)}

    def _size(self, slot: int) -> int:
        """How many candidates race for a slot."""
        free = self.setting.slots - slot
        return max(2 * free, round(3.2 * self.setting.slots * 0.8 ** (slot - 1)))

    def _field(self, candidates: Integers, index: int) -> State:
        """Candidates and their shuffled cycles; public, and the same for any data that led to the same candidates."""
        generator = Coin(self.setting.name[:16], 1 + index).generator()
        orders = max(4, min(1024, MOST_CELLS // max(1, len(candidates))))
        cycles = generator.permuted(np.tile(candidates, (orders, 1)), axis=1)
        begin = self.schedule.end(index - 1) if index else 0
        return {"candidates": candidates, "cycles": cycles, "begin": begin}

    def decide(self, public: State, round: int, available: Mask | None) -> Integers:
        slate: Integers = self.decide_many(public, [round])[0]
        return slate if available is None else slate[available[slate]]

    def decide_many(self, public: State, rounds: range | list[int]) -> Integers:
        chosen, cycles = public["chosen"], public["cycles"]
        free = self.setting.slots - len(chosen)
        fixed = np.broadcast_to(chosen, (len(rounds), len(chosen)))
        if free == 0:
            return fixed
        plays = cycles.shape[1] // free  # of a cycle; what does not fill a slate waits for another order
        position = np.asarray(rounds) - public["begin"]
        first = (position % plays) * free
        drawn = cycles[(position // plays % len(cycles))[:, None], first[:, None] + np.arange(free)]
        return np.concatenate([fixed, drawn], axis=1)
