"""The log phase: a log of another policy, read once before the first visitor.

A row shows item a at place j with propensity p_j, and has a first click or a reward of the whole
slate. Its weight is w_j = min(least/p_j, 1), where `least` is a public number. It adds

    clicks     w_j in the cell of the clicked item                               one choice
    rewards    reward · w_j / slots in the cell of each of the first items       a vector, l₁ ≤ 1

Let N be the number of rows and μ the interest of an item; visitors look at a place if they clicked
nothing before it. Then

    E(clicks of a)  = N · least · Σ_j P(first click at j | a there)
                    ≈ N · least · μ_a · Σ_{j<slots} (1 − μ̄)^j
    E(rewards of a) = N · least · mean over places of E(reward | a there)

so no views are released: their expected number follows from μ̄, which is released. Propensities
below `least` count as `least`, which makes rare items look worse, never better. Rows of uniform
slates all have the weight 1.

Guarantee   docs/guarantees/sets.md, Theorem 7
References  Horvitz, Thompson (1952); Ionides (2008), "Truncated Importance Sampling"
"""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from discreet import require
from discreet.arrays import Floats, Integers
from discreet.engine.request import Batch, Block
from discreet.engine.statistics import Measures, OneRelease, Released
from discreet.errors import ConfigError
from discreet.feedback import as_floats
from discreet.learners.set_maximizer.answers import Numbers, first_of, item_of, rewards_of
from discreet.learners.set_maximizer.incumbent_search.phase import IncumbentSearchPhase
from discreet.learners.set_maximizer.incumbent_search.posterior import Posterior
from discreet.learners.set_maximizer.incumbent_search.public import (
    NOTHING_CHOSEN,
    LogFacts,
    LogPlan,
    Public,
)
from discreet.learners.set_maximizer.incumbent_search.releases import one_release
from discreet.learners.set_maximizer.incumbent_search.screening import (
    ScreeningResult,
    after_clicks,
    after_rewards,
    first_rate,
)
from discreet.learners.set_maximizer.incumbent_search.shown import ConstantSlates
from discreet.learners.set_maximizer.incumbent_search.tuning import TUNED
from discreet.records.log_cells import UNIFORM, weight_of
from discreet.release.aggregators import OneChoice, Rows

LEAST = 1e-9
"""Least propensity that may be declared."""
CHUNK = 2**20
"""Largest number of entries of reward vectors in memory at once."""


# --- the rows of a log ----------------------------------------------------------------------------


class LoggedRow(NamedTuple):
    """One row of a log: the shown items by name, and the answer."""

    slate: list[object]
    answer: object


@dataclass(frozen=True, eq=False)
class Logged:
    """The rows of a log (a slate and its answer each), and the propensities of the shown items.

    `chances` has one entry per row: one propensity for all positions, or one per position. It is
    None if slates were uniform.
    """

    rows: Sequence[Any] = field(repr=False)
    chances: Any = field(repr=False)
    least: float

    @classmethod
    def checked(cls, rows: object, propensity: object, least: float | None, items: int) -> "Logged":
        """Return the arguments of `warm_start`; only settings and the number of rows are checked.

        Raises
        ------
        ConfigError
            If the number of rows, or an argument that is no personal data, is invalid.
        """
        if not isinstance(rows, list | tuple):
            raise ConfigError("rows must be a list of (slate, answer), one per person of the log")
        require.whole("the number of rows", len(rows))
        if isinstance(propensity, str):
            require.one_of("propensity", propensity, (UNIFORM,))
            if least is not None:
                raise ConfigError(
                    f'least_propensity is for propensities of single rows, not for "{UNIFORM}"'
                )
            return cls(rows, None, 1 / items)
        if not isinstance(propensity, list | tuple | np.ndarray) or len(propensity) != len(rows):
            raise ConfigError(
                f'propensity must be "{UNIFORM}" or have one entry for each of {len(rows)} rows: '
                "a number, or one per position"
            )
        if least is None:
            raise ConfigError(
                "least_propensity is missing: a public number, below which propensities count as "
                "this number (the smallest of the log would be personal data)"
            )
        return cls(rows, propensity, require.number("least_propensity", least, LEAST, 1.0))

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def event(self) -> LogFacts:
        """Public facts about the log: the event that leads to its release."""
        return LogFacts(len(self.rows), self.least)

    @property
    def answers(self) -> list[object]:
        """The answer of each row, unread."""
        return [self.row(number).answer for number in range(len(self.rows))]

    def weight(self, row: int, place: int) -> float:
        """Return the weight of a row at a place; 0 if its propensity there is invalid."""
        if self.chances is None:
            return 1.0
        chances = as_floats(self.chances[row])
        if chances is None or chances.ndim > 1:
            return 0.0
        return min(self.least * weight_of(chances.reshape(-1).tolist(), place), 1.0)

    def row(self, number: int) -> LoggedRow:
        """Return the slate and the answer of a row; an empty slate if it is malformed."""
        entry = self.rows[number]
        if type(entry) not in (list, tuple) or len(entry) != 2:
            return LoggedRow([], None)
        slate, answer = entry
        if type(slate) is np.ndarray:
            slate = slate.tolist()
        if type(slate) not in (list, tuple):
            return LoggedRow([], None)
        return LoggedRow(list(slate), answer)


class WeightedClicks(NamedTuple):
    """The first click of each row."""

    items: Integers
    """The clicked item; −1 for none."""
    weights: Floats


def clicks_of(logged: Logged, slots: int, numbers: Numbers) -> WeightedClicks:
    """Return the first click of each row, if it is in one of the first `slots` places."""
    items = np.full(len(logged), -1, dtype=np.int64)
    weights = np.zeros(len(logged))
    for row in range(len(logged)):
        slate, click = logged.row(row)
        if click is None or not slate:
            continue
        shown = [item_of(numbers, name) for name in slate]
        clicked = first_of(numbers, click, np.array(shown, dtype=np.int64))
        if clicked >= 0 and clicked in shown[:slots]:
            items[row] = clicked
            weights[row] = logged.weight(row, shown.index(clicked))
    return WeightedClicks(items, weights)


@dataclass(frozen=True, eq=False)
class LoggedRewards:
    """The rows of a log, and the reward of each, between 0 and 1."""

    logged: Logged
    rewards: Floats

    def vectors(self, slots: int, numbers: Numbers, items: int) -> Iterator[Floats]:
        """Yield one vector per row, in chunks: the weighted part of the reward per shown item."""
        size = max(1, CHUNK // items)
        for begin in range(0, len(self.logged), size):
            rows = range(begin, min(begin + size, len(self.logged)))
            vectors = np.zeros((len(rows), items))
            for vector, row in zip(vectors, rows, strict=True):
                self._fill(vector, row, slots, numbers)
            yield vectors

    def _fill(self, vector: Floats, row: int, slots: int, numbers: Numbers) -> None:
        """Write the reward of a row into a vector, divided among the items that it shows."""
        if not self.rewards[row] > 0:
            return
        slate = self.logged.row(row).slate
        for slot, name in enumerate(slate[:slots]):
            number = item_of(numbers, name)
            if number >= 0:
                vector[number] += self.rewards[row] * self.logged.weight(row, slot) / slots


# --- the phases -----------------------------------------------------------------------------------


class LogPhase(IncumbentSearchPhase[LogPlan]):
    """The release of a log: it takes no rounds, and leads on like random slates."""

    @cached_property
    def shown(self) -> ConstantSlates:
        return ConstantSlates(self.public.slate, self.order)

    @property
    @abstractmethod
    def sums(self) -> OneRelease[Any]:
        """The sums that the rows of the log add up to."""

    @abstractmethod
    def learned(self, sums: Floats, level: float) -> ScreeningResult:
        """Return the posterior after the released sums, given the mean reward of a slate."""

    @property
    def measures(self) -> Measures:
        return (self.sums,)  # a log has no rounds to report on

    @property
    def numbers(self) -> Numbers:
        """Item numbers by name."""
        return self.names.numbers

    def update(self, released: Released) -> Public:
        sums = released[self.sums]
        active = self.at_next.catalogue.active
        mean = float(sums[active].mean()) / self.block_plan.views
        variance = self.sums.variance / active.sum() / self.block_plan.views**2
        posterior, level = self.learned(sums, self._level(mean, variance))
        return self.after_screening(posterior, level, self.block_plan)

    def _level(self, mean: float, variance: float) -> float:
        """Return the mean reward of a slate: that of the log, shrunk towards the prior mean."""
        expected = 1 - (1 - self.public.posterior.centre) ** self.settings.slots
        prior_variance = (TUNED.log_spread * expected) ** 2
        shrinkage = prior_variance / (prior_variance + variance)
        level = expected + shrinkage * (mean - expected)
        return float(np.clip(level, TUNED.least_level, TUNED.most_level))


class ClickLog(LogPhase):
    """First clicks of a log, weighted by inverse propensities."""

    @cached_property
    def sums(self) -> OneRelease[OneChoice]:
        return self.mode.clicks

    def read(self, batch: Batch) -> WeightedClicks:
        return clicks_of(batch.feedback, self.settings.slots, self.numbers)

    def gather(self, block: Block, answers: WeightedClicks) -> None:
        self.sums.aggregator.add(self.sums.of(block), answers.items, answers.weights)

    def learned(self, sums: Floats, level: float) -> ScreeningResult:
        slots = self.settings.slots
        active = self.at_next.catalogue.active
        rate = first_rate(level, 1.0, slots)
        posterior = Posterior.before(len(sums), slots=slots, interest=rate)
        looks = self.block_plan.views * (1 - (1 - rate) ** slots) / rate
        views = np.where(active, looks, 0.0)
        posterior = after_clicks(posterior, NOTHING_CHOSEN, sums, views, self.sums.variance)
        return ScreeningResult(posterior, self.public.level)


class RewardLog(LogPhase):
    """Rewards of a log, divided among the shown items and weighted by inverse propensities."""

    @cached_property
    def sums(self) -> OneRelease[Rows]:
        return one_release(self.settings, Rows((self.settings.room,), norm=1, nonnegative=True))

    def read(self, batch: Batch) -> LoggedRewards:
        logged: Logged = batch.feedback
        rewards = rewards_of(replace(batch, feedback=logged.answers), self.settings.bound)
        return LoggedRewards(logged, np.clip(rewards, 0.0, 1.0))

    def gather(self, block: Block, answers: LoggedRewards) -> None:
        settings = self.settings
        for vectors in answers.vectors(settings.slots, self.numbers, settings.room):
            self.sums.aggregator.add(self.sums.of(block), vectors)

    def learned(self, sums: Floats, level: float) -> ScreeningResult:
        slots = self.settings.slots
        active = self.at_next.catalogue.active
        rate = first_rate(level, 1.0, slots)
        weight = (1 - rate) ** (slots - 1)
        shows = self.block_plan.views * slots
        posterior = after_rewards(
            Posterior.before(len(sums), slots=slots, interest=rate),
            surplus=weight * (sums * slots - level * shows),
            weights=np.where(active, weight**2 * shows, 0.0),
            reward_variance=level,
            noise=(weight * slots) ** 2 * self.sums.variance,
        )
        return ScreeningResult(posterior, level)
