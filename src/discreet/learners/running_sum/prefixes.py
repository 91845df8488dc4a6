"""Prefixes of one running sum; without a horizon, of one sum per segment of doubling length.

Guarantee   docs/guarantees/sums.md, Theorems 2, 3, 5 and 6
"""

from functools import cached_property
from math import sqrt

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
"""Name of the aggregate of a block."""

FIRST_SEGMENT = 256
"""Releases of the first segment, without a horizon; each next segment has twice as many."""


class PrefixView(View[SegmentedState]):
    """View of a block of vectors; the decision is the newest total."""

    problem: "Prefixes"

    @property
    def rows(self) -> Rows:
        """The aggregator of this block."""
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

    def plain(self) -> dict[str, object]:
        return {"total": self.public.total.tolist()}

    def scores(self, context: object) -> Scores:
        deviation = self.problem.total.standard_deviation(self.index)
        return Scores(self.public.total.copy(), np.full(self.problem.settings.dimension, deviation))


class Prefixes(Problem):
    """Mode that releases running totals of all people's vectors."""

    proof = "sums.md"
    words = Wording(seen="every total", results="totals")
    settings: RunningSumSettings

    def check(self) -> None:
        self.total.check()

    @cached_property
    def total(self) -> SegmentedTotal:
        """The running total of vectors."""
        settings = self.settings
        rows = Rows((settings.dimension,), settings.bound, settings.norm, settings.nonnegative)
        return SegmentedTotal(rows, self._schedule, settings.privacy, settings.block, settings.mode)

    @property
    def _schedule(self) -> EqualBlocks | Segments:
        horizon = self.settings.horizon
        block = self.settings.block
        if horizon is None:
            return Segments(FIRST_SEGMENT * block, block)
        return EqualBlocks(horizon, block)

    @cached_property
    def plan(self) -> Plan:
        total = self.total
        first = total.sum_of(0)
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
