"""Gradient descent on the noisy totals that one release with many passes draws (parts.py).

mode.py plans the charge of each total; all results here are functions of released values.

Guarantee   docs/guarantees/streaming.md, Theorem 4
"""

from dataclasses import dataclass, replace
from math import sqrt

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.learners.streaming_learner.many_passes.held_samples import DecodedSamples
from discreet.learners.streaming_learner.many_passes.parts import Clip, DrawnParts, Passes
from discreet.learners.streaming_learner.many_passes.public import Public
from discreet.learners.streaming_learner.many_passes.tuning import TUNED
from discreet.learners.streaming_learner.settings import StreamingLearnerSettings
from discreet.optim.ridge import fit_ridges
from discreet.optim.roots import Root, symmetric_noise
from discreet.optim.spiked_covariance import SpikedCovariance
from discreet.progress import bar
from discreet.release.aggregators import Moments
from discreet.release.noise import CalibratedNoise


@dataclass(frozen=True, eq=False)
class NewtonStep:
    """One Newton step on whitened rows."""

    before: Floats
    point: Floats
    """The point after the step."""
    gradient: Floats
    """The released mean gradient at `before`, over the curvature."""
    noise: float
    """The standard deviation of its noise."""

    @classmethod
    def none(cls, size: int) -> "NewtonStep":
        """Return a step of length 0 at the start."""
        begin = np.zeros(size)
        return cls(begin, begin, begin, 0.0)


@dataclass(frozen=True, eq=False)
class Descent:
    """Computes the coefficients of one release."""

    parts: DrawnParts

    @property
    def settings(self) -> StreamingLearnerSettings:
        """The settings of the learner."""
        return self.parts.settings

    @property
    def passes(self) -> Passes:
        """The calibrated parts of the release."""
        return self.parts.passes

    @property
    def people(self) -> int:
        """The number of held samples."""
        return self.parts.people

    @property
    def width(self) -> int:
        """The number of coefficients per class, with the one of the constant."""
        return self.parts.width

    @property
    def curvature(self) -> float:
        """The curvature of the loss."""
        return self.parts.loss.curvature

    def fitted(self) -> Public:
        """Return coefficients and standard errors, by the method that the plan provides for."""
        # Rows are divided by their usual norm, which is drawn first.
        scaling = np.asarray(np.eye(self.width) / self.parts.usual_length())
        if self.passes.moments is not None:
            return self.regress_once(self.passes.moments, scaling)
        return self.classify(scaling) if self.settings.classifies else self.regress(scaling)

    # --- regressions ------------------------------------------------------------------------------

    def regress_once(self, calibrated: CalibratedNoise[Moments], scaling: Floats) -> Public:
        """Return the ridge regression on noisy second moments and moments of all samples."""
        domain = self.settings.domain
        bound = self.settings.target_bound

        def moments(people: DecodedSamples) -> tuple[Floats, Floats, Integers]:
            slots = np.where(people.shares > 0, 0, -1)
            # Weights of a row and of a target: their products have the weight of the sample.
            weights = np.sqrt(people.shares)
            return (
                people.rows @ scaling.T * weights[:, None],
                people.targets / bound * weights,
                slots,
            )

        noise = calibrated.standard_deviation
        grams, sums = calibrated.aggregator.parted(self.parts.total(calibrated, moments))
        ridges = fit_ridges(grams, sums, gram_noise=sqrt(2) * noise, moment_noise=noise)
        coefficients = domain.project(scaling.T @ ridges.coefficients[0] * bound)
        root = self._root_of_moments(grams[0], sums[0], noise)
        unmapped = scaling.T * bound
        return Public(
            coefficients,
            root.known_errors(coefficients, unmapped, domain, self.settings.directions),
        )

    def _root_of_moments(self, gram: Floats, moments: Floats, noise: float) -> Root:
        """Return the estimated root of the gradient, from noisy second moments and moments."""
        values, vectors = np.linalg.eigh(gram)
        return Root(
            basis=vectors,
            centre=np.zeros(self.width),
            gradient=-vectors.T @ moments,
            # Residuals are not measured; the bound on targets, here 1, bounds them.
            gradient_deviations=np.sqrt(noise**2 + np.maximum(values, 0.0)),
            slopes=np.diag(values),
            slope_deviations=sqrt(2) * noise * symmetric_noise(self.width),
        )

    def regress(self, scaling: Floats) -> Public:
        """Return the coefficients after Newton steps on whitened rows."""
        domain = self.settings.domain
        begin = domain.start()
        whitening = self.parts.whitened(scaling)
        transform = whitening.map
        step = NewtonStep.none(self.width)
        clip = Clip(1.0, 1.0)
        with bar("passes", len(self.passes.steps)) as report:
            for index, calibrated in enumerate(self.passes.steps):
                here = begin + transform.T @ step.point
                if index in (0, 2):
                    clip = self.parts.clip(self.passes.clips[index // 2], transform, here)
                total = self.parts.gradient(calibrated, transform, here, clip.length)
                noise = calibrated.standard_deviation * clip.length
                step = self._stepped(step.point, total[0], noise, transform)
                report(1)
        coefficients = begin + transform.T @ step.point
        root = self._root_of_step(whitening.root, step, clip)
        learned = coefficients - begin
        return Public(
            coefficients,
            root.known_errors(learned, transform.T, domain, self.settings.directions),
        )

    def _root_of_step(self, root: Root, step: NewtonStep, clip: Clip) -> Root:
        """Return the root of the gradient, from the last step and the slopes of `root`."""
        sampled = clip.squared / self.width / self.people / self.curvature**2
        return replace(
            root,
            centre=step.before,
            gradient=root.basis.T @ step.gradient,
            gradient_deviations=np.full(self.width, sqrt(step.noise**2 + sampled)),
        )

    def _stepped(self, point: Floats, total: Floats, noise: float, transform: Floats) -> NewtonStep:
        """Return the Newton step for a noisy total of gradients at a point."""
        gradient = total / self.people / self.curvature
        noise = noise / self.people / self.curvature
        moved = point - gradient - self._ridge(noise) * point
        inside = self._inside(moved, transform, self.settings.domain.start())
        return NewtonStep(point, inside, gradient, noise)

    def _ridge(self, noise: float) -> float:
        """Return a ridge that grows with the noise, which would add up where rows do not vary."""
        prior = TUNED.prior * self.settings.target_bound**2
        return min(TUNED.most_ridge, noise**2 * self.width / prior)

    # --- classifiers ------------------------------------------------------------------------------

    def classify(self, scaling: Floats) -> Public:
        """Return the average of the points of clipped gradient descent."""
        steps = self.passes.steps
        classes = self.settings.classes
        transform = scaling
        if self.passes.grams:
            transform = self.parts.whitened(scaling).map / sqrt(self.width)
        begin = self.settings.domain.start().reshape(classes, self.width)
        length = self._distance() / len(steps)
        point = average = np.zeros_like(begin)
        for index, calibrated in enumerate(steps):
            here = begin + point @ transform
            total = self.parts.gradient(calibrated, transform, here, TUNED.clip)
            gradient = total / TUNED.clip / self.people
            gradient = gradient - gradient.mean(axis=0) if classes > 1 else gradient
            point = self._inside(point - length * gradient, transform, begin)
            average = average + (point - average) * (2 / (index + 2))
        coefficients = (begin + average @ transform).reshape(-1)
        # Gradients clipped to a tenth of the norm of rows do not determine their root.
        return Public(coefficients, np.full(begin.size, np.nan))

    def _distance(self) -> float:
        """Return the total length of all steps, in clips."""
        size = self.settings.domain.dimension
        noise = self.passes.steps[0].standard_deviation * sqrt(size) / self.people
        plain = min(TUNED.distance_plain, 2 * self.people)
        furthest = TUNED.distance_whitened if self.passes.grams else plain
        return furthest / max(1.0, noise)

    # --- the domain -------------------------------------------------------------------------------

    def _inside(self, point: Floats, transform: Floats, begin: Floats) -> Floats:
        """Return the whitened coefficients of a point in the domain that is close to `point`.

        The first projection is onto the Euclidean ball around the domain, in the norm of the second
        moments: where directions differ much, the nearest point in the usual norm predicts badly.
        """
        domain = self.settings.domain
        coefficients = (begin + point @ transform).reshape(-1)
        if np.array_equal(domain.project(coefficients), coefficients):
            return point
        moved = point @ transform
        if self.settings.classes == 1:
            unmapped = np.linalg.inv(transform)
            values, vectors = np.linalg.eigh(unmapped @ unmapped.T)
            moments = SpikedCovariance(vectors.T, values, 1.0)
            near = moments.nearest(moved.reshape(-1), domain.diameter(2.0) / 2)
            moved = near.reshape(begin.shape)
        inside = domain.project((begin + moved).reshape(-1)).reshape(begin.shape)
        return np.asarray(np.linalg.solve(transform.T, (inside - begin).T).T, dtype=np.float64)
