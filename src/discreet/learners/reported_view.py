"""A wrapper around the view of a mode that adds a report of the rewards of its people.

    def start(self):             return started_with(self.reporting, first_public, hidden)
    def view(self, public, …):   return with_report(view, self.reporting, public)

The wrapper adds one number to the aggregates, charges, releases and public state, and leaves the
rest to the view of the mode, `learning`. Once a mode reads nobody any more, the report still reads
the remaining people, in one release at the end.

Guarantee   docs/guarantees/contextual.md, Lemma 4; docs/guarantees/sets.md, Lemma 6;
            docs/guarantees/costs.md, Lemma 2
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from discreet.arrays import Integers
from discreet.engine.flat_state import flat, of_flat
from discreet.engine.labels import Label, Labels
from discreet.engine.plan import State, Step
from discreet.engine.readings import Report, Scores
from discreet.engine.request import Batch, Block, Request
from discreet.engine.view import View
from discreet.learners.reporting import BlockReporting, Earned, Entries, Reporting, TotalReporting
from discreet.release.aggregators import Aggregator
from discreet.release.door import Door

PREFIX = "report."
"""Prefix of the keys of the entries in the flat public state."""


def started_with(
    reporting: BlockReporting | TotalReporting | None, public: object, hidden: State
) -> tuple[object, State]:
    """Return the state before the first round, with that of the report if one is paid for."""
    if reporting is None:
        return public, hidden
    sums, own = reporting.earned.start() if isinstance(reporting, TotalReporting) else ({}, {})
    return _beside(public, Entries.none(sums)), hidden | own


def with_report(view: View[object], reporting: Reporting | None, state: State) -> View[object]:
    """Return the view with a report, if one is paid for; `state` is flat, with both parts."""
    if reporting is None:
        return view
    entries = of_flat(Entries, state, PREFIX)
    return ReportedView(view.problem, entries, view.index, view.begin, view.coins, view, reporting)


def _beside(learned: object, entries: Entries) -> State:
    """Return the flat public state: the entries of the report beside what is learned."""
    return flat(learned) | flat(entries, PREFIX)


@dataclass(frozen=True, eq=False)
class ReportedView(View[Any]):
    """A view that delegates to `inner` and reports rewards; `public` holds the entries."""

    inner: View[object]
    reporting: Reporting

    @property
    def learning(self) -> View[object]:
        return self.inner

    # --- what the report adds ---------------------------------------------------------------------

    @cached_property
    def rounds(self) -> int:
        """Rounds of this block: all remaining ones if nobody is read any more; 0 for a log."""
        if self.inner.step is not None:
            return self.inner.step.rounds
        assert self.horizon is not None
        return self.horizon - self.begin

    @cached_property
    def step(self) -> Step | None:
        steps = self.problem.plan.steps
        if steps is not None:  # fixed in advance, the report's charges included
            planned: Step | None = steps(self.index)
            return planned
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

    def check_state(self) -> None:
        self.inner.check_state()

    def layout(self) -> tuple[State, State]:
        start, started = self.problem.start()
        entries = of_flat(Entries, start, PREFIX)
        learned, hidden = self.inner.layout()
        return _beside(learned, entries), started | hidden

    def aggregators(self) -> dict[str, Aggregator]:
        learned = self.inner.aggregators()
        return learned | {"earned": self.reporting.aggregator} if self.rounds else learned

    def gather(self, block: Block, answers: Earned) -> None:
        if self.rounds:
            rewards = answers.earned
            only_cell = np.zeros((len(rewards), 1), dtype=np.int64)
            self.reporting.aggregator.add(self.reporting.of(block), only_cell, rewards)
        self.inner.gather(block, answers)

    def release(
        self, mask_counts: State, hidden: State, block: Block, door: Door
    ) -> tuple[State, State]:
        entries, own = self._next_entries(hidden, block, door)
        learned, hidden = self.inner.release(mask_counts, hidden, block, door)
        return _beside(learned, entries), hidden | own

    def _next_entries(self, hidden: State, block: Block, door: Door) -> tuple[Entries, State]:
        """Return the entries with that of this block; a log has no rounds and adds none."""
        if not self.rounds:
            return self.public, {}
        end = self.begin + self.rounds
        return self.reporting.next(self.public, hidden, block, door, end=end, rounds=self.rounds)

    def report(self) -> Report:
        rounds, value, deviation = self.public.rows.T
        units = self.reporting.units
        mean = units.zero + units.scale * value
        return Report(rounds.astype(np.int64), mean, units.scale * deviation, units.what)

    def noted(self, event: object) -> State:
        return _beside(self.inner.noted(event), self.public)

    # --- everything else is delegated -------------------------------------------------------------

    @property
    def horizon(self) -> int | None:
        return self.inner.horizon

    @property
    def neighbours(self) -> str:
        return self.inner.neighbours

    def decide(self, rounds: Integers, request: Request) -> np.ndarray:
        return self.inner.decide(rounds, request)

    def read(self, batch: Batch) -> object:
        return self.inner.read(batch)

    def admitted(self, request: Request) -> Request:
        return self.inner.admitted(request)

    def refuse_next(self, request: Request) -> None:
        self.inner.refuse_next(request)

    def no_mask_counts(self) -> State:
        return self.inner.no_mask_counts()

    def count_masks(self, counts: State, rounds: Integers, request: Request) -> None:
        self.inner.count_masks(counts, rounds, request)

    def names(self) -> list[Label] | None:
        return self.inner.names()

    @property
    def labels(self) -> Labels | None:
        return self.inner.labels

    @property
    def log_rows(self) -> int:
        return self.inner.log_rows

    def plain(self) -> dict[str, object]:
        return self.inner.plain()

    def noticed(self) -> dict[str, str]:
        return self.inner.noticed()

    def scores(self, context: object) -> Scores:
        return self.inner.scores(context)
