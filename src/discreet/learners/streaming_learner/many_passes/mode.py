"""The mode of many passes: noisy gradient descent on whitened rows, for one release.

    lengths   a histogram of ‖x‖: rows are divided by their usual norm
    grams     second moments, once or twice: a whitening map W to rows z = Wx
    clips     histograms of norms of gradients: the clip is a quantile
    steps     θ ← θ − step·(noisy Σ clipped gradients of z)/n, again and again

All parts read all samples, so each part has a share of one budget. That is far better than a
disjoint share of the samples for each part: noise grows as 1/√share if the budget is split, but as
1/share if the samples are.

A regression with few samples, whose directions noise would hide, makes one release of second
moments XᵀX and cross moments Xᵀy, and fits a ridge. Otherwise the second moments of z are about 1,
so a step of 1/curvature is Newton's. The noise of the last step stays in the result, so this step
has half of the budget. The clip is a quantile of norms of gradients, which is measured twice since
residuals shrink. A classifier makes steps along clipped, hence nearly normalised, gradients, of
fixed total length, and takes an average with growing weights.

Guarantee   docs/guarantees/streaming.md, Theorem 4
Runtime     O(d·classes) per sample and pass, O(d²) for second moments; two bytes per held number
References  Bassily, Smith, Thakurta (2014), "Private Empirical Risk Minimization"
            Sheffet (2017); Wang (2018), one release of XᵀX and Xᵀy
"""

from dataclasses import replace
from functools import cached_property
from math import sqrt

import numpy as np

from discreet.arrays import Floats
from discreet.budget.guarantee import Wording
from discreet.budget.privacy import Charge
from discreet.engine.phases import Scheduled
from discreet.engine.request import Block
from discreet.engine.schedule import EqualBlocks
from discreet.engine.statistics import Interactive, Released
from discreet.errors import ConfigError
from discreet.learners.streaming_learner.clipped_gradients import check_grid
from discreet.learners.streaming_learner.histogram import SURE
from discreet.learners.streaming_learner.many_passes.descent import Descent
from discreet.learners.streaming_learner.many_passes.held_samples import HeldSamples
from discreet.learners.streaming_learner.many_passes.parts import CLIPS, LENGTHS, DrawnParts, Passes
from discreet.learners.streaming_learner.many_passes.public import Public
from discreet.learners.streaming_learner.many_passes.tuning import TUNED
from discreet.learners.streaming_learner.mode import CoefficientsPhase, GradientMode
from discreet.learners.streaming_learner.sample_answer import Answers
from discreet.losses import CallableLoss, Loss, SoftmaxLoss
from discreet.release.aggregators import Gram, HeldRows, Moments, OneChoice, Rows
from discreet.release.noise import CalibratedNoise

MOST_HELD = 2**31
"""The largest number of held numbers."""


class ManyPassesPhase(CoefficientsPhase[Public]):
    """Phase of the only block; it holds samples until its end."""

    mode: "ManyPasses"

    def gather(self, block: Block, answers: Answers) -> None:
        held = self.mode.samples_held
        for piece in answers.pieces(held.columns):
            places = piece.rounds - self.at.begin
            held.aggregator.add(self.mode.held.of(block), places, held.encoded(piece.samples))

    def update(self, released: Released) -> Public:
        mode = self.mode
        held, door = released[mode.held]
        parts = DrawnParts(
            settings=self.settings,
            loss=mode.loss,
            passes=mode.passes,
            samples=mode.samples_held,
            held=held,
            door=door,
        )
        return Descent(parts).fitted()

    def _errors(self) -> Floats:
        return self.public.errors


class ManyPasses(GradientMode):
    """Mode that releases coefficients once, after many passes over all samples."""

    promise = replace(
        GradientMode.promise,
        assumes="a convex loss",
        words=Wording("sample", "the published coefficients", "coefficients", streams=False),
    )

    def check(self) -> None:
        settings = self.settings
        self.loss  # noqa: B018  refuses losses whose curvature is not known
        if settings.privacy.pure:
            raise ConfigError("many passes need delta > 0: leave out method, which streams")
        if settings.rounds * self.samples_held.columns > MOST_HELD:
            raise ConfigError(
                f"{settings.rounds} samples of {settings.width} numbers do not fit into memory: "
                "leave out method, which streams"
            )
        passes = self.passes
        products = [calibrated.aggregator for calibrated in passes.grams]
        for aggregator in products if passes.moments is None else [passes.moments.aggregator]:
            aggregator.unit  # noqa: B018  refuses grids that are too coarse
        for calibrated in passes.steps:
            check_grid(calibrated.aggregator)

    @cached_property
    def loss(self) -> Loss | SoftmaxLoss:
        """The loss, whose curvature is known."""
        loss = self.settings.loss
        if isinstance(loss, CallableLoss) or self.settings.counts:
            raise ConfigError("many passes need a loss whose curvature is known: leave out method")
        return loss

    @cached_property
    def samples_held(self) -> HeldSamples:
        """The encoding of held samples."""
        return HeldSamples(self.settings)

    # --- the plan ---------------------------------------------------------------------------------

    @cached_property
    def budget(self) -> Charge:
        """The budget of the only block.

        If rounds are keyed by person, one round per person is in it.
        """
        return self.settings.privacy.apart(blocks=1)[-1]

    @cached_property
    def noise(self) -> float:
        """1/√(2ρ), the noise of a sum of sensitivity 1 at the whole budget."""
        return 1 / sqrt(2 * self.budget.amount)

    @cached_property
    def hidden(self) -> float:
        """The share of second moments that noise would hide at the whole budget."""
        return 2 * sqrt(self.settings.width) * self.noise / self.settings.rounds

    @cached_property
    def measured(self) -> bool:
        """Whether counts of a histogram exceed their noise."""
        noise = sqrt(2) * self.noise / sqrt(TUNED.measuring)
        return SURE * sqrt(5) * noise <= self.settings.rounds / 4

    @cached_property
    def passes(self) -> Passes:
        """The calibrated parts of the release."""
        left = (1 - TUNED.measuring * self.measured) * (1 - 1e-9)
        if self.settings.classifies:
            return self._class_passes(left)
        if self.hidden > TUNED.hidden_regression:
            moments = CalibratedNoise.for_budget(
                self.budget * left, Moments.of(1, self.settings.width)
            )
            return Passes(self._lengths, moments, (), (), ())
        return self._regression_passes(left)

    def _class_passes(self, left: float) -> Passes:
        """Return the parts of a classifier; `left` is the share of the budget beside norms."""
        share = TUNED.whitening_classes
        pays = self.hidden <= TUNED.hidden_classes * sqrt(share)
        grams = self._grams(1, share) if pays else ()
        weights = np.ones(self._count(TUNED.class_passes))
        steps = self._steps(weights, left - share * len(grams))
        return Passes(self._lengths, None, grams, (), steps)

    def _regression_passes(self, left: float) -> Passes:
        """Return the parts of a regression; `left` is the share of the budget beside norms."""
        share = TUNED.whitening_regression
        clip = CalibratedNoise.for_budget(self.budget * TUNED.measuring, OneChoice((CLIPS.bins,)))
        count = self._count(TUNED.regression_passes)
        weights = np.append(np.ones(count - 1), float(count))
        steps = self._steps(weights, left - share - 2 * TUNED.measuring)
        return Passes(self._lengths, None, self._grams(2, share), (clip, clip), steps)

    @property
    def _lengths(self) -> CalibratedNoise[OneChoice] | None:
        """The histogram of norms; None if it would be mostly noise."""
        if not self.measured:
            return None
        return CalibratedNoise.for_budget(self.budget * TUNED.measuring, OneChoice((LENGTHS.bins,)))

    def _count(self, most: int) -> int:
        """Return the number of passes: at most half the number of samples."""
        return max(4, min(most, self.settings.rounds // 2))

    def _grams(self, count: int, share: float) -> tuple[CalibratedNoise[Gram], ...]:
        """Return releases of second moments, for this share of the budget together."""
        budget = self.budget * (share / count)
        return (CalibratedNoise.for_budget(budget, Gram.of(self.settings.width)),) * count

    def _steps(self, weights: Floats, share: float) -> tuple[CalibratedNoise[Rows], ...]:
        """Return one release of gradients per weight, for this share of the budget together."""
        rows = Rows(self.settings.shape)
        shares = share * weights / weights.sum()
        return tuple(CalibratedNoise.for_budget(self.budget * float(part), rows) for part in shares)

    @cached_property
    def held(self) -> Interactive[HeldRows]:
        """All samples, from which the parts of the release are drawn one after the other."""
        return Interactive("held", self.samples_held.aggregator, tuple(self.passes.parts))

    @cached_property
    def phases(self) -> Scheduled:
        rounds = self.settings.rounds
        return Scheduled.one(ManyPassesPhase, EqualBlocks(rounds, rounds), self.held)

    @property
    def facts(self) -> dict[str, object]:
        rounds = self.settings.rounds
        limit = TUNED.hidden_regression
        return {
            "method": "one-shot" if self.passes.moments else "passes",
            "why": f"noise would hide {self.hidden:.2g} of second moments: one pass from "
            f"{limit:g} on",
            "block": rounds,
            "releases": 1,
            "passes": len(self.passes.steps),
            "second_moments": len(self.passes.grams),
            "noise_in_samples": self.passes.parts[-1].standard_deviation,
        }

    @property
    def first(self) -> Public:
        begin = self.settings.domain.start()
        return Public(begin, np.full(begin.shape, np.nan))
