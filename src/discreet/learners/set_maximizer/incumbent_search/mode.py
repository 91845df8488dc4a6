"""Clicks and rewards, drifting or i.i.d. streams: screen all items, then exchange single slots.

    log phase           a log of another policy, before the first visitor              log.py
    screening phases    random slates, then likely leaders: which items are good       screening.py
    exchange phase      the incumbent slate; in some rounds, one slot of it exchanged  exchange.py
    settled phase       the incumbent slate; nobody is read                            exchange.py

Every round shows a full slate. After each block the sums of its cells are released, the belief is
brought up to date (belief.py), and the next block is planned from it (planner.py). Each visitor is
in one block, and each block is released once, with pure noise for the whole ε: the first click of a
slate moves one count down and one up (l₁ 2); whether the last place was clicked, or what the slate
earned, moves one public cell (l₁ 1).

In the order in which they are best read:

    public.py                     what is published: the state, and one plan per kind of block
    phase.py                      what all phases have in common; how to write another one
    exchange.py, screening.py     the phases; log.py has that of a log
    shown.py, shown_….py          which slates the rounds of a block show, and what they count
    releases.py                   what blocks gather, and the noise of their releases
    planner.py                    the plan of the next block; schedule.py, tables.py: of a screening
    belief.py, incumbent.py       what released sums say about gains, and about the best slate
    trials.py                     which exchanges are worth trying
    tuning.py                     all tuned constants

With a `report`, a share of ε pays for what each block's visitors earned. Once nothing is tried any
more, nobody is read; only a report reads the visitors who are left too, in one release at the end.

`stream="drifting"`: old cells fade, blocks stay short, and where the incumbent earns something else
than it used to, everything is screened again.

Guarantee   docs/guarantees/sets.md, Theorem 4, Lemma 6
Runtime     O(slots) per round; a release O(items · 40³) at most; memory O(slots · items), whatever
            the horizon
References  Russo et al. (2018), "A Tutorial on Thompson Sampling"; Frazier, Powell, Dayanik (2008)
"""

from functools import cached_property
from typing import Any

from discreet.arrays import Integers
from discreet.budget.privacy import pure
from discreet.engine.coins import Coins
from discreet.engine.flat_state import of_flat
from discreet.engine.plan import Plan, State, paid_by_cohorts
from discreet.engine.request import Batch
from discreet.engine.view import View
from discreet.errors import ConfigError
from discreet.learners.one_release import OneRelease
from discreet.learners.reported_view import started_with, with_report
from discreet.learners.reporting import BlockReporting, Units, planned_with
from discreet.learners.set_maximizer.answers import READERS, Answers, Numbers
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
    ExchangePlan,
    FirstScreeningPlan,
    LaterScreeningPlan,
    LogPlan,
    Public,
    SettledPlan,
)
from discreet.learners.set_maximizer.incumbent_search.releases import (
    clicks_release,
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

PHASES: dict[tuple[str, type[Any]], type[IncumbentSearchPhase[Any]]] = {
    ("clicks", LogPlan): ClickLog,
    ("clicks", FirstScreeningPlan): FirstClicks,
    ("clicks", LaterScreeningPlan): LaterClicks,
    ("clicks", ExchangePlan): ClickExchange,
    ("clicks", SettledPlan): Settled,
    ("bandit", LogPlan): RewardLog,
    ("bandit", FirstScreeningPlan): FirstRewards,
    ("bandit", LaterScreeningPlan): LaterRewards,
    ("bandit", ExchangePlan): RewardExchange,
    ("bandit", SettledPlan): Settled,
}
"""The phase of a block, by the kind of feedback and the class of its plan, `Public.phase`."""


class IncumbentSearch(SetMode):
    """Slates from screening and exchanges; the default for clicks and rewards."""

    @classmethod
    def serves(cls, settings: Any) -> bool:
        return bool(settings.feedback != "full")

    def check(self) -> None:
        stages = self.schedule.stages(TUNED.guess)
        if sum(stage.length for stage in stages) >= self.settings.rounds:
            raise ConfigError(
                f"a horizon of {self.settings.rounds} is too short for {len(stages)} screening "
                "blocks: use fewer slots, or explore less"
            )

    @property
    def by_clicks(self) -> bool:
        """Whether visitors answer with a click, or with a reward of the whole slate."""
        return self.settings.feedback == "clicks"

    @cached_property
    def planner(self) -> Planner:
        """What plans the next block."""
        kind = ClickPlanner if self.by_clicks else RewardPlanner
        return kind(self.settings, self.name)

    @property
    def schedule(self) -> ScreeningSchedule:
        """The screening as planned before anyone came."""
        return self.planner.schedule(self.settings.items, self.settings.rounds)

    # --- the plan ---------------------------------------------------------------------------------

    @cached_property
    def plan(self) -> Plan:
        settings, first = self.settings, self._first_release
        block = self.schedule.stages(TUNED.guess)[0].length
        views = block * settings.slots / settings.items
        noise = first.calibrated.standard_deviation
        facts: dict[str, Any] = {
            "method": "swap",
            "why": "visitors say what they think of what they were shown, and of nothing else",
            "block": block,
            "explore": self.schedule.length(TUNED.guess) / settings.rounds,
            "noise_in_visitors": noise,
            "first_views_of_an_item": views,
        }
        if 0.1 * views < noise:
            facts["warning"] = (
                "the horizon is too short: at first, noise is larger than what a good item can gain"
            )
        budget = pure(settings.epsilon / settings.contributions)
        total = paid_by_cohorts(settings.privacy, [budget])
        constants = ("swap", first.aggregator, UNIT)
        plan = Plan(None, total, settings.rounds, None, facts, constants)
        return planned_with(self.reporting, plan)

    @property
    def _first_release(self) -> OneRelease[Any]:
        """What the first block gathers."""
        return clicks_release(self.settings) if self.by_clicks else rewards_release(self.settings)

    @cached_property
    def reporting(self) -> BlockReporting | None:
        """How what is earned is reported; None if nothing is paid for that."""
        return BlockReporting.of_settings(self.settings, self._units)

    @property
    def _units(self) -> Units:
        """A reward up to the bound, or 1 for a click; nothing if no answer came."""
        if self.by_clicks:
            return Units(low=0.0, high=1.0, what="share who clicked")
        return Units(low=0.0, high=1.0, scale=self.settings.bound)

    # --- from one release to the next -------------------------------------------------------------

    @property
    def first_public(self) -> Public:
        """The public state before anyone came, without a report."""
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

    def start(self) -> tuple[Any, State]:
        return started_with(self.reporting, self.first_public, {})

    def view(self, public: State, index: int, begin: int, coins: Coins) -> View[Any]:
        typed = of_flat(Public, public)
        phase = PHASES[self.settings.feedback, type(typed.phase)]
        view = phase(self, typed, index, begin, coins, typed.phase)
        return with_report(view, self.reporting, public)

    def answers(self, batch: Batch, slates: Integers, numbers: Numbers) -> Answers:
        """Return what visitors answered to these slates."""
        return READERS[self.settings.feedback](batch, slates, numbers, self.settings)
