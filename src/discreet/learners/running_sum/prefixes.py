"""Prefixes of one running sum; without a horizon, of one sum per segment of doubling length.

Guarantee   docs/guarantees/sums.md, Theorems 2, 3, 5 and 6
"""

from dataclasses import dataclass
from functools import cached_property
from math import sqrt

import numpy as np

from discreet.arrays import Floats, Integers, repeated
from discreet.budget.guarantee import Wording
from discreet.engine.declarations import DecisionForm, Promise, Readings
from discreet.engine.mode import Mode
from discreet.engine.phase import Phase
from discreet.engine.phases import Scheduled
from discreet.engine.readings import Scores
from discreet.engine.request import Block, Request
from discreet.engine.schedule import EqualBlocks, Segments
from discreet.engine.statistics import Released, RunningTotal
from discreet.learners.answers import Row
from discreet.learners.running_sum.settings import RunningSumSettings
from discreet.release.aggregators import Rows

FIRST_SEGMENT = 256
"""Releases of the first segment, without a horizon; each next segment has twice as many."""


@dataclass(frozen=True, eq=False)
class Public:
    """Public state: the newest total."""

    total: Floats


class PrefixPhase(Phase[Public]):
    """Phase of a block of vectors; the decision is the newest total."""

    mode: "Prefixes"

    def decide(self, rounds: Integers, request: Request) -> Floats:
        return np.asarray(repeated(self.public.total, len(rounds)))

    def gather(self, block: Block, answers: Floats) -> None:
        total = self.mode.total
        total.aggregator_at(self.at.number).add(block[total.name], answers)

    def update(self, released: Released) -> Public:
        return Public(released[self.mode.total].values)

    def readings(self) -> Readings:
        return Readings({"total": self.public.total.tolist()}, self._scores)

    def _scores(self, context: object) -> Scores:
        """Return the newest total."""
        deviation = self.mode.total.standard_deviation(self.at.index)
        return Scores(self.public.total.copy(), np.full(self.mode.settings.dimension, deviation))


class Prefixes(Mode):
    """Mode that releases running totals of all people's vectors."""

    promise = Promise("sums.md", words=Wording(seen="every total", results="totals"))
    decisions = DecisionForm("numbers")
    settings: RunningSumSettings

    def check(self) -> None:
        self.total.check(self.total.schedule)

    @cached_property
    def phases(self) -> Scheduled:
        return Scheduled.one(PrefixPhase, self.total.schedule, self.total)

    @cached_property
    def total(self) -> RunningTotal[Rows]:
        """The running total of vectors."""
        settings = self.settings
        rows = Rows((settings.dimension,), settings.bound, settings.norm, settings.nonnegative)
        schedule = self._schedule
        people = settings.block
        return RunningTotal("sum", rows, schedule, settings.privacy, people, method=settings.mode)

    @property
    def _schedule(self) -> EqualBlocks | Segments:
        horizon = self.settings.horizon
        block = self.settings.block
        if horizon is None:
            return Segments(FIRST_SEGMENT * block, block)
        return EqualBlocks(horizon, block)

    @property
    def facts(self) -> dict[str, object]:
        first = self.total.sum
        grid = first.aggregator.grid
        return {
            "method": first.name,
            "why": "it has the least noise for this plan",
            "grid": grid,
            "noise": sqrt(first.variance(1)) * grid,
        }

    @property
    def first(self) -> Public:
        return Public(np.zeros(self.settings.dimension))

    @cached_property
    def answer(self) -> Row:
        return Row(self.settings.dimension)
