"""Base class of all phases of the incumbent search.

A phase defines five members:

    shown                     the slates that its rounds show (shown.py)
    sums                      the sums that it aggregates and releases (releases.py), or None
    read(batch)               the typed answers; `answered(batch)` for answers to shown slates
    gather(block, answers)    self.sums.aggregator.add(self.sums.of(block), …)
    update(released)          released[self.sums], corrected by the mask counts; returns the state
                              that `problem.planner` plans from the posterior

To add a phase: write a plan class in public.py and add it to the union `BlockPlan`; list its arrays
with a variable number of rows in `growing`; add a method of the planner that returns a public state
with that plan; and add an entry to `PHASES` in mode.py.

Public randomness of a block is fixed before it begins: a table in its plan, drawn by the planner,
or a shuffle with a key of the block. The coins of single rounds (`View.coins`) are not used.

Guarantee   docs/guarantees/sets.md, Theorem 4
"""

from abc import abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, cast

import numpy as np

from discreet.arrays import Integers
from discreet.engine.labels import Label, Labels
from discreet.engine.phases import Measures
from discreet.engine.plan import State
from discreet.engine.readings import Scores
from discreet.engine.request import Batch, Request
from discreet.engine.statistics import OneRelease
from discreet.engine.view import View
from discreet.errors import StateError
from discreet.learners.set_maximizer.answers import Answers
from discreet.learners.set_maximizer.catalogue import NO_LEARNING, Change
from discreet.learners.set_maximizer.incumbent_search.incumbent import Incumbent, greedy_slate
from discreet.learners.set_maximizer.incumbent_search.posterior import Posterior
from discreet.learners.set_maximizer.incumbent_search.public import (
    LogFacts,
    LogPlan,
    Normal,
    OwnPlan,
    Public,
    ScreeningPlan,
)
from discreet.learners.set_maximizer.incumbent_search.shown import Shown
from discreet.learners.set_maximizer.settings import SetMaximizerSettings
from discreet.learners.start import Start

if TYPE_CHECKING:
    from discreet.learners.set_maximizer.incumbent_search.mode import IncumbentSearch


LOG_NEIGHBOURS = (
    "or one row of the log that came before (its people are taken to be others than the visitors: "
    "a person in both takes part twice)"
)
"""Addition to `neighbours` after a warm start: one row of the log may be replaced instead."""
LOG_COMES_FIRST = "warm_start is possible once, before the first visitor: go on with visitors"
"""Why a log is refused."""


@dataclass(frozen=True, eq=False)
class IncumbentSearchPhase(View[Public], Generic[OwnPlan]):
    """One block of the incumbent search, served according to its plan."""

    problem: "IncumbentSearch"

    growing = (  # flat keys of all plans; keys that the plan of the block lacks are ignored
        ("posterior.contexts", "posterior.means", "posterior.precisions"),
        ("phase.trials.slots", "phase.trials.items", "phase.trials.rounds"),
        ("phase.table",),
        ("phase.prefix",),
    )

    @cached_property
    def plan(self) -> OwnPlan:
        """The plan of this block: `public.phase` with its precise type."""
        return cast(OwnPlan, self.public.phase)

    @property
    @abstractmethod
    def shown(self) -> Shown:
        """The slates that this block shows."""

    @property
    @abstractmethod
    def sums(self) -> OneRelease[Any] | None:
        """The sums that this block aggregates and releases once; None if it reads no answers."""

    @property
    def settings(self) -> SetMaximizerSettings:
        """Settings of the learner."""
        return self.problem.settings

    # --- the plan ---------------------------------------------------------------------------------

    @property
    def statistics(self) -> Measures:
        own = () if self.sums is None else (self.sums,)
        return (*own, *self.problem.report)

    @property
    def rounds(self) -> int | None:
        return self.plan.length

    @property
    def horizon(self) -> int:
        return self.public.rounds

    @property
    def learns_on(self) -> bool:
        """Whether a later block would learn about a new item."""
        return True

    @property
    def next_start(self) -> Start:
        """Index and first round of the next block."""
        return Start(self.index + 1, self.begin + self.plan.length)

    @property
    def at_next(self) -> Public:
        """Public state with the catalogue of the next block."""
        return replace(self.public, catalogue=self.public.catalogue.next())

    def after_screening(
        self, posterior: Posterior, level: float, plan: ScreeningPlan | LogPlan
    ) -> Public:
        """Return the public state after a screening block, or a log, led to this posterior."""
        public = self.at_next
        slate = greedy_slate(posterior, plan.prefix, public.catalogue.active, self.settings.slots)
        public = replace(public, posterior=posterior, level=level, slate=slate)
        return self.problem.planner.next_screening(public, self.next_start, plan.since, plan.stage)

    @property
    def neighbours(self) -> str:
        rounds = self.problem.neighbours
        return rounds if self.public.log is None else f"{rounds}; {LOG_NEIGHBOURS}"

    def shape(self) -> Public:
        log = self.public.log
        reference = self.public.reference
        return replace(
            self.problem.first,
            log=None if log is None else LogFacts(0, 1.0),
            reference=None if reference is None else Normal(0.0, 0.0),
            phase=self.plan.blank(self.settings.slots),
        )

    def check_state(self) -> None:
        slots = self.settings.slots
        contexts = self.public.posterior.contexts
        members = contexts[contexts != -1]
        self.public.catalogue.check_items(slots, self.public.slate, members, *self.plan.items)
        self.plan.check(slots)

    # --- hooks ------------------------------------------------------------------------------------

    def decide(self, rounds: Integers, request: Request) -> Integers:
        if len(rounds) == 1:
            position = int(rounds[0]) - self.begin
            return self.shown.slate_of_one(position, request.available)[None].copy()
        return self.shown.slates(rounds - self.begin, request.available)

    def no_mask_counts(self) -> State:
        return self.shown.no_mask_counts()

    def count_masks(self, counts: State, rounds: Integers, request: Request) -> None:
        if request.available is not None:
            self.shown.count_masked(rounds - self.begin, request.available, counts)

    def answered(self, batch: Batch) -> Answers:
        """Return the typed answers of visitors to the slates that they were shown."""
        slates = self.decide(batch.rounds, batch.request)
        return self.problem.answers(batch, slates, self._named.numbers)

    # --- public events and questions --------------------------------------------------------------

    def noted(self, event: Change | LogFacts) -> Public:
        """Return the public state after a public event.

        An event is a change of the catalogue, or the announcement of a warm-start log (its number
        of rows and least propensity).
        """
        if isinstance(event, LogFacts):
            return self._with_log(event)
        public = replace(self.public, rounds=self.public.rounds + event.extend)
        if event.add and not replace(self, public=public).learns_on:
            raise StateError(NO_LEARNING)
        return replace(public, catalogue=public.catalogue.changed(event, self.settings))

    def _with_log(self, log: LogFacts) -> Public:
        """Return the public state in which the log is read; it counts as random slates."""
        if self.public.log is not None or self.index > 0:
            raise StateError(LOG_COMES_FIRST)
        views = log.rows * log.least
        rounds_replaced = int(min(views * self.public.catalogue.size, 2.0**53))
        planned = self.plan.length
        return replace(
            self.public,
            screened=self.public.screened - planned,
            log=replace(log, random=planned),
            phase=LogPlan(self.begin - rounds_replaced, views),
        )

    def admitted(self, request: Request) -> Request:
        return self.public.catalogue.admitted(request)

    def refuse_next(self, request: Request) -> None:
        self.public.catalogue.next().admitted(request)

    # --- what may be read -------------------------------------------------------------------------

    @cached_property
    def _named(self) -> Labels:
        """Names of all items."""
        return self.problem.labels_of(self.public.catalogue)

    def names(self) -> list[Label]:
        return list(self._named.names)

    @property
    def log_rows(self) -> int:
        return 0 if self.public.log is None else self.public.log.rows

    @property
    def labels(self) -> Labels | None:
        return None if self.settings.labels is None else self._named

    @cached_property
    def order(self) -> Integers:
        """Items by falling interest: the order in which they fill up slates."""
        return np.argsort(-self.public.posterior.interest, kind="stable")

    def plain(self) -> dict[str, object]:
        return self.problem.plain_slate(self.public.slate, self.public.catalogue, self.order)

    def scores(self, context: object) -> Scores:
        """Return the posterior gain of each item in each slot, behind the rest of the slate."""
        gains = Incumbent.of(self.public.posterior, self.public.slate).gains
        known = len(self._named.names)
        return Scores(gains.means[:, :known], np.sqrt(gains.variances)[:, :known])
