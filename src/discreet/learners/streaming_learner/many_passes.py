"""Many passes over samples that are held for one release: noisy gradient descent on rows evened out.

    lengths      a histogram of ‖x‖: rows are divided by what they usually are
    directions   second moments, once or twice: a map W to rows z = Wx whose directions are alike
    gradients    θ ← θ − step·(noisy Σ clipped gradients of z)/n, again and again

All of it reads the same people, so shares of one budget add up; that is far better than people of their own
for each, since noise grows with one over the root of a budget's share, and with one over a share of people.

Regressions of few samples, whose directions noise would hide: one release of second moments and moments, and
a ridge. Otherwise the second moments of z are about 1, so a step of 1/curvature is Newton's. What the last
step adds stays, so it has half of the budget; the clip is a quantile of lengths of gradients, read twice, as
residuals shrink. Classifiers: steps of clipped, hence nearly normalised, gradients whose sum is fixed, and an
average with weights that grow.

Guarantee   docs/guarantees/streaming.md, Theorem 4
Runtime     O(d·classes) a sample and pass, O(d²) for second moments; memory two bytes a number
References  Bassily, Smith, Thakurta (2014), "Private Empirical Risk Minimization"
            Sheffet (2017); Wang (2018), one release of second moments and moments
"""

from functools import cached_property
from math import sqrt
from typing import Any

import numpy as np

from discreet.arrays import Floats
from discreet.arrivals.losses import CallableLoss
from discreet.budget.guarantee import Wording
from discreet.budget.privacy import Charge
from discreet.errors import ConfigError
from discreet.learners.streaming_learner.descent import CLIPS, LENGTHS, Descent, Passes
from discreet.learners.streaming_learner.gradients import GradientMode
from discreet.learners.streaming_learner.histogram import SURE
from discreet.release.door import Door
from discreet.release.gathering import Gathering, Gram, HeldRows, Moments, OneChoice, Rows
from discreet.release.gathering.rounded import Rounded
from discreet.release.noise import Once
from discreet.turn.plan import Plan, State, Step, paid_by_cohorts
from discreet.turn.questions import Batch, Block

__all__ = ["ManyPasses"]

MEASURING = 0.02
"""The share of the budget for each histogram."""
EVENING = {"regression": 0.18, "classes": 0.1}
"""The share for second moments."""
REGRESSION_PASSES, CLASS_PASSES = 20, 50
HIDDEN = 0.1
"""Classifiers: second moments pay if noise hides less than this share of their trace."""
FEW = 0.04
"""Regressions: if noise would hide more than this share of second moments, one ridge is better."""
MOST_HELD = 2**31
"""Numbers."""


class ManyPasses(GradientMode):
    """Coefficients that are released once, after many passes over everyone."""

    words = Wording("sample", "the published coefficients", "coefficients", streams=False)

    @property
    def assumes(self) -> str:
        return "a convex loss"

    @classmethod
    def serves(cls, settings: Any) -> bool:
        return bool(settings.chosen_method == "passes")

    def check(self) -> None:
        settings = self.settings
        if isinstance(settings.loss, CallableLoss) or settings.counts:
            raise ConfigError("many passes need a loss whose curvature is known: leave out method")
        if settings.privacy.pure:
            raise ConfigError("many passes need delta > 0: leave out method, which streams")
        if settings.rounds * self.columns > MOST_HELD:
            raise ConfigError(
                f"{settings.rounds} samples of {settings.width} numbers do not fit into memory: "
                "leave out method, which streams"
            )
        for once in self.passes.parts:
            if isinstance(once.gathering, Rounded):
                once.gathering.unit  # noqa: B018  refuses grids that are too coarse, before anyone comes
            elif isinstance(once.gathering, Rows):
                self.check_grid(once.gathering)

    # --- the plan -----------------------------------------------------------------------------------------

    @property
    def columns(self) -> int:
        """How many numbers are held of a sample: its row, target, share, and whether it is there."""
        return self.settings.width + 3

    @cached_property
    def budget(self) -> Charge:
        """Of everyone's one block; if rounds name their person, one round of theirs is in it."""
        return self.settings.privacy.apart(blocks=1)[-1]

    @cached_property
    def noise(self) -> float:
        """1/√(2ρ): the noise of a sum that one person moves by 1."""
        return 1 / sqrt(2 * self.budget.amount)

    @cached_property
    def hidden(self) -> float:
        """The share of second moments that noise of the whole budget would hide."""
        return 2 * sqrt(self.settings.width) * self.noise / self.settings.rounds

    @cached_property
    def measured(self) -> bool:
        """Whether a histogram tells more than its noise."""
        noise = sqrt(2) * self.noise / sqrt(MEASURING)
        return SURE * sqrt(5) * noise <= self.settings.rounds / 4

    @cached_property
    def passes(self) -> Passes:
        """The calibrated parts."""
        budget = self.budget
        histogram = Once.for_budget(budget * MEASURING, OneChoice((LENGTHS.bins,)))
        lengths = histogram if self.measured else None
        left = (1 - MEASURING * self.measured) * (1 - 1e-9)
        if self.settings.classifies:
            evening = EVENING["classes"]
            grams = self._grams(1, evening) if self.hidden <= HIDDEN * sqrt(evening) else ()
            count = self._count(CLASS_PASSES)
            steps = self._steps(np.ones(count), left - evening * len(grams))
            return Passes(lengths, None, grams, (), steps)
        if self.hidden > FEW:
            once = Once.for_budget(budget * left, Moments.of(1, self.settings.width))
            return Passes(lengths, once, (), (), ())
        evening = EVENING["regression"]
        clips = (Once.for_budget(budget * MEASURING, OneChoice((CLIPS.bins,))),) * 2
        count = self._count(REGRESSION_PASSES)
        weights = np.append(np.ones(count - 1), float(count))
        steps = self._steps(weights, left - evening - 2 * MEASURING)
        return Passes(lengths, None, self._grams(2, evening), clips, steps)

    def _count(self, most: int) -> int:
        """How many passes: not more than half as many as samples."""
        return max(4, min(most, self.settings.rounds // 2))

    def _grams(self, count: int, share: float) -> tuple[Once[Any], ...]:
        budget = self.budget * (share / count)
        return (Once.for_budget(budget, Gram.of(self.settings.width)),) * count

    def _steps(self, weights: Floats, share: float) -> tuple[Once[Any], ...]:
        budget, rows = self.budget, Rows(self.settings.shape)
        shares = share * weights / weights.sum()
        return tuple(Once.for_budget(budget * float(part), rows) for part in shares)

    @cached_property
    def plan(self) -> Plan:
        charge, rounds = self.passes.charge, self.settings.rounds
        step = Step(rounds, charge, cohort=0)
        return Plan(
            lambda index: None if index else step,
            paid_by_cohorts(self.settings.privacy, [charge], blocks=1),
            horizon=rounds,
            releases=1,
            facts={
                "method": "one-shot" if self.passes.moments else "passes",
                "why": f"noise would hide {self.hidden:.2g} of second moments: one pass from {FEW:g} on",
                "block": rounds,
                "releases": 1,
                "passes": len(self.passes.steps),
                "second_moments": len(self.passes.grams),
                "noise_in_samples": self.passes.parts[-1].standard_deviation,
            },
            constants=tuple(self.passes.parts),
        )

    # --- the hooks ----------------------------------------------------------------------------------------

    def start(self) -> tuple[State, State]:
        begin = self.settings.domain.start()
        return {"coefficients": begin, "errors": np.full(begin.shape, np.nan)}, {}

    def standard_errors(self, public: State) -> Floats:
        found: Floats = public["errors"]
        return found.copy()

    def gatherings(self, public: State) -> dict[str, Gathering]:
        return {"held": HeldRows((self.settings.rounds, self.columns))}

    def gather(self, public: State, block: Block, batch: Batch) -> None:
        held = block["held"].gathering
        assert isinstance(held, HeldRows)
        first = 0
        for piece in self.samples(batch).dense(self.rows_at_once(self.columns)):
            rows = self.within(piece.features) / self.longest
            numbers = np.column_stack([np.ones(len(piece)), piece.shares, self._folded(piece.targets), rows])
            there = np.asarray(np.isfinite(numbers).all(axis=1))
            numbers[:, 3:] = (numbers[:, 3:] + 1) / 2
            places = batch.rounds[first : first + len(piece)] - batch.begin
            held.add(block["held"], places, np.where(there[:, None], numbers, 0.0))
            first += len(piece)

    def release(
        self, public: State, tally: State, kept: State, block: Block, door: Door
    ) -> tuple[State, State]:
        descent = Descent(self.settings, self.passes, self.unfolded, block["held"], door)
        if self.settings.classifies:
            return descent.classify(), kept
        return descent.regress() if self.passes.grams else descent.regress_once(), kept

    # --- what is held -------------------------------------------------------------------------------------

    @property
    def longest(self) -> float:
        """The largest number in a row."""
        return max(self.settings.feature_bound, self.settings.constant)

    def _folded(self, targets: Floats) -> Floats:
        """Targets as numbers in [0, 1]; NaN for a class that is none."""
        settings = self.settings
        if settings.classes > 1:
            known = np.isin(targets, np.arange(settings.classes))
            return np.where(known, targets / (settings.classes - 1), np.nan)
        bound = settings.target_bound
        return np.asarray((np.clip(targets, -bound, bound) / bound + 1) / 2)

    def unfolded(self, numbers: Floats) -> tuple[Floats, Floats, Floats]:
        """Rows, targets and shares of some who are held; whoever is not there has a share of 0."""
        settings = self.settings
        there, targets = numbers[:, 0], numbers[:, 2]
        if settings.classes > 1:
            targets = np.rint(targets * (settings.classes - 1))
        else:
            targets = (2 * targets - 1) * settings.target_bound
        return (2 * numbers[:, 3:] - 1) * self.longest, targets, numbers[:, 1] * (there > 0.5)
