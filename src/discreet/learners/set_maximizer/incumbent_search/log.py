"""The log phase: a log of another policy, read once before the first visitor.

A row shows item a at place j with chance p_j, and has a first click or a reward of the whole slate.
It weighs w_j = min(least/p_j, 1), least a public number, and adds

    clicks     w_j in the cell of the clicked item                               one choice
    rewards    reward · w_j / slots in the cell of each of the first items       a vector, l₁ ≤ 1

Of N rows, with μ the interest of an item, and places looked at as long as nothing before them was
clicked:

    E(clicks of a)  = N · least · Σ_j P(first click at j | a there)
                    ≈ N · least · μ_a · Σ_{j<slots} (1 − μ̄)^j
    E(rewards of a) = N · least · mean over places of E(reward | a there)

so no views are released: what each item is expected to have been looked at is public once μ̄ is.
Chances below `least` count as `least`, which makes rare items look worse, never better. Uniform
slates have one weight, 1.

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
from discreet.engine.plan import State
from discreet.engine.request import Batch, Block
from discreet.errors import ConfigError
from discreet.feedback import as_floats
from discreet.learners.one_release import OneRelease
from discreet.learners.set_maximizer.answers import Numbers, first_of, item_of, rewards_of
from discreet.learners.set_maximizer.incumbent_search.phase import IncumbentSearchPhase
from discreet.learners.set_maximizer.incumbent_search.posterior import Posterior
from discreet.learners.set_maximizer.incumbent_search.public import (
    NOTHING_CHOSEN,
    LogFacts,
    LogPlan,
    Public,
)
from discreet.learners.set_maximizer.incumbent_search.releases import clicks_release, one_release
from discreet.learners.set_maximizer.incumbent_search.screening import (
    ScreeningResult,
    after_clicks,
    after_rewards,
    first_rate,
)
from discreet.learners.set_maximizer.incumbent_search.shown import ConstantSlates
from discreet.records.log_cells import UNIFORM, weight_of
from discreet.release.aggregators import OneChoice, Rows
from discreet.release.door import Door

LEAST = 1e-9
"""Least propensity that may be declared."""
CHUNK = 2**20
"""Numbers of rows of rewards that are held at once."""


# --- the rows of a log ----------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Logged:
    """The rows of a log, a slate and its answer each, and the chances of what they show.

    `chances` has one entry per row, a number for all places or one for each; None if slates were
    uniform.
    """

    rows: Sequence[Any] = field(repr=False)
    chances: Any = field(repr=False)
    least: float

    @classmethod
    def checked(cls, rows: Any, propensity: Any, least: float | None, items: int) -> "Logged":
        """Return what `warm_start` was given; refused by number of rows and settings only."""
        if not isinstance(rows, list | tuple):
            raise ConfigError("rows must be a list of (slate, answer), one a person of the log")
        require.whole("the number of rows", len(rows))
        if isinstance(propensity, str):
            require.one_of("propensity", propensity, (UNIFORM,))
            if least is not None:
                raise ConfigError(
                    f'least_propensity is for chances of single rows, not for "{UNIFORM}"'
                )
            return cls(rows, None, 1 / items)
        if not isinstance(propensity, list | tuple | np.ndarray) or len(propensity) != len(rows):
            raise ConfigError(
                f'propensity must be "{UNIFORM}" or have one entry for each of {len(rows)} rows: '
                "a number, or one for each place"
            )
        if least is None:
            raise ConfigError(
                "least_propensity is missing: a public number, the least chance that counts as "
                "it is (the smallest in the log would be people's data)"
            )
        return cls(rows, propensity, require.number("least_propensity", least, LEAST, 1.0))

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def event(self) -> LogFacts:
        """What is public of it: the event that leads to its release."""
        return LogFacts(len(self.rows), self.least)

    @property
    def answers(self) -> list[Any]:
        """The answer of each row, as it stands there."""
        return [self.shown(row)[1] for row in range(len(self.rows))]

    def weight(self, row: int, place: int) -> float:
        """Return what a row counts for the item at a place; 0 if it has no valid chance there."""
        if self.chances is None:
            return 1.0
        chances = as_floats(self.chances[row])
        if chances is None or chances.ndim > 1:
            return 0.0
        return min(self.least * weight_of(chances.reshape(-1).tolist(), place), 1.0)

    def shown(self, row: int) -> tuple[list[Any], Any]:
        """Return a row's slate and answer; an empty slate if it has none."""
        entry = self.rows[row]
        if type(entry) not in (list, tuple) or len(entry) != 2:
            return [], None
        slate, answer = entry
        if type(slate) is np.ndarray:
            slate = slate.tolist()
        return (list(slate), answer) if type(slate) in (list, tuple) else ([], None)


class WeightedClicks(NamedTuple):
    """The clicked item of each row, −1 for none, and its weight."""

    items: Integers
    weights: Floats


def clicks_of(logged: Logged, slots: int, numbers: Numbers) -> WeightedClicks:
    """Return the first click of each row; it counts in the first `slots` places only."""
    items = np.full(len(logged), -1, dtype=np.int64)
    weights = np.zeros(len(logged))
    for row in range(len(logged)):
        slate, click = logged.shown(row)
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
        """Return vectors in chunks, one per row: each shown item's weighted part of the reward."""
        size = max(1, CHUNK // items)
        for begin in range(0, len(self.logged), size):
            people = range(begin, min(begin + size, len(self.logged)))
            vectors = np.zeros((len(people), items))
            for vector, row in zip(vectors, people, strict=True):
                self._enter(vector, row, slots, numbers)
            yield vectors

    def _enter(self, vector: Floats, row: int, slots: int, numbers: Numbers) -> None:
        """Share a row's reward among the items that it shows."""
        if not self.rewards[row] > 0:
            return
        slate, _ = self.logged.shown(row)
        for slot, name in enumerate(slate[:slots]):
            number = item_of(numbers, name)
            if number >= 0:
                vector[number] += self.rewards[row] * self.logged.weight(row, slot) / slots


# --- the phases -----------------------------------------------------------------------------------


class LogPhase(IncumbentSearchPhase[LogPlan]):
    """A log's own release, in no round: as after random slates."""

    @cached_property
    def shown(self) -> ConstantSlates:
        return ConstantSlates(self.public.slate, self.order)

    @property
    @abstractmethod
    def found(self) -> OneRelease[Any]:
        """What the log's rows add up to."""

    @abstractmethod
    def learned(self, sums: Floats, level: float) -> ScreeningResult:
        """Return what released sums say, if this is what a slate earns."""

    @property
    def numbers(self) -> Numbers:
        """Items by their names."""
        return self._named.numbers

    def release(
        self, mask_counts: State, hidden: State, block: Block, door: Door
    ) -> tuple[Public, State]:
        sums = self.found.drawn(block, door)
        active = self.at_next.catalogue.active
        mean = float(sums[active].mean()) / self.plan.views
        doubt = self.found.variance / active.sum() / self.plan.views**2
        posterior, level = self.learned(sums, self._level(mean, doubt))
        return self.after_screening(posterior, level, self.plan), {}

    def _level(self, found: float, doubt: float) -> float:
        """Return what a slate earns: as found, shrunk towards the guess if that may be noise."""
        expected = 1 - (1 - self.public.posterior.centre) ** self.settings.slots
        usual = (0.8 * expected) ** 2
        return float(np.clip(expected + usual / (usual + doubt) * (found - expected), 1e-3, 0.95))


class ClickLog(LogPhase):
    """First clicks of a log."""

    @cached_property
    def found(self) -> OneRelease[OneChoice]:
        return clicks_release(self.settings)

    def read(self, batch: Batch) -> WeightedClicks:
        return clicks_of(batch.feedback, self.settings.slots, self.numbers)

    def gather(self, block: Block, answers: WeightedClicks) -> None:
        self.found.aggregator.add(self.found.of(block), answers.items, answers.weights)

    def learned(self, sums: Floats, level: float) -> ScreeningResult:
        slots, active = self.settings.slots, self.at_next.catalogue.active
        rate = first_rate(level, 1.0, slots)
        posterior = Posterior.before(len(sums), slots=slots, interest=rate)
        looks = self.plan.views * (1 - (1 - rate) ** slots) / rate
        views = np.where(active, looks, 0.0)
        posterior = after_clicks(posterior, NOTHING_CHOSEN, sums, views, self.found.variance)
        return ScreeningResult(posterior, 0.5)


class RewardLog(LogPhase):
    """Rewards of a log, shared by the items that were shown."""

    @cached_property
    def found(self) -> OneRelease[Rows]:
        return one_release(self.settings, Rows((self.settings.room,), norm=1, nonnegative=True))

    def read(self, batch: Batch) -> LoggedRewards:
        logged: Logged = batch.feedback
        rewards = rewards_of(replace(batch, feedback=logged.answers), self.settings.bound)
        return LoggedRewards(logged, np.clip(rewards, 0.0, 1.0))

    def gather(self, block: Block, answers: LoggedRewards) -> None:
        slots, room = self.settings.slots, self.settings.room
        for vectors in answers.vectors(slots, self.numbers, room):
            self.found.aggregator.add(self.found.of(block), vectors)

    def learned(self, sums: Floats, level: float) -> ScreeningResult:
        slots, active = self.settings.slots, self.at_next.catalogue.active
        rate = first_rate(level, 1.0, slots)
        others, shows = (1 - rate) ** (slots - 1), self.plan.views * slots
        posterior = after_rewards(
            Posterior.before(len(sums), slots=slots, interest=rate),
            surplus=others * (sums * slots - level * shows),
            weights=np.where(active, others**2 * shows, 0.0),
            reward_variance=level,
            noise=(others * slots) ** 2 * self.found.variance,
        )
        return ScreeningResult(posterior, level)
