"""The ridge mode: one regression per arm over all features, from noisy second moments and moments.

    centring       uniform play; releases the mean context and a typical norm
    whitening      uniform play; releases second moments around the mean: a whitening map
    regression     blocks that grow by a fifth; after each, (Σzzᵀ, Σu·z) of every arm, through one
                   running total

z is the mapped context with a constant in front, scaled to norm at most 1; u is the reward, in
[−1, 1]. Each person enters the releases of one phase only, so each phase has the whole budget. The
second moments of an arm cost nothing beside its moments (discreet/release/aggregators/moments.py),
and there is no factor for the number of arms. Better arms are played more, so they are estimated
better.

Guarantee   docs/guarantees/contextual.md, Theorem 2
Runtime     O(K·d + d²) per person, O(K·d³) per release; memory K·d² times the buffers of the sum
            (at most 8)
References  Shariff, Sheffet (2018), "Differentially Private Contextual Linear Bandits"
            Bastani, Bayati, Khosravi (2021), "Mostly Exploration-Free Algorithms for Contextual
            Bandits"
"""

from dataclasses import dataclass, replace
from functools import cached_property
from math import sqrt

import numpy as np

from discreet.arrays import Floats
from discreet.engine.request import Block
from discreet.engine.statistics import Measures, OneRelease, Released
from discreet.errors import ConfigError
from discreet.learners.contextual_bandit.arms import Arms
from discreet.learners.contextual_bandit.mode import ContextualMode
from discreet.learners.contextual_bandit.phase import ContextualPhase, People, kernels
from discreet.learners.contextual_bandit.public import FAR_APART, ContextualPublic, Estimates
from discreet.learners.contextual_bandit.settings import MOST_NUMBERS
from discreet.learners.contextual_bandit.tuning import RIDGE
from discreet.optim.ridge import Fitted, fit_ridges
from discreet.optim.shrinkage import excess_variance, james_stein
from discreet.optim.spiked_covariance import fourth_root_map
from discreet.release.aggregators import Gram, Spread
from discreet.release.aggregators.rounded import Rounded


@dataclass(frozen=True, eq=False)
class RidgePublic(ContextualPublic):
    """Public state of the ridge mode, with the map of contexts for the regressions."""

    centre: Floats
    """The mean context, each feature in units of its bound."""
    map: Floats
    """The matrix by which centred contexts are multiplied."""

    def rows(self, contexts: Floats, scales: Floats) -> Floats:
        """Return mapped contexts of norm at most 1, with the constant in front."""
        rows = np.empty((len(contexts), len(scales) + 1))
        kernels.map_contexts(contexts, scales, self.centre, self.map, RIDGE.entered, rows)
        return rows

    def mapped(self, contexts: Floats, scales: Floats) -> Floats:
        slots = len(self.estimates.offsets)
        return np.repeat(self.rows(contexts, scales)[:, None], slots, axis=1)


# --- phases -----------------------------------------------------------------------------------


class RidgePhase(ContextualPhase[RidgePublic]):
    """Phase of a block of the ridge mode."""

    mode: "Ridge"

    def rows(self, people: People) -> Floats:
        """Return the mapped contexts of people."""
        return self.public.rows(people.contexts, self.settings.scales)


class Centring(RidgePhase):
    """Phase of the first block: the mean context, and a typical norm."""

    def gather(self, block: Block, answers: People) -> None:
        spread = self.mode.spread
        rows = self.rows(answers)[answers.arms >= 0, 1:]
        spread.aggregator.add(spread.of(block), rows)

    def update(self, released: Released) -> RidgePublic:
        """Release the mean context, shrunk (James–Stein), and a map to norms of about 1."""
        spread = self.mode.spread
        longest = self.settings.scaled_length
        sums, squares, count = spread.aggregator.parted(released[spread])
        people = self.plausible(count)
        mean = sums / people * longest
        square = squares / people * longest**2
        noise = self.settings.features * (spread.standard_deviation / people * longest) ** 2
        centre = mean * james_stein(float(mean @ mean), noise)
        around = square - 2 * float(mean @ centre) + float(centre @ centre)
        typical = max(around, 0.02 * longest**2)
        to_one = np.eye(self.settings.features) / (sqrt(typical) * RIDGE.shrinking)
        return replace(self.at_next, centre=centre, map=to_one)


class WhiteningBlock(RidgePhase):
    """Phase of the second block: the covariance of contexts."""

    def gather(self, block: Block, answers: People) -> None:
        gram = self.mode.gram
        rows = self.rows(answers)[answers.arms >= 0, 1:]
        gram.aggregator.add(gram.of(block), rows * (RIDGE.shrinking / RIDGE.clip))

    def update(self, released: Released) -> RidgePublic:
        """Release a whitening map; directions that noise hides are scaled alike."""
        gram = self.mode.gram
        features = self.settings.features
        matrix, count = gram.aggregator.parted(released[gram])
        people = self.plausible(count)
        edge = RIDGE.resolved * gram.standard_deviation * sqrt(2 * features) / people
        whitening = fourth_root_map(matrix / people, edge) / RIDGE.clip
        return replace(self.at_next, map=self.public.map @ whitening)


class Regression(RidgePhase):
    """Phase of a block after the preparations: one ridge per arm, from all such blocks so far."""

    def gather(self, block: Block, answers: People) -> None:
        moments = self.mode.moments
        rows = self.rows(answers)
        moments.aggregator.add(moments.of(block), rows, answers.rewards, answers.arms)

    def update(self, released: Released) -> RidgePublic:
        moments = self.mode.moments
        total = released[moments]
        grams, sums = moments.aggregator.parted(total.values)
        noise = total.variance**0.5
        fitted = fit_ridges(grams, sums, gram_noise=sqrt(2) * noise, moment_noise=noise)
        estimates = self._estimates(grams, fitted)
        return replace(self.at_next, estimates=estimates)

    def _estimates(self, grams: Floats, fitted: Fitted) -> Estimates:
        """Return coefficients on mapped contexts as weights on contexts in the user's units."""
        scaled = self.public.map @ fitted.coefficients[:, 1:].T
        offsets = fitted.coefficients[:, 0] * RIDGE.entered - self.public.centre @ scaled
        weights = np.ascontiguousarray(scaled / self.settings.bounds[:, None])
        active = self.public.arms.active
        if active < 2:
            return Estimates(weights, offsets, fitted.covariances, FAR_APART)
        resolved = float(fitted.resolved[:active].mean())
        apart = self._variance(grams[:active], fitted) / resolved**2
        return Estimates(weights, offsets, fitted.covariances, apart, resolved)

    def _variance(self, grams: Floats, fitted: Fitted) -> float:
        """Return the variance between scores of active arms in a usual context, without noise."""
        arms = len(grams)
        plays = max(float(grams[:, 0, 0].sum()), 1.0) / RIDGE.entered**2
        usual = grams.sum(axis=0) / plays
        from_mean = fitted.coefficients[:arms] - fitted.coefficients[:arms].mean(axis=0)
        observed = float(np.einsum("ki,ij,kj->", from_mean, usual, from_mean)) / (arms - 1)
        noise = float(np.einsum("kij,ij->", fitted.covariances[:arms], usual)) / arms
        return excess_variance(observed, noise, (arms - 1) * self.mode.width)


# --- the mode ---------------------------------------------------------------------------------


class Ridge(ContextualMode[RidgePublic]):
    """Mode with one ridge regression per arm, over all features."""

    growth = RIDGE.growth
    preparing = (Centring, WhiteningBlock)
    regressing = Regression

    def check(self) -> None:
        settings = self.settings
        if settings.slots * self.width * (self.width + 3) // 2 > MOST_NUMBERS:
            most = int(sqrt(2 * MOST_NUMBERS / settings.slots + 2.25) - 1.5) - 1
            raise ConfigError(
                f"{settings.features} features are too many for a ridge over all of them, with "
                f"{settings.slots} arms at most {most}: say how many are relevant"
            )
        super().check()

    @property
    def width(self) -> int:
        return self.settings.features + 1

    @cached_property
    def noise(self) -> float:
        """κ = 1/√(2ρ), the noise of a sum of sensitivity 1."""
        return 1 / sqrt(2 * self.budget.amount)

    @cached_property
    def preparation(self) -> tuple[int, ...]:
        """The rounds of each preparation; the second takes place only if it is short.

        Where it would be long, noise hides most directions.
        """
        rounds = self.settings.rounds
        features = self.settings.features
        needed = max(RIDGE.fewest, RIDGE.lengths * sqrt(features) * self.noise)
        lengths = max(1, int(min(needed, rounds / RIDGE.lengths_share)))
        moments = RIDGE.gram * features**1.5 * self.noise
        is_short = 1 <= moments <= rounds / RIDGE.gram_share
        return (lengths, int(moments)) if is_short else (lengths,)

    @property
    def first_block(self) -> float:
        needed = RIDGE.first_block * self.settings.slots * self.width * self.noise
        return min(self.settings.rounds / RIDGE.first_share, needed)

    @property
    def learned_from(self) -> int:
        return len(self.preparation) + 1

    @cached_property
    def spread(self) -> OneRelease[Spread]:
        """The release of the mean context and a typical norm."""
        return OneRelease.for_budget("spread", self.budget, Spread.of(self.settings.features))

    @cached_property
    def gram(self) -> OneRelease[Gram]:
        """The release of second moments around the mean."""
        return OneRelease.for_budget("gram", self.budget, Gram.of(self.settings.features))

    @property
    def prepared(self) -> tuple[Measures, ...]:
        return (self.spread,), (self.gram,)

    @property
    def rounded(self) -> list[Rounded]:
        return [self.spread.aggregator, self.gram.aggregator][: len(self.preparation)]

    @property
    def first(self) -> RidgePublic:
        features = self.settings.features
        return RidgePublic(
            arms=Arms.first(self.settings.arms),
            estimates=Estimates.none(self.settings, self.width),
            centre=np.zeros(features),
            map=np.eye(features) / self.settings.scaled_length,
        )
