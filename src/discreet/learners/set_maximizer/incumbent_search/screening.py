"""The screening phases: slates of all items, and the posterior that their answers lead to.

The slates of a block and its length are planned in planner.py.

    phase           aggregates                                    one visitor moves (l₁)
    FirstClicks     first clicks on items                         2: one count down, one up
    LaterClicks     first clicks on items behind a prefix         2
    FirstRewards    the reward, per shown item and in total       1 in each of slots + 1 cells
    LaterRewards    the reward times public weights of items      total weight of a slate

Guarantee   docs/guarantees/sets.md, Theorem 4
"""

from abc import abstractmethod
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.engine.request import Block
from discreet.engine.statistics import OneRelease, Released
from discreet.learners.set_maximizer.answers import Clicks, Rewards
from discreet.learners.set_maximizer.incumbent_search.phase import IncumbentSearchPhase
from discreet.learners.set_maximizer.incumbent_search.posterior import Posterior
from discreet.learners.set_maximizer.incumbent_search.public import (
    NOTHING_CHOSEN,
    LaterScreeningPlan,
    Public,
    ScreeningPlan,
)
from discreet.learners.set_maximizer.incumbent_search.releases import one_release
from discreet.learners.set_maximizer.incumbent_search.shown import UNIT
from discreet.learners.set_maximizer.incumbent_search.shown_screening import (
    CountingGains,
    CountingShows,
    CountingViews,
    ScreeningSlates,
    slate_gains,
)
from discreet.learners.set_maximizer.incumbent_search.tuning import TUNED
from discreet.release.aggregators import OneChoice, PublicCells, PublicRows

LEAST_COUNT = 1e-9
"""Avoids a division by zero where nothing was counted."""


# --- the posterior after a screening block --------------------------------------------------------


def after_clicks(
    posterior: Posterior, prefix: Integers, counts: Floats, views: Floats, noise: float
) -> Posterior:
    """Return the posterior after a release of noisy first clicks behind a prefix.

    Parameters
    ----------
    counts
        Released clicks per item, with noise of variance `noise`.
    views
        Number of visitors who looked at each item.
    """
    remaining = posterior.remaining(prefix)
    expected = posterior.interest * remaining
    least_chance = TUNED.least_screened_chance * posterior.centre * remaining
    chances = np.clip(expected, least_chance, TUNED.most_chance)
    divisors = np.maximum(views, 1.0)
    variances = chances * (1 - chances) / divisors + noise / divisors**2
    is_seen = views > TUNED.fewest_views
    posterior = posterior.with_cells(prefix, counts / divisors, variances, is_seen)
    if not len(prefix):
        posterior = posterior.with_prior()
    return posterior.with_interest()


def after_rewards(
    posterior: Posterior, *, surplus: Floats, weights: Floats, reward_variance: float, noise: float
) -> Posterior:
    """Return the posterior after a regression of rewards y on the weights x of shown items.

    The other items of a slate enter with their posterior interest: company varies, and averages
    out.

    Parameters
    ----------
    surplus
        Released Σx·(y − expected) per item, with noise of variance `noise`.
    weights
        Σx² per item.
    reward_variance
        Variance of one reward.
    """
    divisors = np.maximum(weights, LEAST_COUNT)
    means = posterior.interest + surplus / divisors
    variances = reward_variance / divisors + noise / divisors**2
    is_seen = weights > TUNED.fewest_views
    return posterior.with_cells([], means, variances, is_seen).with_prior().with_interest()


def first_rate(clicks: float, shows: float, slots: int) -> float:
    """Return the click probability of one item, given the clicked and the shown slates."""
    clicked = float(np.clip(clicks / shows, TUNED.least_level, TUNED.most_level))
    return float(1 - (1 - clicked) ** (1 / slots))


class ScreeningResult(NamedTuple):
    """Result of a screening block: the posterior, and the mean reward of a slate."""

    posterior: Posterior
    level: float


# --- the phases -----------------------------------------------------------------------------------


class ScreeningPhase(IncumbentSearchPhase[ScreeningPlan]):
    """A screening block: it shows a table of slates, and counts how often items were seen."""

    slates_type: ClassVar[type[ScreeningSlates]]

    @cached_property
    def shown(self) -> ScreeningSlates:
        plan = self.block_plan
        interest = self.public.posterior.interest
        return self.slates_type(plan.table, plan.prefix, interest, self.order)

    @property
    @abstractmethod
    def sums(self) -> OneRelease[Any]:
        """The sums that this block aggregates and releases once."""

    @abstractmethod
    def learned(self, sums: Floats, counts: Floats, noise: float) -> ScreeningResult:
        """Return the posterior after the released sums, with noise of variance `noise`.

        `counts` are those of `shown`: one row per number that is counted, one column per item.
        """

    def update(self, released: Released) -> Public:
        of_masks = released.mask_counts.get("counts", 0)
        counts = (self.shown.planned(self.block_plan.length) + of_masks) / UNIT
        posterior, level = self.learned(released[self.sums], counts, self.sums.variance)
        return self.after_screening(posterior, level, self.block_plan)


class FirstClicks(ScreeningPhase):
    """Clicks on random slates: they lead to the first click rate and the first posterior."""

    slates_type = CountingViews

    @cached_property
    def sums(self) -> OneRelease[OneChoice]:
        return self.mode.clicks

    def gather(self, block: Block, answers: Clicks) -> None:
        self.sums.aggregator.add(self.sums.of(block), clicked_candidates(self.shown, answers))

    def learned(self, sums: Floats, counts: Floats, noise: float) -> ScreeningResult:
        slots = self.settings.slots
        clicks = sums.sum()
        rate = first_rate(clicks, max(1, self.block_plan.length), slots)
        # Views were counted with a guess of the rate: scaled so that rate and clicks agree.
        views = counts[0] * max(clicks, LEAST_COUNT) / (rate * max(counts.sum(), LEAST_COUNT))
        posterior = Posterior.before(self.settings.room, slots=slots, interest=rate)
        posterior = after_clicks(posterior, NOTHING_CHOSEN, sums, views, noise)
        return ScreeningResult(posterior, self.public.level)


class LaterClicks(ScreeningPhase):
    """Clicks on more random slates, on slates by Thompson sampling, or behind fixed leaders."""

    slates_type = CountingViews

    @cached_property
    def sums(self) -> OneRelease[OneChoice]:
        return self.mode.clicks

    def gather(self, block: Block, answers: Clicks) -> None:
        self.sums.aggregator.add(self.sums.of(block), clicked_candidates(self.shown, answers))

    def learned(self, sums: Floats, counts: Floats, noise: float) -> ScreeningResult:
        posterior = after_clicks(
            self.public.posterior, self.block_plan.prefix, sums, counts[0], noise
        )
        return ScreeningResult(posterior, self.public.level)


def clicked_candidates(shown: ScreeningSlates, answers: Clicks) -> Integers:
    """Return the clicked items; −1 for clicks on the prefix, or on items that were not shown."""
    candidates = shown.candidates(answers.slates)
    is_hit = (candidates == answers.items[:, None]).any(axis=1)
    return np.where(is_hit, answers.items, -1)


class FirstRewards(ScreeningPhase):
    """Rewards of random slates: one sum per shown item, and one more cell for the total."""

    slates_type = CountingShows

    @cached_property
    def sums(self) -> OneRelease[PublicCells]:
        return self.mode.rewards

    def gather(self, block: Block, answers: Rewards) -> None:
        total_cells = np.full((len(answers.slates), 1), self.settings.room)
        cells = np.concatenate([answers.slates, total_cells], axis=1)
        self.sums.aggregator.add(self.sums.of(block), cells, answers.rewards)

    def learned(self, sums: Floats, counts: Floats, noise: float) -> ScreeningResult:
        slots = self.settings.slots
        item_sums = sums[:-1]
        total = sums[-1]
        shows = counts[0]
        level = float(np.clip(total / self.block_plan.length, TUNED.least_level, TUNED.most_level))
        rate = 1 - (1 - level) ** (1 / slots)
        weight = (1 - rate) ** (slots - 1)
        posterior = after_rewards(
            Posterior.before(self.settings.room, slots=slots, interest=rate),
            surplus=weight * (item_sums - level * shows),
            weights=weight**2 * shows,
            reward_variance=level * (1 - level),
            noise=weight**2 * noise,
        )
        return ScreeningResult(posterior, level)


class LaterRewards(ScreeningPhase):
    """Rewards times weights: the derivative of a slate's value by the interest of each item."""

    slates_type = CountingGains
    block_plan: LaterScreeningPlan

    @cached_property
    def sums(self) -> OneRelease[PublicRows]:
        aggregator = PublicRows((self.settings.room,), length=self.block_plan.heaviest)
        return one_release(self.settings, aggregator)

    def gather(self, block: Block, answers: Rewards) -> None:
        weights = slate_gains(answers.slates, self.public.posterior.interest).weights
        aggregate = self.sums.of(block)
        self.sums.aggregator.add(aggregate, answers.slates, weights, answers.rewards)

    def learned(self, sums: Floats, counts: Floats, noise: float) -> ScreeningResult:
        squares, expected, weights = counts
        level = self.public.level
        surplus = sums - expected
        # Slates of leaders may all earn less than their items promise, which tells no two items
        # apart: the common part is taken off.
        surplus = surplus - weights * surplus.sum() / max(weights.sum(), LEAST_COUNT)
        posterior = after_rewards(
            self.public.posterior,
            surplus=surplus,
            weights=squares,
            reward_variance=level * (1 - level),
            noise=noise,
        )
        return ScreeningResult(posterior, level)
