"""Samples that are held for many passes, as rows of numbers in [0, 1].

whether the sample is there | its share | its target | its features, and the constant
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from discreet.arrays import Floats
from discreet.learners.streaming_learner.feature_rows import within
from discreet.learners.streaming_learner.settings import StreamingLearnerSettings
from discreet.losses import Samples
from discreet.release.aggregators import HeldRows

BESIDE = 3
"""Numbers that are held of a sample beside its row."""


@dataclass(frozen=True, eq=False)
class Unfolded:
    """Samples that are held, as they were brought."""

    rows: Floats
    """Rows within the declared bound, with the constant."""
    targets: Floats
    shares: Floats
    """0 for a person who is not there."""


@dataclass(frozen=True)
class HeldSamples:
    """How samples are written as numbers in [0, 1], and read again."""

    settings: StreamingLearnerSettings

    @cached_property
    def columns(self) -> int:
        """How many numbers are held of a sample."""
        return self.settings.width + BESIDE

    @cached_property
    def aggregator(self) -> HeldRows:
        """What holds everyone's sample."""
        return HeldRows((self.settings.rounds, self.columns))

    @cached_property
    def longest(self) -> float:
        """The largest number in a row."""
        return max(self.settings.feature_bound, self.settings.constant)

    def folded(self, samples: Samples) -> Floats:
        """Return samples as numbers in [0, 1], one row per sample; zeros if one is not finite."""
        rows = within(self.settings, samples.features) / self.longest
        there, targets = np.ones(len(samples)), self._folded_targets(samples.targets)
        numbers = np.column_stack([there, samples.shares, targets, rows])
        finite = np.asarray(np.isfinite(numbers).all(axis=1))
        numbers[:, BESIDE:] = (numbers[:, BESIDE:] + 1) / 2
        return np.where(finite[:, None], numbers, 0.0)

    def _folded_targets(self, targets: Floats) -> Floats:
        """Return targets as numbers in [0, 1]; NaN for a class that does not exist."""
        settings = self.settings
        if settings.classes > 1:
            known = np.isin(targets, np.arange(settings.classes))
            return np.where(known, targets / (settings.classes - 1), np.nan)
        bound = settings.target_bound
        return np.asarray((np.clip(targets, -bound, bound) / bound + 1) / 2)

    def unfolded(self, numbers: Floats) -> Unfolded:
        """Return samples from the numbers that are held of them."""
        settings = self.settings
        there, targets = numbers[:, 0], numbers[:, 2]
        if settings.classes > 1:
            targets = np.rint(targets * (settings.classes - 1))
        else:
            targets = (2 * targets - 1) * settings.target_bound
        return Unfolded(
            rows=(2 * numbers[:, BESIDE:] - 1) * self.longest,
            targets=targets,
            shares=numbers[:, 1] * (there > 0.5),
        )
