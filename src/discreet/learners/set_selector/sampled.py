"""The sampled mode: a coin samples people, and items are drawn one after another for the sample.

Guarantee   docs/guarantees/selector.md, Theorem 2
Runtime     one pass over the sampled people per step
"""

from functools import cached_property
from typing import Any

import numpy as np

from discreet.arrays import Floats
from discreet.engine.request import Batch, Block
from discreet.engine.statistics import Interactive, Released
from discreet.functions.chains import PersonFunctionsChain, PresentChain
from discreet.learners.set_selector.mode import Public, SelectorMode, SelectorPhase
from discreet.learners.set_selector.partitions import PartitionedPeople
from discreet.learners.set_selector.records import marked
from discreet.learners.set_selector.values import value_of
from discreet.optim.constraints import Priced
from discreet.release.aggregators import HeldRows, Rows
from discreet.release.aggregators.gain_path import Chain, GainPath
from discreet.release.noise import CalibratedNoise
from discreet.release.sampled_path import SampledPath

LEVELS = 2**16
"""The number of integer steps from 0 to a worth of 1."""
FINE = 0.03
"""The relative error below which knapsacks are filled by density (benchmarks/selection.py)."""


class SampledPhase(SelectorPhase):
    """Phase of a block of held people; its release draws a path of items."""

    mode: "Sampled"

    def update(self, released: Released) -> Public:
        mode = self.mode
        people, door = released[mode.people]
        path = GainPath(people, mode.chain, mode.prices, LEVELS)
        chosen = door.select_path(mode.path, path, mode.settings.domain.extensions)
        value = np.zeros(0)
        if mode.value_noise is not None:
            held = mode.people.aggregator
            value = value_of(door, mode.value_noise, held, people, mode.chain, chosen)
        return Public(np.array(chosen, dtype=np.int64), value)


class SampledRows(SampledPhase):
    """Phase for one row per round; quantised rows are held."""

    def read(self, batch: Batch) -> tuple[Batch, Floats]:
        settings = self.mode.settings
        assert settings.family is not None
        return batch, marked(batch, settings.family, settings.domain.items)

    def gather(self, block: Block, answers: tuple[Batch, Floats]) -> None:
        batch, rows = answers
        people = self.mode.people
        people.aggregator.add(people.of(block), batch.rounds, rows)


class SampledParts(SampledPhase):
    """Phase for people in partitions, where they stay."""

    def read(self, batch: Batch) -> PartitionedPeople:
        partitioned: PartitionedPeople = batch.feedback
        return partitioned

    def gather(self, block: Block, answers: PartitionedPeople) -> None:
        people = self.mode.people
        people.aggregator.stay(people.of(block), answers.staying(), answers.run)


class Sampled(SelectorMode):
    """Mode that draws items greedily for a secret sample of people; its guarantee is pure.

    The charge hardly depends on the number of steps. Every step reads the rows of people: held in
    the block, quantised, or in their partitions.
    """

    rows_phase = SampledRows
    parts_phase = SampledParts

    @cached_property
    def path(self) -> SampledPath:
        """The sampling probability and the rate with the least predicted error."""
        domain = self.settings.domain
        budget = self.settings.privacy.budgets[0] * (1 - self.settings.report)
        return SampledPath.for_budget(
            budget.amount, people=self.settings.count, steps=domain.rank, candidates=domain.items
        )

    @cached_property
    def value_noise(self) -> CalibratedNoise[Rows] | None:
        """The noise of the value of the chosen set; None if it is not reported."""
        share = self.settings.report
        if not share:
            return None
        return CalibratedNoise.for_budget(
            self.settings.privacy.budgets[0] * share, Rows((1,), nonnegative=True)
        )

    @cached_property
    def people(self) -> Interactive[HeldRows]:
        held = HeldRows((self.settings.count, self.width), elsewhere=self.in_parts)
        draws = (self.path,) if self.value_noise is None else (self.path, self.value_noise)
        return Interactive("people", held, draws, (LEVELS,))

    @property
    def error(self) -> float:
        return self.path.error(self.settings.count, self.settings.domain.items)

    @property
    def why(self) -> str:
        return (
            f"a person's gains along a path add up to 1, so {self.settings.domain.rank} draws "
            f"cost hardly more than one: expected to fall short by {self.error:.0f} of "
            f"{self.settings.count} people"
        )

    @property
    def width(self) -> int:
        """The number of numbers per held person; one of them marks a valid record."""
        family = self.settings.family
        return 1 if family is None else family.width(self.settings.domain.items) + 1

    @cached_property
    def chain(self) -> Chain[Any]:
        """The worth of a growing set to each person."""
        family = self.settings.family
        if family is None:
            return PersonFunctionsChain(self.settings.domain.items)
        return PresentChain(family)

    @property
    def prices(self) -> Floats:
        """The factor of the gain of each item: larger for cheaper items, under a knapsack.

        Gains are divided by costs where noise is small. Where it is large, only items above the
        lower quartile of costs have smaller factors, because density would follow the noise of the
        cheapest items.
        """
        domain = self.settings.domain
        if not isinstance(domain, Priced):
            return np.ones(domain.items)
        return domain.factors("density" if self.error < FINE * self.settings.count else "quartile")
