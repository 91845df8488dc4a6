"""Reporting: the mean reward of each block's people, released beside what they teach.

A share of the budget pays for it. A block's people enter the release of what they earned beside
that of what they teach, in the same release, and pay for both in one measure:

    learned by releases that each read people of their own     `BlockReporting`: so is what they earned
    learned by a running total                                 `TotalReporting`: a running total beside it

The view of a mode is wrapped (reported_view.py), so a mode does not know whether it is reported on.
Rewards are counted in units of how far they can be from what a missing answer is taken for, so that
a missing answer adds nothing.

Guarantee   docs/guarantees/contextual.md, Lemma 4; docs/guarantees/sets.md, Lemma 6;
            docs/guarantees/costs.md, Lemma 2
"""

from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from discreet.arrays import Floats
from discreet.budget.privacy import Charge, pure
from discreet.engine.plan import Plan, State
from discreet.engine.request import Block
from discreet.engine.settings import Settings
from discreet.learners.one_release import OneRelease
from discreet.learners.running_total import RunningTotal
from discreet.release.aggregators import Aggregate, PublicCells
from discreet.release.door import Door


@dataclass(frozen=True)
class Units:
    """How rewards are counted: numbers between `low` and `high`, in units of `scale`, counted from
    `zero`.

    A missing one counts as `zero`.
    """

    low: float
    high: float
    scale: float = 1.0
    zero: float = 0.0
    what: str = "mean reward"
    """What reports are of, in words."""

    @property
    def number(self) -> PublicCells:
        """What one person adds: a number in the only cell."""
        return PublicCells((1,), self.low, self.high)


@dataclass(frozen=True, eq=False)
class Entries:
    """What was reported so far."""

    rows: Floats
    """One row per release: the last round, the mean reward, and its standard deviation, in
    units.
    """
    total: float
    """The released running total before this block; 0 without one."""
    sums: State
    """What the running total publishes; empty without one."""

    @classmethod
    def none(cls, sums: State) -> "Entries":
        """Nothing was reported yet."""
        return cls(np.zeros((0, 3)), 0.0, sums)

    def with_row(self, end: int, rounds: int, earned: float, deviation: float) -> "Entries":
        """Add the entry of a block of `rounds` rounds up to round `end`, whose people earned
        this in all.
        """
        entry = [end, earned / rounds, deviation / rounds]
        return replace(self, rows=np.vstack([self.rows, entry]))


class Earned(Protocol):
    """Typed answers that can be reported on."""

    @property
    def earned(self) -> Floats:
        """What each person earned, in units."""


class Reporting(Protocol):
    """How what each block's people earned is released."""

    @property
    def units(self) -> Units:
        """How rewards are counted."""

    @property
    def aggregator(self) -> PublicCells:
        """What a block adds up."""

    def of(self, block: Block) -> Aggregate:
        """Return what was aggregated so far."""

    def charge(self, index: int) -> Charge:
        """Return what release `index` costs beside what is learned."""

    def next(
        self, entries: Entries, hidden: State, block: Block, door: Door, *, end: int, rounds: int
    ) -> tuple[Entries, State]:
        """Return the entries with one more, and the kept state of the report alone."""


@dataclass(frozen=True)
class BlockReporting:
    """Each block's people pay for a release of their own, with noise of its own."""

    units: Units
    earned: OneRelease[PublicCells]

    @classmethod
    def for_budget(cls, budget: Charge, units: Units) -> "BlockReporting":
        """Return the reporting that each block's people pay this budget for."""
        return cls(units, OneRelease.for_budget("earned", budget, units.number))

    @classmethod
    def of_settings(cls, settings: Settings, units: Units) -> "BlockReporting | None":
        """Return the reporting for the share `report` of ε, pure; None without a report."""
        if not settings.report:
            return None
        return cls.for_budget(
            pure(settings.epsilon / settings.contributions) * settings.report, units
        )

    @property
    def aggregator(self) -> PublicCells:
        return self.earned.aggregator

    def of(self, block: Block) -> Aggregate:
        return self.earned.of(block)

    def charge(self, index: int) -> Charge:
        return self.earned.charge

    @property
    def noise(self) -> float:
        """Standard deviation of what a block is reported to have earned in all, in the rewards'
        units.
        """
        return self.earned.standard_deviation * self.units.scale

    @property
    def constants(self) -> tuple[Any, ...]:
        """What a state depends on: noise and levels."""
        return (self.earned.calibrated,)

    def next(
        self, entries: Entries, hidden: State, block: Block, door: Door, *, end: int, rounds: int
    ) -> tuple[Entries, State]:
        earned = float(self.earned.drawn(block, door)[0])
        return entries.with_row(end, rounds, earned, self.earned.standard_deviation), {}


@dataclass(frozen=True)
class TotalReporting:
    """What all blocks from release `first` on earned is one running total; entries are its
    steps.
    """

    units: Units
    earned: RunningTotal[PublicCells]
    first: int = 0

    @property
    def aggregator(self) -> PublicCells:
        return self.earned.aggregator

    def of(self, block: Block) -> Aggregate:
        return self.earned.of(block)

    def charge(self, index: int) -> Charge:
        return self.earned.sum.charge(index - self.first)

    @property
    def spent(self) -> Charge:
        """What anyone pays in all."""
        return self.earned.sum.spent(self.earned.releases)

    @property
    def noise(self) -> float:
        """Standard deviation of what the last block is reported to have earned, in the rewards'
        units.
        """
        steps = self.earned.sum.step_variance(max(1, self.earned.releases))
        return float(steps**0.5 * self.earned.aggregator.grid) * self.units.scale

    @property
    def constants(self) -> tuple[Any, ...]:
        """What a state depends on: noise and levels."""
        return (self.earned.sum,)

    def next(
        self, entries: Entries, hidden: State, block: Block, door: Door, *, end: int, rounds: int
    ) -> tuple[Entries, State]:
        found = self.earned.next(entries.sums, hidden, block, door)
        total = float(found.values[0])
        earned, deviation = total - entries.total, found.step_variance**0.5
        entries = replace(entries, total=total, sums=found.public)
        return entries.with_row(end, rounds, earned, deviation), found.hidden


def planned_with(reporting: BlockReporting | TotalReporting | None, plan: Plan) -> Plan:
    """Return the plan of a mode that is reported on, if it is."""
    if reporting is None:
        return plan
    facts = plan.facts | {"noise_of_report": reporting.noise}
    return replace(plan, facts=facts, constants=(*plan.constants, *reporting.constants))
