"""Bandit: scheduled trials of the chain's sets, and one running total of what they cost.

Only the cost of the set that was played comes back. Some rounds, fixed in advance, are trials: they play B_0,
…, B_n of the current chain in shuffled cycles, each equally often. A trial of B_i with cost c adds +c to the
total of item π(i) and −c to that of π(i+1): over a cycle that is a subgradient of the extension, f(B_i) −
f(B_{i−1}) for π(i). All other rounds play the leader's set and are not read, but for a `report`: that reads
everyone's cost.

Which two totals a trial moves is public, and each by the same cost: sensitivity 2√2·M (l₁: 4M), whatever n
and the share of trials. (The one-point estimate of the paper weighs costs by 2/probability and throws a coin
for one of the two items: 4M(n+1)/γ for estimates that are (n+1)/γ times as large, a factor √2 more, and it
varies more.) A trial that a mask changes is not read.

`stream="drifting"`: blocks of equal length, one trial somewhere in each of equal stretches. `stream="iid"`:
growing blocks with the same number of trials, so that most of them come early.

Guarantee   docs/guarantees/costs.md, Theorem 2, Lemma 5
Runtime     O(1) a round, O(n log n) a release
References  Hazan, Kale (2012), "Online Submodular Minimization"
            Cardoso, Cummings (2019), "Differentially Private Online Submodular Minimization"
"""

from bisect import bisect_right
from functools import cached_property
from math import ceil, sqrt
from typing import Any

import numpy as np

from discreet.arrays import Integers, Mask
from discreet.arrivals.feedback import as_numbers
from discreet.decide.extensions import chain
from discreet.decide.leader import Leader
from discreet.errors import ConfigError
from discreet.learners.earnings import Earnings
from discreet.learners.set_minimizer.mode import CubeMode
from discreet.learners.totals import RunningTotal
from discreet.learners.trial_schedule import Trials as Tried
from discreet.learners.trial_schedule import TrialSchedule, check_trials
from discreet.release.door import Door
from discreet.release.gathering import Gathering, PublicCells
from discreet.turn.coins import Coin, Coins
from discreet.turn.plan import Plan, State
from discreet.turn.problem import Asked, Batch, Block
from discreet.turn.schedule import EqualBlocks, ListedBlocks

__all__ = ["Trials"]

RELEASES = 30
"""On a stream that may change: enough to follow it, and few are less noisy (benchmarks/minimize.py)."""
GROWTH = 1.4
"""How much longer each block of an i.i.d. stream is than the one before."""


class Trials(CubeMode):
    """Sets from a running total of scheduled trials; for the cost of the chosen set alone."""

    _newest: tuple[int, TrialSchedule] | None = None

    @classmethod
    def serves(cls, settings: Any) -> bool:
        return bool(settings.feedback == "bandit")  # whatever is not for pairs

    def check(self) -> None:
        settings = self.settings
        if settings.expert == "pairs":
            raise ConfigError(f"pairs of {settings.items} items are too many: use expert='chains'")
        if settings.block != "auto" or settings.clip != "auto" or settings.regulariser != "adaptive":
            raise ConfigError("block, clip and regulariser are for feedback='full': leave them as they are")
        if settings.functions is not None:
            raise ConfigError("bandit feedback is a number: leave function")
        check_trials(self.cycles * self.sets)

    # --- the schedule -------------------------------------------------------------------------------------

    @property
    def iid(self) -> bool:
        """Whether visitors are taken to be alike over time."""
        return self.settings.stream == "iid"

    @property
    def sets(self) -> int:
        """How many sets a chain has."""
        return self.settings.items + 1

    @cached_property
    def share(self) -> float:
        """The share of rounds that are trials: as given, or the one with the least estimated loss."""
        if self.iid:
            return self.cycles * self.sets * self.schedule.releases / self.settings.rounds
        if self.settings.explore != "auto":
            return self.settings.explore
        shares: list[float] = np.linspace(0.01, 0.5, 50).tolist()
        return min(shares, key=self._loss)

    def _loss(self, share: float) -> float:
        """What trials and errors cost a round, in units of the bound, for costs of variance ¼."""
        tries = max(share * self.settings.rounds / self.sets, 1e-9)
        return share + self.settings.items * sqrt(0.5 * tries + 4 * self._noise**2) / tries

    @cached_property
    def _noise(self) -> float:
        """About the standard deviation of a total after some ten releases, in units of the bound."""
        return self._total(EqualBlocks(10), people=1).noise

    def _total(self, schedule: EqualBlocks | ListedBlocks, people: int) -> RunningTotal:
        """A running total of what trials cost, at what the report leaves of the budget."""
        share = 1 - self.settings.report
        return RunningTotal("costs", self.costs_wanted, schedule, self.settings.privacy, people, share=share)

    @property
    def costs_wanted(self) -> PublicCells:
        """A cost between −bound and bound, at two items of the chain."""
        bound = self.settings.bound
        return PublicCells((self.settings.items,), -bound, bound, copies=min(2, self.settings.items))

    @cached_property
    def cycles(self) -> int:
        """How often a block tries each set."""
        rounds, explore = self.settings.rounds, self.settings.explore
        if not self.iid:
            return max(1, round(self.share * rounds / self.sets / RELEASES))
        if explore == "auto":  # ten times the noise, but an eighth of all rounds at most (measured)
            wanted_cycles = round(max(30.0, 10 * self._noise))
            return max(1, min(wanted_cycles, rounds // (8 * self.sets)))
        wanted = explore * rounds / self.sets
        counts = range(1, max(2, int(wanted)))
        return max(1, bisect_right(counts, wanted, key=lambda cycles: cycles * len(self._growing(cycles))))

    def _growing(self, cycles: int) -> tuple[int, ...]:
        """The blocks of an i.i.d. stream: the first is all trials."""
        lengths: list[int] = []
        length = float(cycles * self.sets)
        while sum(lengths) + length < self.settings.rounds:
            lengths.append(int(length))
            length *= GROWTH
        return tuple(lengths)

    @cached_property
    def schedule(self) -> EqualBlocks | ListedBlocks:
        rounds = self.settings.rounds
        if self.iid:
            return ListedBlocks(rounds, self._growing(self.cycles))
        return EqualBlocks(rounds, min(rounds, ceil(self.cycles * self.sets / self.share)), last=False)

    @cached_property
    def costs(self) -> RunningTotal:
        return self._total(self.schedule, people=self.cycles * self.sets)

    @cached_property
    def earnings(self) -> Earnings | None:
        report = self.settings.report
        return Earnings.beside(self.costs, report, self.units, self.settings.rounds) if report else None

    @cached_property
    def leader(self) -> Leader:
        return Leader(self.cube)

    @cached_property
    def plan(self) -> Plan:
        releases = self.schedule.releases
        facts: dict[str, Any] = {
            "expert": "trials",
            "releases": releases,
            "explore": self.share,
            "tries_of_a_set": releases * self.cycles,
            "noise_in_visitors": self.costs.noise,
            "block": self.schedule.end(0) if releases else self.settings.rounds,
        }
        if not releases or self._loss(self.share) >= 1:
            facts["warning"] = (
                "the horizon is too short: trials and errors may cost as much as there is to gain"
            )
        return self.costs.plan(facts) if self.earnings is None else self.earnings.plan(self.costs, facts)

    # --- the hooks ----------------------------------------------------------------------------------------

    def start(self) -> tuple[State, State]:
        public, kept = self.costs.start()
        public |= self.leader.start() | {"variance": 0.0, "index": 0, "begin": 0}
        if self.earnings is None:
            return public, kept
        earned, kept_too = self.earnings.start()
        return public | earned, kept | kept_too

    def gatherings(self, public: State) -> dict[str, Gathering]:
        found: dict[str, Gathering] = {"costs": self.costs.gathering}
        if self.earnings is None or public["index"] >= self.schedule.releases:
            return found
        return found | {"earned": self.earnings.gathering(public["index"])}

    def gather(self, public: State, block: Block, batch: Batch) -> None:
        numbers = as_numbers(batch)
        if self.earnings is not None:
            self.earnings.add(block, numbers)
        tried = self._tried(public, batch.rounds)
        if not len(tried.places):
            return
        order, items = chain(public["point"]), self.settings.items
        places, sizes = self._played(tried, batch.asked, order, len(batch))
        # B_i: plus for the item that completes it, minus for the one that would come next; −1 for none.
        complete = np.where(sizes > 0, order[np.maximum(sizes - 1, 0)], -1)
        coming = np.where(sizes < items, order[np.minimum(sizes, items - 1)], -1)
        costs = self.costs.gathering
        assert isinstance(costs, PublicCells)
        if items == 1:  # with one item only one of the two is there
            cells = np.maximum(complete, coming)[:, None]
            signs = np.where(sizes > 0, 1, -1)[:, None]
        else:
            cells = np.stack([complete, coming], axis=1)
            signs = np.broadcast_to(np.array([1, -1]), cells.shape)
        costs.add(block["costs"], cells, numbers[places], signs)

    def release(
        self, public: State, tally: State, kept: State, block: Block, door: Door
    ) -> tuple[State, State]:
        total = self.costs.next(public, kept, block, door)
        memory = self.leader.follow(
            public, total.values, variance=total.variance, step_variance=total.step_variance
        )
        end = self.schedule.end(door.index)
        place = {"variance": total.variance, "index": door.index + 1, "begin": end}
        if self.earnings is None:
            return total.public | memory | place, total.kept
        rounds = end - public["begin"]
        public, kept = self.earnings.next(public, kept, block, door, end=end, rounds=rounds)
        return public | total.public | memory | place, kept | total.kept

    def sizes(self, public: State, rounds: Integers, coins: Coins) -> Integers:
        sizes = super().sizes(public, rounds, coins)
        tried = self._tried(public, rounds)
        sizes[tried.places] = tried.kinds
        return sizes

    # --- trials -------------------------------------------------------------------------------------------

    def _tried(self, public: State, rounds: Integers) -> Tried:
        """Which of these rounds are trials, and of which of the chain's sets; after the last release none."""
        index = public["index"]
        if index >= self.schedule.releases:
            return Tried(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))
        if self._newest is None or self._newest[0] != index:
            length = self.schedule.end(index) - public["begin"]
            key = Coin(self.name, 1 + index).generator().bytes(16)
            self._newest = index, TrialSchedule(self.sets, self.cycles, length, key)
        return self._newest[1].among(rounds - public["begin"])

    def _played(self, tried: Tried, asked: Asked, order: Integers, count: int) -> tuple[Integers, Integers]:
        """The trials whose whole set was available: others cost something else."""
        if asked.available is None:
            return tried.places, tried.kinds
        masks: Mask = np.broadcast_to(asked.available, (count, self.settings.items))[tried.places][:, order]
        missing = np.cumsum(~masks, axis=1)  # of the first, the first two, … items of the chain
        missing_of_set = missing[np.arange(len(masks)), np.maximum(tried.kinds - 1, 0)]
        whole = (tried.kinds == 0) | (missing_of_set == 0)
        return tried.places[whole], tried.kinds[whole]
