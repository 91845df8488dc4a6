"""Which block comes next, how long it is and what it shows: from settings and released values only.

    first_screening    random slates                                         FirstScreeningPlan
    next_screening     the stages that follow (schedule.py, tables.py)       LaterScreeningPlan
    exchange           exchange blocks that grow                             ExchangePlan
                       or the last block, in which nothing is tried          SettledPlan
    screen_again       random slates once more, after an alarm               FirstScreeningPlan

Each takes the public state that a release has led to, and returns it with the plan of the next
block.

Guarantee   docs/guarantees/sets.md, Theorem 4
"""

from abc import ABC, abstractmethod
from dataclasses import replace
from math import inf

import numpy as np

from discreet.engine.coins import Coin
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
"""`TABLES + index` is the coin of the table that block `index` shows. Other coins with this key: 0
for
the first slate, 1 + index for the shuffle of an exchange block."""


class Planner(ABC):
    """Plans the next block: public states in which `phase` is the plan of that block.

    What is given has the items, the belief and the slate that the block begins with.

    Parameters
    ----------
    settings
        Of the learner.
    key
        Of public shuffles, chosen before anyone came.
    """

    def __init__(self, settings: SetMaximizerSettings, key: bytes) -> None:
        self.settings = settings
        self.key = key

    def schedule(self, active: int, rounds: int) -> ScreeningSchedule:
        """Return the blocks of a screening among this number of items."""
        settings = self.settings
        most = TUNED.most_screened
        if settings.explore != "auto":
            most = TUNED.screened_of_explore * settings.explore
        return ScreeningSchedule(active, settings.slots, rounds, settings.feedback, most)

    def _schedule_of(self, public: Public) -> ScreeningSchedule:
        return self.schedule(public.catalogue.size, public.rounds)

    def stages_of(self, public: Public) -> list[Stage]:
        """Return the stages of a screening among the items that live now."""
        return self._schedule_of(public).stages(public.posterior.centre)

    def _trials_left(self, public: Public) -> float:
        """Return how many more visitors `explore` allows to see a trial; screenings are trials."""
        if self.settings.explore == "auto":
            return inf
        return float(self.settings.explore * public.rounds - public.screened - public.tried)

    def first_screening(self, public: Public, start: Start) -> Public:
        """Return the state in which a new screening begins, with random slates."""
        table = random_table(public.catalogue.active, self.settings.slots, self._generator(start))
        length = self.stages_of(public)[0].length
        length = min(length, public.rounds - start.begin)
        plan = FirstScreeningPlan(length, since=start.begin, table=table)
        screened = public.screened + length
        return replace(public, reference=None, screened=screened, exchanges=0, phase=plan)

    def next_screening(self, public: Public, start: Start, since: int, stage: int) -> Public:
        """Return the state after a block of this stage, of a screening since round `since`.

        Its block has more random slates, if visitors click more rarely than was thought; or the
        stage that follows; or the first exchange block.
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
        active = public.catalogue.active
        slate = climbed(
            public.posterior, public.slate, active, steps=TUNED.climb_first, caution=0.0
        )
        return self.exchange(replace(public, slate=slate), start)

    def _random_plan(
        self, public: Public, start: Start, since: int, length: int
    ) -> LaterScreeningPlan:
        """Return the plan of more random slates: stage 0 goes on."""
        table = random_table(public.catalogue.active, self.settings.slots, self._generator(start))
        heaviest = heaviest_slate(table, public.posterior.interest)
        return LaterScreeningPlan(length, since, 0, table, NOTHING_CHOSEN, heaviest)

    def _thompson_plan(
        self, public: Public, start: Start, since: int, number: int, stage: Stage
    ) -> LaterScreeningPlan:
        """Return the plan of stage `number`: Thompson's choice behind the leaders that are
        fixed.
        """
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
        return LaterScreeningPlan(stage.length, since, number, table, prefix, heaviest)

    def _missing(self, public: Public, wanted: int, shown: int) -> int:
        """Return how many more rounds of random slates are wanted; 0 if enough were shown."""
        if not self.extends_random(public) or wanted <= TUNED.too_few_random * shown:
            return 0
        planned = wanted if public.log is None else public.log.random
        return min(wanted - shown, planned)

    def _screening(self, public: Public, start: Start, plan: LaterScreeningPlan) -> Public:
        """Return the state with a later screening block; or with the last block."""
        public = replace(public, screened=public.screened + plan.length, phase=plan)
        return self._settled_if_over(public, start)

    def exchange(self, public: Public, start: Start) -> Public:
        """Return the state with the next exchange block; or with the last, which tries nothing."""
        left = public.rounds - start.begin
        length = int(max(1, min(self._exchange_length(public), left)))
        after = left - length
        if after < TUNED.too_short * length:
            return replace(public, phase=SettledPlan(left))
        later = after if self.settings.stream == "iid" else min(after, TUNED.memory * public.rounds)
        noise = exchange_release(self.settings).variance
        incumbent = Incumbent.of(public.posterior, public.slate)
        ahead = Ahead(length, self._trials_left(public), later, noise)
        trials = self.trials(public, incumbent, ahead)
        return replace(
            public,
            tried=public.tried + int(trials.rounds.sum()),
            exchanges=public.exchanges + 1,
            phase=ExchangePlan(length, trials),
        )

    def _exchange_length(self, public: Public) -> float:
        """Return the rounds of the next exchange block, as long as nothing stops it."""
        if self.settings.block != "auto":
            return float(self.settings.block)
        pace = self._schedule_of(public).pace(public.posterior.centre)
        percent, growth = self.first_exchange(pace)
        first = percent / 100 * public.rounds
        length = float(first * growth**public.exchanges)
        if self.settings.stream == "iid":
            return length
        return min(length, max(TUNED.longest * public.rounds, first))

    def screen_again(self, public: Public, start: Start) -> Public:
        """Return the state of a new screening: only the rate of clicks stays of the belief."""
        posterior = public.posterior
        unknown = Posterior.before(
            posterior.items, slots=self.settings.slots, interest=posterior.centre
        )
        screening = self.first_screening(replace(public, posterior=unknown), start)
        return self._settled_if_over(screening, start)

    def may_screen_again(self, public: Public) -> bool:
        """Return whether an alarm may lead to a new screening: not too often, never if i.i.d."""
        length = self._schedule_of(public).length(public.posterior.centre)
        most = TUNED.most_screened_again * public.rounds
        is_affordable = public.screened + length <= most and length <= self._trials_left(public)
        return self.settings.stream == "drifting" and is_affordable

    def _settled_if_over(self, public: Public, start: Start) -> Public:
        """Return the last block in place of a screening that would leave no rounds to profit in."""
        left = public.rounds - start.begin
        return public if public.phase.length < left else replace(public, phase=SettledPlan(left))

    def _generator(self, start: Start) -> np.random.Generator:
        return Coin(self.key, TABLES + start.index).generator()

    # --- what clicks and rewards differ in --------------------------------------------------------

    @abstractmethod
    def extends_random(self, public: Public) -> bool:
        """Return whether random slates go on if they were fewer than is wanted by now."""

    @abstractmethod
    def first_exchange(self, pace: float) -> tuple[float, float]:
        """Return the per cent of all rounds of the first exchange block, and the growth of
        blocks.
        """

    @abstractmethod
    def trials(self, public: Public, incumbent: Incumbent, ahead: Ahead) -> Trials:
        """Return the exchanges that are worth trying."""


class ClickPlanner(Planner):
    """Plans for clicks."""

    def extends_random(self, public: Public) -> bool:
        return True

    def first_exchange(self, pace: float) -> tuple[float, float]:
        growth = TUNED.growth_at_usual_pace if 0.5 < pace < 2 else TUNED.growth
        return min(max(pace, TUNED.shortest_first.clicks), TUNED.longest_first), growth

    def trials(self, public: Public, incumbent: Incumbent, ahead: Ahead) -> Trials:
        return click_trials(public.posterior, incumbent, public.catalogue.active, ahead)


class RewardPlanner(Planner):
    """Plans for rewards of whole slates."""

    def extends_random(self, public: Public) -> bool:
        return public.log is not None  # a log may have been shorter than what it stands for

    def first_exchange(self, pace: float) -> tuple[float, float]:
        return min(max(pace, TUNED.shortest_first.bandit), TUNED.longest_first), TUNED.growth

    def trials(self, public: Public, incumbent: Incumbent, ahead: Ahead) -> Trials:
        variance = public.level * (1 - public.level)
        return reward_trials(public.posterior, incumbent, public.catalogue.active, ahead, variance)
