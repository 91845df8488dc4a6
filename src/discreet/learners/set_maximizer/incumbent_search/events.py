"""Public events of the incumbent search: the catalogue, the horizon, and a log before the start.

Guarantee   docs/guarantees/sets.md, Theorems 5 and 7
"""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from discreet.engine.declarations import Promise
from discreet.errors import StateError
from discreet.learners.set_maximizer.catalogue import NO_LEARNING, Change
from discreet.learners.set_maximizer.events import CatalogueEvents
from discreet.learners.set_maximizer.incumbent_search.public import LogFacts, LogPlan, Public

if TYPE_CHECKING:
    from discreet.learners.set_maximizer.incumbent_search.phase import IncumbentSearchPhase

LOG_NEIGHBOURS = (
    "or one row of the log that came before (its people are taken to be others than the visitors: "
    "a person in both takes part twice)"
)
"""Addition to `neighbours` after a warm start: one row of the log may be replaced instead."""
LOG_COMES_FIRST = "warm_start is possible once, before the first visitor: go on with visitors"
"""Why a log is refused."""


class SearchEvents(CatalogueEvents):
    """Changes of the catalogue and the horizon, and the announcement of a warm-start log."""

    phase: "IncumbentSearchPhase[Any]"

    @property
    def promise(self) -> Promise:
        promise = super().promise
        if self.phase.public.log is None:
            return promise
        return replace(promise, neighbours=f"{promise.neighbours}; {LOG_NEIGHBOURS}")

    def horizon(self, planned: int | None) -> int:
        return self.phase.public.rounds

    @property
    def log_rows(self) -> int:
        log = self.phase.public.log
        return 0 if log is None else log.rows

    def noted(self, event: Change | LogFacts) -> Public:
        """Return the public state after a public event.

        An event is a change of the catalogue, or the announcement of a warm-start log (its number
        of rows and least propensity).
        """
        if isinstance(event, LogFacts):
            return self._with_log(event)
        phase = self.phase
        public = replace(phase.public, rounds=phase.public.rounds + event.extend)
        if event.add and not replace(phase, public=public).learns_on:
            raise StateError(NO_LEARNING)
        return replace(public, catalogue=public.catalogue.changed(event, phase.settings))

    def _with_log(self, log: LogFacts) -> Public:
        """Return the public state in which the log is read; it counts as random slates."""
        public = self.phase.public
        at = self.phase.at
        if public.log is not None or at.index > 0:
            raise StateError(LOG_COMES_FIRST)
        views = log.rows * log.least
        rounds_replaced = int(min(views * public.catalogue.size, 2.0**53))
        planned = self.phase.block_plan.length
        return replace(
            public,
            screened=public.screened - planned,
            log=replace(log, random=planned),
            phase=LogPlan(at.begin - rounds_replaced, views),
        )
