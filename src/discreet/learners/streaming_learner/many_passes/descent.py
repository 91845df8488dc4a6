"""The coefficients that follow from what one release with many passes draws (parts.py).

How much each part may cost is planned in mode.py; all here is a function of what the door gives.

Guarantee   docs/guarantees/streaming.md, Theorem 4
"""

from dataclasses import dataclass, replace
from math import sqrt

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.learners.streaming_learner.many_passes.held_samples import Unfolded
from discreet.learners.streaming_learner.many_passes.parts import Clip, DrawnParts, Passes
from discreet.learners.streaming_learner.many_passes.public import Public
from discreet.learners.streaming_learner.many_passes.tuning import TUNED
from discreet.learners.streaming_learner.settings import StreamingLearnerSettings
from discreet.optim.ridge import fit_ridges
from discreet.optim.roots import Root, symmetric_noise
from discreet.optim.spiked_covariance import SpikedCovariance
from discreet.release.aggregators import Moments
from discreet.release.noise import CalibratedNoise


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
    """The coefficients of one release."""

    parts: DrawnParts

    @property
    def settings(self) -> StreamingLearnerSettings:
        """The settings of the learner."""
        return self.parts.settings

    @property
    def passes(self) -> Passes:
        """What is paid for."""
        return self.parts.passes

    @property
    def people(self) -> int:
        """How many samples are held."""
        return self.parts.people

    @property
    def width(self) -> int:
        """How many coefficients a class has, with the constant's."""
        return self.parts.width

    @property
    def curvature(self) -> float:
        """The curvature of the loss."""
        return self.parts.loss.curvature

    def fitted(self) -> Public:
        """Return coefficients and their errors by the parts that are paid for."""
        # Rows are divided by their usual length, which is drawn first.
        scaling = np.asarray(np.eye(self.width) / self.parts.usual_length())
        if self.passes.moments is not None:
            return self.regress_once(self.passes.moments, scaling)
        return self.classify(scaling) if self.settings.classifies else self.regress(scaling)

    # --- regressions ------------------------------------------------------------------------------

    def regress_once(self, calibrated: CalibratedNoise[Moments], scaling: Floats) -> Public:
        """Return the ridge regression on noisy second moments and moments of everyone."""
        domain, bound = self.settings.domain, self.settings.target_bound

        def moments(people: Unfolded) -> tuple[Floats, Floats, Integers]:
            slots = np.where(people.shares > 0, 0, -1)
            # Of a row and a target: their products count as much as the sample.
            weights = np.sqrt(people.shares)
            return (
                people.rows @ scaling.T * weights[:, None],
                people.targets / bound * weights,
                slots,
            )

        noise = calibrated.standard_deviation
        grams, sums = calibrated.aggregator.parted(self.parts.total(calibrated, moments))
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
        whitening = self.parts.whitened(scaling)
        way, begin = whitening.map, domain.start()
        step, clip = NewtonStep.none(self.width), Clip(1.0, 1.0)
        for index, calibrated in enumerate(self.passes.steps):
            here = begin + way.T @ step.point
            if index in (0, 2):
                clip = self.parts.clip(self.passes.clips[index // 2], way, here)
            total = self.parts.gradient(calibrated, way, here, clip.length)
            step = self._stepped(
                step.point, total[0], calibrated.standard_deviation * clip.length, way
            )
        coefficients = begin + way.T @ step.point
        root = self._root_of_step(whitening.root, step, clip)
        return Public(coefficients, root.known_errors(coefficients - begin, way.T, domain))

    def _root_of_step(self, root: Root, step: NewtonStep, clip: Clip) -> Root:
        """Return what the last step tells about the root of the gradient, with these slopes."""
        sampled = clip.squared / self.width / self.people / self.curvature**2
        return replace(
            root,
            centre=step.before,
            gradient=root.basis.T @ step.gradient,
            gradient_deviations=np.full(self.width, sqrt(step.noise**2 + sampled)),
        )

    def _stepped(self, point: Floats, total: Floats, noise: float, way: Floats) -> NewtonStep:
        """Return Newton's step for a noisy total of gradients at a point."""
        gradient = total / self.people / self.curvature
        noise = noise / self.people / self.curvature
        moved = point - gradient - self._ridge(noise) * point
        return NewtonStep(
            point, self._inside(moved, way, self.settings.domain.start()), gradient, noise
        )

    def _ridge(self, noise: float) -> float:
        """Return a ridge as strong as the noise: where rows do not vary, noise would add up."""
        prior = TUNED.prior * self.settings.target_bound**2
        return min(TUNED.most_ridge, noise**2 * self.width / prior)

    # --- classifiers ------------------------------------------------------------------------------

    def classify(self, scaling: Floats) -> Public:
        """Return the average of steps of clipped gradients."""
        steps, classes = self.passes.steps, self.settings.classes
        way = self.parts.whitened(scaling).map / sqrt(self.width) if self.passes.grams else scaling
        begin = self.settings.domain.start().reshape(classes, self.width)
        length = self._way() / len(steps)
        point = average = np.zeros_like(begin)
        for index, calibrated in enumerate(steps):
            here = begin + point @ way
            gradient = (
                self.parts.gradient(calibrated, way, here, TUNED.clip) / TUNED.clip / self.people
            )
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

    # --- the domain -------------------------------------------------------------------------------

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
            moments = SpikedCovariance(vectors.T, values, 1.0)
            near = moments.nearest(moved.reshape(-1), domain.diameter(2.0) / 2)
            moved = near.reshape(begin.shape)
        inside = domain.project((begin + moved).reshape(-1)).reshape(begin.shape)
        return np.asarray(np.linalg.solve(way.T, (inside - begin).T).T, dtype=np.float64)
