"""Bandit and clicks, any stream: explore in shuffled cycles, and one running sum of what was found.

Some rounds, evenly spread and fixed in advance, explore: the first slots of the current slate, then an item to be tried (bandit),
or as many items as there are free slots (clicks). What comes back (the reward; the first click) is added to the table at (slot, item).
A block ends when every (slot, item) pair was tried equally often; then the running sum of the table is released and the slate read off it.
All other rounds show the slate and are not read.

Which cell a visitor of an exploring round touches is public (bandit): the sum has sensitivity 1. A click moves one cell down
and one up: √2, l₁ 2. Whether feedback came plays no role: a missing answer counts as zero.

Guarantee   docs/guarantees/sets.md, Theorem 6
Runtime     O(slots) a round, O(slots · items) a release
References  Streeter, Golovin (2008); Perez-Salazar, Cummings (2021), Algorithm 3
"""

from dataclasses import dataclass
from functools import cached_property
from math import ceil, log, sqrt
from typing import Any

import numpy as np

from discreet.learners.sets.mode import Setting, distinct_leaders, restricted, shrunk
from discreet.learners.totals import next_total
from discreet.release.arrays import Integers, Mask
from discreet.release.coins import Coin
from discreet.release.door import Door
from discreet.release.schedule import EqualBlocks
from discreet.release.sums import PrefixSum, Stream, calibrate
from discreet.release.turn import Batch, Plan, State

__all__ = ["Exploration"]


@dataclass(frozen=True)
class Exploration:
    """See the module's docstring."""

    setting: Setting
    clicks: bool
    explore: float | None = None

    @cached_property
    def trials(self) -> Integers:
        """One cycle of exploring rounds: the slot that each of them tries items for."""
        slots, items = self.setting.slots, self.setting.items
        rounds = [ceil(items / (slots - slot)) if self.clicks else items for slot in range(slots)]
        return np.repeat(np.arange(slots), rounds)

    @cached_property
    def share(self) -> float:
        """The share of exploring rounds: as given, or the one with the least bound on what exploring and erring lose."""
        if self.explore is not None:
            return self.explore
        shares: list[float] = np.linspace(0.02, 0.5, 25).tolist()
        return min(shares, key=self._loss)

    def _loss(self, share: float) -> float:
        """A bound on the share of value that is lost, for rewards of variance at most 1/4."""
        setting = self.setting
        tries = max(share * setting.horizon / len(self.trials), 1e-9)
        noise = 2.0 * sqrt(1 / (2 * setting.budget.rho))  # of a running sum with about 20 releases
        return share + setting.slots * sqrt(2 * log(setting.items)) * sqrt(0.25 / tries + (noise / tries) ** 2)

    @cached_property
    def schedule(self) -> EqualBlocks:
        block = min(self.setting.horizon, ceil(self.cycles * len(self.trials) / self.share))
        return EqualBlocks(self.setting.horizon, block, last=False)

    @cached_property
    def cycles(self) -> int:
        """How often a block tries each pair: about 20 releases are enough to follow a stream, and fewer are less noisy."""
        return max(1, round(self.share * self.setting.horizon / len(self.trials) / 20))

    @cached_property
    def sums(self) -> PrefixSum:
        setting = self.setting
        cells = setting.slots * setting.items
        releases = max(1, self.schedule.releases)
        touched = None if self.clicks else 1  # a click chooses its cell; a reward's cell is public
        stream = Stream(releases, cells, 1, nonnegative=True, people=self.schedule.block, touched=touched)
        return calibrate("auto", setting.budget, stream)

    def plan(self) -> Plan:
        releases = self.schedule.releases
        facts: dict[str, Any] = {"expert": "exploration", "block": self.schedule.block, "releases": releases, "explore": self.share}
        facts["noise_in_visitors"] = self.sums.variance(max(1, releases)) ** 0.5 / self.sums.levels
        facts["tries_of_an_item"] = releases * self.cycles
        if self._loss(self.share) >= 1:
            facts["warning"] = "the horizon is too short: exploring and erring may cost as much as there is to gain"
        return Plan(self.schedule, self.sums.charge, self.sums.spent(releases), facts=facts, constants=repr(self.sums))

    def start(self) -> tuple[State, State]:
        shape = (self.setting.slots, self.setting.items)
        public = {"table": np.zeros(shape), "slate": self.setting.first_slate(), "tries": np.zeros(shape, dtype=np.int64)} | self._order(0)
        return public, {"found": np.zeros(shape, dtype=np.int64)}

    def _order(self, index: int) -> State:
        """A shuffled order of the trials and of the items in them, the same for any data."""
        generator = Coin(self.setting.name[:16], 1 + index).generator()
        begin = self.schedule.end(index - 1) if index else 0
        order = np.concatenate([generator.permutation(len(self.trials)) for _ in range(self.cycles)])
        return {"order": order, "items": generator.permutation(self.setting.items), "begin": begin}

    def digest(self, public: State, secret: State, people: Any, batch: Batch) -> State:
        exploring, slots, tried = self._explorations(public, batch.rounds)
        if self.clicks:
            hit = (tried == people[exploring][:, None]).any(axis=1) & (people[exploring] >= 0)
            np.add.at(secret["found"], (slots[hit], people[exploring][hit]), self.sums.levels)
        else:
            shown = tried[:, 0] >= 0
            steps = np.floor(people[exploring] * self.sums.levels + 0.5).astype(np.int64)
            np.add.at(secret["found"], (slots[shown], tried[shown, 0]), steps[shown])
        return secret

    def release(self, public: State, secret: State, door: Door) -> tuple[State, State]:
        found = secret["found"]
        tries = public["tries"] + self._tries(public)
        total, public, secret = next_total(self.sums, public, secret, found, door)
        noise = self.sums.variance(door.index + 1) / self.sums.levels**2
        most = (door.index + 1) * self.cycles
        # Found a try, times the same number of tries for all; a reward or a click has a variance of at most 1/4.
        table = shrunk(total / self.sums.levels / np.maximum(tries, most / 4) * most, noise + most / 5)
        public |= {"table": table, "slate": distinct_leaders(table), "tries": tries} | self._order(door.index + 1)
        return public, secret | {"found": np.zeros_like(found)}

    def _tries(self, public: State) -> Integers:
        """How often this block's schedule tries each (slot, item)."""
        _, slots, tried = self._explorations(public, range(public["begin"], public["begin"] + self.schedule.block))
        rows, shown = np.broadcast_to(slots[:, None], tried.shape), tried >= 0
        cells = rows[shown] * self.setting.items + tried[shown]
        return np.bincount(cells, minlength=self.setting.slots * self.setting.items).reshape(self.setting.slots, -1)

    def decide(self, public: State, round: int, available: Mask | None) -> Integers:
        padded: Integers = self.decide_many(public, [round])[0]
        slate = padded[padded >= 0]
        if available is None:
            return slate
        return restricted(slate, available) if len(slate) == self.setting.slots else slate[available[slate]]

    def decide_many(self, public: State, rounds: range | list[int]) -> Integers:
        """One slate a round; −1 fills slates of exploring rounds that show fewer items."""
        slates = np.tile(public["slate"], (len(rounds), 1))
        exploring, slots, tried = self._explorations(public, rounds)
        for slot in np.unique(slots):
            here = (slots == slot) & (tried >= 0).any(axis=1)  # an item that is shown anyway need not be tried
            width = min(tried.shape[1], self.setting.slots - slot)
            slates[exploring[here], slot:] = -1
            slates[exploring[here][:, None], slot + np.arange(width)] = tried[here, :width]
        return slates

    def _explorations(self, public: State, rounds: range | list[int]) -> tuple[Integers, Integers, Integers]:
        """Which of these rounds explore (their places in the list), for which slot, and the items they try; −1 for none."""
        position = np.asarray(rounds) - public["begin"]
        count, block = self.cycles * len(self.trials), self.schedule.block
        number = position * count // block
        is_exploring = ((position + 1) * count // block > number) & (position < block)
        places = np.flatnonzero(is_exploring)
        trial = public["order"][number[places]]
        slots = self.trials[trial]
        which = trial - np.searchsorted(self.trials, slots)  # the first, second, … trial of that slot
        width = (self.setting.slots - slots) if self.clicks else np.ones_like(slots)
        place = which[:, None] * width[:, None] + np.arange(width.max(initial=1))
        there = (np.arange(width.max(initial=1)) < width[:, None]) & (place < self.setting.items)
        tried = np.where(there, public["items"][np.minimum(place, self.setting.items - 1)], -1)
        for slot in range(1, self.setting.slots):  # what stands before the slot is shown already
            tried[(slots == slot)[:, None] & np.isin(tried, public["slate"][:slot])] = -1
        return places, slots, tried
