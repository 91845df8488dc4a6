"""Reporting: the mean reward of each block's people, released beside what they teach.

A share of the budget pays for it. A block's people enter the release of what they earned beside that of what
they teach, in the same release, and pay for both in one measure:

    learned by releases that each read people of their own     `BlockReporting`: so is what they earned
    learned by a running total                                 `TotalReporting`: a running total beside it

    view = with_report(view, reporting, state)

The report wraps the view of a mode: it adds one number to what is gathered, charged, released and published,
and leaves the rest to the mode, which does not know whether it is reported on. Where a mode reads nobody any
more, the report still reads the people who are left, in one release at the end. Rewards are counted in units
of how far they can be from what a missing answer is taken for, so that a missing answer adds nothing.

Guarantee   docs/guarantees/contextual.md, Lemma 4; docs/guarantees/sets.md, Lemma 6;
            docs/guarantees/costs.md, Lemma 2
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.budget.privacy import Charge, pure
from discreet.learners.one_release import OneRelease
from discreet.learners.totals import RunningTotal
from discreet.release.door import Door
from discreet.release.gathering import Gathered, Gathering, PublicCells
from discreet.turn.labels import Label, Labels
from discreet.turn.plan import Plan, State, Step
from discreet.turn.questions import Asked, Batch, Block
from discreet.turn.readings import Report, Scores
from discreet.turn.settings import Settings
from discreet.turn.states import flat, of_flat
from discreet.turn.view import View

__all__ = [
    "BlockReporting",
    "Earned",
    "Entries",
    "Reporting",
    "TotalReporting",
    "Units",
    "planned_with",
    "started_with",
    "with_report",
]

PREFIX = "report."
"""Under which the entries stand in the flat public state."""


@dataclass(frozen=True)
class Units:
    """How rewards are counted: numbers between `low` and `high`, in units of `scale`, counted from `zero`.

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
    """One row per release: the last round, the mean reward, and its standard deviation, in units."""
    total: float
    """The released running total before this block; 0 without one."""
    sums: State
    """What the running total publishes; empty without one."""

    @classmethod
    def none(cls, sums: State) -> "Entries":
        """Nothing was reported yet."""
        return cls(np.zeros((0, 3)), 0.0, sums)

    def with_row(self, end: int, rounds: int, earned: float, deviation: float) -> "Entries":
        """Add the entry of a block of `rounds` rounds up to round `end`, whose people earned this in all."""
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
    def gathering(self) -> PublicCells:
        """What a block adds up."""

    def of(self, block: Block) -> Gathered:
        """Return what was gathered so far."""

    def charge(self, index: int) -> Charge:
        """Return what release `index` costs beside what is learned."""

    def next(
        self, entries: Entries, kept: State, block: Block, door: Door, *, end: int, rounds: int
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
        return cls.for_budget(pure(settings.epsilon / settings.contributions) * settings.report, units)

    @property
    def gathering(self) -> PublicCells:
        return self.earned.gathering

    def of(self, block: Block) -> Gathered:
        return self.earned.of(block)

    def charge(self, index: int) -> Charge:
        return self.earned.charge

    @property
    def noise(self) -> float:
        """Standard deviation of what a block is reported to have earned in all, in the rewards' units."""
        return self.earned.standard_deviation * self.units.scale

    @property
    def constants(self) -> tuple[Any, ...]:
        """What a state depends on: noise and levels."""
        return (self.earned.once,)

    def next(
        self, entries: Entries, kept: State, block: Block, door: Door, *, end: int, rounds: int
    ) -> tuple[Entries, State]:
        earned = float(self.earned.drawn(block, door)[0])
        return entries.with_row(end, rounds, earned, self.earned.standard_deviation), {}


@dataclass(frozen=True)
class TotalReporting:
    """What all blocks from release `first` on earned is one running total; entries are its steps."""

    units: Units
    earned: RunningTotal[PublicCells]
    first: int = 0

    @property
    def gathering(self) -> PublicCells:
        return self.earned.gathering

    def of(self, block: Block) -> Gathered:
        return self.earned.of(block)

    def charge(self, index: int) -> Charge:
        return self.earned.sum.charge(index - self.first)

    @property
    def spent(self) -> Charge:
        """What anyone pays in all."""
        return self.earned.sum.spent(self.earned.releases)

    @property
    def noise(self) -> float:
        """Standard deviation of what the last block is reported to have earned, in the rewards' units."""
        steps = self.earned.sum.step_variance(max(1, self.earned.releases))
        return float(steps**0.5 * self.earned.gathering.grid) * self.units.scale

    @property
    def constants(self) -> tuple[Any, ...]:
        """What a state depends on: noise and levels."""
        return (self.earned.sum,)

    def next(
        self, entries: Entries, kept: State, block: Block, door: Door, *, end: int, rounds: int
    ) -> tuple[Entries, State]:
        found = self.earned.next(entries.sums, kept, block, door)
        total = float(found.values[0])
        earned, deviation = total - entries.total, found.step_variance**0.5
        entries = replace(entries, total=total, sums=found.public)
        return entries.with_row(end, rounds, earned, deviation), found.kept


def started_with(
    reporting: BlockReporting | TotalReporting | None, public: Any, kept: State
) -> tuple[Any, State]:
    """Return the state before anyone came, with that of the report if one is paid for."""
    if reporting is None:
        return public, kept
    sums, own = reporting.earned.start() if isinstance(reporting, TotalReporting) else ({}, {})
    return _beside(public, Entries.none(sums)), kept | own


def planned_with(reporting: BlockReporting | TotalReporting | None, plan: Plan) -> Plan:
    """Return the plan of a mode that is reported on, if it is."""
    if reporting is None:
        return plan
    facts = plan.facts | {"noise_of_report": reporting.noise}
    return replace(plan, facts=facts, constants=(*plan.constants, *reporting.constants))


def with_report(view: View[Any], reporting: Reporting | None, state: State) -> View[Any]:
    """Return a view of what is learned and reported; `state` is the flat public state with both."""
    if reporting is None:
        return view
    entries = of_flat(Entries, state, PREFIX)
    return ReportedView(view.problem, entries, view.index, view.begin, view.coins, view, reporting)


def _beside(learned: Any, entries: Entries) -> State:
    """Return what is published: the entries beside what is learned."""
    return flat(learned) | flat(entries, PREFIX)


@dataclass(frozen=True, eq=False)
class ReportedView(View[Any]):
    """What another view does, and a report of what its people earned; `public` holds the entries."""

    inner: View[Any]
    reporting: Reporting

    @property
    def learning(self) -> View[Any]:
        return self.inner

    # --- what the report adds -----------------------------------------------------------------------------

    @cached_property
    def rounds(self) -> int:
        """The rounds of this block: all that are left, if nobody is read any more; 0 for a log."""
        if self.inner.step is not None:
            return self.inner.step.rounds
        assert self.horizon is not None
        return self.horizon - self.begin

    @cached_property
    def step(self) -> Step | None:
        steps = self.problem.plan.steps
        if steps is not None:  # fixed once and for all, the report's charges included
            found: Step | None = steps(self.index)
            return found
        learned = self.inner.step
        if not self.rounds:
            return learned
        own = self.reporting.charge(self.index)
        if learned is None:
            return Step(self.rounds, own, cohort=self.index)
        return replace(learned, charge=learned.charge + own)

    @property
    def growing(self) -> tuple[tuple[str, ...], ...]:  # type: ignore[override]
        return (*self.inner.growing, (PREFIX + "rows",))

    def layout(self) -> tuple[Any, State]:
        start, started = self.problem.start()
        entries = of_flat(Entries, start, PREFIX)
        learned, kept = self.inner.layout()
        return _beside(learned, entries), started | kept

    def gatherings(self) -> dict[str, Gathering]:
        learned = self.inner.gatherings()
        return learned | {"earned": self.reporting.gathering} if self.rounds else learned

    def gather(self, block: Block, answers: Earned) -> None:
        if self.rounds:
            rewards = answers.earned
            only_cell = np.zeros((len(rewards), 1), dtype=np.int64)
            self.reporting.gathering.add(self.reporting.of(block), only_cell, rewards)
        self.inner.gather(block, answers)

    def release(self, tally: State, kept: State, block: Block, door: Door) -> tuple[State, State]:
        entries, own = self._next_entries(kept, block, door)
        learned, kept = self.inner.release(tally, kept, block, door)
        return _beside(learned, entries), kept | own

    def _next_entries(self, kept: State, block: Block, door: Door) -> tuple[Entries, State]:
        """Add the entry of this block; none for a log, whose people earned nothing here."""
        if not self.rounds:
            return self.public, {}
        end = self.begin + self.rounds
        return self.reporting.next(self.public, kept, block, door, end=end, rounds=self.rounds)

    def report(self) -> Report:
        rounds, value, deviation = self.public.rows.T
        units = self.reporting.units
        mean = units.zero + units.scale * value
        return Report(rounds.astype(np.int64), mean, units.scale * deviation, units.what)

    def noted(self, event: Any) -> State:
        return _beside(self.inner.noted(event), self.public)

    # --- everything else is as without --------------------------------------------------------------------

    @property
    def horizon(self) -> int | None:
        return self.inner.horizon

    @property
    def neighbours(self) -> str:
        return self.inner.neighbours

    def decide(self, rounds: Integers, asked: Asked) -> Any:
        return self.inner.decide(rounds, asked)

    def read(self, batch: Batch) -> Any:
        return self.inner.read(batch)

    def admitted(self, asked: Asked) -> Asked:
        return self.inner.admitted(asked)

    def refuse_next(self, asked: Asked) -> None:
        self.inner.refuse_next(asked)

    def no_counts(self) -> State:
        return self.inner.no_counts()

    def tally(self, counts: State, rounds: Integers, asked: Asked) -> None:
        self.inner.tally(counts, rounds, asked)

    def names(self) -> list[Label] | None:
        return self.inner.names()

    @property
    def labels(self) -> Labels | None:
        return self.inner.labels

    @property
    def log_rows(self) -> int:
        return self.inner.log_rows

    def plain(self) -> dict[str, Any]:
        return self.inner.plain()

    def noticed(self) -> dict[str, str]:
        return self.inner.noticed()

    def scores(self, context: Any) -> Scores:
        return self.inner.scores(context)
