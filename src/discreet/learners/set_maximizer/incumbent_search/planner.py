"""Plans of the next block (kind, length, slates), from settings and released values only.

    first_screening    random slates                                         FirstScreeningPlan
    next_screening     the stages that follow (schedule.py, tables.py)       LaterScreeningPlan
    exchange           exchange blocks of growing length                     ExchangePlan
                       or the last block, without trials                     SettledPlan
    screen_again       random slates once more, after an alarm               FirstScreeningPlan

Each method takes the public state after a release, and returns it with the plan of the next block.

Guarantee   docs/guarantees/sets.md, Theorem 4
"""

from abc import ABC, abstractmethod
from dataclasses import replace
from functools import cached_property
from math import inf
from typing import NamedTuple

import numpy as np

from discreet.learners.set_maximizer.incumbent_search.incumbent import Incumbent, climbed
from discreet.learners.set_maximizer.incumbent_search.posterior import Posterior
from discreet.learners.set_maximizer.incumbent_search.public import (
    NOTHING_CHOSEN,
    ExchangePlan,
    FirstScreeningPlan,
    LaterScreeningPlan,
    Public,
    SettledPlan,
)
from discreet.learners.set_maximizer.incumbent_search.releases import exchange_release
from discreet.learners.set_maximizer.incumbent_search.schedule import ScreeningSchedule, Stage
from discreet.learners.set_maximizer.incumbent_search.tables import (
    heaviest_slate,
    random_table,
    thompson_table,
)
from discreet.learners.set_maximizer.incumbent_search.trials import (
    Ahead,
    Trials,
    click_trials,
    reward_trials,
)
from discreet.learners.set_maximizer.incumbent_search.tuning import TUNED
from discreet.learners.set_maximizer.settings import SetMaximizerSettings
from discreet.learners.start import Start

TABLES = 2**40
"""`TABLES + index` is the coin of the table that block `index` shows.

Other coins with this key: 0 for the first slate, 1 + index for the shuffle of an exchange block.
"""


class BlockGrowth(NamedTuple):
    """Lengths of exchange blocks: the first one in per cent of all rounds, and their growth."""

    first_percent: float
    factor: float


class Planner(ABC):
    """Plans the next block: returns public states whose `phase` is the plan of that block.

    A given public state has the catalogue, the posterior and the slate of the next block already.

    Parameters
    ----------
    settings
        Settings of the learner.
    """

    def __init__(self, settings: SetMaximizerSettings) -> None:
        self.settings = settings

    def schedule(self, active: int, rounds: int) -> ScreeningSchedule:
        """Return the schedule of a screening among this number of active items."""
        settings = self.settings
        most = TUNED.most_screened
        if settings.explore != "auto":
            most = TUNED.screened_of_explore * settings.explore
        return ScreeningSchedule(active, settings.slots, rounds, settings.feedback, most)

    def _schedule_of(self, public: Public) -> ScreeningSchedule:
        return self.schedule(public.catalogue.size, public.rounds)

    def stages_of(self, public: Public) -> list[Stage]:
        """Return the stages of a screening among the items that are active now."""
        return self._schedule_of(public).stages(public.posterior.centre)

    def _trials_left(self, public: Public) -> float:
        """Return the number of trials that `explore` still allows; screening rounds are trials."""
        if self.settings.explore == "auto":
            return inf
        return float(self.settings.explore * public.rounds - public.screened - public.tried)

    def first_screening(self, public: Public, start: Start) -> Public:
        """Return the state with the first block of a screening: random slates."""
        table = random_table(public.catalogue.active, self.settings.slots, self._generator(start))
        length = self.stages_of(public)[0].length
        length = min(length, public.rounds - start.begin)
        plan = FirstScreeningPlan(length, since=start.begin, table=table)
        screened = public.screened + length
        return replace(public, reference=None, screened=screened, exchanges=0, phase=plan)

    def next_screening(self, public: Public, start: Start, since: int, stage: int) -> Public:
        """Return the state with the block that follows `stage` of the screening since `since`.

        That block has more random slates, if the click rate is lower than was expected; or it is
        the next stage; or the first exchange block.
        """
        stages = self.stages_of(public)
        missing = self._missing(public, stages[0].length, start.begin - since)
        if stage == 0 and missing:
            plan = self._random_plan(public, start, since, missing)
            return self._screening(public, start, plan)
        following = stage + 1
        if following < len(stages):
            plan = self._thompson_plan(public, start, since, following, stages[following])
            return self._screening(public, start, plan)
        posterior = public.posterior
        active = public.catalogue.active
        slate = climbed(posterior, public.slate, active, steps=TUNED.climb_first, caution=0.0)
        return self.exchange(replace(public, slate=slate), start)

    def _random_plan(
        self, public: Public, start: Start, since: int, length: int
    ) -> LaterScreeningPlan:
        """Return the plan of more random slates: a continuation of stage 0."""
        table = random_table(public.catalogue.active, self.settings.slots, self._generator(start))
        heaviest = heaviest_slate(table, public.posterior.interest)
        return LaterScreeningPlan(
            length=length,
            since=since,
            stage=0,
            table=table,
            prefix=NOTHING_CHOSEN,
            heaviest=heaviest,
        )

    def _thompson_plan(
        self, public: Public, start: Start, since: int, number: int, stage: Stage
    ) -> LaterScreeningPlan:
        """Return the plan of stage `number`: Thompson sampling behind the fixed leaders."""
        prefix = public.slate[: stage.fixed].copy()
        table = thompson_table(
            public.posterior,
            prefix,
            self.settings.slots,
            public.catalogue.active,
            self._generator(start),
            bold=TUNED.bold.of(self.settings.feedback),
        )
        heaviest = heaviest_slate(table, public.posterior.interest)
        return LaterScreeningPlan(
            length=stage.length,
            since=since,
            stage=number,
            table=table,
            prefix=prefix,
            heaviest=heaviest,
        )

    def _missing(self, public: Public, wanted: int, shown: int) -> int:
        """Return the number of further rounds of random slates; 0 if enough were shown."""
        if not self.extends_random(public) or wanted <= TUNED.too_few_random * shown:
            return 0
        planned = wanted if public.log is None else public.log.random
        return min(wanted - shown, planned)

    def _screening(self, public: Public, start: Start, plan: LaterScreeningPlan) -> Public:
        """Return the state with a later screening block, or with the last block instead."""
        public = replace(public, screened=public.screened + plan.length, phase=plan)
        return self._settled_if_over(public, start)

    @cached_property
    def _exchange_noise(self) -> float:
        """Variance of the noise of a sum of an exchange block."""
        return exchange_release(self.settings).variance

    def exchange(self, public: Public, start: Start) -> Public:
        """Return the state with the next exchange block, or with the last block, without trials."""
        left = public.rounds - start.begin
        length = int(max(1, min(self._exchange_length(public), left)))
        after = left - length
        if after < TUNED.too_short * length:
            return replace(public, phase=SettledPlan(left))
        ahead = Ahead(
            rounds=length,
            most=self._trials_left(public),
            later=self._rounds_of_discoveries(public, after),
            noise=self._exchange_noise,
        )
        incumbent = Incumbent.of(public.posterior, public.slate)
        trials = self.trials(public, incumbent, ahead)
        return replace(
            public,
            tried=public.tried + int(trials.rounds.sum()),
            exchanges=public.exchanges + 1,
            phase=ExchangePlan(length, trials),
        )

    def _rounds_of_discoveries(self, public: Public, after: int) -> float:
        """Return the number of rounds after a block in which its discoveries pay."""
        if self.settings.stream == "iid":
            return after
        return min(after, TUNED.memory * public.rounds)

    def _exchange_length(self, public: Public) -> float:
        """Return the length of the next exchange block, before the limit of the horizon."""
        if self.settings.block != "auto":
            return float(self.settings.block)
        pace = self._schedule_of(public).pace(public.posterior.centre)
        growth = self.block_growth(pace)
        first = growth.first_percent / 100 * public.rounds
        length = float(first * growth.factor**public.exchanges)
        if self.settings.stream == "iid":
            return length
        return min(length, max(TUNED.longest * public.rounds, first))

    def screen_again(self, public: Public, start: Start) -> Public:
        """Return the state of a new screening: the posterior is reset to its mean gain."""
        posterior = public.posterior
        reset = Posterior.before(
            posterior.items, slots=self.settings.slots, interest=posterior.centre
        )
        screening = self.first_screening(replace(public, posterior=reset), start)
        return self._settled_if_over(screening, start)

    def may_screen_again(self, public: Public) -> bool:
        """Return whether an alarm may start a new screening: drifting streams, within limits."""
        length = self._schedule_of(public).length(public.posterior.centre)
        most = TUNED.most_screened_again * public.rounds
        is_affordable = public.screened + length <= most and length <= self._trials_left(public)
        return self.settings.stream == "drifting" and is_affordable

    def _settled_if_over(self, public: Public, start: Start) -> Public:
        """Return the last block instead of a screening after which no round would be left."""
        left = public.rounds - start.begin
        return public if public.phase.length < left else replace(public, phase=SettledPlan(left))

    def _generator(self, start: Start) -> np.random.Generator:
        return self.settings.coin(TABLES + start.index).generator()

    # --- differences between clicks and rewards ---------------------------------------------------

    @abstractmethod
    def extends_random(self, public: Public) -> bool:
        """Return whether random slates are extended if too few of them were shown."""

    @abstractmethod
    def block_growth(self, pace: float) -> BlockGrowth:
        """Return the lengths of exchange blocks at this pace of screening."""

    @abstractmethod
    def trials(self, public: Public, incumbent: Incumbent, ahead: Ahead) -> Trials:
        """Return the exchanges that are worth trying in the next block."""


class ClickPlanner(Planner):
    """Plans blocks of clicks."""

    def extends_random(self, public: Public) -> bool:
        return True

    def block_growth(self, pace: float) -> BlockGrowth:
        factor = TUNED.growth_at_usual_pace if 0.5 < pace < 2 else TUNED.growth
        first_percent = min(max(pace, TUNED.shortest_first.clicks), TUNED.longest_first)
        return BlockGrowth(first_percent, factor)

    def trials(self, public: Public, incumbent: Incumbent, ahead: Ahead) -> Trials:
        return click_trials(public.posterior, incumbent, public.catalogue.active, ahead)


class RewardPlanner(Planner):
    """Plans blocks of rewards of whole slates."""

    def extends_random(self, public: Public) -> bool:
        return public.log is not None  # a log may be shorter than the random slates it replaces

    def block_growth(self, pace: float) -> BlockGrowth:
        first_percent = min(max(pace, TUNED.shortest_first.bandit), TUNED.longest_first)
        return BlockGrowth(first_percent, TUNED.growth)

    def trials(self, public: Public, incumbent: Incumbent, ahead: Ahead) -> Trials:
        variance = public.level * (1 - public.level)
        return reward_trials(public.posterior, incumbent, public.catalogue.active, ahead, variance)
