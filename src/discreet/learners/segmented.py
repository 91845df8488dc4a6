"""A running total with or without a horizon: without one, of sums that start afresh in doubling
segments.

Each segment has the whole budget, since nobody is in two of them; a total is the sum of what the
segments released.

Guarantee   docs/guarantees/sums.md, Theorems 2, 3, 5 and 6
"""

from dataclasses import dataclass, replace
from functools import cached_property
from math import hypot, sqrt

import numpy as np

from discreet.arrays import Floats
from discreet.budget.ledger import Spending
from discreet.budget.privacy import Charge, Privacy
from discreet.engine.plan import State, paid_by_cohorts
from discreet.engine.schedule import EqualBlocks, Segments
from discreet.errors import StateError
from discreet.limits import MOST_ROUNDS
from discreet.release.aggregators import Aggregate, Rows
from discreet.release.door import Door
from discreet.release.sums.prefix_sum import PrefixSum, Stream, calibrate


@dataclass(frozen=True, eq=False)
class SegmentedState:
    """What a total publishes."""

    total: Floats
    """The newest total."""
    closed: Floats
    """The total of all segments before the newest one."""
    newest: State
    """The sum of the newest segment; empty before the first release."""


@dataclass(frozen=True)
class SegmentedTotal:
    """The private running total of everyone's vectors.

    `people` is the most people that one block adds up; `method` the mechanism, "auto"
    for the one with the least noise.
    """

    wanted: Rows
    schedule: EqualBlocks | Segments
    privacy: Privacy
    people: int
    method: str = "auto"

    def check(self) -> None:
        """Refuse at once what some segment could not do when people are in it."""
        if isinstance(self.schedule, Segments):
            for number in range((MOST_ROUNDS // self.schedule.first + 1).bit_length()):
                self.sum_of(number)

    # --- segments ---------------------------------------------------------------------------------

    def place(self, index: int) -> tuple[int, int]:
        """The segment of a release, and its position there."""
        return self.schedule.segment(index) if isinstance(self.schedule, Segments) else (0, index)

    def length(self, number: int) -> int:
        """How many releases a segment has."""
        return (
            self.schedule.length(number)
            if isinstance(self.schedule, Segments)
            else self.schedule.releases
        )

    def sum_of(self, number: int) -> PrefixSum:
        """The calibrated sum of a segment."""
        if number not in self._sums:
            has_end = isinstance(self.schedule, EqualBlocks)
            stream = Stream(
                self.wanted, max(1, self.length(number)), self.people, goes_on=not has_end
            )
            # Without a horizon all segments pay in one measure, whatever their lengths.
            self._sums[number] = calibrate(self.privacy, stream, self.method, disjoint=has_end)
        return self._sums[number]

    @cached_property
    def _sums(self) -> dict[int, PrefixSum]:
        return {}

    # --- what it costs ----------------------------------------------------------------------------

    def charge(self, index: int) -> Charge:
        """What a release costs."""
        number, position = self.place(index)
        return self.sum_of(number).charge(position)

    def cohort(self, index: int) -> int | None:
        """Who pays side by side: people of different segments, or of different blocks if each
        enters one.
        """
        number, position = self.place(index)
        if self.sum_of(number).has_cohorts:
            return index
        return index - position if isinstance(self.schedule, Segments) else None

    @property
    def spending(self) -> Spending:
        """What anyone pays in the end."""
        first = self.sum_of(0)
        spent = first.spent(self.length(0))
        if first.has_cohorts:
            blocks = MOST_ROUNDS if isinstance(self.schedule, Segments) else self.length(0)
            return paid_by_cohorts(self.privacy, [spent], blocks=blocks)
        if isinstance(self.schedule, Segments):
            return paid_by_cohorts(self.privacy, [self.privacy.budget])
        return Spending(spent)

    def standard_deviation(self, releases: int) -> float:
        """Of each number of the total after so many releases, in the units of people's numbers."""
        if releases == 0:
            return 0.0
        number, position = self.place(releases - 1)
        counts = [(earlier, self.length(earlier)) for earlier in range(number)] + [
            (number, position + 1)
        ]
        parts = [(self.sum_of(part), count) for part, count in counts]
        return hypot(*(sqrt(each.variance(count)) * each.aggregator.grid for each, count in parts))

    # --- state and releases -----------------------------------------------------------------------

    def start(self) -> SegmentedState:
        """Return what is public before the first release."""
        zeros = np.zeros(self.wanted.size)
        return SegmentedState(total=zeros, closed=zeros, newest={})

    def layout(self, index: int, begin: int) -> tuple[SegmentedState, State]:
        """Return public and kept state after `index` releases, of which the last was after `begin`
        rounds.

        From the first release on, there is the sum of a segment.
        """
        if begin != (self.schedule.end(index - 1) if index else 0):
            raise StateError("the schedule has no such release")
        if not index:
            return self.start(), {}
        released, hidden = self.sum_of(self.place(index - 1)[0]).start()
        return replace(self.start(), newest=released), hidden

    def aggregator(self, index: int) -> Rows:
        """Return what the block before release `index` is aggregated with: on its segment's
        grid.
        """
        number = self.place(index)[0]
        if number not in self._aggregators:
            self._aggregators[number] = self.wanted.on_grid(self.sum_of(number).aggregator.levels)
        return self._aggregators[number]

    @cached_property
    def _aggregators(self) -> dict[int, Rows]:
        return {}

    def next(
        self, public: SegmentedState, hidden: State, aggregate: Aggregate, door: Door
    ) -> tuple[SegmentedState, State]:
        """Return the public and kept state after the next release."""
        number, position = self.place(door.index)
        sums = self.sum_of(number)
        begins = position == 0
        closed = public.total if begins else public.closed
        before, hidden = sums.start() if begins else (public.newest, hidden)
        newest, hidden = door.prefix(sums, before, hidden, aggregate)
        total = closed + newest["prefix"] * sums.aggregator.grid
        return SegmentedState(total, closed, newest), hidden
