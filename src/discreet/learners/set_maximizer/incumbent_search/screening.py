"""The screening phases: slates of all items while these are new, and what is believed afterwards.

Which slates a block shows, and how long it is, is planned in planner.py.

    phase           gathers                                       one visitor moves (l₁)
    FirstClicks     first clicks on items                         2: one count down, one up
    LaterClicks     first clicks on items behind a prefix         2
    FirstRewards    the reward, for each shown item and in all    1 in each of slots + 1 cells
    LaterRewards    the reward times public weights of items      the weights of a slate in all

Guarantee   docs/guarantees/sets.md, Theorem 4
"""

from abc import abstractmethod
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.engine.plan import State
from discreet.engine.request import Batch, Block
from discreet.errors import StateError
from discreet.learners.one_release import OneRelease
from discreet.learners.set_maximizer.answers import Answers, Clicks, Rewards
from discreet.learners.set_maximizer.incumbent_search.phase import IncumbentSearchPhase
from discreet.learners.set_maximizer.incumbent_search.posterior import Posterior
from discreet.learners.set_maximizer.incumbent_search.public import (
    NOTHING_CHOSEN,
    LaterScreeningPlan,
    Public,
    ScreeningPlan,
)
from discreet.learners.set_maximizer.incumbent_search.releases import (
    clicks_release,
    one_release,
    rewards_release,
)
from discreet.learners.set_maximizer.incumbent_search.shown import UNIT
from discreet.learners.set_maximizer.incumbent_search.shown_screening import (
    CountingGains,
    CountingShows,
    CountingViews,
    ScreeningSlates,
    slate_gains,
)
from discreet.release.aggregators import OneChoice, PublicCells, PublicRows
from discreet.release.door import Door

MOST_LEVEL = 0.95
"""Largest mean reward that a slate is taken to have: rates of single items follow from it."""


# --- what is believed after a screening block -----------------------------------------------------


def after_clicks(
    posterior: Posterior, prefix: Integers, counts: Floats, views: Floats, noise: float
) -> Posterior:
    """Return the belief after noisy first clicks behind a prefix; `views`: how often items were
    looked at.
    """
    remaining = posterior.remaining(prefix)
    expected = posterior.interest * remaining
    chances = np.clip(expected, 0.4 * posterior.centre * remaining, 0.5)
    looks = np.maximum(views, 1.0)
    variances = chances * (1 - chances) / looks + noise / looks**2
    posterior = posterior.with_cells(prefix, counts / looks, variances, views > 5)
    return (posterior if len(prefix) else posterior.with_prior()).with_interest()


def after_rewards(
    posterior: Posterior, *, surplus: Floats, weights: Floats, reward_variance: float, noise: float
) -> Posterior:
    """Return the belief after a regression of rewards y on the weights x of shown items.

    `surplus` is Σx·(y − expected) per item, with noise of variance `noise`; `weights` is Σx².

    The other items of a slate are taken at what is believed of them: company varies, and averages
    out.
    """
    there = np.maximum(weights, 1e-9)
    means = posterior.interest + surplus / there
    variances = reward_variance / there + noise / there**2
    return posterior.with_cells([], means, variances, weights > 5).with_prior().with_interest()


def first_rate(clicks: float, shows: float, slots: int) -> float:
    """Return the chance of a click on one item, from how many slates were clicked and shown."""
    clicked = float(np.clip(clicks / shows, 1e-3, MOST_LEVEL))
    return float(1 - (1 - clicked) ** (1 / slots))


class ScreeningResult(NamedTuple):
    """What a screening block teaches: a belief, and the mean reward of a slate."""

    posterior: Posterior
    level: float


# --- the phases -----------------------------------------------------------------------------------


class ScreeningPhase(IncumbentSearchPhase[ScreeningPlan]):
    """A screening block: shows a table of slates, and counts how often items were seen."""

    slates_type: ClassVar[type[ScreeningSlates]]

    @cached_property
    def shown(self) -> ScreeningSlates:
        plan, interest = self.plan, self.public.posterior.interest
        return self.slates_type(plan.table, plan.prefix, interest, self.order)

    @property
    @abstractmethod
    def found(self) -> OneRelease[Any]:
        """The one release of this block, with what it gathers."""

    @abstractmethod
    def learned(self, sums: Floats, counts: Floats, noise: float) -> ScreeningResult:
        """Return what the released sums say; `counts` are those of `shown`, one row per number
        of an item.
        """

    def layout(self) -> tuple[Public, State]:
        stages = self.problem.planner.stages_of(self.public)
        if not 0 <= self.plan.stage < len(stages):
            raise StateError("no stage of screening is like this one")
        return super().layout()

    def read(self, batch: Batch) -> Answers:
        return self.answered(batch)

    def release(
        self, mask_counts: State, hidden: State, block: Block, door: Door
    ) -> tuple[Public, State]:
        sums = self.found.drawn(block, door)
        counts = (self.shown.planned(self.plan.length) + mask_counts.get("counts", 0)) / UNIT
        posterior, level = self.learned(sums, counts, self.found.variance)
        return self.after_screening(posterior, level, self.plan), {}


class FirstClicks(ScreeningPhase):
    """Clicks on random slates: how often visitors click at all, and on what."""

    slates_type = CountingViews

    @cached_property
    def found(self) -> OneRelease[OneChoice]:
        return clicks_release(self.settings)

    def gather(self, block: Block, answers: Clicks) -> None:
        cells = hit_candidates(self.shown, answers)
        self.found.aggregator.add(self.found.of(block), cells)

    def learned(self, sums: Floats, counts: Floats, noise: float) -> ScreeningResult:
        slots, clicks = self.settings.slots, sums.sum()
        rate = first_rate(clicks, max(1, self.plan.length), slots)
        # Views were counted with a guess of the rate: scaled to what rate and clicks say now.
        views = counts[0] * max(clicks, 1e-9) / (rate * max(counts.sum(), 1e-9))
        posterior = Posterior.before(self.settings.room, slots=slots, interest=rate)
        return ScreeningResult(
            after_clicks(posterior, NOTHING_CHOSEN, sums, views, noise), self.public.level
        )


class LaterClicks(ScreeningPhase):
    """Clicks on more random slates, on Thompson's choice, or behind leaders that are fixed."""

    slates_type = CountingViews

    @cached_property
    def found(self) -> OneRelease[OneChoice]:
        return clicks_release(self.settings)

    def gather(self, block: Block, answers: Clicks) -> None:
        cells = hit_candidates(self.shown, answers)
        self.found.aggregator.add(self.found.of(block), cells)

    def learned(self, sums: Floats, counts: Floats, noise: float) -> ScreeningResult:
        posterior = after_clicks(self.public.posterior, self.plan.prefix, sums, counts[0], noise)
        return ScreeningResult(posterior, self.public.level)


def hit_candidates(shown: ScreeningSlates, answers: Clicks) -> Integers:
    """Return the clicked items; −1 for clicks on the prefix, or on what was not shown."""
    candidates = shown.candidates(answers.slates)
    hit = (candidates == answers.items[:, None]).any(axis=1)
    return np.where(hit, answers.items, -1)


class FirstRewards(ScreeningPhase):
    """Rewards of random slates, added up for each shown item, and in one more cell for everyone."""

    slates_type = CountingShows

    @cached_property
    def found(self) -> OneRelease[PublicCells]:
        return rewards_release(self.settings)

    def gather(self, block: Block, answers: Rewards) -> None:
        everyone = np.full((len(answers.slates), 1), self.settings.room)
        cells = np.concatenate([answers.slates, everyone], axis=1)
        self.found.aggregator.add(self.found.of(block), cells, answers.rewards)

    def learned(self, sums: Floats, counts: Floats, noise: float) -> ScreeningResult:
        slots = self.settings.slots
        of_items, in_all, shows = sums[:-1], sums[-1], counts[0]
        level = float(np.clip(in_all / self.plan.length, 1e-3, MOST_LEVEL))
        rate = 1 - (1 - level) ** (1 / slots)
        weight = (1 - rate) ** (slots - 1)
        posterior = after_rewards(
            Posterior.before(self.settings.room, slots=slots, interest=rate),
            surplus=weight * (of_items - level * shows),
            weights=weight**2 * shows,
            reward_variance=level * (1 - level),
            noise=weight**2 * noise,
        )
        return ScreeningResult(posterior, level)


class LaterRewards(ScreeningPhase):
    """Rewards, times how far each shown item's interest moves the worth of its slate."""

    slates_type = CountingGains
    plan: LaterScreeningPlan

    @cached_property
    def found(self) -> OneRelease[PublicRows]:
        aggregator = PublicRows((self.settings.room,), length=self.plan.heaviest)
        return one_release(self.settings, aggregator)

    def gather(self, block: Block, answers: Rewards) -> None:
        weights = slate_gains(answers.slates, self.public.posterior.interest).weights
        found = self.found.of(block)
        self.found.aggregator.add(found, answers.slates, weights, answers.rewards)

    def learned(self, sums: Floats, counts: Floats, noise: float) -> ScreeningResult:
        squares, expected, weights = counts
        level = self.public.level
        # Slates of leaders may all be worth less than their items promise: that tells no two apart.
        surplus = sums - expected
        surplus = surplus - weights * surplus.sum() / max(weights.sum(), 1e-9)
        posterior = after_rewards(
            self.public.posterior,
            surplus=surplus,
            weights=squares,
            reward_variance=level * (1 - level),
            noise=noise,
        )
        return ScreeningResult(posterior, level)
