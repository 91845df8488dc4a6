"""The screening phases: two blocks that draw features for every arm.

In every arm, the exponential mechanism draws `picks` features with scores |Σ u·x_j|. Their sums are
released; a small ridge estimates the features of earlier draws again; and three scalars (Σu²,
Σ x·clip(x), a count) convert sums into coefficients. Only the people of this block pay for that.

    released ──► refitted ──► pruned ──► drawn ──► their coefficients ──► the next model
"""

from abc import abstractmethod
from dataclasses import dataclass, replace
from math import ceil, sqrt
from typing import TYPE_CHECKING

import numpy as np

from discreet.arrays import Floats, Integers, Mask
from discreet.budget.privacy import Charge
from discreet.engine.request import Block
from discreet.engine.statistics import Draws, Interactive, Measures, OneRelease, Opened, Released
from discreet.learners.contextual_bandit.phase import ContextualPhase, People
from discreet.learners.contextual_bandit.public import ContextualPublic
from discreet.learners.contextual_bandit.settings import ContextualBanditSettings
from discreet.learners.contextual_bandit.sparse_model import Refitted, SparseModel, clipping_unit
from discreet.learners.contextual_bandit.tuning import SCREEN
from discreet.optim.support import Supports
from discreet.release.aggregators import ChosenRows, Moments, Rows
from discreet.release.noise import CalibratedNoise
from discreet.release.selection import Selection

if TYPE_CHECKING:
    from discreet.learners.contextual_bandit.screen import Screen


@dataclass(frozen=True, eq=False)
class ScreenPublic(ContextualPublic):
    """Public state of the screen mode."""

    model: SparseModel

    def mapped(self, contexts: Floats, scales: Floats) -> Floats:
        return self.model.on_every_arm(self.model.centred(contexts, scales))


@dataclass(frozen=True, eq=False)
class Drawn:
    """The features that each arm drew, one row per arm, and their noisy sums."""

    features: Integers
    sums: Floats


@dataclass(frozen=True)
class ScoredFeatures:
    """What a screening draws: features by their scores, and then the noisy sums of those."""

    picks: int
    """The number of features that each arm draws."""
    draw: Selection
    scores: ChosenRows
    """The aggregator of the scores of all features, on the grid of `values`."""
    values: CalibratedNoise[ChosenRows]

    @property
    def statistic(self) -> Interactive[ChosenRows]:
        """All draws of an arm together, for which the people of the block pay."""
        draws = Draws(self.draw, self.picks, "zcdp"), self.values
        return Interactive("scores", self.scores, draws, (self.scores,))

    def drawn(self, opened: Opened, eligible: Mask) -> Drawn:
        """Draw eligible features for every arm, and release their sums."""
        aggregate, door = opened
        magnitudes = self.scores.magnitudes(aggregate)
        features = door.select_in_slots(self.draw, magnitudes, eligible, draws=self.picks)
        return Drawn(features, door.release(self.values, self.scores.picked(aggregate, features)))


@dataclass(frozen=True)
class Stage:
    """What one screening measures."""

    scored: ScoredFeatures
    scores: Interactive[ChosenRows]
    ridge: OneRelease[Moments]
    scalars: OneRelease[Rows]

    @classmethod
    def planned(
        cls, settings: ContextualBanditSettings, budget: Charge, number: int, width: int
    ) -> "Stage":
        """Return screening `number`, from 0; `width` is the width of the small ridges."""
        shares = SCREEN.later if number else SCREEN.first
        needed = max(1, ceil(settings.expected * (1 - SCREEN.fewer * number)))
        picks = min(settings.features, needed)
        values = CalibratedNoise.for_budget(
            budget * shares.values, ChosenRows((settings.slots, picks))
        )
        scores = ChosenRows((settings.slots, settings.features), values.aggregator.levels)
        draw = Selection.for_budget(budget * shares.draws, scores, draws=picks)
        moments = Moments.of(settings.slots, width)
        scalars = Rows((3,), norm=np.inf, nonnegative=True)
        scored = ScoredFeatures(picks, draw, scores, values)
        return cls(
            scored,
            scored.statistic,
            OneRelease.for_budget("ridge", budget * shares.ridge, moments),
            OneRelease.for_budget("scalars", budget * shares.scalars, scalars),
        )

    @property
    def measures(self) -> Measures:
        """All of them; features are drawn after the sums of the others are released."""
        return self.scores, self.ridge, self.scalars


@dataclass(frozen=True, eq=False)
class StageSums:
    """Released sums over the people of a screening, without those of drawn features."""

    grams: Floats
    moments: Floats
    squares: float
    """Σu² of the residuals u."""
    overlaps: float
    """Σ x·clip(x), averaged over features, in units of twice the typical distance."""
    people: float
    """The number of people, from a noisy count."""


class Screening(ContextualPhase[ScreenPublic]):
    """Phase of a block whose release draws features for every arm."""

    mode: "Screen"

    @property
    def stage(self) -> Stage:
        """The mechanisms of this block."""
        return self.mode.stages[self.at.index - 1]

    # --- differences between the two screenings -------------------------------------------------

    @abstractmethod
    def selected(self, refitted: Refitted) -> Supports:
        """Return the features of earlier draws that remain."""

    @abstractmethod
    def plays(self, sums: StageSums) -> Floats:
        """Return the number of plays of each arm."""

    @abstractmethod
    def completed(self, supports: Supports) -> Supports:
        """Return the features with which the next block begins."""

    # --- people ---------------------------------------------------------------------------------

    def gather(self, block: Block, answers: People) -> None:
        people = answers.with_rewards
        model = self.public.model
        centred = model.centred(people.contexts, self.settings.scales)
        rows = model.rows(centred, people.arms)
        residuals = model.residuals(rows, people)
        ridge = self.stage.ridge
        ridge.aggregator.add(ridge.of(block), rows, residuals, people.arms)
        self._score(block, centred, residuals, people.arms)

    def _score(self, block: Block, centred: Floats, residuals: Floats, arms: Integers) -> None:
        """Add the products of features and residuals, and the scalars of the coefficients."""
        scalars = self.stage.scalars
        typical = self.public.model.typical
        clipped = np.clip(centred, -typical, typical)
        products = np.clip(residuals, -1, 1)[:, None] * (clipped / typical)
        scores = self.stage.scores
        scores.aggregator.add(scores.of(block), products, arms)
        overlap = (centred * clipped).mean(axis=1) / (2 * typical)
        ones = np.ones(len(overlap))
        rows = np.stack([residuals**2, overlap, ones], axis=1)
        scalars.aggregator.add(scalars.of(block), rows)

    # --- the release ----------------------------------------------------------------------------

    def update(self, released: Released) -> ScreenPublic:
        model = self.public.model
        active = self.public.arms.active
        sums = self._sums(released)
        noise = self.stage.ridge.standard_deviation
        refitted = model.refitted(sums.grams, sums.moments, noise)
        supports = self.selected(refitted)
        drawn = self.stage.scored.drawn(
            released[self.stage.scores], ~supports.among(self.settings.features)
        )
        supports = supports.with_more(drawn.features, self._coefficients(drawn, sums))
        model = self._model(self.completed(supports), sums)
        estimates = model.estimates(refitted.covariances, active, self.settings.bounds)
        return replace(self.at_next, model=model, estimates=estimates)

    def _sums(self, released: Released) -> StageSums:
        """Return the sums of this block, as the door released them."""
        ridge = self.stage.ridge
        grams, moments = ridge.aggregator.parted(released[ridge])
        squares, overlaps, count = released[self.stage.scalars].tolist()
        return StageSums(grams, moments, squares, overlaps, self.plausible(count))

    def _coefficients(self, drawn: Drawn, sums: StageSums) -> Floats:
        """Return the coefficients of drawn features; 0 where a sum does not exceed its noise."""
        slots = self.settings.slots
        model = self.public.model
        typical = model.typical
        people = sums.people
        overlap = max(2 * typical * sums.overlaps / people, 0.1 * typical**2)
        noise = sqrt(self.stage.scored.values.standard_deviation**2 + people / slots / 4)
        sizes = np.abs(drawn.sums)
        shrunk = np.where(sizes > noise, np.sign(drawn.sums) * (sizes - noise / 2), 0.0)
        shrunk[self.public.arms.active :] = 0.0  # these arms were not played yet
        plays = self.plays(sums)[:, None]
        return np.asarray(shrunk * model.unit * typical / (plays * overlap))

    def _model(self, supports: Supports, sums: StageSums) -> SparseModel:
        """Return the model of the next block, whose reference has these coefficients."""
        unit = clipping_unit(self.public.model.unit**2 * sums.squares / sums.people)
        reference = supports.coefficients * (unit < 1)
        return replace(self.public.model, unit=unit, supports=supports, reference=reference)


class FirstScreening(Screening):
    """Phase of the first screening: no features are drawn yet, and arms are played uniformly."""

    def selected(self, refitted: Refitted) -> Supports:
        return refitted.supports

    def plays(self, sums: StageSums) -> Floats:
        slots = self.settings.slots
        return np.full(slots, sums.people / slots)

    def completed(self, supports: Supports) -> Supports:
        return supports


class LastScreening(Screening):
    """Phase of the last screening: it drops features that noise explains.

    Arms that were not played yet get the features that are common among the rest.
    """

    def selected(self, refitted: Refitted) -> Supports:
        most = self.mode.most - self.stage.scored.picks
        return refitted.supports.pruned(refitted.deviations, most, least=1.0)

    def plays(self, sums: StageSums) -> Floats:
        played = sums.grams[:, 0, 0] / self.public.model.constants**2
        return np.clip(played, sums.people / (4 * self.settings.slots), sums.people)

    def completed(self, supports: Supports) -> Supports:
        return supports.shared_with(np.arange(self.settings.slots) >= self.public.arms.active)
