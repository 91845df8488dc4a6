"""The whitened mode: measure rows first, then follow the regularised leader on whitened rows.

    first   sizes of rows and targets, then directions, each by a block of samples (measuring.py)
    then    the regularised leader on whitened rows, on one noisy total of clipped gradients
            (learning.py)

Every sample enters one measuring phase or the total, so each of them has the whole budget.
Coefficients of whitened rows z = H^(−½)x have about the curvature of the loss in every direction.
Points are moved into the domain, first in the norm of H. The average of the points with weights
∝ r^k is released. Where noise explains its distance from the start, it is shrunk towards the start
(discreet/optim/shrinkage.py).

Guarantee   docs/guarantees/streaming.md, Theorem 3
Runtime     O(d·(1 + spikes)) per sample, O(d²) for those whose second moments are released
References  Kairouz et al. (2021), "Practical and Private (Deep) Learning without Sampling or
            Shuffling"
"""

from functools import cached_property
from math import ceil, sqrt

from discreet.engine.phases import Run, Scheduled
from discreet.engine.schedule import ListedBlocks
from discreet.engine.statistics import Measures, OneRelease, RunningTotal
from discreet.errors import ConfigError
from discreet.learners.streaming_learner.clipped_gradients import check_grid
from discreet.learners.streaming_learner.feature_rows import longest_row
from discreet.learners.streaming_learner.mode import GradientMode
from discreet.learners.streaming_learner.whitened.learning import Learning
from discreet.learners.streaming_learner.whitened.measuring import (
    SIZES,
    MeasuringDirections,
    MeasuringSizes,
)
from discreet.learners.streaming_learner.whitened.path import ReleasedPath
from discreet.learners.streaming_learner.whitened.phase import WhitenedPhase
from discreet.learners.streaming_learner.whitened.public import Measured, Public
from discreet.learners.streaming_learner.whitened.tuning import TUNED
from discreet.losses import CallableLoss, Loss, SoftmaxLoss
from discreet.optim.spiked_covariance import SpikedCovariance
from discreet.release.aggregators import Gram, OneChoice, Rows
from discreet.release.noise import CalibratedNoise

MEASURING: tuple[type[WhitenedPhase], ...] = (MeasuringSizes, MeasuringDirections)
"""The phases of the first blocks; the second one takes place only if it pays."""


class WhitenedLeader(GradientMode):
    """Mode that publishes the regularised leader on rows whitened by earlier measurements."""

    def check(self) -> None:
        settings = self.settings
        self.loss  # noqa: B018  refuses losses of several margins and callables
        if settings.domain.corners:
            raise ConfigError("rows are not measured over an l₁ ball or a simplex: leave out mode")
        if sum(self.preparation) >= settings.rounds:
            raise ConfigError(
                f"{settings.rounds} samples are all measured, and none is left to learn from: "
                "ask for a longer horizon"
            )
        check_grid(self.gradient.aggregator)
        if self.measures_directions:
            self.directions.aggregator.unit  # noqa: B018  refuses grids that are too coarse

    @cached_property
    def loss(self) -> Loss:
        """The loss, which has one margin."""
        loss = self.settings.loss
        if isinstance(loss, CallableLoss | SoftmaxLoss):
            raise ConfigError(
                "rows are measured for losses of one margin, and not for callables: leave out mode"
            )
        return loss

    @property
    def size(self) -> int:
        """The number of entries of a row, the constant included."""
        return self.settings.domain.dimension

    # --- the releases of each phase ---------------------------------------------------------------

    @cached_property
    def preparation(self) -> tuple[int, ...]:
        """The number of samples of each measuring phase."""
        return self.settings.preparation

    @property
    def measures_directions(self) -> bool:
        """Whether second moments are measured."""
        return len(self.preparation) > 1

    @cached_property
    def sizes(self) -> OneRelease[OneChoice]:
        """The histogram of sizes: half of the cells count norms of rows, half count targets."""
        privacy = self.settings.privacy
        cells = OneChoice((2 * SIZES.bins,))
        if privacy.contributions > 1:  # all phases must have one privacy measure
            return OneRelease.for_budget("sizes", privacy.budget, cells)
        return OneRelease("sizes", CalibratedNoise.calibrate(privacy, cells))

    @cached_property
    def directions(self) -> OneRelease[Gram]:
        """The release of second moments."""
        return OneRelease.for_budget("directions", self.settings.privacy.budget, Gram.of(self.size))

    @cached_property
    def gradient(self) -> RunningTotal[Rows]:
        """The noisy total of gradients of whitened rows, in units of the clip."""
        return RunningTotal(
            "gradient",
            Rows((self.size,), norm=1 if self.settings.privacy.pure else 2),
            ListedBlocks(self.settings.rounds, self.learning),
            self.settings.privacy,
            people=max(self.learning),
            # A person with several contributions may enter several phases: one measure for all.
            disjoint=self.settings.privacy.contributions == 1,
        )

    @cached_property
    def path(self) -> ReleasedPath:
        """The rule that records releases for standard errors."""
        settling = ceil(TUNED.swinging / self.curved)
        return ReleasedPath(self.gradient, self.learning, self.size, settling)

    # --- the plan ---------------------------------------------------------------------------------

    @cached_property
    def learning(self) -> tuple[int, ...]:
        """The lengths of the blocks of the learning phase."""
        rounds = self.settings.rounds - sum(self.preparation)
        block = self.settings.schedule.block
        full, rest = divmod(rounds, block)
        return (*(block,) * full, *((rest,) if rest else ()))

    @cached_property
    def schedule(self) -> ListedBlocks:
        """The blocks of all phases."""
        return ListedBlocks(self.settings.rounds, (*self.preparation, *self.learning))

    @cached_property
    def phases(self) -> Scheduled:
        rounds = self.settings.rounds
        measured: tuple[Measures, ...] = ((self.sizes,), (self.directions,))
        runs = [
            Run(phase, ListedBlocks(rounds, (length,)), measures)
            for phase, length, measures in zip(MEASURING, self.preparation, measured, strict=False)
        ]
        return Scheduled((*runs, Run(Learning, self.gradient.schedule, (self.gradient,))), rounds)

    @property
    def facts(self) -> dict[str, object]:
        return {
            "method": "whitened" if self.measures_directions else "scaled",
            "why": self.settings.why,
            "block": self.settings.schedule.block,
            "releases": self.schedule.releases,
            "preparation": sum(self.preparation),
            "noise_in_samples": self.gradient.noise,
        }

    # --- numbers that follow from public settings -------------------------------------------------

    @property
    def usual_norm(self) -> float:
        """The usual norm of a whitened row where gradients are clipped: l₂, or l₁ if pure."""
        return float(self.size) if self.settings.privacy.pure else sqrt(self.size)

    @cached_property
    def noise_share(self) -> float:
        """The noise of the last total, relative to clipped gradients that all point one way."""
        return self.gradient.noise * self.usual_norm / self.settings.rounds

    @cached_property
    def clip_over_usual(self) -> float:
        """The clip, in units of the usual norm of a gradient at the start."""
        clear = TUNED.clear_classes if self.settings.classifies else TUNED.clear_regression
        return min(TUNED.most_clip, max(TUNED.least_clip, clear / self.noise_share))

    @cached_property
    def curved(self) -> float:
        """μ, in units of the curvature of the loss.

        Points swing during the first 1/μ releases, so there must be several times more releases.
        """
        return max(TUNED.curved * self.clip_over_usual, TUNED.settling / len(self.learning))

    @cached_property
    def newest(self) -> float:
        """1 + k, for an average with weights ∝ r^k.

        The weights are ∝ √r where noise is small, and up to r² where it is large.
        """
        low, high = TUNED.small_noise, TUNED.large_noise
        large = min(1.0, max(0.0, (self.noise_share - low) / (high - low)))
        return 1.5 + 1.5 * large

    # --- state ------------------------------------------------------------------------------------

    @property
    def first(self) -> Public:
        settings = self.settings
        begin = settings.domain.start()
        unmeasured = Measured(
            length=longest_row(settings),
            target=float(settings.target_bound),
            clip=1.0,
            moments=SpikedCovariance.flat(self.size, 1.0),
        )
        return Public(
            coefficients=begin,
            measured=unmeasured,
            point=begin,
            mean=begin,
            average=begin,
            path=self.path.start(),
        )
