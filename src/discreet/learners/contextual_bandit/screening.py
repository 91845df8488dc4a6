"""Screening: features are drawn for every arm by the exponential mechanism, in two blocks.

In every arm, `picks` features are drawn with scores |Σ u·x_j|, then the sums of those that were
drawn are released; a small ridge re-estimates the features found before; and three scalars (Σu²,
Σ x·clip(x), a count) turn sums into coefficients. All of it is paid by the people of this block
alone.

    released ──► refitted ──► pruned ──► drawn ──► their coefficients ──► the next model
"""

from abc import abstractmethod
from dataclasses import dataclass, replace
from math import ceil, sqrt
from typing import TYPE_CHECKING

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.budget.privacy import Charge
from discreet.engine.plan import State
from discreet.engine.request import Block
from discreet.learners.contextual_bandit.phase import ContextualPhase, People
from discreet.learners.contextual_bandit.public import ContextualPublic
from discreet.learners.contextual_bandit.settings import ContextualBanditSettings
from discreet.learners.contextual_bandit.sparse_model import Refitted, SparseModel, clipping_unit
from discreet.learners.contextual_bandit.tuning import SCREEN
from discreet.learners.one_release import OneRelease
from discreet.optim.support import Supports
from discreet.release.aggregators import Aggregate, Aggregator, ChosenRows, Moments, Rows
from discreet.release.door import Door
from discreet.release.noise import CalibratedNoise
from discreet.release.selection import Selection

if TYPE_CHECKING:
    from discreet.learners.contextual_bandit.screen import Screen


SCORES = "scores"
"""Name of what features are drawn from."""


@dataclass(frozen=True, eq=False)
class ScreenPublic(ContextualPublic):
    """What the screen mode has published."""

    model: SparseModel

    def mapped(self, contexts: Floats, scales: Floats) -> Floats:
        return self.model.on_every_arm(self.model.centred(contexts, scales))


@dataclass(frozen=True)
class Stage:
    """The mechanisms of one screening, and how many features each arm draws."""

    picks: int
    draw: Selection
    scores: ChosenRows
    """What features are drawn from: the same integers as the values', of all features."""
    values: CalibratedNoise[ChosenRows]
    ridge: OneRelease[Moments]
    scalars: OneRelease[Rows]

    @classmethod
    def planned(
        cls, settings: ContextualBanditSettings, budget: Charge, number: int, width: int
    ) -> "Stage":
        """Return screening `number`, from 0; `width` is that of the small ridges."""
        shares = SCREEN.later if number else SCREEN.first
        wanted = max(1, ceil(settings.expected * (1 - SCREEN.fewer * number)))
        picks = min(settings.features, wanted)
        values = CalibratedNoise.for_budget(
            budget * shares.values, ChosenRows((settings.slots, picks))
        )
        scores = ChosenRows((settings.slots, settings.features), values.aggregator.levels)
        moments = Moments.of(settings.slots, width)
        three = Rows((3,), norm=np.inf, nonnegative=True)
        return cls(
            picks,
            Selection.for_budget(budget * shares.draws, scores, draws=picks),
            scores,
            values,
            OneRelease.for_budget("ridge", budget * shares.ridge, moments),
            OneRelease.for_budget("scalars", budget * shares.scalars, three),
        )

    @property
    def charge(self) -> Charge:
        """What the screening costs each of its people."""
        drawn = self.draw.charge("zcdp") * self.picks
        return drawn + self.values.charge + self.ridge.charge + self.scalars.charge


@dataclass(frozen=True, eq=False)
class StageSums:
    """Released sums of a screening's people, but for those of the features that it draws."""

    grams: Floats
    moments: Floats
    squares: float
    """Σu² of their surprises u."""
    overlaps: float
    """Σ x·clip(x), the mean over features, in units of twice a typical feature."""
    people: float
    """How many there were, from a noisy count."""


@dataclass(frozen=True, eq=False)
class Drawn:
    """The features that each arm drew, one row per arm, and their noisy sums."""

    features: Integers
    sums: Floats


class Screening(ContextualPhase[ScreenPublic]):
    """A block whose release draws features for every arm."""

    problem: "Screen"

    @property
    def stage(self) -> Stage:
        """The mechanisms of this block."""
        return self.problem.stages[self.index - 1]

    # --- what the two screenings differ in ------------------------------------------------------

    @abstractmethod
    def selected(self, refitted: Refitted) -> Supports:
        """Return the features of before that stay."""

    @abstractmethod
    def plays(self, sums: StageSums) -> Floats:
        """Return how often each arm was played."""

    @abstractmethod
    def completed(self, supports: Supports) -> Supports:
        """Return the features that the next block begins with."""

    # --- people ---------------------------------------------------------------------------------

    def aggregators(self) -> dict[str, Aggregator]:
        ridge, scalars = self.stage.ridge, self.stage.scalars
        return {
            SCORES: self.stage.scores,
            ridge.name: ridge.aggregator,
            scalars.name: scalars.aggregator,
        }

    def gather(self, block: Block, answers: People) -> None:
        people, model = answers.with_rewards, self.public.model
        centred = model.centred(people.contexts, self.settings.scales)
        rows = model.rows(centred, people.arms)
        surprise = model.surprise(rows, people)
        ridge = self.stage.ridge
        ridge.aggregator.add(ridge.of(block), rows, surprise, people.arms)
        self._score(block, centred, surprise, people.arms)

    def _score(self, block: Block, centred: Floats, surprise: Floats, arms: Integers) -> None:
        """Add how each feature goes with the surprise, and what turns sums into coefficients."""
        scalars, typical = self.stage.scalars, self.public.model.typical
        clipped = np.clip(centred, -typical, typical)
        products = np.clip(surprise, -1, 1)[:, None] * (clipped / typical)
        self.stage.scores.add(block[SCORES], products, arms)
        overlap = (centred * clipped).mean(axis=1) / (2 * typical)
        ones = np.ones(len(overlap))
        scalars.aggregator.add(scalars.of(block), np.stack([surprise**2, overlap, ones], axis=1))

    # --- the release ----------------------------------------------------------------------------

    def release(
        self, mask_counts: State, hidden: State, block: Block, door: Door
    ) -> tuple[ScreenPublic, State]:
        model, active = self.public.model, self.public.arms.active
        sums = self._released(block, door)
        noise = self.stage.ridge.standard_deviation
        refitted = model.refitted(sums.grams, sums.moments, noise)
        supports = self.selected(refitted)
        drawn = self._drawn(supports, block[SCORES], door)
        supports = supports.with_more(drawn.features, self._coefficients(drawn, sums))
        model = self._model(self.completed(supports), sums)
        estimates = model.estimates(refitted.covariances, active, self.settings.bounds)
        return replace(self.at_next, model=model, estimates=estimates), hidden

    def _released(self, block: Block, door: Door) -> StageSums:
        ridge, scalars = self.stage.ridge, self.stage.scalars
        grams, moments = ridge.aggregator.parted(ridge.drawn(block, door))
        squares, overlaps, count = scalars.drawn(block, door).tolist()
        return StageSums(grams, moments, squares, overlaps, self.plausible(count))

    def _drawn(self, supports: Supports, scores: Aggregate, door: Door) -> Drawn:
        """Draw features in every arm among those that it does not have, and release their sums."""
        stage = self.stage
        left = ~supports.among(self.settings.features)
        magnitudes = stage.scores.magnitudes(scores)
        features = door.select_in_slots(stage.draw, magnitudes, left, draws=stage.picks)
        return Drawn(features, door.release(stage.values, stage.scores.picked(scores, features)))

    def _coefficients(self, drawn: Drawn, sums: StageSums) -> Floats:
        """Return the coefficients of drawn features; 0 where a sum is no larger than noise."""
        slots, model = self.settings.slots, self.public.model
        typical, people = model.typical, sums.people
        overlap = max(2 * typical * sums.overlaps / people, 0.1 * typical**2)
        noise = sqrt(self.stage.values.standard_deviation**2 + people / slots / 4)
        sizes = np.abs(drawn.sums)
        seen = np.where(sizes > noise, np.sign(drawn.sums) * (sizes - noise / 2), 0.0)
        seen[self.public.arms.active :] = 0.0  # arms that nobody played yet
        plays = self.plays(sums)[:, None]
        return np.asarray(seen * model.unit * typical / (plays * overlap))

    def _model(self, supports: Supports, sums: StageSums) -> SparseModel:
        """Return the model of the next block, which predicts with these coefficients."""
        unit = clipping_unit(self.public.model.unit**2 * sums.squares / sums.people)
        reference = supports.coefficients * (unit < 1)
        return replace(self.public.model, unit=unit, supports=supports, reference=reference)


class FirstScreening(Screening):
    """The first one: no features were found yet, and arms are played uniformly."""

    def selected(self, refitted: Refitted) -> Supports:
        return refitted.supports

    def plays(self, sums: StageSums) -> Floats:
        slots = self.settings.slots
        return np.full(slots, sums.people / slots)

    def completed(self, supports: Supports) -> Supports:
        return supports


class LastScreening(Screening):
    """The last one: features that noise may explain make room, and new arms get common ones."""

    def selected(self, refitted: Refitted) -> Supports:
        most = self.problem.most - self.stage.picks
        return refitted.supports.pruned(refitted.deviations, most, least=1.0)

    def plays(self, sums: StageSums) -> Floats:
        played = sums.grams[:, 0, 0] / self.public.model.constants**2
        return np.clip(played, sums.people / (4 * self.settings.slots), sums.people)

    def completed(self, supports: Supports) -> Supports:
        return supports.shared_with(np.arange(self.settings.slots) >= self.public.arms.active)
