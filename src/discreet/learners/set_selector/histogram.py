"""One noisy histogram of public cells, released once; then any optimisation is free.

The noise of each cell is that of a count, whatever the rank and however long the search goes on:
greedy, then swaps until none helps.

Guarantee   docs/guarantees/selector.md, Theorem 1
Runtime     O(1) a person; O(cells · items) a step of the search
"""

from dataclasses import dataclass, replace
from functools import cached_property
from math import sqrt
from typing import Any

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.budget.privacy import Charge
from discreet.engine.plan import State
from discreet.engine.request import Batch, Block
from discreet.functions.places import Cells, Nearby, Types
from discreet.learners.set_selector.mode import Public, SelectorMode, SelectorView
from discreet.learners.set_selector.partitions import PartitionedPeople
from discreet.learners.set_selector.records import SourcePart, admitted, batches
from discreet.optim.domains import Simplex
from discreet.release.aggregators import Aggregator, OneChoice
from discreet.release.door import Door
from discreet.release.noise import CalibratedNoise

PEOPLE_A_CELL = 4.0
"""People per cell, about, that noise for ε = 1 meets (benchmarks/selection.py)."""
CELLS = "cells"
"""Under which the block counts people."""


@dataclass(frozen=True)
class Count:
    """People counted by cells, where they are: all that this needs of the cells is their grid."""

    family: Nearby | Types
    items: int
    grid: tuple[int, ...]
    counts: OneChoice

    def cells_of(self, batch: Batch) -> Integers:
        """Return the cell of each person."""
        rows, _ = admitted(batch, self.family, self.items)
        return self.family.cell_of(rows, Cells(np.zeros((0, 0)), self.grid))

    def __call__(self, part: SourcePart) -> Integers:
        counted = self.counts.empty()
        for batch in batches(part.rows()):
            self.counts.add(counted, self.cells_of(batch))
        return counted.values


class HistogramView(SelectorView):
    """A block of people who are counted by cells, and the search in the noisy counts."""

    problem: "Histogram"

    def aggregators(self) -> dict[str, Aggregator]:
        return {CELLS: self.problem.calibrated.aggregator}

    def layout(self) -> tuple[Public, State]:
        """After the release also what was reached with each item."""
        chosen, hidden = self.problem.start()
        return (replace(chosen, trace=np.zeros(0)) if self.index else chosen), hidden

    def release(
        self, mask_counts: State, hidden: State, block: Block, door: Door
    ) -> tuple[Public, State]:
        from discreet.optim.greedy import choose_facilities

        calibrated, worths, settings = (
            self.problem.calibrated,
            self.problem.cells.worths,
            self.problem.settings,
        )
        noisy = door.release(calibrated, block[CELLS])
        weights: Floats = Simplex(len(worths), float(settings.count)).project(noisy)
        chosen = choose_facilities(worths, weights, settings.domain, price="density")
        # The value follows from the same counts, for nothing.
        worth = worths[:, chosen].max(axis=1)
        deviation = calibrated.standard_deviation * sqrt(float(worth @ worth))
        value = np.array([float(noisy @ worth), deviation])
        along = np.maximum.accumulate(worths[:, chosen], axis=1)
        return Public(np.array(chosen, dtype=np.int64), value, trace=noisy @ along), {}


class HistogramRows(HistogramView):
    """People come one row per round."""

    def read(self, batch: Batch) -> Integers:
        return self.problem.count.cells_of(batch)

    def gather(self, block: Block, answers: Integers) -> None:
        self.problem.calibrated.aggregator.add(block[CELLS], answers)


class HistogramParts(HistogramView):
    """People come all at once, and are counted in their parts."""

    takes_rounds = False

    def read(self, batch: Batch) -> PartitionedPeople:
        partitioned: PartitionedPeople = batch.feedback
        return partitioned

    def gather(self, block: Block, answers: PartitionedPeople) -> None:
        counts = self.problem.calibrated.aggregator
        for values in answers.enter(self.problem.count, answers.parts):
            block[CELLS] = counts.merge(block[CELLS], counts.holding(values))


class Histogram(SelectorMode):
    """Noisy counts of public cells, then greedy and swaps."""

    rows_view = HistogramRows
    parts_view = HistogramParts

    @property
    def family(self) -> Nearby | Types:
        function = self.settings.function
        assert isinstance(function, Nearby | Types)
        return function

    @cached_property
    def cells(self) -> Cells:
        epsilon = self.settings.privacy.budgets[0].amount
        return self.family.cells(int(self.settings.count * min(epsilon, 4.0) / PEOPLE_A_CELL))

    @cached_property
    def calibrated(self) -> CalibratedNoise[OneChoice]:
        return CalibratedNoise.calibrate(self.settings.privacy, OneChoice((len(self.cells),)))

    @property
    def charge(self) -> Charge:
        return self.calibrated.charge

    @property
    def error(self) -> float:
        return self.calibrated.standard_deviation * sqrt(len(self.cells))

    @property
    def why(self) -> str:
        return (
            f"people fall into {len(self.cells)} public cells: one noisy histogram, with an error "
            "of "
            f"{self.calibrated.standard_deviation:.1f} people a cell, then any search is free"
        )

    @property
    def constants(self) -> tuple[Any, ...]:
        return (self.calibrated, len(self.cells), self.cells.grid)

    @cached_property
    def count(self) -> Count:
        """How people are counted."""
        return Count(
            self.family, self.settings.domain.items, self.cells.grid, self.calibrated.aggregator
        )
