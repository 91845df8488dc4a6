"""A minimal problem: counts of yes and no votes, and of shops that a public event has closed."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.engine.coins import Coins
from discreet.engine.flat_state import of_flat
from discreet.engine.plan import Plan, State, paid_by_cohorts
from discreet.engine.problem import Problem
from discreet.engine.request import Batch, Block, Request
from discreet.engine.schedule import EqualBlocks
from discreet.engine.settings import Settings
from discreet.engine.view import View
from discreet.learners.one_release import OneRelease
from discreet.release.aggregators import Aggregator
from discreet.release.aggregators.one_choice import OneChoice
from discreet.release.door import Door
from discreet.release.noise import CalibratedNoise


@dataclass(frozen=True, kw_only=True)
class CountingSettings(Settings):
    """Settings with the number of people per release."""

    block: int = 3


@dataclass(frozen=True, eq=False)
class Public:
    """Noisy counts of votes, and the number of closed shops."""

    counts: Floats
    closed: int


class CountingView(View[Public]):
    """A block of votes."""

    problem: "Counting"

    def aggregators(self) -> dict[str, Aggregator]:
        return {"votes": self.problem.votes.aggregator}

    def read(self, batch: Batch) -> Integers:
        votes = [batch.feedback] if batch.single else batch.feedback
        return np.array(votes, dtype=np.int64)

    def gather(self, block: Block, answers: Integers) -> None:
        votes = self.problem.votes
        votes.aggregator.add(votes.of(block), answers)

    def release(
        self, mask_counts: State, hidden: State, block: Block, door: Door
    ) -> tuple[Public, State]:
        noisy = self.problem.votes.drawn(block, door)
        return replace(self.public, counts=self.public.counts + noisy), hidden

    def decide(self, rounds: Integers, request: Request) -> Integers:
        return np.stack([rounds, np.full(len(rounds), self.public.closed)], axis=1)

    def noted(self, event: dict[str, Any]) -> Public:
        return replace(self.public, closed=self.public.closed + int(event["closed"]))

    def plain(self) -> dict[str, object]:
        return {"counts": self.public.counts.tolist()}


class Counting(Problem):
    """Counts votes of 0 or 1 per block, with noise; the closing of shops is a public event."""

    proof = "engine.md"
    settings: CountingSettings
    block_view = CountingView

    @cached_property
    def votes(self) -> OneRelease[OneChoice]:
        return OneRelease(
            "votes", CalibratedNoise.calibrate(self.settings.privacy, OneChoice((2,)))
        )

    @cached_property
    def plan(self) -> Plan:
        assert self.settings.horizon is not None
        total = paid_by_cohorts(self.settings.privacy, [self.votes.charge])
        return Plan.scheduled(
            EqualBlocks(self.settings.horizon, self.settings.block),
            lambda index: self.votes.charge,
            total,
            cohort=lambda index: index,
            facts={},
            constants=(self.votes.calibrated,),
        )

    def start(self) -> tuple[Public, State]:
        return Public(counts=np.zeros(2), closed=0), {}

    def view(self, public: State, index: int, begin: int, coins: Coins) -> View[Public]:
        return self.block_view(self, of_flat(Public, public), index, begin, coins)

    def blank(self) -> int:
        return -1


def settings(**more: Any) -> CountingSettings:
    """Return settings for twelve people."""
    return CountingSettings(**({"epsilon": 1.0, "delta": 0.0, "horizon": 12} | more))
