"""Few features an arm: which ones are kept, and the regressions on them, from released values only.

A support is a table of feature numbers, one row an arm, filled up with −1; its coefficients are a
table with one more column in front, for the constant.
"""

from dataclasses import dataclass
from math import sqrt

import numpy as np

from discreet.arrays import Floats, Integers, Mask
from discreet.optim.ridge import fit_ridges


@dataclass(frozen=True, eq=False)
class Supports:
    """The features of every arm (−1 for none) and their coefficients, the constant's first."""

    features: Integers
    coefficients: Floats

    @classmethod
    def empty(cls, arms: int, most: int) -> "Supports":
        """No features."""
        return cls(np.full((arms, most), -1), np.zeros((arms, most + 1)))

    @property
    def sizes(self) -> Integers:
        """How many features each arm has."""
        return np.asarray((self.features >= 0).sum(axis=1))

    def among(self, count: int) -> Mask:
        """Which of `count` features each arm has, one row an arm."""
        table = np.zeros((len(self.features), count + 1), dtype=np.bool_)
        np.put_along_axis(table, self.features, True, axis=1)  # −1 goes to the last column
        return table[:, :count]

    def of_rows(self, rows: Floats, arms: Integers) -> Floats:
        """Each row's numbers on the features of its arm, 0 where there is none."""
        wanted = self.features[arms]
        found = np.take_along_axis(rows, np.maximum(wanted, 0), axis=1)
        return np.where(wanted >= 0, found, 0.0)

    def refitted(
        self, grams: Floats, moments: Floats, before: Floats, noise: float
    ) -> tuple["Supports", Floats]:
        """Coefficients `before` plus what a ridge on each arm's features finds, and covariances.

        `noise` is the standard deviation of a moment; that of a second moment's diagonal is √2
        times it.
        """
        coefficients = before.copy()
        covariances = np.zeros_like(grams)
        for arm, size in enumerate(self.sizes.tolist()):
            part = np.s_[: size + 1]
            gram, moment = grams[arm, part, part][None], moments[arm, part][None]
            fitted = fit_ridges(gram, moment, gram_noise=sqrt(2) * noise, moment_noise=noise)
            coefficients[arm, part] += fitted.coefficients[0]
            covariances[arm, part, part] = fitted.covariances[0]
        return Supports(self.features, coefficients), covariances

    def pruned(self, standard_deviations: Floats, most: int, least: float) -> "Supports":
        """At most so many features, each with a coefficient of more than `least` standard
        deviations.
        """
        features, coefficients = np.full_like(self.features, -1), np.zeros_like(self.coefficients)
        coefficients[:, 0] = self.coefficients[:, 0]
        for arm, size in enumerate(self.sizes.tolist()):
            found = self.coefficients[arm, 1 : size + 1]
            seen = np.abs(found) / np.maximum(standard_deviations[arm, 1 : size + 1], 1e-300)
            best = np.sort(np.argsort(-seen, kind="stable")[:most])
            best = best[seen[best] > least]
            features[arm, : len(best)] = self.features[arm, best]
            coefficients[arm, 1 : len(best) + 1] = found[best]
        return Supports(features, coefficients)

    def with_more(self, picks: Integers, estimates: Floats) -> "Supports":
        """With more features, of which those with an estimate of 0 are left out; there must be
        room.
        """
        features, coefficients = self.features.copy(), self.coefficients.copy()
        for arm, size in enumerate(self.sizes.tolist()):
            good = np.flatnonzero(estimates[arm])[: features.shape[1] - size]
            features[arm, size : size + len(good)] = picks[arm, good]
            coefficients[arm, size + 1 : size + 1 + len(good)] = estimates[arm, good]
        return Supports(features, coefficients)

    def shared_with(self, newcomers: Mask) -> "Supports":
        """These arms get the commonest features of the others, with coefficients of 0."""
        features, coefficients = self.features.copy(), self.coefficients.copy()
        numbers, counts = np.unique(features[~newcomers], return_counts=True)
        common = numbers[np.argsort(-counts, kind="stable")]
        common = common[common >= 0][: features.shape[1]]
        features[newcomers] = -1
        features[newcomers, : len(common)] = common
        coefficients[newcomers] = 0.0
        return Supports(features, coefficients)

    def folded(self, count: int, centre: Floats, constant: float) -> tuple[Floats, Floats]:
        """Weights (features × arms) and offsets on contexts that are neither centred nor have a
        constant.
        """
        weights = np.zeros((count + 1, len(self.features)))
        np.put_along_axis(weights, self.features.T, self.coefficients[:, 1:].T, axis=0)
        weights = weights[:count]
        return weights, self.coefficients[:, 0] * constant - centre @ weights
