"""Sparse regressions: few features per arm and their coefficients, from released values only.

A support is a table of feature numbers, one row per arm, padded with −1. Its coefficients are a
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
        """Return supports without features."""
        return cls(np.full((arms, most), -1), np.zeros((arms, most + 1)))

    @property
    def sizes(self) -> Integers:
        """Number of features of each arm."""
        return np.asarray((self.features >= 0).sum(axis=1))

    def among(self, count: int) -> Mask:
        """Return which of `count` features each arm has, one row per arm."""
        table = np.zeros((len(self.features), count + 1), dtype=np.bool_)
        np.put_along_axis(table, self.features, True, axis=1)  # −1 goes to the last column
        return table[:, :count]

    def of_rows(self, rows: Floats, arms: Integers) -> Floats:
        """Return each row's numbers on the features of its arm, 0 where there is none."""
        features = self.features[arms]
        numbers = np.take_along_axis(rows, np.maximum(features, 0), axis=1)
        return np.where(features >= 0, numbers, 0.0)

    def refitted(
        self, grams: Floats, moments: Floats, before: Floats, noise: float
    ) -> tuple["Supports", Floats]:
        """Return coefficients `before` plus a ridge on each arm's features, and the covariances.

        `noise` is the standard deviation of a moment; that of a second moment's diagonal is √2
        times it.
        """
        coefficients = before.copy()
        covariances = np.zeros_like(grams)
        for arm, size in enumerate(self.sizes.tolist()):
            part = np.s_[: size + 1]
            gram = grams[arm, part, part][None]
            moment = moments[arm, part][None]
            fitted = fit_ridges(gram, moment, gram_noise=sqrt(2) * noise, moment_noise=noise)
            coefficients[arm, part] += fitted.coefficients[0]
            covariances[arm, part, part] = fitted.covariances[0]
        return Supports(self.features, coefficients), covariances

    def pruned(self, standard_deviations: Floats, most: int, least: float) -> "Supports":
        """Return at most `most` features per arm, above `least` standard deviations."""
        features = np.full_like(self.features, -1)
        coefficients = np.zeros_like(self.coefficients)
        coefficients[:, 0] = self.coefficients[:, 0]
        for arm, size in enumerate(self.sizes.tolist()):
            values = self.coefficients[arm, 1 : size + 1]
            deviations = np.maximum(standard_deviations[arm, 1 : size + 1], 1e-300)
            ratios = np.abs(values) / deviations
            best = np.sort(np.argsort(-ratios, kind="stable")[:most])
            best = best[ratios[best] > least]
            features[arm, : len(best)] = self.features[arm, best]
            coefficients[arm, 1 : len(best) + 1] = values[best]
        return Supports(features, coefficients)

    def with_more(self, picks: Integers, estimates: Floats) -> "Supports":
        """Return supports with more features, except those with an estimate of 0.

        Features beyond the width of the table are left out.
        """
        features = self.features.copy()
        coefficients = self.coefficients.copy()
        for arm, size in enumerate(self.sizes.tolist()):
            new = np.flatnonzero(estimates[arm])[: features.shape[1] - size]
            features[arm, size : size + len(new)] = picks[arm, new]
            coefficients[arm, size + 1 : size + 1 + len(new)] = estimates[arm, new]
        return Supports(features, coefficients)

    def shared_with(self, newcomers: Mask) -> "Supports":
        """Return supports in which `newcomers` have the commonest features of the other arms.

        The coefficients of newcomers are 0.
        """
        features = self.features.copy()
        coefficients = self.coefficients.copy()
        numbers, counts = np.unique(features[~newcomers], return_counts=True)
        common = numbers[np.argsort(-counts, kind="stable")]
        common = common[common >= 0][: features.shape[1]]
        features[newcomers] = -1
        features[newcomers, : len(common)] = common
        coefficients[newcomers] = 0.0
        return Supports(features, coefficients)

    def folded(self, count: int, centre: Floats, constant: float) -> tuple[Floats, Floats]:
        """Return weights (features × arms) and offsets for contexts that are not centred."""
        weights = np.zeros((count + 1, len(self.features)))
        np.put_along_axis(weights, self.features.T, self.coefficients[:, 1:].T, axis=0)
        weights = weights[:count]
        return weights, self.coefficients[:, 0] * constant - centre @ weights
