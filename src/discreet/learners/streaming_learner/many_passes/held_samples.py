"""Encoding of held samples as rows of numbers in [0, 1].

1 if there is a sample, else 0 | its share | its target | its features, and the constant
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
"""The number of columns before the features."""


@dataclass(frozen=True, eq=False)
class DecodedSamples:
    """Held samples in the units of the data."""

    rows: Floats
    """Rows scaled into the declared bound, with the constant."""
    targets: Floats
    shares: Floats
    """The weight of each sample; 0 for a row without a sample."""


@dataclass(frozen=True)
class HeldSamples:
    """Encodes samples as numbers in [0, 1], and decodes them."""

    settings: StreamingLearnerSettings

    @cached_property
    def columns(self) -> int:
        """The number of numbers per held sample."""
        return self.settings.width + BESIDE

    @cached_property
    def aggregator(self) -> HeldRows:
        """The aggregator that holds all samples."""
        return HeldRows((self.settings.rounds, self.columns))

    @cached_property
    def longest(self) -> float:
        """The largest absolute entry of a row."""
        return max(self.settings.feature_bound, self.settings.constant)

    def encoded(self, samples: Samples) -> Floats:
        """Return samples as numbers in [0, 1], one row per sample; zeros if one is not finite."""
        rows = within(self.settings, samples.features) / self.longest
        present = np.ones(len(samples))
        targets = self._encoded_targets(samples.targets)
        numbers = np.column_stack([present, samples.shares, targets, rows])
        finite = np.asarray(np.isfinite(numbers).all(axis=1))
        numbers[:, BESIDE:] = (numbers[:, BESIDE:] + 1) / 2
        return np.where(finite[:, None], numbers, 0.0)

    def _encoded_targets(self, targets: Floats) -> Floats:
        """Return targets as numbers in [0, 1]; NaN for a class that does not exist."""
        settings = self.settings
        if settings.classes > 1:
            known = np.isin(targets, np.arange(settings.classes))
            return np.where(known, targets / (settings.classes - 1), np.nan)
        bound = settings.target_bound
        return np.asarray((np.clip(targets, -bound, bound) / bound + 1) / 2)

    def decoded(self, numbers: Floats) -> DecodedSamples:
        """Return the samples that these numbers encode."""
        settings = self.settings
        is_present = numbers[:, 0] > 0.5
        targets = numbers[:, 2]
        if settings.classes > 1:
            targets = np.rint(targets * (settings.classes - 1))
        else:
            targets = (2 * targets - 1) * settings.target_bound
        return DecodedSamples(
            rows=(2 * numbers[:, BESIDE:] - 1) * self.longest,
            targets=targets,
            shares=numbers[:, 1] * is_present,
        )
