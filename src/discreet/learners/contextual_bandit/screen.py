"""The screen mode: draw the few features that matter by the exponential mechanism, then regress.

    beginning       uniform play; releases the mean context, a typical feature, and the mean reward
                    of every arm
    screenings      two, the second twice as long; in every arm, draw the features with the largest
                    |Σ u·x_j|, release the sums of the drawn ones, and a small ridge on the features
                    of earlier draws
    small ridges    the features are fixed; blocks that grow by a quarter; after each, the small
                    ridges through a running total

u is the difference between the reward and the prediction of the newest reference, clipped to 1.6
times its typical size; rewards that are mostly 0 or 1 are used as they are. Each person enters the
releases of one phase only. A draw in every arm costs no more than in one: a person who changes arms
moves two of them half as far each (discreet/release/aggregators/chosen_rows.py).

Guarantee   docs/guarantees/contextual.md, Theorem 3
Runtime     O(K·d) per person and per release; memory K·d, and some hundred numbers per arm
References  Chakraborty, Roy, Basu (2024), "FLIPHAT"
            Dong, Durfee, Rogers (2020), one-shot selection
"""

from dataclasses import dataclass, replace
from functools import cached_property
from math import log, sqrt

import numpy as np

from discreet.arrays import Floats
from discreet.engine.request import Block
from discreet.engine.statistics import Measures, OneRelease, Released
from discreet.learners.contextual_bandit.arms import Arms
from discreet.learners.contextual_bandit.mode import ContextualMode
from discreet.learners.contextual_bandit.phase import ContextualPhase, People
from discreet.learners.contextual_bandit.public import Estimates
from discreet.learners.contextual_bandit.screening import (
    FirstScreening,
    LastScreening,
    ScreenPublic,
    Stage,
)
from discreet.learners.contextual_bandit.sparse_model import SparseModel, clipping_unit
from discreet.learners.contextual_bandit.tuning import SCREEN
from discreet.optim.shrinkage import james_stein
from discreet.optim.support import Supports
from discreet.release.aggregators import Moments, Rows, Spread
from discreet.release.aggregators.rounded import Rounded


@dataclass(frozen=True)
class FirstReleases:
    """What the first block measures."""

    contexts: OneRelease[Spread]
    rewards: OneRelease[Moments]
    """The number of plays and the sum of rewards of every arm."""
    squares: OneRelease[Rows]
    """The sum of squared rewards."""

    @property
    def measures(self) -> Measures:
        """The three releases of a block, in the order of their draws."""
        return self.contexts, self.rewards, self.squares


@dataclass(frozen=True, eq=False)
class FirstSums:
    """Released sums over the people of the first block."""

    contexts: Floats
    """The sum of contexts, in units of the largest norm."""
    lengths: float
    """The sum of squared norms of contexts, in units of the largest squared norm."""
    people: float
    """The number of people, from a noisy count."""
    plays: Floats
    """The number of plays of each arm."""
    rewards: Floats
    """The sum of rewards of each arm."""
    squares: float
    """The sum of squared rewards."""


@dataclass(frozen=True, eq=False)
class Located:
    """The location and scale of contexts."""

    centre: Floats
    typical: float
    """A typical distance of a feature from the centre."""


class Beginning(ContextualPhase[ScreenPublic]):
    """Phase of the first block: location and scale of contexts, and mean rewards of arms."""

    mode: "Screen"

    def gather(self, block: Block, answers: People) -> None:
        people = answers.with_rewards
        first = self.mode.beginning
        to_longest = self.settings.scales / self.settings.scaled_length
        ones = np.ones((len(people.arms), 1))
        first.contexts.aggregator.add(first.contexts.of(block), people.contexts * to_longest)
        first.rewards.aggregator.add(first.rewards.of(block), ones, people.rewards, people.arms)
        first.squares.aggregator.add(first.squares.of(block), people.rewards[:, None] ** 2)

    def update(self, released: Released) -> ScreenPublic:
        sums = self._sums(released)
        located = self._located(sums)
        unit = clipping_unit(sums.squares / sums.people)
        before = self.public.model.supports
        coefficients = before.coefficients.copy()
        coefficients[:, 0] = self._mean_rewards(sums) / (SCREEN.constant * located.typical)
        model = SparseModel(
            centre=located.centre,
            typical=located.typical,
            unit=unit,
            supports=Supports(before.features, coefficients),
            reference=coefficients * (unit < 1),
        )
        return replace(self.at_next, model=model)

    def _sums(self, released: Released) -> FirstSums:
        """Return the sums of the first block, as the door released them."""
        first = self.mode.beginning
        contexts, lengths, count = first.contexts.aggregator.parted(released[first.contexts])
        grams, rewards = first.rewards.aggregator.parted(released[first.rewards])
        squares = float(released[first.squares][0])
        people = self.plausible(count)
        return FirstSums(contexts, lengths, people, grams[:, 0, 0], rewards[:, 0], squares)

    def _located(self, sums: FirstSums) -> Located:
        """Return the mean context, shrunk, and the typical distance of a feature from it."""
        longest = self.settings.scaled_length
        features = self.settings.features
        scale = longest / sums.people
        mean = sums.contexts * scale
        noise = self.mode.beginning.contexts.standard_deviation * scale
        centre = shrunk_to_grand_mean(mean, noise)
        square = sums.lengths * scale * longest / features
        square += float((centre**2 - 2 * mean * centre).mean())
        return Located(centre, sqrt(float(np.clip(square, 1e-3, 4.0))))

    def _mean_rewards(self, sums: FirstSums) -> Floats:
        """Return the mean reward of every arm; 0 where noise hides it."""
        plays = np.maximum(sums.plays, sums.people / (4 * self.settings.slots))
        noise = 2 * self.mode.beginning.rewards.standard_deviation / plays
        means = sums.rewards / plays
        return np.where(np.abs(means) > noise, means, 0.0)


class SmallRidges(ContextualPhase[ScreenPublic]):
    """Phase of a block after the screenings: one small ridge per arm, from all such blocks."""

    mode: "Screen"

    def gather(self, block: Block, answers: People) -> None:
        people = answers.with_rewards
        model = self.public.model
        moments = self.mode.moments
        centred = model.centred(people.contexts, self.settings.scales)
        rows = model.rows(centred, people.arms)
        residuals = model.residuals(rows, people)
        moments.aggregator.add(moments.of(block), rows, residuals, people.arms)

    def update(self, released: Released) -> ScreenPublic:
        moments = self.mode.moments
        active = self.public.arms.active
        total = released[moments]
        grams, sums = moments.aggregator.parted(total.values)
        refitted = self.public.model.refitted(grams, sums, total.variance**0.5)
        model = replace(self.public.model, supports=refitted.supports)
        estimates = model.estimates(refitted.covariances, active, self.settings.bounds)
        return replace(self.at_next, model=model, estimates=estimates)


class Screen(ContextualMode[ScreenPublic]):
    """Mode that draws features in screenings, and then fits one small ridge per arm."""

    growth = SCREEN.growth
    preparing = (Beginning, FirstScreening, LastScreening)
    regressing = SmallRidges

    @property
    def most(self) -> int:
        """The largest number of features of an arm."""
        return min(self.settings.features, 2 * self.settings.expected)

    @property
    def width(self) -> int:
        return self.most + 1

    @cached_property
    def preparation(self) -> tuple[int, ...]:
        settings = self.settings
        rounds = settings.rounds
        draw_noise = sqrt(2 * settings.expected / (SCREEN.first.draws * self.budget.amount))
        needed = settings.slots * draw_noise * (log(settings.features) + 1) / SCREEN.effect
        first = min(max(needed, rounds / SCREEN.least_share), rounds / SCREEN.most_share)
        screenings = (max(1, int(first * 2**number)) for number in range(SCREEN.screenings))
        return max(1, rounds // SCREEN.least_share), *screenings

    @property
    def first_block(self) -> float:
        return self.settings.rounds / SCREEN.first_share

    @property
    def learned_from(self) -> int:
        """The index of the last screening; the first one has released scores."""
        return 2

    @cached_property
    def beginning(self) -> FirstReleases:
        """The releases of the first block."""
        budget = self.budget
        contexts = Spread.of(self.settings.features)
        rewards = Moments.of(self.settings.slots, 1)
        squares = Rows((1,), nonnegative=True)
        return FirstReleases(
            OneRelease.for_budget("contexts", budget * SCREEN.contexts, contexts),
            OneRelease.for_budget("rewards", budget * SCREEN.rewards, rewards),
            OneRelease.for_budget("squares", budget * SCREEN.squares, squares),
        )

    @cached_property
    def stages(self) -> list[Stage]:
        """The mechanisms of each screening."""
        return [
            Stage.planned(self.settings, self.budget, number, self.width)
            for number in range(SCREEN.screenings)
        ]

    @property
    def prepared(self) -> tuple[Measures, ...]:
        return self.beginning.measures, *(stage.measures for stage in self.stages)

    @property
    def rounded(self) -> list[Rounded]:
        first = [self.beginning.contexts.aggregator, self.beginning.rewards.aggregator]
        return [*first, *(stage.ridge.aggregator for stage in self.stages)]

    @property
    def first(self) -> ScreenPublic:
        return ScreenPublic(
            arms=Arms.first(self.settings.arms),
            estimates=Estimates.none(self.settings, self.width),
            model=SparseModel.none(self.settings, self.most),
        )


def shrunk_to_grand_mean(mean: Floats, noise: float) -> Floats:
    """Return a noisy mean vector, shrunk to the mean of its entries (James–Stein).

    The mean of its entries counts as 0 where noise hides it.
    """
    grand = float(mean.mean())
    grand = grand if abs(grand) > 2 * noise / sqrt(len(mean)) else 0.0
    from_grand = mean - grand
    return np.asarray(grand + from_grand * james_stein(float((from_grand**2).mean()), noise**2))
