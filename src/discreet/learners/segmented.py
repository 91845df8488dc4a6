"""A private running total with or without a horizon.

Without a horizon, a new sum starts in each of a sequence of segments of doubling length. Each
segment has the whole budget, since nobody is in two of them; the total adds up what the segments
released.

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
    """Public state of a segmented total."""

    total: Floats
    """The newest total."""
    closed: Floats
    """The total of all segments before the newest one."""
    newest: State
    """Public state of the sum of the newest segment; empty before the first release."""


@dataclass(frozen=True)
class SegmentedTotal:
    """The private running total of all people's vectors, in one sum or in segments."""

    wanted: Rows
    """The aggregator, on any grid."""
    schedule: EqualBlocks | Segments
    privacy: Privacy
    people: int
    """Largest number of people in a block."""
    method: str = "auto"
    """The mechanism; "auto" for the one with the least noise."""

    def check(self) -> None:
        """Refuse a plan of which a later segment could not be calibrated."""
        if isinstance(self.schedule, Segments):
            for number in range((MOST_ROUNDS // self.schedule.first + 1).bit_length()):
                self.sum_of(number)

    # --- segments ---------------------------------------------------------------------------------

    def place(self, index: int) -> tuple[int, int]:
        """Return the segment of a release, and the position of the release in it."""
        return self.schedule.segment(index) if isinstance(self.schedule, Segments) else (0, index)

    def length(self, number: int) -> int:
        """Return the number of releases of a segment."""
        if isinstance(self.schedule, Segments):
            return self.schedule.length(number)
        return self.schedule.releases

    def sum_of(self, number: int) -> PrefixSum:
        """Return the calibrated sum of a segment."""
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
        """Return the cost of a release."""
        number, position = self.place(index)
        return self.sum_of(number).charge(position)

    def cohort(self, index: int) -> int | None:
        """Return the cohort that pays for a release; None if all people are in all releases.

        Cohorts are the segments, or the blocks if each person enters one release only.
        """
        number, position = self.place(index)
        if self.sum_of(number).has_cohorts:
            return index
        return index - position if isinstance(self.schedule, Segments) else None

    @property
    def spending(self) -> Spending:
        """Largest cost of all releases for one person."""
        first = self.sum_of(0)
        spent = first.spent(self.length(0))
        if first.has_cohorts:
            blocks = MOST_ROUNDS if isinstance(self.schedule, Segments) else self.length(0)
            return paid_by_cohorts(self.privacy, [spent], blocks=blocks)
        if isinstance(self.schedule, Segments):
            return paid_by_cohorts(self.privacy, [self.privacy.budget])
        return Spending(spent)

    def standard_deviation(self, releases: int) -> float:
        """Return the standard deviation of each number of the total after `releases` releases.

        It is in the units of people's numbers.
        """
        if releases == 0:
            return 0.0
        number, position = self.place(releases - 1)
        counts = [self.length(earlier) for earlier in range(number)]
        counts.append(position + 1)
        return hypot(*(self._deviation(part, count) for part, count in enumerate(counts)))

    def _deviation(self, number: int, count: int) -> float:
        """Return the standard deviation of a segment's sum after `count` of its releases."""
        segment = self.sum_of(number)
        return sqrt(segment.variance(count)) * segment.aggregator.grid

    # --- state and releases -----------------------------------------------------------------------

    def start(self) -> SegmentedState:
        """Return the public state before the first release."""
        zeros = np.zeros(self.wanted.size)
        return SegmentedState(total=zeros, closed=zeros, newest={})

    def layout(self, index: int, begin: int) -> tuple[SegmentedState, State]:
        """Return public and hidden state with the layout that they have after `index` releases.

        The last of these was after `begin` rounds. The first release adds the sum of a segment.
        """
        if begin != (self.schedule.end(index - 1) if index else 0):
            raise StateError("the schedule has no such release")
        if not index:
            return self.start(), {}
        released, hidden = self.sum_of(self.place(index - 1)[0]).start()
        return replace(self.start(), newest=released), hidden

    def aggregator(self, index: int) -> Rows:
        """Return the aggregator of the block before release `index`, on its segment's grid."""
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
        """Return public and hidden state after the next release."""
        number, position = self.place(door.index)
        sums = self.sum_of(number)
        begins = position == 0
        closed = public.total if begins else public.closed
        before, hidden = sums.start() if begins else (public.newest, hidden)
        newest, hidden = door.prefix(sums, before, hidden, aggregate)
        total = closed + newest["prefix"] * sums.aggregator.grid
        return SegmentedState(total, closed, newest), hidden
