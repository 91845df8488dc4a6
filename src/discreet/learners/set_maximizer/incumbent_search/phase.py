"""Base class of all phases of the incumbent search.

A phase defines four members:

    shown                     the slates that its rounds show (shown.py)
    sums                      the sums that it aggregates and releases (releases.py), or None
    gather(block, answers)    self.sums.aggregator.add(self.sums.of(block), …)
    update(released)          released[self.sums], corrected by the mask counts; returns the state
                              that `mode.planner` plans from the posterior

To add a phase: write a plan class in public.py and add it to the union `BlockPlan`; list its arrays
with a variable number of rows in `Public.growing`; add a method of the planner that returns a
public state with that plan; and add an entry to `PHASES` in mode.py.

Public randomness of a block is fixed before it begins: a table in its plan, drawn by the planner,
or a shuffle with a key of the block. The coins of single rounds are not used.

Guarantee   docs/guarantees/sets.md, Theorem 4
"""

from abc import abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, cast

import numpy as np

from discreet.arrays import Integers
from discreet.engine.declarations import Readings
from discreet.engine.labels import Labels
from discreet.engine.phase import Phase
from discreet.engine.readings import Scores
from discreet.engine.request import Batch, Request
from discreet.engine.statistics import Measures, OneRelease
from discreet.learners.set_maximizer.answers import READERS
from discreet.learners.set_maximizer.incumbent_search.events import SearchEvents
from discreet.learners.set_maximizer.incumbent_search.incumbent import Incumbent, greedy_slate
from discreet.learners.set_maximizer.incumbent_search.posterior import Posterior
from discreet.learners.set_maximizer.incumbent_search.public import (
    LogPlan,
    OwnPlan,
    Public,
    ScreeningPlan,
)
from discreet.learners.set_maximizer.incumbent_search.shown import Shown, ShownMasks
from discreet.learners.set_maximizer.settings import SetMaximizerSettings
from discreet.learners.start import Start

if TYPE_CHECKING:
    from discreet.learners.set_maximizer.incumbent_search.mode import IncumbentSearch


@dataclass(frozen=True, eq=False)
class IncumbentSearchPhase(Phase[Public], Generic[OwnPlan]):
    """One block of the incumbent search, served according to its plan."""

    mode: "IncumbentSearch"

    @cached_property
    def block_plan(self) -> OwnPlan:
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
        return self.mode.settings

    # --- the plan ---------------------------------------------------------------------------------

    @property
    def measures(self) -> Measures:
        own = () if self.sums is None else (self.sums,)
        return (*own, *self.mode.report)

    @property
    def learns_on(self) -> bool:
        """Whether a later block would learn about a new item."""
        return True

    @property
    def next_start(self) -> Start:
        """Index and first round of the next block."""
        return Start(self.at.index + 1, self.at.begin + self.block_plan.length)

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
        return self.mode.planner.next_screening(public, self.next_start, plan.since, plan.stage)

    # --- hooks ------------------------------------------------------------------------------------

    def decide(self, rounds: Integers, request: Request) -> Integers:
        if len(rounds) == 1:
            position = int(rounds[0]) - self.at.begin
            return self.shown.slate_of_one(position, request.available)[None].copy()
        return self.shown.slates(rounds - self.at.begin, request.available)

    @property
    def masks(self) -> ShownMasks:
        return ShownMasks(self.shown, self.at.begin)

    @property
    def events(self) -> SearchEvents:
        return SearchEvents(self)

    def read(self, batch: Batch) -> Any:
        """Return the typed answers of visitors to the slates that they were shown."""
        settings = self.mode.settings
        numbers = self.names.numbers
        return READERS[settings.feedback](batch, batch.decisions, numbers, settings)

    # --- what may be read -------------------------------------------------------------------------

    @cached_property
    def names(self) -> Labels:
        """Names of all items."""
        return self.mode.labels_of(self.public.catalogue)

    @cached_property
    def order(self) -> Integers:
        """Items by falling interest: the order in which they fill up slates."""
        return np.argsort(-self.public.posterior.interest, kind="stable")

    def readings(self) -> Readings:
        slate = self.mode.plain_slate(self.public.slate, self.public.catalogue, self.order)
        return Readings(slate, self._scores)

    def _scores(self, context: object) -> Scores:
        """Return the posterior gain of each item in each slot, behind the rest of the slate."""
        gains = Incumbent.of(self.public.posterior, self.public.slate).gains
        known = len(self.names.names)
        return Scores(gains.means[:, :known], np.sqrt(gains.variances)[:, :known])
