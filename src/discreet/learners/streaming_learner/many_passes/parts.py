"""The noisy totals over all samples that one release with many passes draws.

Guarantee   docs/guarantees/streaming.md, Theorem 4
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.learners.streaming_learner.feature_rows import longest_row
from discreet.learners.streaming_learner.histogram import Sizes
from discreet.learners.streaming_learner.many_passes.held_samples import DecodedSamples, HeldSamples
from discreet.learners.streaming_learner.many_passes.tuning import TUNED
from discreet.learners.streaming_learner.settings import StreamingLearnerSettings
from discreet.losses import Loss, SoftmaxLoss
from discreet.optim.roots import Root, symmetric_noise
from discreet.optim.spiked_covariance import noise_edge
from discreet.release.aggregators import Aggregate, Gram, Moments, OneChoice, Rows
from discreet.release.aggregators.held_rows import Contributions
from discreet.release.door import Door
from discreet.release.noise import CalibratedNoise

LENGTHS = Sizes(bins=30, ratio=sqrt(2))
"""The bins of norms of rows."""
CLIPS = Sizes(bins=24)
"""The bins of norms of gradients."""

Part = (
    CalibratedNoise[OneChoice]
    | CalibratedNoise[Moments]
    | CalibratedNoise[Gram]
    | CalibratedNoise[Rows]
)
"""The calibrated noise of one of the totals."""


@dataclass(frozen=True)
class Passes:
    """The calibrated parts of the release; every part reads all samples."""

    lengths: CalibratedNoise[OneChoice] | None
    moments: CalibratedNoise[Moments] | None
    """Second moments and moments at once, where there are too few samples for passes."""
    grams: tuple[CalibratedNoise[Gram], ...]
    clips: tuple[CalibratedNoise[OneChoice], ...]
    steps: tuple[CalibratedNoise[Rows], ...]

    @property
    def parts(self) -> list[Part]:
        """All parts, in the order in which they are drawn."""
        optional: list[Part | None] = [self.lengths, self.moments]
        single = [calibrated for calibrated in optional if calibrated is not None]
        return [*single, *self.grams, *self.clips, *self.steps]


@dataclass(frozen=True, eq=False)
class Whitening:
    """A whitening map, and what is known of the second moments of whitened rows."""

    map: Floats
    root: Root
    """The slopes of the gradient in whitened coordinates, with their standard deviations."""


@dataclass(frozen=True)
class Clip:
    """Measured norms of gradients."""

    length: float
    """The bound on nearly all norms."""
    squared: float
    """The mean of the squared norms."""


@dataclass(frozen=True, eq=False)
class DrawnParts:
    """The totals of one release, each of which the door draws on request."""

    settings: StreamingLearnerSettings
    loss: Loss | SoftmaxLoss
    passes: Passes
    samples: HeldSamples
    held: Aggregate
    door: Door

    @property
    def people(self) -> int:
        """The number of held samples."""
        return self.settings.rounds

    @property
    def width(self) -> int:
        """The number of coefficients per class, with the one of the constant."""
        return self.settings.width

    def total(
        self, calibrated: Part, of_people: Callable[[DecodedSamples], Contributions]
    ) -> Floats:
        """Return the noisy total of a function of samples, whose values the aggregator adds."""
        decoded = self.samples.decoded
        aggregate = self.samples.aggregator.total(
            self.held, lambda numbers: of_people(decoded(numbers)), calibrated.aggregator
        )
        return self.door.release(calibrated, aggregate)

    def usual_length(self) -> float:
        """Return the usual norm of rows, measured or as a share of the bound."""
        classifies = self.settings.classifies
        calibrated = self.passes.lengths
        top = longest_row(self.settings)
        if calibrated is None:
            return (TUNED.unmeasured_classes if classifies else TUNED.unmeasured_regression) * top

        def cells(people: DecodedSamples) -> Integers:
            bins = LENGTHS.cells(np.linalg.norm(people.rows, axis=1), top)
            return np.asarray(np.where(people.shares > 0, bins, -1))

        counts = self.total(calibrated, cells)
        level = TUNED.usual_classes if classifies else TUNED.usual_regression
        noise = calibrated.standard_deviation
        return LENGTHS.quantile(counts, top=top, level=level, people=self.people, noise=noise)

    def whitened(self, transform: Floats) -> Whitening:
        """Return the whitening of rows after `transform`, from all releases of second moments."""
        first, *later = self.passes.grams
        whitening = self.refined(first, transform, 1.0)
        for calibrated in later:
            whitening = self.refined(calibrated, whitening.map, 1.5 * sqrt(self.width))
        return whitening

    def refined(
        self, calibrated: CalibratedNoise[Gram], transform: Floats, longest: float
    ) -> Whitening:
        """Return the whitening after one more release of second moments, of rows up to a norm.

        Eigenvalues that noise hides are raised to the noise edge.
        """
        shortened = transform / longest

        def mapped(people: DecodedSamples) -> Floats:
            return np.asarray(people.rows @ shortened.T * (people.shares > 0)[:, None])

        totals = self.total(calibrated, mapped)
        matrix = calibrated.aggregator.parted(totals)[0] * (longest**2 / self.people)
        noise = calibrated.standard_deviation * longest**2 / self.people
        measured, vectors = np.linalg.eigh(matrix)
        values = np.maximum(measured, min(noise_edge(self.width, noise), longest**2))
        scale = np.multiply.outer(np.sqrt(values), np.sqrt(values))
        root = Root(
            basis=vectors,
            centre=np.zeros(self.width),
            gradient=np.zeros(self.width),
            gradient_deviations=np.zeros(self.width),
            slopes=np.diag(measured / values),
            slope_deviations=noise * symmetric_noise(self.width) / scale,
        )
        return Whitening((vectors / np.sqrt(values)) @ vectors.T @ transform, root)

    def clip(self, calibrated: CalibratedNoise[OneChoice], transform: Floats, here: Floats) -> Clip:
        """Return measured norms of gradients of transformed rows, at coefficients `here`."""
        loss = self.loss
        top = 16 * loss.curvature * self.settings.target_bound * sqrt(self.width)

        def cells(people: DecodedSamples) -> Integers:
            slopes = np.abs(loss.slopes(people.rows @ here, people.targets))
            lengths = np.linalg.norm(people.rows @ transform.T, axis=1) * slopes
            return np.asarray(np.where(people.shares > 0, CLIPS.cells(lengths, top), -1))

        counts = self.total(calibrated, cells)
        noise = calibrated.standard_deviation
        level = TUNED.clip_level
        length = CLIPS.quantile(counts, top=top, level=level, people=self.people, noise=noise)
        squared = CLIPS.mean(counts, top=top, noise=noise, power=2.0)
        return Clip(length, squared or length**2)

    def gradient(
        self, calibrated: CalibratedNoise[Rows], transform: Floats, here: Floats, clip: float
    ) -> Floats:
        """Return the noisy sum of clipped gradients of transformed rows, one row per class."""
        loss = self.loss
        classes = self.settings.classes
        table = here.reshape(classes, self.width)

        def gradients(people: DecodedSamples) -> Floats:
            count = len(people.rows)
            margins = people.rows @ table.T
            slopes = loss.slopes(margins if classes > 1 else margins[:, 0], people.targets)
            weighted = slopes.reshape(count, -1) * (people.shares / clip)[:, None]
            whitened = people.rows @ transform.T
            products = weighted[:, :, None] * whitened[:, None, :]
            return np.ascontiguousarray(products).reshape(count, -1)

        return self.total(calibrated, gradients).reshape(classes, self.width) * clip
