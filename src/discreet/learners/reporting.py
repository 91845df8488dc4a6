"""Reporting: the mean reward of each block's people, released beside what is learned from them.

A share of the budget pays for it. The same release publishes what a block's people teach and what
they earned, and they pay for both in one measure:

    mode learns from disjoint blocks      `BlockReporting`: one separate sum of rewards per block
    mode learns from a running total      `TotalReporting`: a running total of rewards beside it

The view of a mode is wrapped (reported_view.py), so a mode does not know whether it is reported on.
Rewards are counted in units of their largest distance from the value of a missing answer, so that a
missing answer adds nothing.

Guarantee   docs/guarantees/contextual.md, Lemma 4; docs/guarantees/sets.md, Lemma 6;
            docs/guarantees/costs.md, Lemma 2
"""

from dataclasses import dataclass, replace
from typing import Protocol

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
    """Units of rewards: numbers between `low` and `high`, in units of `scale`, from `zero` on.

    A missing reward counts as `zero`.
    """

    low: float
    high: float
    scale: float = 1.0
    zero: float = 0.0
    what: str = "mean reward"
    """Name of the reported quantity."""

    @property
    def number(self) -> PublicCells:
        """The aggregator: each person adds one number to the only cell."""
        return PublicCells((1,), self.low, self.high)


@dataclass(frozen=True, eq=False)
class Entries:
    """The entries of the report so far."""

    rows: Floats
    """One row per release: the last round, then mean reward and standard deviation, in units."""
    total: float
    """The released running total before this block; 0 without one."""
    sums: State
    """Public state of the running total; empty without one."""

    @classmethod
    def none(cls, sums: State) -> "Entries":
        """Return no entries, with the public state of the running total at its start."""
        return cls(np.zeros((0, 3)), 0.0, sums)

    def with_row(self, end: int, rounds: int, earned: float, deviation: float) -> "Entries":
        """Return the entries with one more: a block's total reward, as a mean per round.

        The block has `rounds` rounds and ends before round `end`.
        """
        entry = [end, earned / rounds, deviation / rounds]
        return replace(self, rows=np.vstack([self.rows, entry]))


class Earned(Protocol):
    """Answers that can be reported on."""

    @property
    def earned(self) -> Floats:
        """Reward of each person, in units."""


class Reporting(Protocol):
    """Protocol of reports: how the rewards of each block's people are released."""

    @property
    def units(self) -> Units:
        """Units of the rewards."""

    @property
    def aggregator(self) -> PublicCells:
        """The aggregator of a block's rewards."""

    def of(self, block: Block) -> Aggregate:
        """Return the aggregate of the block so far."""

    def charge(self, index: int) -> Charge:
        """Return the cost of the report in release `index`, beside that of what is learned."""

    def next(
        self, entries: Entries, hidden: State, block: Block, door: Door, *, end: int, rounds: int
    ) -> tuple[Entries, State]:
        """Return the entries with one more, and the hidden state of the report alone."""


@dataclass(frozen=True)
class BlockReporting:
    """Report from disjoint blocks: one separately noised sum, paid by each block's own people."""

    units: Units
    earned: OneRelease[PublicCells]

    @classmethod
    def for_budget(cls, budget: Charge, units: Units) -> "BlockReporting":
        """Return the reporting for which each block's people pay this budget."""
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
        """Standard deviation of a block's reported total reward, in the rewards' own units."""
        return self.earned.standard_deviation * self.units.scale

    @property
    def constants(self) -> tuple[object, ...]:
        """Noise and levels, on which the state depends."""
        return (self.earned.calibrated,)

    def next(
        self, entries: Entries, hidden: State, block: Block, door: Door, *, end: int, rounds: int
    ) -> tuple[Entries, State]:
        earned = float(self.earned.drawn(block, door)[0])
        return entries.with_row(end, rounds, earned, self.earned.standard_deviation), {}


@dataclass(frozen=True)
class TotalReporting:
    """Report from one running total of rewards from release `first` on; entries are its steps."""

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
        """Cost of all reports for one person."""
        return self.earned.sum.spent(self.earned.releases)

    @property
    def noise(self) -> float:
        """Standard deviation of the last block's reported total reward, in the rewards' units."""
        steps = self.earned.sum.step_variance(max(1, self.earned.releases))
        return float(steps**0.5 * self.earned.aggregator.grid) * self.units.scale

    @property
    def constants(self) -> tuple[object, ...]:
        """Noise and levels, on which the state depends."""
        return (self.earned.sum,)

    def next(
        self, entries: Entries, hidden: State, block: Block, door: Door, *, end: int, rounds: int
    ) -> tuple[Entries, State]:
        released = self.earned.next(entries.sums, hidden, block, door)
        total = float(released.values[0])
        earned = total - entries.total
        deviation = released.step_variance**0.5
        entries = replace(entries, total=total, sums=released.public)
        return entries.with_row(end, rounds, earned, deviation), released.hidden


def planned_with(reporting: BlockReporting | TotalReporting | None, plan: Plan) -> Plan:
    """Return the plan with the facts and constants of the report, if there is one."""
    if reporting is None:
        return plan
    facts = plan.facts | {"noise_of_report": reporting.noise}
    return replace(plan, facts=facts, constants=(*plan.constants, *reporting.constants))
