"""A minimal mode: counts of yes and no votes, and of shops that a public event has closed."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.engine.declarations import DecisionForm, Events, Promise, Readings
from discreet.engine.mode import Mode
from discreet.engine.phase import Phase
from discreet.engine.phases import Scheduled
from discreet.engine.request import Batch, Request
from discreet.engine.schedule import EqualBlocks
from discreet.engine.settings import Settings
from discreet.engine.statistics import OneRelease, Released
from discreet.learners.answers import Entry
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


class Closing(Events):
    """Shops are closed by a public event."""

    phase: "CountingPhase"

    def noted(self, event: dict[str, Any]) -> Public:
        public = self.phase.public
        return replace(public, closed=public.closed + int(event["closed"]))


class CountingPhase(Phase[Public]):
    """A block of votes."""

    mode: "Counting"

    def read(self, batch: Batch) -> Integers:
        votes = [batch.feedback] if batch.single else batch.feedback
        return np.array(votes, dtype=np.int64)

    def update(self, released: Released) -> Public:
        return replace(self.public, counts=self.public.counts + released[self.mode.votes])

    def decide(self, rounds: Integers, request: Request) -> Integers:
        return np.stack([rounds, np.full(len(rounds), self.public.closed)], axis=1)

    @property
    def events(self) -> Closing:
        return Closing(self)

    def readings(self) -> Readings:
        return Readings({"counts": self.public.counts.tolist()})


class Counting(Mode):
    """Counts votes of 0 or 1 per block, with noise; the closing of shops is a public event."""

    promise = Promise("engine.md")
    answer = Entry(-1)
    decisions = DecisionForm("numbers", 2)
    settings: CountingSettings
    statistic: ClassVar[type[OneRelease[OneChoice]]] = OneRelease

    @cached_property
    def votes(self) -> OneRelease[OneChoice]:
        return self.statistic(
            "votes", CalibratedNoise.calibrate(self.settings.privacy, OneChoice((2,)))
        )

    @cached_property
    def phases(self) -> Scheduled:
        assert self.settings.horizon is not None
        blocks = EqualBlocks(self.settings.horizon, self.settings.block)
        return Scheduled.one(CountingPhase, blocks, self.votes)

    @property
    def first(self) -> Public:
        return Public(counts=np.zeros(2), closed=0)


def settings(**more: Any) -> CountingSettings:
    """Return settings for twelve people."""
    return CountingSettings(**({"epsilon": 1.0, "delta": 0.0, "horizon": 12} | more))
