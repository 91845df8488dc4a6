"""The leader on rows that were measured first: sizes and directions come from other samples.

    first   sizes of rows and targets, then directions, each from samples of its own (measured_rows.py)
    then    the regularised leader on evened rows, through one running total of clipped gradients

Every sample enters one stage or the total, so each has the whole budget. Coefficients of evened rows
z = H^(−½)x have a curvature of about that of the loss in every direction, and

    θ′_{r+1} = (μb·mean(θ′) − v_r) / (μb + h)        h = s/(αb) + ς·√s        s = var(v_r) / (w · H)

v_r the noisy total of gradients of z after b samples, μ (CURVED) and α (ACTUAL) shares of the curvature of
the loss, ς (STIFF) a share of stiffness, w the variance that the domain allows a coefficient. The first
part of h is a ridge for each direction, as a Bayesian would choose it (one for all would shrink the strong
direction); the second damps what noise in early totals starts. Points are then moved into the domain, first
in the norm of H. What is published is their average with weights ∝ r^k, drawn towards the start as far as
its noise explains it (discreet/decide/fading.py).

Guarantee   docs/guarantees/streaming.md, Theorem 3
Runtime     O(d·(1 + spikes)) a sample, O(d²) for those whose second moments are released
References  Kairouz et al. (2021), "Practical and Private (Deep) Learning without Sampling or Shuffling"
"""

from functools import cached_property
from math import ceil, sqrt
from typing import Any

import numpy as np

from discreet.arrays import Floats
from discreet.arrivals.losses import CallableLoss, Samples, SoftmaxLoss
from discreet.budget.privacy import Charge
from discreet.decide.evening import Evening
from discreet.errors import ConfigError
from discreet.learners.streaming_learner.measured_rows import MeasuredRows
from discreet.learners.streaming_learner.path import ReleasedPath
from discreet.learners.totals import RunningTotal
from discreet.release.door import Door
from discreet.release.gathering import Gathered, Gathering, Gram, Rows
from discreet.turn.plan import Plan, State, paid_by_cohorts
from discreet.turn.questions import Batch, Block
from discreet.turn.schedule import ListedBlocks

__all__ = ["WhitenedLeader"]

FAR = 1e100
"""A bound that no evened row reaches."""
CURVED = 0.05
"""Of the loss's curvature, for a clip as long as a usual gradient: clipped gradients grow less, too large a
guess stops learning, and a small one follows people who change."""
SMALL_NOISE = (0.006, 0.0125)
"""Shares of noise between which averages turn from all points alike, nearly, to the newest: where noise is
large, early points are hardly more than the start."""
SETTLING = 4.0
"""Releases over those that swing at first."""
ACTUAL = 0.7
"""Of the loss's curvature: what gradients near the start really have, for the ridge."""
STIFF = 1.0
"""Times the stiffness for which the bound on regret is least: it damps what noise in early totals starts."""
FADED = 0.8
"""Of the loss's curvature: what the noise of published coefficients is reckoned with."""
SWINGING = 0.3
"""Releases in which points swing at first, times μ: errors are told from later ones."""
CLIPPED = 0.5
"""The mean squared length of clipped gradients, in squared clips: above, too many of them are clipped."""


class WhitenedLeader(MeasuredRows):
    """Coefficients of the regularised leader, on rows measured and evened out by stages of their own."""

    @classmethod
    def serves(cls, settings: Any) -> bool:
        return bool(settings.chosen_method == "whitened")

    def check(self) -> None:
        settings = self.settings
        if isinstance(settings.loss, CallableLoss | SoftmaxLoss):
            raise ConfigError("rows are measured for losses of one margin that are known: leave out mode")
        if settings.domain.corners:
            raise ConfigError("rows are not measured over an l₁ ball or a simplex: leave out mode")
        if sum(self.preparation) >= settings.rounds:
            raise ConfigError(
                f"{settings.rounds} samples are all measured, and none is left to learn from: "
                "ask for a longer horizon"
            )
        super().check()
        if self.gram is not None:
            assert isinstance(self.gram.gathering, Gram)
            self.gram.gathering.unit  # noqa: B018  refuses grids that are too coarse, before anyone comes

    # --- the plan -----------------------------------------------------------------------------------------

    @cached_property
    def learning(self) -> tuple[int, ...]:
        """The lengths of blocks that add to the total."""
        rounds = self.settings.rounds - sum(self.preparation)
        block = self.settings.schedule.block
        full, last = divmod(rounds, block)
        return (*(block,) * full, *((last,) if last else ()))

    @cached_property
    def schedule(self) -> ListedBlocks:
        return ListedBlocks(self.settings.rounds, (*self.preparation, *self.learning))

    @cached_property
    def curved(self) -> float:
        """μ, in curvatures of the loss: the first 1/μ releases swing, so there must be several times more."""
        return max(CURVED * self.clip_over_usual, SETTLING / len(self.learning))

    @cached_property
    def newest(self) -> float:
        """1 + k, for an average with weights ∝ r^k: √r where noise is small, up to r² where it is large."""
        low, high = SMALL_NOISE
        large = min(1.0, max(0.0, (self.noise_share - low) / (high - low)))
        return 1.5 + 1.5 * large

    @cached_property
    def gradient(self) -> RunningTotal[Any]:
        return RunningTotal(
            "gradient",
            Rows((self.size,), norm=1 if self.settings.privacy.pure else 2),
            ListedBlocks(self.settings.rounds, self.learning),
            self.settings.privacy,
            people=max(self.learning),
            # Who comes several times may enter stages and total: all must be in one measure.
            fresh=self.settings.privacy.contributions == 1,
        )

    @cached_property
    def plan(self) -> Plan:
        stages, total = self.stages, self.gradient.sum
        count = len(stages)

        def charge(index: int) -> Charge:
            return stages[index].charge if index < count else total.charge(index - count)

        def cohort(index: int) -> int:
            return index if index < count or total.has_cohorts else count

        later = total.spent(self.gradient.releases)
        return Plan.scheduled(
            self.schedule,
            charge,
            paid_by_cohorts(self.settings.privacy, [*(once.charge for once in stages), later]),
            cohort=cohort,
            facts={
                "method": "whitened" if self.gram else "scaled",
                "why": self.settings.why,
                "block": self.settings.schedule.block,
                "releases": self.schedule.releases,
                "preparation": sum(self.preparation),
                "noise_in_samples": self.gradient.noise,
            },
            constants=(*stages, total),
        )

    # --- the hooks ----------------------------------------------------------------------------------------

    def start(self) -> tuple[State, State]:
        public, kept = self.gradient.start()
        public = self.gradient.named(public)
        begin = self.settings.domain.start()
        state = {"blocks": 0, "point": begin, "mean": begin, "average": begin, "coefficients": begin}
        return public | self.unmeasured() | state | self.path.start(), kept

    def gatherings(self, public: State) -> dict[str, Gathering]:
        stage = public["stage"]
        if stage < len(self.stages):
            return {"measured": self.stages[stage].gathering}
        return {"gradient": self.gradient.gathering}

    def gather(self, public: State, block: Block, batch: Batch) -> None:
        samples = self.samples(batch)
        if "measured" in block:
            self.measure(public, block["measured"], batch, samples)
        else:
            self._add_evened(public, block["gradient"], samples)

    def release(
        self, public: State, tally: State, kept: State, block: Block, door: Door
    ) -> tuple[State, State]:
        if "measured" not in block:
            return self._followed(public, kept, block, door)
        return self.read(public, door.release(self.stages[public["stage"]], block["measured"])), kept

    # --- how far off --------------------------------------------------------------------------------------

    @cached_property
    def path(self) -> ReleasedPath:
        """What is kept of releases."""
        return ReleasedPath(self.gradient, self.learning, self.size, ceil(SWINGING / self.curved))

    def standard_errors(self, public: State) -> Floats:
        evening = Evening.of_state(public)
        root = None if self.settings.classifies else self.path.root(public, public["blocks"], evening)
        if root is None or root.scatter * self._usual_norm**2 > CLIPPED:
            return super().standard_errors(public)
        unmapped = np.array([evening.times(row, -0.5) for row in np.eye(self.size)])
        errors = root.standard_errors(public["coefficients"], unmapped)
        return np.where(errors < self.settings.domain.diameter(2.0) / 2, errors, np.nan)

    # --- the leader ---------------------------------------------------------------------------------------

    def _add_evened(self, public: State, total: Gathered, samples: Samples) -> None:
        loss, most = self.loss, self.widest(public)
        evening = Evening.of_state(public)
        here = evening.times(public["point"], 0.5)
        slope = (here, here, 0.0, loss.code, float(loss.parameter))
        # Evened rows are within the declared bound, Euclidean, and have their constant already.
        within = (2.0, FAR, -most, most, 0.0, 1 / public["clip"])
        for piece in samples.dense(self.rows_at_once(self.size)):
            sample = (self.evened_rows(evening, piece.features), piece.targets, piece.shares)
            self.gradient_rows.add_through("add_gradients", total, len(piece), *sample, *slope, *within)

    def _followed(self, public: State, kept: State, block: Block, door: Door) -> tuple[State, State]:
        clip, blocks = public["clip"], public["blocks"] + 1
        total = self.gradient.next(self.gradient.own(public), kept, block, door)
        samples = self.schedule.end(door.index) - sum(self.preparation)
        mean = public["mean"] + (public["point"] - public["mean"]) / blocks
        evening = Evening.of_state(public)
        variance = total.variance * clip**2
        point = self._ridged(evening, total.values * clip, variance, mean, samples)
        average = public["average"] + (point - public["average"]) * (self.newest / (blocks + self.newest - 1))
        found = {
            "blocks": blocks,
            "mean": mean,
            "point": point,
            "average": average,
            "coefficients": self._faded(evening, average, variance, samples),
        }
        path = self.path.followed(public, blocks, total.values, public["point"])
        return public | self.gradient.named(total.public) | found | path, kept | total.kept

    def _ridged(self, evening: Evening, total: Floats, variance: float, mean: Floats, samples: int) -> Floats:
        """The point of evened coefficients with a ridge for each direction, moved into the domain."""
        domain = self.settings.domain
        begin = domain.start()
        bent = self.curved * self.loss.curvature * samples

        def weight(moments: Any) -> Any:
            return 1 / (bent + self._stiffness(moments, variance, samples))

        pulled = bent * evening.times(mean - begin, 0.5) - total
        found = evening.shaped(pulled, float(weight(evening.rest)), weight(evening.values))
        moved = evening.nearest(evening.times(found, -0.5), domain.diameter(2.0) / 2)
        return domain.project(begin + moved)

    def _stiffness(self, moments: Any, variance: float, samples: int) -> Any:
        """h for directions with these second moments: a Bayesian's ridge, and what damps early noise."""
        radius = self.settings.domain.diameter(2.0) / 2
        noise = variance / (radius**2 / self.size) / moments  # in variances that the domain allows
        actual = ACTUAL * self.loss.curvature * samples
        return noise / actual + STIFF * np.sqrt(noise)

    def _faded(self, evening: Evening, average: Floats, variance: float, samples: int) -> Floats:
        """The average, drawn towards the start as far as noise explains it; an intercept stays.

        Near the solution a total with noise Z moves evened coefficients by Z / (curvature · samples + h).
        """
        seen = FADED * self.loss.curvature * samples

        def sharpness(moments: Any) -> Any:
            return (seen + self._stiffness(moments, variance, samples)) / sqrt(variance)

        learned = self.learned(average)
        scaled = evening.times(learned, 0.5)
        scaled = evening.shaped(scaled, float(sharpness(evening.rest)), sharpness(evening.values))
        return self.faded(average, learned, float(scaled @ scaled))
