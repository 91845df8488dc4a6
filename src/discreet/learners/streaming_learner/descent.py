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
from discreet.arrivals.losses import CallableLoss, SoftmaxLoss
from discreet.budget.privacy import Charge
from discreet.decide.evening import Evening
from discreet.decide.ridge import fit_ridges
from discreet.decide.roots import Root, symmetric_noise
from discreet.learners.streaming_learner.histogram import Sizes
from discreet.learners.streaming_learner.settings import StreamingLearnerSettings
from discreet.release.door import Door
from discreet.release.gathering import Gathered, Gram, HeldRows, Moments, OneChoice, Rows
from discreet.release.noise import Once
from discreet.turn.plan import State

__all__ = ["CLIPS", "LENGTHS", "Descent", "Passes"]

LENGTHS = Sizes(bins=30, ratio=sqrt(2))
USUAL = {"regression": 0.25, "classes": 0.95}
"""Which quantile of lengths rows are divided by: where second moments are released, noise is to be small."""
UNMEASURED = {"regression": 0.5, "classes": 1.0}
"""The share of the bound that takes its place where a histogram would be noise."""
CLIPS = Sizes(bins=24)
CLIP = 0.1
"""Classifiers: the clip, in lengths of rows."""
WAY = {"even": 2000.0, "plain": 800.0}
"""Classifiers: how far all steps together go, in clips, if noise is small and samples are half as many."""
PRIOR, MOST_RIDGE = 1.0, 0.2
"""Regressions: the square that evened coefficients have together, in squares of the target's bound; and the
strongest ridge."""


@dataclass(frozen=True)
class Passes:
    """What is paid for, part by part; every part reads everyone."""

    lengths: Once[Any] | None
    moments: Once[Any] | None
    """Everything at once, where there are too few samples for more."""
    grams: tuple[Once[Any], ...]
    clips: tuple[Once[Any], ...]
    steps: tuple[Once[Any], ...]

    @property
    def parts(self) -> list[Once[Any]]:
        """All of them."""
        alone = [once for once in (self.lengths, self.moments) if once]
        return [*alone, *self.grams, *self.clips, *self.steps]

    @property
    def charge(self) -> Charge:
        """What all cost together."""
        first, *others = [once.charge for once in self.parts]
        for charge in others:
            first = first + charge
        return first


class Descent:
    """One release: what the door gives for what is held, and the coefficients that follow from it."""

    def __init__(
        self,
        settings: StreamingLearnerSettings,
        passes: Passes,
        unfolded: Callable[[Floats], tuple[Floats, Floats, Floats]],
        held: Gathered,
        door: Door,
    ) -> None:
        self.settings, self.passes, self.unfolded = settings, passes, unfolded
        self.held, self.door, self.people = held, door, settings.rounds
        self.width, self.classes = settings.width, settings.classes
        self.map = np.eye(self.width) / self._usual_length()

    def regress_once(self) -> State:
        """A ridge on noisy second moments and moments of everyone."""
        bound, once = self.settings.target_bound, self.passes.moments
        assert once is not None
        assert isinstance(once.gathering, Moments)

        def moments(rows: Floats, targets: Floats, shares: Floats) -> tuple[Floats, Floats, Integers]:
            slots = np.where(shares > 0, 0, -1)
            weights = np.sqrt(shares)  # of a row and a target: their products count as much as the sample
            return rows @ self.map.T * weights[:, None], targets / bound * weights, slots

        noise = once.standard_deviation
        grams, sums = once.gathering.parted(self._total(once, moments))
        found = fit_ridges(grams, sums, gram_noise=sqrt(2) * noise, moment_noise=noise)
        coefficients = self.settings.domain.project(self.map.T @ found.coefficients[0] * bound)
        values, vectors = np.linalg.eigh(grams[0])
        root = Root(
            basis=vectors,
            centre=np.zeros(self.width),
            gradient=-vectors.T @ sums[0],
            # Residuals are not measured: they are at most as large as the target's bound, which is 1 here.
            gradient_deviations=np.sqrt(noise**2 + np.maximum(values, 0.0)),
            slopes=np.diag(values),
            slope_deviations=sqrt(2) * noise * symmetric_noise(self.width),
        )
        return {"coefficients": coefficients, "errors": self._errors(root, coefficients, self.map.T * bound)}

    def regress(self) -> State:
        """Newton's steps on evened rows."""
        settings, loss = self.settings, self.settings.loss
        assert not isinstance(loss, CallableLoss | SoftmaxLoss)
        self._even(self.passes.grams)
        begin = settings.domain.start()
        point, clip = np.zeros(self.width), 1.0
        for index, once in enumerate(self.passes.steps):
            here = begin + self.map.T @ point
            if index in (0, 2):
                clip, squared = self._clip(self.passes.clips[index // 2], here)
            noise = once.standard_deviation * clip / self.people / loss.curvature
            gradient = self._gradient(once, here, clip)[0] / self.people / loss.curvature
            # Where rows do not vary, noise would add up from step to step: a ridge as strong as the noise.
            ridge = min(MOST_RIDGE, noise**2 * self.width / (PRIOR * settings.target_bound**2))
            before, point = point, self._inside(point - gradient - ridge * point, begin)
        sampled = squared / self.width / self.people / loss.curvature**2
        coefficients = begin + self.map.T @ point
        root = replace(
            self.evened,
            centre=before,
            gradient=self.evened.basis.T @ gradient,
            gradient_deviations=np.full(self.width, sqrt(noise**2 + sampled)),
        )
        return {"coefficients": coefficients, "errors": self._errors(root, coefficients - begin, self.map.T)}

    def classify(self) -> State:
        """Steps of clipped gradients, averaged."""
        settings, steps = self.settings, self.passes.steps
        if self.passes.grams:
            self._even(self.passes.grams)
            self.map = self.map / sqrt(self.width)
        begin = settings.domain.start().reshape(self.classes, self.width)
        noise = steps[0].standard_deviation * sqrt(begin.size) / self.people
        furthest = WAY["even"] if self.passes.grams else min(WAY["plain"], 2 * self.people)
        way = furthest / max(1.0, noise)
        point = average = np.zeros_like(begin)
        for index, once in enumerate(steps):
            here = begin + point @ self.map
            gradient = self._gradient(once, here, CLIP) / CLIP / self.people
            gradient = gradient - gradient.mean(axis=0) if self.classes > 1 else gradient
            point = self._inside(point - way / len(steps) * gradient, begin)
            average = average + (point - average) * (2 / (index + 2))
        # Where gradients are shortened to a tenth of a row's length, their root is not told: no errors.
        return {
            "coefficients": (begin + average @ self.map).reshape(-1),
            "errors": np.full(begin.size, np.nan),
        }

    def _errors(self, root: Root, published: Floats, unmapped: Floats) -> Floats:
        """Standard errors; NaN where they exceed what the domain allows: that was not learned."""
        errors = root.standard_errors(published, unmapped)
        return np.where(errors < self.settings.domain.diameter(2.0) / 2, errors, np.nan)

    # --- parts --------------------------------------------------------------------------------------------

    def _total(self, once: Once[Any], of_rows: Callable[[Floats, Floats, Floats], Any]) -> Floats:
        """The noisy total of a function of each sample's row, target and share."""
        held, onto = self.held.gathering, once.gathering
        assert isinstance(held, HeldRows)
        assert isinstance(onto, Rows | Gram | OneChoice | Moments)
        total = held.total(self.held, lambda numbers: of_rows(*self.unfolded(numbers)), onto)
        return self.door.release(once, total)

    def _usual_length(self) -> float:
        """What rows usually are long, or could be."""
        settings = self.settings
        wider = settings.features ** max(0.0, 0.5 - 1 / settings.domain.dual)
        top = sqrt((settings.feature_bound * wider) ** 2 + settings.constant**2)
        once, level = self.passes.lengths, USUAL[self.settings.learns]
        if once is None:
            return UNMEASURED[self.settings.learns] * top

        def cells(rows: Floats, targets: Floats, shares: Floats) -> Any:
            return np.where(shares > 0, LENGTHS.cells(np.linalg.norm(rows, axis=1), top), -1)

        counts = self._total(once, cells)
        noise = once.standard_deviation
        return LENGTHS.quantile(counts, top=top, level=level, people=self.people, noise=noise)

    def _even(self, grams: tuple[Once[Any], ...]) -> None:
        """A map to rows whose directions are alike; what noise hides is no more than it."""
        longest = 1.0
        for once in grams:
            assert isinstance(once.gathering, Gram)
            way = self.map / longest

            def mapped(rows: Floats, targets: Floats, shares: Floats, way: Floats = way) -> Floats:
                return np.asarray(rows @ way.T * (shares > 0)[:, None])

            matrix = once.gathering.parted(self._total(once, mapped))[0] * (longest**2 / self.people)
            noise = once.standard_deviation * longest**2 / self.people
            edge = sqrt(2 * self.width) * noise
            seen, vectors = np.linalg.eigh(matrix)
            values = np.maximum(seen, min(edge, longest**2))
            self.map = (vectors / np.sqrt(values)) @ vectors.T @ self.map
            scale = np.multiply.outer(np.sqrt(values), np.sqrt(values))
            self.evened = Root(
                basis=vectors,
                centre=np.zeros(self.width),
                gradient=np.zeros(self.width),
                gradient_deviations=np.zeros(self.width),
                slopes=np.diag(seen / values),
                slope_deviations=noise * symmetric_noise(self.width) / scale,
            )
            longest = 1.5 * sqrt(self.width)

    def _clip(self, once: Once[Any], here: Floats) -> tuple[float, float]:
        """The length that nearly all gradients keep, and the mean of their squared lengths."""
        loss = self.settings.loss
        assert not isinstance(loss, CallableLoss | SoftmaxLoss)
        top = 16 * loss.curvature * self.settings.target_bound * sqrt(self.width)

        def cells(rows: Floats, targets: Floats, shares: Floats) -> Any:
            lengths = np.linalg.norm(rows @ self.map.T, axis=1) * np.abs(loss.slopes(rows @ here, targets))
            return np.where(shares > 0, CLIPS.cells(lengths, top), -1)

        counts = self._total(once, cells)
        noise = once.standard_deviation
        clip = CLIPS.quantile(counts, top=top, level=0.97, people=self.people, noise=noise)
        return clip, CLIPS.mean(counts, top=top, noise=noise, power=2.0) or clip**2

    def _gradient(self, once: Once[Any], here: Floats, clip: float) -> Floats:
        """The noisy sum of gradients of evened rows, one row a class."""
        loss = self.settings.loss
        assert not isinstance(loss, CallableLoss)
        rows_of_here = here.reshape(self.classes, self.width)

        def gradients(rows: Floats, targets: Floats, shares: Floats) -> Floats:
            margins = rows @ rows_of_here.T
            slopes = loss.slopes(margins if self.classes > 1 else margins[:, 0], targets)
            weighted = slopes.reshape(len(rows), -1) * (shares / clip)[:, None]
            evened = rows @ self.map.T
            return np.ascontiguousarray(weighted[:, :, None] * evened[:, None, :]).reshape(len(rows), -1)

        return self._total(once, gradients).reshape(self.classes, self.width) * clip

    def _inside(self, point: Floats, begin: Floats) -> Floats:
        """The point of evened coefficients whose coefficients lie in the domain, near it where rows vary.

        First in the Euclidean ball around the domain: where directions differ much, the nearest point in the
        usual norm would be a bad one.
        """
        domain = self.settings.domain
        there = (begin + point @ self.map).reshape(-1)
        if np.array_equal(domain.project(there), there):
            return point
        moved = point @ self.map
        if self.classes == 1:
            unmapped = np.linalg.inv(self.map)
            values, vectors = np.linalg.eigh(unmapped @ unmapped.T)
            near = Evening(vectors.T, values, 1.0).nearest(moved.reshape(-1), domain.diameter(2.0) / 2)
            moved = near.reshape(begin.shape)
        inside = domain.project((begin + moved).reshape(-1)).reshape(begin.shape)
        return np.asarray(np.linalg.solve(self.map.T, (inside - begin).T).T, dtype=np.float64)
