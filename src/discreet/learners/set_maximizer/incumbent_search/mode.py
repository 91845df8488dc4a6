"""Bayesian search around an incumbent slate: the default mode for clicks and rewards.

    g(a | B) = e(B) · (m + d_a + μ_a · Σ_{b∈B} x_ab)      gain of item a behind the set B
    e(B)     = Π_{b∈B} (1 − μ_b)                          probability that nothing in B is clicked

The posterior of g (posterior.py) follows from released sums. It yields the *incumbent*, the best
known slate, and the *trials* that may improve it: the incumbent with one slot exchanged.

    phase        slates of a block                                         file
    log          none: a log of another policy, before the first visitor   log.py
    screening    random slates, then slates of likely leaders              screening.py
    exchange     the incumbent, and in some rounds a trial                 exchange.py
    settled      the incumbent; no answers are read                        exchange.py

Every round shows a full slate. After each block its sums are released, the posterior is updated,
and the next block is planned from it (planner.py). Each visitor is in one block, and each block is
released once, with pure noise for the whole ε. In exchange blocks one visitor moves one public cell
by at most 1: a click on the last place, or the reward of the slate. In screenings by clicks one
visitor moves two counts by 1; screening.py lists all sensitivities.

Files in reading order:

    public.py                     the published state, and one plan per kind of block
    phase.py                      base class of all phases; how to write another one
    exchange.py, screening.py     the phases; log.py has that of a log
    shown.py, shown_….py          the slates that the rounds of a block show, and their view counts
    releases.py                   aggregators of the blocks, and the noise of their releases
    planner.py                    the plan of the next block; schedule.py, tables.py for a screening
    posterior.py, incumbent.py    posterior of gains, and the best slate under it
    trials.py                     the exchanges that are worth trying
    tuning.py                     all tuned constants

With a `report`, a share of ε pays for the mean reward of each block's visitors. After the last
trial no answers are read, except by a report: it covers the remaining visitors with one release at
the end.

With `stream="drifting"` old cells fade, blocks stay short, and all items are screened again after
an alarm: the mean reward of the incumbent has changed by more than chance.

Guarantee   docs/guarantees/sets.md, Theorem 4 (privacy), Lemma 6 (reports), Theorem 7 (logs)
Runtime     O(slots) per round; a release O(items · 40³) at most; memory O(slots · items), whatever
            the horizon
References  Russo et al. (2018), "A Tutorial on Thompson Sampling"; Frazier, Powell, Dayanik (2008)
"""

from functools import cached_property
from typing import Any

from discreet.budget.privacy import pure
from discreet.engine.phases import Adaptive
from discreet.engine.statistics import OneRelease, Report, Units
from discreet.errors import ConfigError
from discreet.learners.answers import Entry
from discreet.learners.set_maximizer.catalogue import Catalogue
from discreet.learners.set_maximizer.incumbent_search.exchange import (
    ClickExchange,
    RewardExchange,
    Settled,
)
from discreet.learners.set_maximizer.incumbent_search.log import ClickLog, RewardLog
from discreet.learners.set_maximizer.incumbent_search.phase import IncumbentSearchPhase
from discreet.learners.set_maximizer.incumbent_search.planner import (
    ClickPlanner,
    Planner,
    RewardPlanner,
)
from discreet.learners.set_maximizer.incumbent_search.posterior import Posterior
from discreet.learners.set_maximizer.incumbent_search.public import (
    BlockPlan,
    ExchangePlan,
    FirstScreeningPlan,
    LaterScreeningPlan,
    LogPlan,
    Public,
    SettledPlan,
)
from discreet.learners.set_maximizer.incumbent_search.releases import (
    clicks_release,
    exchange_release,
    rewards_release,
)
from discreet.learners.set_maximizer.incumbent_search.schedule import ScreeningSchedule
from discreet.learners.set_maximizer.incumbent_search.screening import (
    FirstClicks,
    FirstRewards,
    LaterClicks,
    LaterRewards,
)
from discreet.learners.set_maximizer.incumbent_search.shown import UNIT
from discreet.learners.set_maximizer.incumbent_search.tuning import TUNED
from discreet.learners.set_maximizer.mode import SetMode
from discreet.learners.start import Start
from discreet.release.aggregators import OneChoice, PublicCells

PHASES: dict[str, dict[type[BlockPlan], type[IncumbentSearchPhase[Any]]]] = {
    "clicks": {
        LogPlan: ClickLog,
        FirstScreeningPlan: FirstClicks,
        LaterScreeningPlan: LaterClicks,
        ExchangePlan: ClickExchange,
        SettledPlan: Settled,
    },
    "bandit": {
        LogPlan: RewardLog,
        FirstScreeningPlan: FirstRewards,
        LaterScreeningPlan: LaterRewards,
        ExchangePlan: RewardExchange,
        SettledPlan: Settled,
    },
}
"""Phase class of a block, by the kind of feedback and the class of its plan, `Public.phase`."""
GOOD_RATE = 0.1
"""Click rate of a good item, for the warning that the horizon is too short."""


class IncumbentSearch(SetMode):
    """The incumbent search: its first state, and the phase of each block."""

    def check(self) -> None:
        """Refuse a horizon that screening alone would use up."""
        stages = self.schedule.stages(TUNED.guess)
        if sum(stage.length for stage in stages) >= self.settings.rounds:
            raise ConfigError(
                f"a horizon of {self.settings.rounds} is too short for {len(stages)} screening "
                "blocks: use fewer slots, or explore less"
            )

    @property
    def answer(self) -> Entry:
        return Entry(None if self.by_clicks else 0.0)

    @property
    def by_clicks(self) -> bool:
        """Whether visitors answer with a click; otherwise with a reward of the whole slate."""
        return self.settings.feedback == "clicks"

    @cached_property
    def planner(self) -> Planner:
        """Planner of the next block."""
        kind = ClickPlanner if self.by_clicks else RewardPlanner
        return kind(self.settings)

    @property
    def schedule(self) -> ScreeningSchedule:
        """Screening schedule as planned before the first visitor."""
        return self.planner.schedule(self.settings.items, self.settings.rounds)

    # --- what is measured -------------------------------------------------------------------------

    @cached_property
    def phases(self) -> Adaptive:
        settings = self.settings
        whole = pure(settings.epsilon / settings.contributions)
        return Adaptive(
            PHASES[settings.feedback],
            settings.rounds,
            whole,
            self.report,
            constants=("incumbent-search", self._first_release.aggregator, UNIT),
        )

    @property
    def facts(self) -> dict[str, object]:
        settings = self.settings
        first = self._first_release
        block = self.schedule.stages(TUNED.guess)[0].length
        views = block * settings.slots / settings.items
        noise = first.calibrated.standard_deviation
        facts: dict[str, object] = {
            "method": "incumbent-search",
            "why": "feedback concerns the shown slate only",
            "block": block,
            "explore": self.schedule.length(TUNED.guess) / settings.rounds,
            "noise_in_visitors": noise,
            "first_views_of_an_item": views,
        }
        if GOOD_RATE * views < noise:
            facts["warning"] = (
                "the horizon is too short: at first, noise exceeds the clicks of a good item"
            )
        return facts

    @property
    def _first_release(self) -> OneRelease[Any]:
        """Release of the first block."""
        return self.clicks if self.by_clicks else self.rewards

    @cached_property
    def clicks(self) -> OneRelease[OneChoice]:
        """The release of a screening by clicks, or of a log."""
        return clicks_release(self.settings)

    @cached_property
    def rewards(self) -> OneRelease[PublicCells]:
        """The release of the first screening by rewards."""
        return rewards_release(self.settings)

    @cached_property
    def exchanges(self) -> OneRelease[PublicCells]:
        """The release of an exchange block."""
        return exchange_release(self.settings)

    @cached_property
    def report(self) -> tuple[Report, ...]:
        """The report on earnings; none if no budget is set aside for it."""
        return Report.of_settings(self.settings, self._units)

    @property
    def _units(self) -> Units:
        """Units of a report: rewards up to the bound, or 1 per visitor who clicked."""
        if self.by_clicks:
            return Units(low=0.0, high=1.0, what="share who clicked")
        return Units(low=0.0, high=1.0, scale=self.settings.bound)

    # --- from one release to the next -------------------------------------------------------------

    @property
    def first(self) -> Public:
        """Public state before the first visitor."""
        settings = self.settings
        nothing = Public(
            catalogue=Catalogue.first(settings),
            rounds=settings.rounds,
            posterior=Posterior.before(settings.room, slots=settings.slots, interest=TUNED.guess),
            slate=self.first_slate(),
            level=0.5,
            reference=None,
            screened=0,
            tried=0,
            exchanges=0,
            log=None,
            phase=SettledPlan(length=0),
        )
        return self.planner.first_screening(nothing, Start(index=0, begin=0))
