"""Clipped gradients of each kind of loss, and their noisy running total."""

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from discreet.arrays import Floats
from discreet.engine.statistics import RunningTotal
from discreet.errors import ConfigError
from discreet.functions.person import reading
from discreet.learners.streaming_learner.feature_rows import dual_norm_code, rows_at_once
from discreet.learners.streaming_learner.settings import StreamingLearnerSettings
from discreet.losses import CallableLoss, Loss, Samples, SoftmaxLoss
from discreet.release.aggregators import Aggregate, Rows, SampleBounds

LARGEST = 1e100
"""A sample with a feature larger than this adds nothing."""


@dataclass(frozen=True, eq=False)
class Points:
    """The points of a recursive gradient ∇f(here) + weight·(∇f(here) − ∇f(before))."""

    here: Floats
    before: Floats
    weight: float

    @classmethod
    def at(cls, here: Floats) -> "Points":
        """Return the points of the plain gradient ∇f(here)."""
        return cls(here, here, 0.0)


class Gradients(Protocol):
    """Computes the gradients of one loss, and adds them up."""

    def add(self, rows: Rows, total: Aggregate, samples: Samples, points: Points) -> None:
        """Add the gradient of every sample, clipped and quantised by `rows`."""


def gradients_of(settings: StreamingLearnerSettings) -> Gradients:
    """Return the object that computes and adds the gradients of the loss."""
    loss = settings.loss
    if isinstance(loss, CallableLoss):
        return CalledGradients(settings, loss)
    if isinstance(loss, SoftmaxLoss):
        return ClassGradients(settings, loss)
    return MarginGradients(settings, loss)


@dataclass(frozen=True)
class MarginGradients:
    """Gradients ℓ′(⟨x, θ⟩, y)·x of a loss of one margin, in one compiled pass."""

    settings: StreamingLearnerSettings
    loss: Loss

    def add(self, rows: Rows, total: Aggregate, samples: Samples, points: Points) -> None:
        at = (points.here, points.before, points.weight)
        slope = (self.loss.slope, self.loss.parameter)
        for piece in samples.dense(rows_at_once(rows.size)):
            people = (piece.features, piece.targets, piece.shares)
            rows.add_gradients(total, *slope, people, at, self._bounds)

    @cached_property
    def _bounds(self) -> SampleBounds:
        return sample_bounds(self.settings)


@dataclass(frozen=True)
class ClassGradients:
    """Gradients of the softmax loss, one row per class, in one compiled pass and at one point."""

    settings: StreamingLearnerSettings
    loss: SoftmaxLoss

    def add(self, rows: Rows, total: Aggregate, samples: Samples, points: Points) -> None:
        table = points.here.reshape(self.loss.classes, -1)
        for piece in samples.dense(rows_at_once(rows.size)):
            people = (piece.features, piece.targets, piece.shares)
            rows.add_class_gradients(total, self.loss.class_slopes, people, table, self._bounds)

    @cached_property
    def _bounds(self) -> SampleBounds:
        return sample_bounds(self.settings)


def sample_bounds(settings: StreamingLearnerSettings) -> SampleBounds:
    """Return the bounds of a sample as passes take them."""
    return SampleBounds(
        dual=dual_norm_code(settings),
        feature_bound=settings.feature_bound,
        target_bound=settings.target_bound,
        constant=settings.constant,
        worth=1.0,
    )


@dataclass(frozen=True)
class CalledGradients:
    """Gradients of a callable loss, which is called for one sample at a time."""

    settings: StreamingLearnerSettings
    loss: CallableLoss

    def add(self, rows: Rows, total: Aggregate, samples: Samples, points: Points) -> None:
        with reading():
            for piece in samples.dense(rows_at_once(rows.size)):
                pairs = zip(piece.features, piece.targets, piece.shares, strict=True)
                rows.add(total, np.array([self._of_sample(points, *sample) for sample in pairs]))

    def _of_sample(self, points: Points, x: Floats, y: float, share: float) -> Floats:
        """Return the gradient of one sample, zeros if the sample is not finite."""
        largest = float(np.max(np.abs(x), initial=0.0))
        if not (largest <= LARGEST and np.isfinite(y) and np.isfinite(share)):
            return np.zeros_like(points.here)
        x = self._within(x, largest)
        y = self._clipped(y)
        weight = min(1.0, max(0.0, share))
        newest = self.loss.of(points.here, x, y)
        if not points.weight:
            return newest * weight
        recursive = newest + points.weight * (newest - self.loss.of(points.before, x, y))
        return recursive * weight

    def _within(self, x: Floats, largest: float) -> Floats:
        """Return the row scaled into its bound, with the constant."""
        settings = self.settings
        length = float(np.linalg.norm(x / max(largest, 1e-300), settings.domain.dual)) * largest
        x = x if length <= settings.feature_bound else x * (settings.feature_bound / length)
        return np.append(x, settings.constant) if settings.constant else x

    def _clipped(self, y: float) -> float:
        """Return the target within its bound."""
        return float(np.clip(y, -self.settings.target_bound, self.settings.target_bound))


def gradient_total(settings: StreamingLearnerSettings) -> RunningTotal[Rows]:
    """Return the noisy running total of gradients, clipped in l₂, or in l₁ if privacy is pure."""
    rows = Rows(settings.shape, settings.clip, 1 if settings.privacy.pure else 2)
    schedule = settings.schedule
    return RunningTotal("gradient", rows, schedule, settings.privacy, people=schedule.block)


def check_grid(rows: Rows) -> None:
    """Refuse a grid of noisy integers that is too coarse for this number of coefficients."""
    if rows.limit < rows.levels / 2:
        raise ConfigError(
            f"{rows.size} coefficients are too many for this budget: ask for fewer releases "
            "(a larger block), or use method='frank-wolfe' over an l₁ ball or a simplex"
        )
