"""One noisy histogram of public cells, released once; then any optimisation is free.

The noise of each cell is that of a count, whatever the rank and however long the search goes on: greedy,
then swaps until none helps.

Guarantee   docs/guarantees/selector.md, Theorem 1
Runtime     O(1) a person; O(cells · items) a step of the search
"""

from dataclasses import dataclass
from functools import cached_property
from math import sqrt
from typing import Any

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.arrivals.places import Cells, Nearby, Types
from discreet.budget.privacy import Charge
from discreet.decide.domains import Simplex
from discreet.learners.set_selector.crowd import Crowd
from discreet.learners.set_selector.entrance import SourcePart, admitted, batches
from discreet.learners.set_selector.mode import SelectorMode
from discreet.release.door import Door
from discreet.release.gathering import Gathered, Gathering, OneChoice
from discreet.release.noise import Once
from discreet.turn.plan import State
from discreet.turn.questions import Batch, Block

__all__ = ["Histogram"]

PEOPLE_A_CELL = 4.0
"""Cells are so large that noise for ε = 1 meets about so many people in each."""


@dataclass(frozen=True)
class Count:
    """People counted by cells, where they are: all that this needs of the cells is their grid."""

    family: Nearby | Types
    items: int
    grid: tuple[int, ...]
    counts: OneChoice

    def add(self, counted: Gathered, batch: Batch) -> None:
        """Add some people, one row each."""
        rows, _ = admitted(batch, self.family, self.items)
        self.counts.add(counted, self.family.cell_of(rows, Cells(np.zeros((0, 0)), self.grid)))

    def __call__(self, part: SourcePart) -> Integers:
        counted = self.counts.empty()
        for batch in batches(part.rows()):
            self.add(counted, batch)
        return counted.values


class Histogram(SelectorMode):
    """Noisy counts of public cells, then greedy and swaps."""

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
    def once(self) -> Once[Any]:
        return Once.calibrate(self.settings.privacy, OneChoice((len(self.cells),)))

    @property
    def charge(self) -> Charge:
        return self.once.charge

    @property
    def error(self) -> float:
        return self.once.standard_deviation * sqrt(len(self.cells))

    @property
    def why(self) -> str:
        return (
            f"people fall into {len(self.cells)} public cells: one noisy histogram, with an error of "
            f"{self.once.standard_deviation:.1f} people a cell, then any search is free"
        )

    @property
    def constants(self) -> tuple[Any, ...]:
        return (self.once, len(self.cells), self.cells.grid)

    def gatherings(self, public: State) -> dict[str, Gathering]:
        return {"cells": self.once.gathering}

    def layout(self, public: State, index: int) -> tuple[State, State]:
        """After the release also what was reached with each item."""
        chosen, kept = self.start()
        return chosen | ({"trace": np.zeros(0)} if index else {}), kept

    @cached_property
    def count(self) -> Count:
        """How people are counted."""
        counts = self.once.gathering
        assert isinstance(counts, OneChoice)
        return Count(self.family, self.settings.domain.items, self.cells.grid, counts)

    def add(self, block: Block, batch: Batch) -> None:
        self.count.add(block["cells"], batch)

    def enter(self, block: Block, crowd: Crowd) -> None:
        counts = self.count.counts
        for values in crowd.enter(self.count, crowd.parts):
            block["cells"] = counts.merge(block["cells"], counts.holding(values))

    def release(
        self, public: State, tally: State, kept: State, block: Block, door: Door
    ) -> tuple[State, State]:
        from discreet.decide.greedy import choose_facilities

        noisy = door.release(self.once, block["cells"])
        weights: Floats = Simplex(len(self.cells), float(self.settings.count)).project(noisy)
        chosen = choose_facilities(self.cells.worths, weights, self.settings.domain, price="density")
        # The value follows from the same counts, for nothing.
        worth = self.cells.worths[:, chosen].max(axis=1)
        deviation = self.once.standard_deviation * sqrt(float(worth @ worth))
        value = np.array([float(noisy @ worth), deviation])
        along = np.maximum.accumulate(self.cells.worths[:, chosen], axis=1)
        return {"chosen": np.array(chosen, dtype=np.int64), "value": value, "trace": noisy @ along}, {}
