"""What one release with many passes draws, part by part, and the coefficients that follow from it.

How much each part may cost is planned in many_passes.py; all here is a function of what the door gives.

Guarantee   docs/guarantees/streaming.md, Theorem 4
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import sqrt
from typing import Any

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.arrivals.losses import Loss, SoftmaxLoss
from discreet.budget.privacy import Charge
from discreet.decide.evening import Evening, noise_edge
from discreet.decide.ridge import fit_ridges
from discreet.decide.roots import Root, symmetric_noise
from discreet.learners.streaming_learner.feature_rows import longest_row
from discreet.learners.streaming_learner.held_samples import HeldSamples, Unfolded
from discreet.learners.streaming_learner.histogram import Sizes
from discreet.learners.streaming_learner.settings import StreamingLearnerSettings
from discreet.release.door import Door
from discreet.release.gathering import Gathered, Gram, Moments, OneChoice, Rows
from discreet.release.noise import Once

__all__ = ["CLIPS", "LENGTHS", "Descent", "Part", "Passes", "Public"]

LENGTHS = Sizes(bins=30, ratio=sqrt(2))
"""Bins of lengths of rows."""
CLIPS = Sizes(bins=24)
"""Bins of lengths of gradients."""


@dataclass(frozen=True)
class Tuned:
    """Constants that benchmarks chose."""

    usual_regression: float = 0.25
    usual_classes: float = 0.95
    """The quantile of lengths that rows are divided by: where second moments are released, noise is
    to be small (benchmarks/real.py)."""
    unmeasured_regression: float = 0.5
    unmeasured_classes: float = 1.0
    """The share of the bound that takes its place where a histogram would be noise
    (benchmarks/real.py)."""
    clip_level: float = 0.97
    """Regressions: the quantile of lengths of gradients that is the clip (benchmarks/real.py)."""
    clip: float = 0.1
    """Classifiers: the clip, in lengths of rows (benchmarks/real.py)."""
    way_whitened: float = 2000.0
    way_plain: float = 800.0
    """Classifiers: how far all steps together go, in clips, if noise is small and there are half as
    many samples (benchmarks/real.py)."""
    prior: float = 1.0
    """Regressions: the square that whitened coefficients have together, in squares of the target's
    bound (benchmarks/real.py)."""
    most_ridge: float = 0.2
    """Regressions: the strongest ridge (benchmarks/real.py)."""


TUNED = Tuned()

Part = Once[OneChoice] | Once[Moments] | Once[Gram] | Once[Rows]
"""The noise of one of the totals that a release draws."""


@dataclass(frozen=True)
class Passes:
    """What is paid for, part by part; every part reads everyone."""

    lengths: Once[OneChoice] | None
    moments: Once[Moments] | None
    """Everything at once, where there are too few samples for more."""
    grams: tuple[Once[Gram], ...]
    clips: tuple[Once[OneChoice], ...]
    steps: tuple[Once[Rows], ...]

    @property
    def parts(self) -> list[Part]:
        """All of them."""
        alone: list[Part | None] = [self.lengths, self.moments]
        there = [once for once in alone if once is not None]
        return [*there, *self.grams, *self.clips, *self.steps]

    @property
    def charge(self) -> Charge:
        """What all cost together."""
        first, *others = [once.charge for once in self.parts]
        for charge in others:
            first = first + charge
        return first


@dataclass(frozen=True, eq=False)
class Public:
    """What the one release produces."""

    coefficients: Floats
    errors: Floats
    """Standard errors; NaN where they are not known."""


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
class NewtonStep:
    """One of Newton's steps on whitened rows."""

    before: Floats
    point: Floats
    """Where it leads."""
    gradient: Floats
    """The released mean gradient at `before`, over the curvature."""
    noise: float
    """The standard deviation of its noise."""

    @classmethod
    def none(cls, size: int) -> "NewtonStep":
        """Return the start."""
        begin = np.zeros(size)
        return cls(begin, begin, begin, 0.0)


@dataclass(frozen=True, eq=False)
class Descent:
    """One release: what the door gives for what is held, and the coefficients that follow from it."""

    settings: StreamingLearnerSettings
    loss: Loss | SoftmaxLoss
    passes: Passes
    samples: HeldSamples
    held: Gathered
    door: Door

    @property
    def people(self) -> int:
        """How many samples are held."""
        return self.settings.rounds

    @property
    def width(self) -> int:
        """How many coefficients a class has, with the constant's."""
        return self.settings.width

    def fitted(self) -> Public:
        """Return coefficients and their errors by the parts that are paid for."""
        # Rows are divided by their usual length, which is drawn first.
        scaling = np.asarray(np.eye(self.width) / self.usual_length())
        if self.passes.moments is not None:
            return self.regress_once(self.passes.moments, scaling)
        return self.classify(scaling) if self.settings.classifies else self.regress(scaling)

    # --- regressions ------------------------------------------------------------------------------

    def regress_once(self, once: Once[Moments], scaling: Floats) -> Public:
        """Return the ridge regression on noisy second moments and moments of everyone."""
        domain, bound = self.settings.domain, self.settings.target_bound

        def moments(people: Unfolded) -> tuple[Floats, Floats, Integers]:
            slots = np.where(people.shares > 0, 0, -1)
            # Of a row and a target: their products count as much as the sample.
            weights = np.sqrt(people.shares)
            return people.rows @ scaling.T * weights[:, None], people.targets / bound * weights, slots

        noise = once.standard_deviation
        grams, sums = once.gathering.parted(self.total(once, moments))
        found = fit_ridges(grams, sums, gram_noise=sqrt(2) * noise, moment_noise=noise)
        coefficients = domain.project(scaling.T @ found.coefficients[0] * bound)
        root = self._root_of_moments(grams[0], sums[0], noise)
        return Public(coefficients, root.known_errors(coefficients, scaling.T * bound, domain))

    def _root_of_moments(self, gram: Floats, moments: Floats, noise: float) -> Root:
        """Return what noisy second moments and moments tell about the root of the gradient."""
        values, vectors = np.linalg.eigh(gram)
        return Root(
            basis=vectors,
            centre=np.zeros(self.width),
            gradient=-vectors.T @ moments,
            # Residuals are not measured: they are at most as large as the target's bound, 1 here.
            gradient_deviations=np.sqrt(noise**2 + np.maximum(values, 0.0)),
            slopes=np.diag(values),
            slope_deviations=sqrt(2) * noise * symmetric_noise(self.width),
        )

    def regress(self, scaling: Floats) -> Public:
        """Return the coefficients of Newton's steps on whitened rows."""
        domain = self.settings.domain
        whitening = self.whitened(scaling)
        way, begin = whitening.map, domain.start()
        step, clip = NewtonStep.none(self.width), Clip(1.0, 1.0)
        for index, once in enumerate(self.passes.steps):
            here = begin + way.T @ step.point
            if index in (0, 2):
                clip = self.clip(self.passes.clips[index // 2], way, here)
            total = self.gradient(once, way, here, clip.length)
            step = self._stepped(step.point, total[0], once.standard_deviation * clip.length, way)
        sampled = clip.squared / self.width / self.people / self.loss.curvature**2
        root = replace(
            whitening.root,
            centre=step.before,
            gradient=whitening.root.basis.T @ step.gradient,
            gradient_deviations=np.full(self.width, sqrt(step.noise**2 + sampled)),
        )
        coefficients = begin + way.T @ step.point
        return Public(coefficients, root.known_errors(coefficients - begin, way.T, domain))

    def _stepped(self, point: Floats, total: Floats, noise: float, way: Floats) -> NewtonStep:
        """Return Newton's step for a noisy total of gradients at a point."""
        gradient = total / self.people / self.loss.curvature
        noise = noise / self.people / self.loss.curvature
        moved = point - gradient - self._ridge(noise) * point
        return NewtonStep(point, self._inside(moved, way, self.settings.domain.start()), gradient, noise)

    def _ridge(self, noise: float) -> float:
        """Return a ridge as strong as the noise: where rows do not vary, noise would add up."""
        prior = TUNED.prior * self.settings.target_bound**2
        return min(TUNED.most_ridge, noise**2 * self.width / prior)

    # --- classifiers ------------------------------------------------------------------------------

    def classify(self, scaling: Floats) -> Public:
        """Return the average of steps of clipped gradients."""
        steps, classes = self.passes.steps, self.settings.classes
        way = self.whitened(scaling).map / sqrt(self.width) if self.passes.grams else scaling
        begin = self.settings.domain.start().reshape(classes, self.width)
        length = self._way() / len(steps)
        point = average = np.zeros_like(begin)
        for index, once in enumerate(steps):
            here = begin + point @ way
            gradient = self.gradient(once, way, here, TUNED.clip) / TUNED.clip / self.people
            gradient = gradient - gradient.mean(axis=0) if classes > 1 else gradient
            point = self._inside(point - length * gradient, way, begin)
            average = average + (point - average) * (2 / (index + 2))
        coefficients = (begin + average @ way).reshape(-1)
        # Where gradients are shortened to a tenth of a row's length, their root is not told.
        return Public(coefficients, np.full(begin.size, np.nan))

    def _way(self) -> float:
        """Return how far all steps together go, in clips."""
        size = self.settings.domain.dimension
        noise = self.passes.steps[0].standard_deviation * sqrt(size) / self.people
        plain = min(TUNED.way_plain, 2 * self.people)
        furthest = TUNED.way_whitened if self.passes.grams else plain
        return furthest / max(1.0, noise)

    # --- parts ------------------------------------------------------------------------------------

    def total(self, once: Part, of_people: Callable[[Unfolded], Any]) -> Floats:
        """Return the noisy total of a function of each sample, in the form that the part adds up."""
        unfolded = self.samples.unfolded
        found = self.samples.gathering.total(
            self.held, lambda numbers: of_people(unfolded(numbers)), once.gathering
        )
        return self.door.release(once, found)

    def usual_length(self) -> float:
        """Return how long rows usually are, or could be."""
        classifies, once = self.settings.classifies, self.passes.lengths
        top = longest_row(self.settings)
        if once is None:
            return (TUNED.unmeasured_classes if classifies else TUNED.unmeasured_regression) * top

        def cells(people: Unfolded) -> Integers:
            bins = LENGTHS.cells(np.linalg.norm(people.rows, axis=1), top)
            return np.asarray(np.where(people.shares > 0, bins, -1))

        counts = self.total(once, cells)
        level = TUNED.usual_classes if classifies else TUNED.usual_regression
        noise = once.standard_deviation
        return LENGTHS.quantile(counts, top=top, level=level, people=self.people, noise=noise)

    def whitened(self, way: Floats) -> Whitening:
        """Return a map to rows whose directions are alike; what noise hides is raised to its edge."""
        first, *others = self.passes.grams
        found = self.even(first, way, 1.0)
        for once in others:
            found = self.even(once, found.map, 1.5 * sqrt(self.width))
        return found

    def even(self, once: Once[Gram], way: Floats, longest: float) -> Whitening:
        """Return the map after one more release of second moments, of rows up to this length."""
        shortened = way / longest

        def mapped(people: Unfolded) -> Floats:
            return np.asarray(people.rows @ shortened.T * (people.shares > 0)[:, None])

        totals = self.total(once, mapped)
        matrix = once.gathering.parted(totals)[0] * (longest**2 / self.people)
        noise = once.standard_deviation * longest**2 / self.people
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

    def clip(self, once: Once[OneChoice], way: Floats, here: Floats) -> Clip:
        """Return how long gradients of whitened rows are."""
        loss = self.loss
        top = 16 * loss.curvature * self.settings.target_bound * sqrt(self.width)

        def cells(people: Unfolded) -> Integers:
            slopes = np.abs(loss.slopes(people.rows @ here, people.targets))
            lengths = np.linalg.norm(people.rows @ way.T, axis=1) * slopes
            return np.asarray(np.where(people.shares > 0, CLIPS.cells(lengths, top), -1))

        counts, noise = self.total(once, cells), once.standard_deviation
        level = TUNED.clip_level
        length = CLIPS.quantile(counts, top=top, level=level, people=self.people, noise=noise)
        squared = CLIPS.mean(counts, top=top, noise=noise, power=2.0)
        return Clip(length, squared or length**2)

    def gradient(self, once: Once[Rows], way: Floats, here: Floats, clip: float) -> Floats:
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

        return self.total(once, gradients).reshape(classes, self.width) * clip

    def _inside(self, point: Floats, way: Floats, begin: Floats) -> Floats:
        """Return whitened coefficients whose coefficients lie in the domain, near where rows vary.

        First in the Euclidean ball around the domain: where directions differ much, the nearest
        point in the usual norm would be a bad one.
        """
        domain = self.settings.domain
        there = (begin + point @ way).reshape(-1)
        if np.array_equal(domain.project(there), there):
            return point
        moved = point @ way
        if self.settings.classes == 1:
            unmapped = np.linalg.inv(way)
            values, vectors = np.linalg.eigh(unmapped @ unmapped.T)
            moments = Evening(vectors.T, values, 1.0)
            near = moments.nearest(moved.reshape(-1), domain.diameter(2.0) / 2)
            moved = near.reshape(begin.shape)
        inside = domain.project((begin + moved).reshape(-1)).reshape(begin.shape)
        return np.asarray(np.linalg.solve(way.T, (inside - begin).T).T, dtype=np.float64)
