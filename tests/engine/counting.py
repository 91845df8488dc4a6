"""A minimal problem: counts of yes and no votes, and of shops that a public event has closed."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.engine.phases import Scheduled
from discreet.engine.problem import Problem
from discreet.engine.request import Batch, Request
from discreet.engine.schedule import EqualBlocks
from discreet.engine.settings import Settings
from discreet.engine.statistics import OneRelease, Released
from discreet.engine.view import View
from discreet.release.aggregators.one_choice import OneChoice
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

    def read(self, batch: Batch) -> Integers:
        votes = [batch.feedback] if batch.single else batch.feedback
        return np.array(votes, dtype=np.int64)

    def update(self, released: Released) -> Public:
        return replace(self.public, counts=self.public.counts + released[self.problem.votes])

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
    def phases(self) -> Scheduled:
        assert self.settings.horizon is not None
        blocks = EqualBlocks(self.settings.horizon, self.settings.block)
        return Scheduled.one(self.block_view, blocks, self.votes)

    @property
    def first(self) -> Public:
        return Public(counts=np.zeros(2), closed=0)

    def blank(self) -> int:
        return -1


def settings(**more: Any) -> CountingSettings:
    """Return settings for twelve people."""
    return CountingSettings(**({"epsilon": 1.0, "delta": 0.0, "horizon": 12} | more))
