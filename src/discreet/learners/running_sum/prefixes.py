"""Prefixes of one running sum; without a horizon, of sums that start afresh in doubling segments.

Guarantee   docs/guarantees/sums.md, Theorems 2, 3, 5 and 6
"""

from functools import cached_property
from math import sqrt
from typing import Any

import numpy as np

from discreet.arrays import Floats, Integers, repeated
from discreet.arrivals.feedback import as_rows
from discreet.budget.guarantee import Wording
from discreet.learners.running_sum.settings import RunningSumSettings
from discreet.learners.segmented import SegmentedTotal
from discreet.release.door import Door
from discreet.release.gathering import Gathering, Rows
from discreet.turn.coins import Coins
from discreet.turn.flat import FlatProblem
from discreet.turn.plan import Plan, State
from discreet.turn.questions import Asked, Batch, Block
from discreet.turn.readings import Scores
from discreet.turn.schedule import EqualBlocks, Segments

__all__ = ["Prefixes"]

FIRST_SEGMENT = 256
"""Without a horizon, the sum starts afresh after this many releases, then after twice as many, and so on."""


class Prefixes(FlatProblem):
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
        schedule = Segments(FIRST_SEGMENT * block, block) if horizon is None else EqualBlocks(horizon, block)
        rows = Rows((settings.dimension,), settings.bound, settings.norm, settings.nonnegative)
        return SegmentedTotal(rows, schedule, settings.privacy, block, settings.mode)

    @cached_property
    def plan(self) -> Plan:
        total, first = self.total, self.total.sum_of(0)
        grid = first.gathering.grid
        facts: dict[str, Any] = {
            "method": first.name,
            "why": "it has the least noise for this plan",
        }
        facts |= {"grid": grid, "noise": sqrt(first.variance(1)) * grid}
        return Plan.scheduled(
            total.schedule, total.charge, total.spending, cohort=total.cohort, facts=facts, constants=(first,)
        )

    # --- the hooks ----------------------------------------------------------------------------------------

    def start(self) -> tuple[State, State]:
        return self.total.start(), {}

    def layout(self, public: State, index: int) -> tuple[State, State]:
        return self.total.layout(index)

    def gatherings(self, public: State) -> dict[str, Gathering]:
        return {"sum": self.total.gathering(public["index"])}

    def gather(self, public: State, block: Block, batch: Batch) -> None:
        self.total.gathering(public["index"]).add(block["sum"], as_rows(batch, self.settings.dimension))

    def release(
        self, public: State, tally: State, kept: State, block: Block, door: Door
    ) -> tuple[State, State]:
        return self.total.next(public, kept, block["sum"], door)

    def decide(self, public: State, rounds: Integers, asked: Asked, coins: Coins) -> Floats:
        return np.asarray(repeated(public["total"], len(rounds)))

    def blank(self) -> Floats:
        return np.zeros(self.settings.dimension)

    def plain(self, public: State) -> dict[str, Any]:
        return {"total": public["total"].tolist()}

    def scores(self, public: State, index: int, context: Any) -> Scores:
        deviations = np.full(self.settings.dimension, self.total.standard_deviation(index))
        return Scores(public["total"].copy(), deviations)
