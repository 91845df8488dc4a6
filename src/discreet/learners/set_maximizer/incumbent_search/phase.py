"""What all phases of the screen-and-exchange mode have in common.

A phase says five things about its block:

    shown                        which slates its rounds show (shown.py)
    found                        what it gathers and releases (releases.py); None if nobody is read
    read(batch)                  the answers, typed: `answered(batch)`, if they are to shown slates
    gather(block, answers)       self.found.aggregator.add(self.found.of(block), …)
    release(mask_counts, hidden, …)      self.found.drawn(block, door), and `mask_counts` for what masks changed;
                                 returns what `problem.planner` plans from what they say

Another phase needs four more lines: a plan class in public.py, in the union `BlockPlan`; the name
of each of its arrays whose number of rows changes in `growing`; a method of the planner that
returns a public state with that plan; and an entry of `PHASES` in mode.py.

Public randomness of a block is fixed before it begins: a table in its plan, drawn by the planner,
or a shuffle with a key of the block. The coins of single rounds (`View.coins`) are not used.
"""

from abc import abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic

import numpy as np

from discreet.arrays import Integers
from discreet.budget.privacy import pure
from discreet.engine.labels import Label, Labels
from discreet.engine.plan import State, Step
from discreet.engine.readings import Scores
from discreet.engine.request import Batch, Request
from discreet.engine.view import View
from discreet.errors import StateError
from discreet.learners.one_release import OneRelease
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
from discreet.release.aggregators import Aggregator

if TYPE_CHECKING:
    from discreet.learners.set_maximizer.incumbent_search.mode import IncumbentSearch


OF_LOGS = (
    "or one row of the log that came before (its people are taken to be others than the visitors: "
    "whoever is in both takes part twice)"
)
"""Addition to `neighbours` after a warm start: a row of the log may be replaced instead of a
round.
"""


@dataclass(frozen=True, eq=False)
class IncumbentSearchPhase(View[Public], Generic[OwnPlan]):
    """A block of the screen-and-exchange mode."""

    problem: "IncumbentSearch"
    plan: OwnPlan
    """The plan of this block: `public.phase`, by its own type."""

    growing = (  # flat keys of all plans: those that a block's own plan lacks are ignored
        ("posterior.contexts", "posterior.means", "posterior.precisions"),
        ("phase.trials.slots", "phase.trials.items", "phase.trials.rounds"),
        ("phase.table",),
        ("phase.prefix",),
    )

    @property
    @abstractmethod
    def shown(self) -> Shown:
        """Which slates this block shows."""

    @property
    @abstractmethod
    def found(self) -> OneRelease[Any] | None:
        """The one release of this block, with what it gathers; None if nobody is read."""

    @property
    def settings(self) -> SetMaximizerSettings:
        return self.problem.settings

    # --- the plan ---------------------------------------------------------------------------------

    @cached_property
    def step(self) -> Step | None:
        charge = pure(0.0) if self.found is None else self.found.charge
        return Step(self.plan.length, charge, cohort=self.index)

    @property
    def horizon(self) -> int:
        return self.public.rounds

    @property
    def learns_on(self) -> bool:
        """Whether something would still be learned about a new item."""
        return True

    @property
    def next_start(self) -> Start:
        """Where the next block begins."""
        return Start(self.index + 1, self.begin + self.plan.length)

    @property
    def at_next(self) -> Public:
        """The public state, with the items that the next block begins with."""
        return replace(self.public, catalogue=self.public.catalogue.next())

    def after_screening(
        self, posterior: Posterior, level: float, plan: ScreeningPlan | LogPlan
    ) -> Public:
        """Return the public state after a screening block, or a log, has led to this belief."""
        public = self.at_next
        slate = greedy_slate(posterior, plan.prefix, public.catalogue.active, self.settings.slots)
        public = replace(public, posterior=posterior, level=level, slate=slate)
        return self.problem.planner.next_screening(public, self.next_start, plan.since, plan.stage)

    @property
    def neighbours(self) -> str:
        rounds = self.problem.neighbours
        return rounds if self.public.log is None else f"{rounds}; {OF_LOGS}"

    def layout(self) -> tuple[Public, State]:
        log, reference = self.public.log, self.public.reference
        public = replace(
            self.problem.first_public,
            log=None if log is None else LogFacts(0, 1.0),
            reference=None if reference is None else Normal(0.0, 0.0),
            phase=self.plan.blank(self.settings.slots),
        )
        return public, {}

    def check_state(self) -> None:
        slots, contexts = self.settings.slots, self.public.posterior.contexts
        company = contexts[contexts != -1]
        self.public.catalogue.check_items(slots, self.public.slate, company, *self.plan.items)
        self.plan.check(slots)

    # --- hooks ------------------------------------------------------------------------------------

    def aggregators(self) -> dict[str, Aggregator]:
        return {} if self.found is None else {self.found.name: self.found.aggregator}

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
        """Return visitors' answers to the slates that they were shown: what most phases `read`."""
        slates = self.decide(batch.rounds, batch.request)
        return self.problem.answers(batch, slates, self._named.numbers)

    # --- public events and questions --------------------------------------------------------------

    def noted(self, event: Change | LogFacts) -> Public:
        """Return what is public after a change of the catalogue, or before a log is read."""
        if isinstance(event, LogFacts):
            return self._with_log(event)
        public = replace(self.public, rounds=self.public.rounds + event.extend)
        if event.add and not replace(self, public=public).learns_on:
            raise StateError(NO_LEARNING)
        return replace(public, catalogue=public.catalogue.changed(event, self.settings))

    def _with_log(self, log: LogFacts) -> Public:
        """Return what is public before the log is read, which counts as random slates."""
        if self.public.log is not None or self.index > 0:
            raise StateError(
                "a warm start comes once, before the first visitor: go on with visitors"
            )
        views = log.rows * log.least
        stands_for = int(min(views * self.public.catalogue.size, 2.0**53))
        planned = self.plan.length
        return replace(
            self.public,
            screened=self.public.screened - planned,
            log=replace(log, random=planned),
            phase=LogPlan(self.begin - stands_for, views),
        )

    def admitted(self, request: Request) -> Request:
        return self.public.catalogue.admitted(request)

    def refuse_next(self, request: Request) -> None:
        self.public.catalogue.next().admitted(request)

    # --- what may be read -------------------------------------------------------------------------

    @cached_property
    def _named(self) -> Labels:
        """The names of all items."""
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
        """Items from best to worst, as far as that is known: they fill up slates."""
        return np.argsort(-self.public.posterior.interest, kind="stable")

    def plain(self) -> dict[str, Any]:
        return self.problem.plain_slate(self.public.slate, self.public.catalogue, self.order)

    def scores(self, context: Any) -> Scores:
        """Return what each item is believed to gain in each slot, behind the rest of the slate."""
        gains = Incumbent.of(self.public.posterior, self.public.slate).gains
        known = len(self._named.names)
        return Scores(gains.means[:, :known], np.sqrt(gains.variances)[:, :known])
