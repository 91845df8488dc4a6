"""Prefixes of one running sum; without a horizon, of sums that start afresh in doubling segments.

Guarantee   docs/guarantees/sums.md, Theorems 2, 3, 5 and 6
"""

from functools import cached_property
from math import sqrt
from typing import Any

import numpy as np

from discreet.arrays import Floats, Integers, repeated
from discreet.budget.guarantee import Wording
from discreet.engine.coins import Coins
from discreet.engine.flat_state import of_flat
from discreet.engine.plan import Plan, State
from discreet.engine.problem import Problem
from discreet.engine.readings import Scores
from discreet.engine.request import Batch, Block, Request
from discreet.engine.schedule import EqualBlocks, Segments
from discreet.engine.view import View
from discreet.feedback import as_rows
from discreet.learners.running_sum.settings import RunningSumSettings
from discreet.learners.segmented import SegmentedState, SegmentedTotal
from discreet.release.aggregators import Aggregator, Rows
from discreet.release.door import Door

SUM = "sum"
"""Name of what a block adds up."""

FIRST_SEGMENT = 256
"""Releases of the first segment without a horizon; each next one has twice as many."""


class PrefixView(View[SegmentedState]):
    """A block of vectors; the newest total is decided on."""

    problem: "Prefixes"

    @property
    def rows(self) -> Rows:
        """What this block adds up."""
        return self.problem.total.aggregator(self.index)

    def layout(self) -> tuple[SegmentedState, State]:
        return self.problem.total.layout(self.index, self.begin)

    def aggregators(self) -> dict[str, Aggregator]:
        return {SUM: self.rows}

    def decide(self, rounds: Integers, request: Request) -> Floats:
        return np.asarray(repeated(self.public.total, len(rounds)))

    def read(self, batch: Batch) -> Floats:
        return as_rows(batch, self.problem.settings.dimension)

    def gather(self, block: Block, answers: Floats) -> None:
        self.rows.add(block[SUM], answers)

    def release(
        self, mask_counts: State, hidden: State, block: Block, door: Door
    ) -> tuple[SegmentedState, State]:
        return self.problem.total.next(self.public, hidden, block[SUM], door)

    def plain(self) -> dict[str, Any]:
        return {"total": self.public.total.tolist()}

    def scores(self, context: Any) -> Scores:
        deviation = self.problem.total.standard_deviation(self.index)
        return Scores(self.public.total.copy(), np.full(self.problem.settings.dimension, deviation))


class Prefixes(Problem):
    """The running totals of everyone's vectors."""

    proof = "sums.md"
    words = Wording(seen="every total", results="totals")
    settings: RunningSumSettings

    def check(self) -> None:
        self.total.check()

    @cached_property
    def total(self) -> SegmentedTotal:
        settings = self.settings
        horizon, block = settings.horizon, settings.block
        schedule = (
            Segments(FIRST_SEGMENT * block, block)
            if horizon is None
            else EqualBlocks(horizon, block)
        )
        rows = Rows((settings.dimension,), settings.bound, settings.norm, settings.nonnegative)
        return SegmentedTotal(rows, schedule, settings.privacy, block, settings.mode)

    @cached_property
    def plan(self) -> Plan:
        total, first = self.total, self.total.sum_of(0)
        grid = first.aggregator.grid
        facts = {
            "method": first.name,
            "why": "it has the least noise for this plan",
            "grid": grid,
            "noise": sqrt(first.variance(1)) * grid,
        }
        return Plan.scheduled(
            total.schedule,
            total.charge,
            total.spending,
            cohort=total.cohort,
            facts=facts,
            constants=(first,),
        )

    def start(self) -> tuple[SegmentedState, State]:
        return self.total.start(), {}

    def view(self, public: State, index: int, begin: int, coins: Coins) -> PrefixView:
        return PrefixView(self, of_flat(SegmentedState, public), index, begin, coins)

    def blank(self) -> Floats:
        return np.zeros(self.settings.dimension)
