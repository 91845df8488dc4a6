"""A sampled path: people are kept by a coin, and items drawn one after another among those kept.

Guarantee   docs/guarantees/selector.md, Theorem 2
Runtime     one pass over the kept people per step
"""

from functools import cached_property
from typing import Any

import numpy as np

from discreet.arrays import Floats
from discreet.budget.privacy import Charge
from discreet.engine.plan import State
from discreet.engine.request import Batch, Block
from discreet.functions.chains import PersonFunctionsChain, PresentChain
from discreet.learners.set_selector.mode import Public, SelectorMode, SelectorView
from discreet.learners.set_selector.partitions import PartitionedPeople
from discreet.learners.set_selector.records import marked
from discreet.learners.set_selector.values import value_of
from discreet.optim.constraints import Priced
from discreet.release.aggregators import Aggregator, HeldRows, Rows
from discreet.release.aggregators.gain_path import Chain, GainPath
from discreet.release.door import Door
from discreet.release.noise import CalibratedNoise
from discreet.release.sampled_path import SampledPath

LEVELS = 2**16
"""Integer steps of a worth of 1."""
FINE = 0.03
"""Below this share of noise, knapsacks are filled by density (benchmarks/selection.py)."""
PEOPLE = "people"
"""Under which the block holds its people."""


class SampledView(SelectorView):
    """A block of people who are asked step by step, and the path that is drawn among them."""

    problem: "Sampled"
    stays: bool
    """Whether people stay in their parts, so that the block holds nobody."""

    @cached_property
    def held(self) -> HeldRows:
        """How people are held."""
        return HeldRows((self.problem.settings.count, self.problem.width), elsewhere=self.stays)

    def aggregators(self) -> dict[str, Aggregator]:
        return {PEOPLE: self.held}

    def release(
        self, mask_counts: State, hidden: State, block: Block, door: Door
    ) -> tuple[Public, State]:
        problem, people = self.problem, block[PEOPLE]
        path = GainPath(people, problem.chain, problem.prices, LEVELS)
        chosen = door.select_path(problem.path, path, problem.settings.domain.extensions)
        value = np.zeros(0)
        if problem.value_noise is not None:
            value = value_of(door, problem.value_noise, self.held, people, problem.chain, chosen)
        return Public(np.array(chosen, dtype=np.int64), value), {}


class SampledRows(SampledView):
    """People come one row per round, and are held quantised."""

    stays = False

    def read(self, batch: Batch) -> tuple[Batch, Floats]:
        settings = self.problem.settings
        assert settings.family is not None
        return batch, marked(batch, settings.family, settings.domain.items)

    def gather(self, block: Block, answers: tuple[Batch, Floats]) -> None:
        batch, rows = answers
        self.held.add(block[PEOPLE], batch.rounds, rows)


class SampledParts(SampledView):
    """People come all at once, and stay in their parts."""

    takes_rounds = False
    stays = True

    def read(self, batch: Batch) -> PartitionedPeople:
        partitioned: PartitionedPeople = batch.feedback
        return partitioned

    def gather(self, block: Block, answers: PartitionedPeople) -> None:
        self.held.stay(block[PEOPLE], answers.staying(), answers.run)


class Sampled(SelectorMode):
    """Greedy among people who were kept by a coin; pure, whatever the number of steps.

    People's rows are asked step by step: held in the block, quantised, or in their parts.
    """

    rows_view = SampledRows
    parts_view = SampledParts

    @cached_property
    def path(self) -> SampledPath:
        """Coins and rate with the least predicted error."""
        domain = self.settings.domain
        budget = self.settings.privacy.budgets[0] * (1 - self.settings.report)
        return SampledPath.for_budget(
            budget.amount, people=self.settings.count, steps=domain.rank, candidates=domain.items
        )

    @cached_property
    def value_noise(self) -> CalibratedNoise[Rows] | None:
        """The noise of the value of what was chosen, if it is paid for."""
        share = self.settings.report
        if not share:
            return None
        return CalibratedNoise.for_budget(
            self.settings.privacy.budgets[0] * share, Rows((1,), nonnegative=True)
        )

    @property
    def charge(self) -> Charge:
        paid = self.path.charge
        return paid if self.value_noise is None else paid + self.value_noise.charge

    @property
    def error(self) -> float:
        return self.path.error(self.settings.count, self.settings.domain.items)

    @property
    def why(self) -> str:
        return (
            f"a person's gains along a path add up to 1, so {self.settings.domain.rank} draws "
            "cost hardly "
            f"more than one: expected to fall short by {self.error:.0f} of {self.settings.count} "
            "people"
        )

    @property
    def constants(self) -> tuple[Any, ...]:
        return (self.path, LEVELS, self.value_noise)

    @property
    def width(self) -> int:
        """Numbers that are held per person."""
        # The last number of a row says whether the row is a person.
        family = self.settings.family
        return 1 if family is None else family.width(self.settings.domain.items) + 1

    @cached_property
    def chain(self) -> Chain[Any]:
        """How people see a growing set."""
        family = self.settings.family
        return (
            PersonFunctionsChain(self.settings.domain.items)
            if family is None
            else PresentChain(family)
        )

    @property
    def prices(self) -> Floats:
        """How much an item's gain counts: cheaper ones more, under a knapsack.

        By density where noise is small; while it is large, only what is dearer than the lower
        quartile counts less, because density would follow the noise of the cheapest.
        """
        domain = self.settings.domain
        if not isinstance(domain, Priced):
            return np.ones(domain.items)
        return domain.factors("density" if self.error < FINE * self.settings.count else "quartile")
