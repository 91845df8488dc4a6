"""Prefixes of one running sum; without a horizon, of sums that start afresh in doubling segments.

Each segment has the whole budget, since nobody is in two of them; a total is the sum of what the segments
released.

Guarantee   docs/guarantees/sums.md, Theorems 2, 3, 5 and 6
"""

from functools import cached_property
from math import sqrt
from typing import Any

import numpy as np

from discreet.arrays import Floats, Integers, repeated
from discreet.arrivals.feedback import as_rows
from discreet.budget.guarantee import Wording
from discreet.budget.ledger import Spending
from discreet.budget.privacy import Charge
from discreet.learners.running_sum.settings import RunningSumSettings
from discreet.limits import MOST_ROUNDS
from discreet.release.door import Door
from discreet.release.gathering import Gathering, Rows
from discreet.release.sums import PrefixSum, Stream, calibrate
from discreet.turn.coins import Coins
from discreet.turn.plan import Plan, State, paid_by_cohorts
from discreet.turn.problem import Asked, Batch, Block, Problem, Scores
from discreet.turn.schedule import EqualBlocks, Segments

__all__ = ["Prefixes"]

FIRST_SEGMENT = 256
"""Without a horizon, the sum starts afresh after this many releases, then after twice as many, and so on."""


class Prefixes(Problem):
    """The running totals of everyone's vectors."""

    proof = "sums.md"
    words = Wording(seen="every total", results="totals")
    settings: RunningSumSettings

    def check(self) -> None:
        if self.settings.horizon is None:  # no segment may turn out to be impossible when people are in it
            segments = (MOST_ROUNDS // (FIRST_SEGMENT * self.settings.block) + 1).bit_length()
            for number in range(max(1, segments)):
                self.sum_of(number)

    # --- segments -----------------------------------------------------------------------------------------

    @cached_property
    def schedule(self) -> EqualBlocks | Segments:
        horizon, block = self.settings.horizon, self.settings.block
        return Segments(FIRST_SEGMENT * block, block) if horizon is None else EqualBlocks(horizon, block)

    def place(self, index: int) -> tuple[int, int]:
        """The segment of a release, and its position there."""
        return self.schedule.segment(index) if isinstance(self.schedule, Segments) else (0, index)

    def length(self, number: int) -> int:
        """How many releases a segment has."""
        return self.schedule.length(number) if isinstance(self.schedule, Segments) else self.schedule.releases

    def sum_of(self, number: int) -> PrefixSum:
        """The calibrated sum of a segment."""
        if number not in self._sums:
            settings = self.settings
            rows = Rows((settings.dimension,), settings.bound, settings.norm, settings.nonnegative)
            known = settings.horizon is not None
            stream = Stream(rows, self.length(number), settings.block, goes_on=not known)
            # Without a horizon all segments pay in one measure, whatever their lengths.
            self._sums[number] = calibrate(settings.privacy, stream, settings.mode, fresh=known)
        return self._sums[number]

    @cached_property
    def _sums(self) -> dict[int, PrefixSum]:
        return {}

    def charge(self, index: int) -> Charge:
        """What a release costs."""
        number, position = self.place(index)
        return self.sum_of(number).charge(position)

    def cohort(self, index: int) -> int | None:
        """Who pays side by side: people of different segments, or of different blocks if each enters one."""
        number, position = self.place(index)
        if self.sum_of(number).has_cohorts:
            return index
        return index - position if isinstance(self.schedule, Segments) else None

    @cached_property
    def plan(self) -> Plan:
        first, settings, privacy = self.sum_of(0), self.settings, self.settings.privacy
        spent = first.spent(self.length(0))
        if first.has_cohorts:
            blocks = MOST_ROUNDS if settings.horizon is None else self.length(0)
            total = paid_by_cohorts(privacy, [spent], blocks=blocks)
        elif isinstance(self.schedule, Segments):
            total = paid_by_cohorts(privacy, [privacy.budget])
        else:
            total = Spending(spent)
        grid = first.gathering.grid
        facts: dict[str, Any] = {
            "method": first.name,
            "why": "it has the least noise for this plan",
        }
        facts |= {"grid": grid, "noise": sqrt(first.variance(1)) * grid}
        return Plan.scheduled(
            self.schedule, self.charge, total, cohort=self.cohort, facts=facts, constants=(first,)
        )

    def standard_deviation(self, releases: int) -> float:
        """Of each number of the total after so many releases."""
        if releases == 0:
            return 0.0
        number, position = self.place(releases - 1)
        counts = [(earlier, self.length(earlier)) for earlier in range(number)] + [(number, position + 1)]
        parts = [(self.sum_of(part), count) for part, count in counts]
        return sqrt(sum(each.variance(count) * each.gathering.grid**2 for each, count in parts))

    # --- the hooks ----------------------------------------------------------------------------------------

    def start(self) -> tuple[State, State]:
        zeros = np.zeros(self.settings.dimension)
        return {"total": zeros, "closed": zeros, "index": 0}, {}

    def layout(self, public: State, index: int) -> tuple[State, State]:
        """After the first release also the sum of the newest segment."""
        start = self.start()
        if not index:
            return start
        released, kept = self.sum_of(self.place(index - 1)[0]).start()
        return start[0] | released, kept

    def gatherings(self, public: State) -> dict[str, Gathering]:
        return {"sum": self.sum_of(self.place(public["index"])[0]).gathering}

    def gather(self, public: State, block: Block, batch: Batch) -> None:
        rows = block["sum"].gathering
        assert isinstance(rows, Rows)
        rows.add(block["sum"], as_rows(batch, self.settings.dimension))

    def release(
        self, public: State, tally: State, kept: State, block: Block, door: Door
    ) -> tuple[State, State]:
        number, position = self.place(door.index)
        sums = self.sum_of(number)
        begins = position == 0
        closed = public["total"] if begins else public["closed"]
        before, kept = sums.start() if begins else (public, kept)
        released, kept = door.prefix(sums, before, kept, block["sum"])
        total = closed + released["prefix"] * sums.gathering.grid
        return released | {"total": total, "closed": closed, "index": door.index + 1}, kept

    def decide(self, public: State, rounds: Integers, asked: Asked, coins: Coins) -> Floats:
        return np.asarray(repeated(public["total"], len(rounds)))

    def blank(self) -> Floats:
        return np.zeros(self.settings.dimension)

    def plain(self, public: State) -> dict[str, Any]:
        return {"total": public["total"].tolist()}

    def scores(self, public: State, index: int, context: Any) -> Scores:
        deviations = np.full(self.settings.dimension, self.standard_deviation(index))
        return Scores(public["total"].copy(), deviations)
