"""What one release with many passes draws: totals over everyone, each with its own noise.

Guarantee   docs/guarantees/streaming.md, Theorem 4
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.budget.privacy import Charge
from discreet.learners.streaming_learner.feature_rows import longest_row
from discreet.learners.streaming_learner.histogram import Sizes
from discreet.learners.streaming_learner.many_passes.held_samples import HeldSamples, Unfolded
from discreet.learners.streaming_learner.many_passes.tuning import TUNED
from discreet.learners.streaming_learner.settings import StreamingLearnerSettings
from discreet.losses import Loss, SoftmaxLoss
from discreet.optim.roots import Root, symmetric_noise
from discreet.optim.spiked_covariance import noise_edge
from discreet.release.aggregators import Aggregate, Gram, Moments, OneChoice, Rows
from discreet.release.door import Door
from discreet.release.noise import CalibratedNoise

LENGTHS = Sizes(bins=30, ratio=sqrt(2))
"""Bins of lengths of rows."""
CLIPS = Sizes(bins=24)
"""Bins of lengths of gradients."""

Part = (
    CalibratedNoise[OneChoice]
    | CalibratedNoise[Moments]
    | CalibratedNoise[Gram]
    | CalibratedNoise[Rows]
)
"""The noise of one of the totals that a release draws."""


@dataclass(frozen=True)
class Passes:
    """What is paid for, part by part; every part reads everyone."""

    lengths: CalibratedNoise[OneChoice] | None
    moments: CalibratedNoise[Moments] | None
    """Everything at once, where there are too few samples for more."""
    grams: tuple[CalibratedNoise[Gram], ...]
    clips: tuple[CalibratedNoise[OneChoice], ...]
    steps: tuple[CalibratedNoise[Rows], ...]

    @property
    def parts(self) -> list[Part]:
        """All of them."""
        alone: list[Part | None] = [self.lengths, self.moments]
        there = [calibrated for calibrated in alone if calibrated is not None]
        return [*there, *self.grams, *self.clips, *self.steps]

    @property
    def charge(self) -> Charge:
        """What all cost together."""
        first, *others = [calibrated.charge for calibrated in self.parts]
        for charge in others:
            first = first + charge
        return first


@dataclass(frozen=True, eq=False)
class Whitening:
    """A map to rows whose directions are alike, and how well the second moments are known there."""

    map: Floats
    root: Root


@dataclass(frozen=True)
class Clip:
    """How long gradients are."""

    length: float
    """The length that nearly all of them keep."""
    squared: float
    """The mean of their squared lengths."""


@dataclass(frozen=True, eq=False)
class DrawnParts:
    """The totals of one release, each drawn through its door when it is asked for."""

    settings: StreamingLearnerSettings
    loss: Loss | SoftmaxLoss
    passes: Passes
    samples: HeldSamples
    held: Aggregate
    door: Door

    @property
    def people(self) -> int:
        """How many samples are held."""
        return self.settings.rounds

    @property
    def width(self) -> int:
        """How many coefficients a class has, with the constant's."""
        return self.settings.width

    def total(self, calibrated: Part, of_people: Callable[[Unfolded], Any]) -> Floats:
        """Return the noisy total of a function of each sample, in the form that the part adds
        up.
        """
        unfolded = self.samples.unfolded
        found = self.samples.aggregator.total(
            self.held, lambda numbers: of_people(unfolded(numbers)), calibrated.aggregator
        )
        return self.door.release(calibrated, found)

    def usual_length(self) -> float:
        """Return how long rows usually are, or could be."""
        classifies, calibrated = self.settings.classifies, self.passes.lengths
        top = longest_row(self.settings)
        if calibrated is None:
            return (TUNED.unmeasured_classes if classifies else TUNED.unmeasured_regression) * top

        def cells(people: Unfolded) -> Integers:
            bins = LENGTHS.cells(np.linalg.norm(people.rows, axis=1), top)
            return np.asarray(np.where(people.shares > 0, bins, -1))

        counts = self.total(calibrated, cells)
        level = TUNED.usual_classes if classifies else TUNED.usual_regression
        noise = calibrated.standard_deviation
        return LENGTHS.quantile(counts, top=top, level=level, people=self.people, noise=noise)

    def whitened(self, way: Floats) -> Whitening:
        """Return a map to rows whose directions are alike; what noise hides is raised to its
        edge.
        """
        first, *others = self.passes.grams
        found = self.even(first, way, 1.0)
        for calibrated in others:
            found = self.even(calibrated, found.map, 1.5 * sqrt(self.width))
        return found

    def even(self, calibrated: CalibratedNoise[Gram], way: Floats, longest: float) -> Whitening:
        """Return the map after one more release of second moments, of rows up to this length."""
        shortened = way / longest

        def mapped(people: Unfolded) -> Floats:
            return np.asarray(people.rows @ shortened.T * (people.shares > 0)[:, None])

        totals = self.total(calibrated, mapped)
        matrix = calibrated.aggregator.parted(totals)[0] * (longest**2 / self.people)
        noise = calibrated.standard_deviation * longest**2 / self.people
        seen, vectors = np.linalg.eigh(matrix)
        values = np.maximum(seen, min(noise_edge(self.width, noise), longest**2))
        scale = np.multiply.outer(np.sqrt(values), np.sqrt(values))
        root = Root(
            basis=vectors,
            centre=np.zeros(self.width),
            gradient=np.zeros(self.width),
            gradient_deviations=np.zeros(self.width),
            slopes=np.diag(seen / values),
            slope_deviations=noise * symmetric_noise(self.width) / scale,
        )
        return Whitening((vectors / np.sqrt(values)) @ vectors.T @ way, root)

    def clip(self, calibrated: CalibratedNoise[OneChoice], way: Floats, here: Floats) -> Clip:
        """Return how long gradients of whitened rows are."""
        loss = self.loss
        top = 16 * loss.curvature * self.settings.target_bound * sqrt(self.width)

        def cells(people: Unfolded) -> Integers:
            slopes = np.abs(loss.slopes(people.rows @ here, people.targets))
            lengths = np.linalg.norm(people.rows @ way.T, axis=1) * slopes
            return np.asarray(np.where(people.shares > 0, CLIPS.cells(lengths, top), -1))

        counts, noise = self.total(calibrated, cells), calibrated.standard_deviation
        level = TUNED.clip_level
        length = CLIPS.quantile(counts, top=top, level=level, people=self.people, noise=noise)
        squared = CLIPS.mean(counts, top=top, noise=noise, power=2.0)
        return Clip(length, squared or length**2)

    def gradient(
        self, calibrated: CalibratedNoise[Rows], way: Floats, here: Floats, clip: float
    ) -> Floats:
        """Return the noisy sum of gradients of whitened rows, one row per class."""
        loss, classes = self.loss, self.settings.classes
        table = here.reshape(classes, self.width)

        def gradients(people: Unfolded) -> Floats:
            count = len(people.rows)
            margins = people.rows @ table.T
            slopes = loss.slopes(margins if classes > 1 else margins[:, 0], people.targets)
            weighted = slopes.reshape(count, -1) * (people.shares / clip)[:, None]
            whitened = people.rows @ way.T
            products = weighted[:, :, None] * whitened[:, None, :]
            return np.ascontiguousarray(products).reshape(count, -1)

        return self.total(calibrated, gradients).reshape(classes, self.width) * clip
