"""Bandit: scheduled trials of the chain's sets, and one running sum of what they cost.

Only the cost of the set that was played comes back. Some rounds, fixed in advance, are trials: they play B_0, …, B_n of the
current chain in shuffled cycles, each equally often. A trial of B_i with cost c adds +c to the total of item π(i) and −c to that of
π(i+1): over a cycle that is a subgradient of the extension, f(B_i) − f(B_{i−1}) for π(i). All other rounds play the leader's set
and are not read.

Which two totals a trial moves is public, and each by the same cost: sensitivity 2√2·M, whatever n and the share of trials. (The
one-point estimate of the paper weighs costs by 2/probability and throws a coin for one of the two items: 4M(n+1)/γ for
estimates that are (n+1)/γ times as large, a factor √2 more, and it varies more.)

`stream="any"`: blocks of equal length, one trial somewhere in each of equal stretches. `stream="iid"`: growing blocks with the same
number of trials, so that most of them come early.

Guarantee   docs/guarantees/costs.md, Theorem 2
Runtime     O(log of a block's trials) a round, O(n log n + trials) a release
References  Hazan, Kale (2012); Cardoso, Cummings (2019), "Differentially Private Online Submodular Minimization"
"""

from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from math import ceil, inf, sqrt
from typing import Any

import numpy as np

from discreet.decide.domains import Box
from discreet.decide.extensions import chain
from discreet.decide.leader import Leader
from discreet.errors import ConfigError
from discreet.learners.costs.mode import Setting, drawn_sizes
from discreet.learners.totals import next_total
from discreet.release.arrays import Floats, Integers
from discreet.release.coins import Coin
from discreet.release.door import Door
from discreet.release.schedule import EqualBlocks, ListedBlocks
from discreet.release.sums import PrefixSum, Stream, calibrate
from discreet.release.turn import Batch, Plan, State

__all__ = ["Trials"]

RELEASES = 30
"""On a stream that may change: enough to follow it, and few are less noisy (measured: benchmarks/minimize.py)."""
MOST_TRIALS = 10**7
GROWTH = 1.4
"""How much longer each block of an i.i.d. stream is than the one before."""


@dataclass(frozen=True)
class Trials:
    """See the module's docstring."""

    setting: Setting
    iid: bool
    explore: float | None = None

    @property
    def sets(self) -> int:
        """How many sets a chain has."""
        return self.setting.items + 1

    @cached_property
    def share(self) -> float:
        """The share of rounds that are trials: as given, or the one with the least estimated loss."""
        if self.iid:
            return self.cycles * self.sets * self.schedule.releases / self.setting.horizon
        if self.explore is not None:
            return self.explore
        shares: list[float] = np.linspace(0.01, 0.5, 50).tolist()
        return min(shares, key=self._loss)

    def _loss(self, share: float) -> float:
        """What trials and errors cost a round, in units of the bound, for costs of variance ¼."""
        tries = max(share * self.setting.horizon / self.sets, 1e-9)
        return share + self.setting.items * sqrt(0.5 * tries + 4 * self._noise**2) / tries

    @property
    def _noise(self) -> float:
        """About the standard deviation of a total after some ten releases, in units of the bound."""
        budget, moves = self.setting.budget, self._stream(1, 1)
        if budget.measure == "zcdp":
            return 2 * moves.unit_sensitivity(2) / sqrt(2 * budget.amount)
        return sqrt(2) * 4 * moves.unit_sensitivity(1) / budget.amount

    @cached_property
    def cycles(self) -> int:
        """How often a block tries each set."""
        horizon = self.setting.horizon
        if not self.iid:
            return max(1, round(self.share * horizon / self.sets / RELEASES))
        if self.explore is None:  # ten times the noise, where that is no more than an eighth of all rounds (measured)
            return max(1, min(round(max(30.0, 10 * self._noise)), horizon // (8 * self.sets)))
        counts = range(1, max(2, int(self.explore * horizon / self.sets)))
        wanted = self.explore * horizon / self.sets
        return max(1, bisect_right(counts, wanted, key=lambda cycles: cycles * len(self._growing(cycles))))

    def _growing(self, cycles: int) -> tuple[int, ...]:
        """The blocks of an i.i.d. stream: the first is all trials."""
        lengths: list[int] = []
        length = float(cycles * self.sets)
        while sum(lengths) + length < self.setting.horizon:
            lengths.append(int(length))
            length *= GROWTH
        return tuple(lengths)

    @cached_property
    def schedule(self) -> EqualBlocks | ListedBlocks:
        horizon, trials = self.setting.horizon, self.cycles * self.sets
        if self.iid:
            return ListedBlocks(horizon, self._growing(self.cycles))
        return EqualBlocks(horizon, min(horizon, ceil(trials / self.share)), last=False)

    def _stream(self, releases: int, people: int) -> Stream:
        return Stream(releases, self.setting.items, inf, nonnegative=False, people=people, touched=min(2, self.setting.items))

    @cached_property
    def sums(self) -> PrefixSum:
        return calibrate("auto", self.setting.budget, self._stream(max(1, self.schedule.releases), self.cycles * self.sets))

    @cached_property
    def leader(self) -> Leader:
        return Leader(Box(self.setting.items, 0.0, 1.0))

    def plan(self) -> Plan:
        if self.cycles * self.sets > MOST_TRIALS:
            raise ConfigError(
                f"at most {MOST_TRIALS:,} trials a block, got {self.cycles * self.sets:,}: explore less, or shorten the horizon"
            )
        releases = self.schedule.releases
        facts: dict[str, Any] = {"expert": "trials", "releases": releases, "explore": self.share, "tries_of_a_set": releases * self.cycles}
        facts["block"] = self.schedule.end(0) if releases else self.setting.horizon
        facts["noise_in_visitors"] = self.sums.variance(max(1, releases)) ** 0.5 / self.sums.levels
        if not releases or self._loss(self.share) >= 1:
            facts["warning"] = "the horizon is too short: trials and errors may cost as much as there is to gain"
        return Plan(self.schedule, self.sums.charge, self.sums.spent(releases), facts=facts, constants=repr((self.cycles, self.sums)))

    def start(self) -> tuple[State, State]:
        return self.leader.start() | self._next_block(0), {"costs": np.zeros(self.setting.items, dtype=np.int64)}

    def _next_block(self, index: int) -> State:
        """Which rounds of a block are trials, and of which sets: one round in each of equal stretches, the same for any data.

        After the last release nothing is tried.
        """
        if index == self.schedule.releases:
            return {"trials": np.zeros(0, dtype=np.int64), "tried": np.zeros(0, dtype=np.int64)}
        generator = Coin(self.setting.name[:16], index).generator()
        tried = generator.permuted(np.tile(np.arange(self.sets), (self.cycles, 1)), axis=1).reshape(-1)
        begin, end = self.schedule.end(index - 1) if index else 0, self.schedule.end(index)
        whole, rest = divmod(end - begin, len(tried))
        numbers = np.arange(len(tried) + 1)
        stretches = begin + numbers * whole + numbers * rest // len(tried)
        lengths = np.diff(stretches)
        rounds = stretches[:-1] + (generator.random(len(tried)) * lengths).astype(np.int64)
        return {"trials": rounds[lengths > 0], "tried": tried[lengths > 0]}

    def digest(self, public: State, secret: State, people: Floats, batch: Batch) -> State:
        order, (places, tried) = chain(public["point"]), self._trials(public, batch.rounds)
        costs = np.floor(people[places] / self.setting.bound * self.sums.levels + 0.5).astype(np.int64)
        added, next_one = tried > 0, tried < self.setting.items
        np.add.at(secret["costs"], order[tried[added] - 1], costs[added])
        np.subtract.at(secret["costs"], order[tried[next_one]], costs[next_one])
        return secret

    def release(self, public: State, secret: State, door: Door) -> tuple[State, State]:
        costs = secret["costs"]
        total, public_sum, secret_sum = next_total(self.sums, public, secret, costs, door)
        count, unit = door.index + 1, self.sums.levels**-2.0
        variances = {"variance": self.sums.variance(count) * unit, "step_variance": self.sums.step_variance(count) * unit}
        memory = self.leader.follow(public, total / self.sums.levels, **variances)
        return memory | public_sum | self._next_block(count), secret_sum | {"costs": np.zeros_like(costs)}

    def sizes(self, public: State, rounds: range | list[int], coin_key: bytes) -> tuple[Integers, Integers]:
        order, sizes = drawn_sizes(public["point"], rounds, coin_key)
        places, tried = self._trials(public, rounds)
        sizes[places] = tried
        return order, sizes

    def _trials(self, public: State, rounds: range | list[int]) -> tuple[Integers, Integers]:
        """Which of these rounds are trials (their places in the list), and of which of the chain's sets."""
        asked, trials = np.asarray(rounds, dtype=np.int64), public["trials"]
        number = np.searchsorted(trials, asked)
        places = np.flatnonzero(np.append(trials, -1)[number] == asked)
        return places, public["tried"][number[places]]
