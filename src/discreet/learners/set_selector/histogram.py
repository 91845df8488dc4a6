"""The histogram mode: release one noisy histogram of public cells, then optimise for free.

The noise of each cell is that of a count, for every rank and every number of steps of the search:
greedy, then exchanges of items while one improves the set.

Guarantee   docs/guarantees/selector.md, Theorem 1
Runtime     O(1) per person; O(cells · items) per step of the search
"""

from dataclasses import dataclass, replace
from functools import cached_property
from math import sqrt

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.engine.request import Batch, Block
from discreet.engine.statistics import OneRelease, Released
from discreet.functions.places import Cells, Nearby, Types
from discreet.learners.set_selector.mode import Public, SelectorMode, SelectorPhase
from discreet.learners.set_selector.partitions import PartitionedPeople
from discreet.learners.set_selector.records import SourcePart, admitted
from discreet.optim.domains import Simplex
from discreet.release.aggregators import OneChoice
from discreet.release.noise import CalibratedNoise

PEOPLE_A_CELL = 4.0
"""The number of people per cell, on average, for ε = 1 (benchmarks/selection.py)."""


@dataclass(frozen=True)
class Count:
    """Task that counts the people of a partition per cell, where they are.

    The grid of the cells is enough to count people.
    """

    family: Nearby | Types
    items: int
    grid: tuple[int, ...]
    counts: OneChoice

    def cells_of(self, batch: Batch) -> Integers:
        """Return the cell of each person."""
        rows, _ = admitted(batch, self.family, self.items)
        return self.family.cell_of(rows, Cells(np.zeros((0, 0)), self.grid))

    def __call__(self, part: SourcePart) -> Integers:
        aggregate = self.counts.empty()
        for batch in part.batches():
            self.counts.add(aggregate, self.cells_of(batch))
        return aggregate.values


class HistogramPhase(SelectorPhase):
    """Phase of a block that counts people per cell; its release searches in noisy counts."""

    mode: "Histogram"

    def update(self, released: Released) -> Public:
        from discreet.optim.greedy import choose_facilities

        calibrated = self.mode.calibrated
        worths = self.mode.cells.worths
        settings = self.mode.settings
        noisy = released[self.mode.people]
        weights: Floats = Simplex(len(worths), float(settings.count)).project(noisy)
        chosen = choose_facilities(worths, weights, settings.domain, price="density")
        # The value is a function of the same counts, so it costs nothing.
        worth = worths[:, chosen].max(axis=1)
        deviation = calibrated.standard_deviation * sqrt(float(worth @ worth))
        value = np.array([float(noisy @ worth), deviation])
        along = np.maximum.accumulate(worths[:, chosen], axis=1)
        numbers = np.array(chosen, dtype=np.int64)
        return Public(numbers, value, trace=noisy @ along, counts=noisy)


class HistogramRows(HistogramPhase):
    """Phase for one row per round."""

    def read(self, batch: Batch) -> Integers:
        return self.mode.count.cells_of(batch)

    def gather(self, block: Block, answers: Integers) -> None:
        self.mode.calibrated.aggregator.add(block[self.mode.people.name], answers)


class HistogramParts(HistogramPhase):
    """Phase for people in partitions, who are counted where they are."""

    def read(self, batch: Batch) -> PartitionedPeople:
        partitioned: PartitionedPeople = batch.feedback
        return partitioned

    def gather(self, block: Block, answers: PartitionedPeople) -> None:
        counts = self.mode.people.aggregator
        name = self.mode.people.name
        for values in answers.enter(self.mode.count, answers.parts):
            block[name] = counts.merge(block[name], counts.holding(values))


class Histogram(SelectorMode):
    """Mode that searches in noisy counts of public cells."""

    rows_phase = HistogramRows
    parts_phase = HistogramParts
    promise = replace(
        SelectorMode.promise,
        words=replace(SelectorMode.promise.words, seen="the chosen set and the noisy counts"),
    )

    @property
    def family(self) -> Nearby | Types:
        """The family of set functions, which has public cells."""
        function = self.settings.function
        assert isinstance(function, Nearby | Types)
        return function

    @cached_property
    def cells(self) -> Cells:
        """The public cells, fewer than people so that counts exceed their noise."""
        epsilon = self.settings.privacy.budgets[0].amount
        return self.family.cells(int(self.settings.count * min(epsilon, 4.0) / PEOPLE_A_CELL))

    @cached_property
    def calibrated(self) -> CalibratedNoise[OneChoice]:
        """The noise of the counts."""
        return CalibratedNoise.calibrate(self.settings.privacy, OneChoice((len(self.cells),)))

    @cached_property
    def people(self) -> OneRelease[OneChoice]:
        return OneRelease("cells", self.calibrated)

    @property
    def error(self) -> float:
        return self.calibrated.standard_deviation * sqrt(len(self.cells))

    @property
    def why(self) -> str:
        return (
            f"people fall into {len(self.cells)} public cells: one noisy histogram, with an error "
            f"of {self.calibrated.standard_deviation:.1f} people per cell, then any search is free"
        )

    @property
    def constants(self) -> tuple[object, ...]:
        return len(self.cells), self.cells.grid

    def released_shape(self) -> Public:
        """Return the layout of the state after the release, with a trace and the counts."""
        return replace(self.first, trace=np.zeros(0), counts=np.zeros(len(self.cells)))

    @property
    def counts_deviation(self) -> float:
        return self.calibrated.standard_deviation

    def counts_of(self, public: Public) -> Floats | None:
        return None if public.counts is None else public.counts.reshape(self.cells.grid or -1)

    @cached_property
    def count(self) -> Count:
        """The task that counts the people of a partition."""
        return Count(
            self.family, self.settings.domain.items, self.cells.grid, self.calibrated.aggregator
        )
