"""How far published coefficients are from where the mean gradient vanishes, from released
gradients.

    Y_k = n_k·(gradient + slope·(θ_k − centre)) + scatter_k + noise_k        k = 1, …, K

Y_k is the released total of the gradients of n_k samples, all taken at the public point θ_k. The
noise is calibrated, so its covariance over k is known. The scatter of samples has variance n_k·s²
in each coordinate, with s² of largest restricted likelihood. A regression by generalised least
squares then tells the mean gradient, the symmetric matrix of slopes, and how well each is known.
The noise that moves the points is what makes slopes visible; they need not be known otherwise, and
gradients may be clipped.

The root, which is the truth that coefficients are to be compared with, is centre −
slope⁻¹·gradient. Pairs (gradient, slope) that the released values allow are drawn with public
random numbers: where a slope may be almost 0, roots lie far apart, and so coefficients that were
not learned have large errors.

All of it is computed from released values, public counts and calibrated variances.

References  Patterson, Thompson (1971), restricted likelihood; Fieller (1954), ratios of estimates
"""

from dataclasses import dataclass

import numpy as np

from discreet.arrays import Floats
from discreet.optim.domains import Domain

DRAWS = 1000
"""Public draws of pairs that released values allow."""
NORMAL_95 = 1.96
LEAST_SLOPE = 0.01
"""The least slope in any direction, as a share of the mean one: the loss is convex."""
SCATTERS = np.append(0.0, np.geomspace(1e-5, 1.0, 51))
"""Candidates for s², as shares of the most that it can be."""


@dataclass(frozen=True)
class Tuning:
    """Constants that the coverage of intervals chose (benchmarks/mended.py, coverage_of_95)."""

    steep: float = 1.5
    """Points react to noise, so slopes are found too steep: by this many deviations if they are
    hardly seen (Dickey, Fuller 1979)."""
    clear: float = 2.7
    """From this many deviations on, slopes are found less steep than that."""
    scattered: float = 0.75
    """The share of their deviations by which slopes are drawn: the estimates that they are drawn
    around scatter already, and so have more unequal directions than the truth."""
    doubted: float = 2.0
    """The log-likelihood that a possible scatter may lack of the best one's."""


TUNED = Tuning()


@dataclass(frozen=True, eq=False)
class Root:
    """What is known of the mean gradient near its root: gradient + slope·(θ − centre).

    In the columns of `basis` all entries of the gradient and of the symmetric slope are
    independent: `gradient` ± `gradient_deviations`, and `slopes` ± `slope_deviations`.
    """

    basis: Floats
    centre: Floats
    """In the coordinates of points, not in the basis."""
    gradient: Floats
    gradient_deviations: Floats
    slopes: Floats
    slope_deviations: Floats
    scatter: float = 0.0
    """A lower bound, with confidence, on the variance of a coordinate of one sample's gradient."""

    def standard_errors(self, published: Floats, unmapped: Floats) -> Floats:
        """One per coefficient: 1.96 of them hold the root with probability 0.95.

        `unmapped` takes points to coefficients; it is a matrix with one row per coefficient.

        >>> nothing, sure = np.zeros(2), np.full((2, 2), 1e-9)
        >>> known = Root(np.eye(2), nothing, nothing, np.full(2, 0.1), np.diag([1.0, 2.0]), sure)
        >>> known.standard_errors(np.zeros(2), np.eye(2)).round(2)
        array([0.1 , 0.05])
        >>> known.standard_errors(np.array([1.0, 0.0]), np.eye(2)).round(2)
        array([0.59, 0.05])
        """
        size = len(self.centre)
        generator = np.random.default_rng(size)
        # Each draw and its opposite: quantiles need fewer of them.
        half = generator.standard_normal((DRAWS // 2, size, size + 1))
        drawn = np.concatenate([half, -half])
        around = np.tril(drawn[:, :, 1:])
        around = around + np.tril(around, -1).transpose(0, 2, 1)
        slopes, directions = np.linalg.eigh(self.slopes + self.slope_deviations * around)
        least = LEAST_SLOPE * max(float(np.trace(self.slopes)) / size, 1e-300)
        gradients = self.gradient + self.gradient_deviations * drawn[:, :, 0]
        steps = np.einsum("kji,kj->ki", directions, gradients) / np.maximum(slopes, least)
        roots = self.centre - np.einsum("kij,kj->ki", directions, steps) @ self.basis.T
        apart = np.abs(published - roots @ unmapped.T)
        return np.asarray(np.quantile(apart, 0.95, axis=0) / NORMAL_95)

    def known_errors(self, published: Floats, unmapped: Floats, domain: Domain) -> Floats:
        """Return standard errors; NaN where they exceed what the domain allows: that was not
        learned.
        """
        errors = self.standard_errors(published, unmapped)
        return np.where(errors < domain.diameter(2.0) / 2, errors, np.nan)


def root_of_path(
    points: Floats, samples: Floats, totals: Floats, noise: Floats, most_scatter: float
) -> Root | None:
    """Read the root off released totals of gradients; None if there are too few.

    `points` and `totals` have one row per release, `samples` counts what it adds up, and `noise` is
    the covariance of one coordinate over releases. `most_scatter` bounds s², which gradients that
    are clipped have a public bound for.
    """
    count, size = totals.shape
    if count < 3 * (size + 1):
        return None
    # In units of √samples, and in directions of which each has its own variance of noise.
    weights = np.sqrt(samples)
    variances, directions = np.linalg.eigh(noise / np.multiply.outer(weights, weights))
    variances = np.maximum(variances, 1e-9 * float(variances.mean()))
    regressors = directions.T @ (np.column_stack([np.ones(count), points]) * weights[:, None])
    seen = directions.T @ (totals / weights[:, None])
    scatters = most_scatter * SCATTERS
    fits = [_Fit.of(regressors, seen, variances + scatter) for scatter in scatters]
    best = max(fits, key=lambda fit: fit.likelihood)
    least = next(
        place for place, fit in enumerate(fits) if fit.likelihood > best.likelihood - TUNED.doubted
    )
    return best.root(float(scatters[least]))


def symmetric_noise(size: int) -> Floats:
    """The deviations of released second moments, in any basis, for 1 on the diagonal."""
    return np.asarray(np.where(np.eye(size) > 0, 1.0, np.sqrt(0.5)))


@dataclass(frozen=True, eq=False)
class _Fit:
    """Generalised least squares for one variance of the scatter."""

    likelihood: float
    information: Floats
    found: Floats

    @classmethod
    def of(cls, regressors: Floats, seen: Floats, variances: Floats) -> "_Fit":
        weighted = regressors / variances[:, None]
        information = weighted.T @ regressors
        information = information + 1e-12 * np.diag(np.diag(information))
        found: Floats = np.asarray(
            np.linalg.solve(information, weighted.T @ seen), dtype=np.float64
        )
        squares = float(((seen - regressors @ found) ** 2 / variances[:, None]).sum())
        spread = float(np.log(variances).sum() + np.linalg.slogdet(information)[1])
        return cls(-(squares + seen.shape[1] * spread) / 2, information, found)

    def root(self, scatter: float) -> Root:
        """The gradient at the centre, where its estimate does not depend on that of the slope."""
        whole, cross = float(self.information[0, 0]), self.information[0, 1:]
        centre = cross / whole
        precision = self.information[1:, 1:] - np.multiply.outer(cross, cross) / whole
        slope = self.found[1:].T
        precisions, basis = np.linalg.eigh(precision)
        precisions = np.maximum(precisions, 1e-12 * precisions[-1])
        # A row of slopes is known by the precision of its columns; a symmetric matrix has both.
        along = basis.T @ slope @ basis
        both = np.add.outer(precisions, precisions)
        slopes = (along * precisions[None, :] + along.T * precisions[:, None]) / both
        deviations = 1 / np.sqrt(both - np.diag(precisions))
        slopes = _less_steep(slopes, deviations)
        return Root(
            basis=basis,
            centre=centre,
            gradient=basis.T @ (self.found[0] + slope @ centre),
            gradient_deviations=np.full(len(centre), 1 / np.sqrt(whole)),
            slopes=slopes,
            slope_deviations=TUNED.scattered * deviations,
            scatter=scatter,
        )


def _less_steep(slopes: Floats, deviations: Floats) -> Floats:
    """Slopes without the bias that a regression on its own past has, in each of their
    directions.
    """
    values, vectors = np.linalg.eigh(slopes)
    products = (vectors[:, None, :] * vectors[None, :, :]) ** 2
    twice = deviations**2 * (2 - np.eye(len(values)))
    doubts = np.sqrt(np.einsum("ij,ijk->k", twice, products))
    seen = np.maximum(np.abs(values) / doubts, 1e-300)
    values = values - TUNED.steep * doubts * np.minimum(1.0, (TUNED.clear / seen) ** 4)
    return np.asarray((vectors * values) @ vectors.T)
