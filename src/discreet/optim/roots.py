"""Standard errors of published coefficients: their distance from the root of the mean gradient.

    Y_k = n_k·(gradient + slope·(θ_k − centre)) + scatter_k + noise_k        k = 1, …, K

Y_k is the released total of the gradients of n_k samples, all computed at the public point θ_k. The
noise is calibrated, so its covariance over k is known. The scatter of samples has variance n_k·s²
in each coordinate, where s² maximises the restricted likelihood. A regression by generalised least
squares then estimates the mean gradient and the symmetric matrix of slopes, with their standard
deviations. The noise that moves the points makes slopes visible; no other knowledge of them is
needed, and gradients may be clipped.

The root, the truth that coefficients are compared with, is centre − slope⁻¹·gradient. Pairs
(gradient, slope) that are consistent with the released values are drawn with public random numbers.
Where a slope may be almost 0 the roots lie far apart, so coefficients that were not learned have
large errors.

All of it is computed from released values, public counts and calibrated variances.

References  Patterson, Thompson (1971), restricted likelihood
            Fieller (1954), ratios of estimates
"""

from dataclasses import dataclass

import numpy as np

from discreet.arrays import Floats
from discreet.optim.domains import Domain

DRAWS = 1000
"""Number of public draws of pairs (gradient, slope)."""
NORMAL_95 = 1.96
"""Two-sided 95 % quantile of the standard normal distribution."""
LEAST_SLOPE = 0.01
"""Least slope in any direction, as a share of the mean slope: the loss is convex."""
SCATTERS = np.append(0.0, np.geomspace(1e-5, 1.0, 51))
"""Candidates for s², as shares of its largest possible value."""


@dataclass(frozen=True)
class Tuning:
    """Constants chosen by the coverage of intervals (benchmarks/mended.py, coverage_of_95)."""

    steep: float = 1.5
    """Bias of slopes in standard deviations, if they are hardly resolved.

    Points react to noise, so slopes are estimated too steep (Dickey, Fuller 1979).
    """
    clear: float = 2.7
    """Slope in standard deviations from which on the bias falls."""
    scattered: float = 0.75
    """Share of their standard deviations by which slopes are drawn.

    The estimates that they are drawn around scatter already, so their directions are more unequal
    than those of the truth.
    """
    doubted: float = 2.0
    """Difference in log-likelihood to the best scatter up to which a scatter is possible."""


TUNED = Tuning()


@dataclass(frozen=True, eq=False)
class Root:
    """Estimate of the mean gradient near its root: gradient + slope·(θ − centre).

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
    """A lower confidence bound on the variance of a coordinate of one sample's gradient."""

    def standard_errors(self, published: Floats, unmapped: Floats) -> Floats:
        """Return one standard error per coefficient; ±1.96 of them are a 95 % interval.

        `unmapped` maps points to coefficients; it is a matrix with one row per coefficient.

        >>> nothing, sure = np.zeros(2), np.full((2, 2), 1e-9)
        >>> known = Root(np.eye(2), nothing, nothing, np.full(2, 0.1), np.diag([1.0, 2.0]), sure)
        >>> known.standard_errors(np.zeros(2), np.eye(2)).round(2)
        array([0.1 , 0.05])
        >>> known.standard_errors(np.array([1.0, 0.0]), np.eye(2)).round(2)
        array([0.59, 0.05])
        """
        size = len(self.centre)
        generator = np.random.default_rng(size)
        # Antithetic draws: each draw and its opposite, so that quantiles need fewer of them.
        half = generator.standard_normal((DRAWS // 2, size, size + 1))
        drawn = np.concatenate([half, -half])
        lower = np.tril(drawn[:, :, 1:])
        symmetric = lower + np.tril(lower, -1).transpose(0, 2, 1)
        slopes, directions = np.linalg.eigh(self.slopes + self.slope_deviations * symmetric)
        least = LEAST_SLOPE * max(float(np.trace(self.slopes)) / size, 1e-300)
        gradients = self.gradient + self.gradient_deviations * drawn[:, :, 0]
        steps = np.einsum("kji,kj->ki", directions, gradients) / np.maximum(slopes, least)
        roots = self.centre - np.einsum("kij,kj->ki", directions, steps) @ self.basis.T
        distances = np.abs(published - roots @ unmapped.T)
        return np.asarray(np.quantile(distances, 0.95, axis=0) / NORMAL_95)

    def known_errors(
        self,
        published: Floats,
        unmapped: Floats,
        domain: Domain,
        directions: Floats | None = None,
    ) -> Floats:
        """Return standard errors; NaN where they exceed the domain, so that nothing was learned.

        With `directions`, they are those of linear functions of the coefficients, one per row.
        """
        lengths: float | Floats = 1.0
        if directions is not None:
            published = directions @ published
            unmapped = directions @ unmapped
            lengths = np.linalg.norm(directions, axis=1)
        errors = self.standard_errors(published, unmapped)
        return np.where(errors < lengths * domain.diameter(2.0) / 2, errors, np.nan)


def root_of_path(
    points: Floats, samples: Floats, totals: Floats, noise: Floats, most_scatter: float
) -> Root | None:
    """Return the root estimated from released totals of gradients; None if there are too few.

    `points` and `totals` have one row per release, `samples` counts the samples of each total, and
    `noise` is the covariance of one coordinate over releases. `most_scatter` bounds s²; for clipped
    gradients a public bound is known.
    """
    count, size = totals.shape
    if count < 3 * (size + 1):
        return None
    # In units of √samples, and in the eigenvectors of the noise, where it is independent.
    weights = np.sqrt(samples)
    variances, directions = np.linalg.eigh(noise / np.multiply.outer(weights, weights))
    variances = np.maximum(variances, 1e-9 * float(variances.mean()))
    with_constant = np.column_stack([np.ones(count), points])
    regressors = directions.T @ (with_constant * weights[:, None])
    responses = directions.T @ (totals / weights[:, None])
    scatters = most_scatter * SCATTERS
    fits = [_Fit.of(regressors, responses, variances + scatter) for scatter in scatters]
    best = max(fits, key=lambda fit: fit.likelihood)
    likely = best.likelihood - TUNED.doubted
    least = next(place for place, fit in enumerate(fits) if fit.likelihood > likely)
    return best.root(float(scatters[least]))


def symmetric_noise(size: int) -> Floats:
    """Return the standard deviations of noisy second moments, with 1 on the diagonal."""
    return np.asarray(np.where(np.eye(size) > 0, 1.0, np.sqrt(0.5)))


@dataclass(frozen=True, eq=False)
class _Fit:
    """Generalised least squares for one variance of the scatter."""

    likelihood: float
    information: Floats
    coefficients: Floats

    @classmethod
    def of(cls, regressors: Floats, responses: Floats, variances: Floats) -> "_Fit":
        """Return the fit of the responses, one column per coordinate, with its likelihood."""
        weighted = regressors / variances[:, None]
        information = weighted.T @ regressors
        information = information + 1e-12 * np.diag(np.diag(information))
        coefficients = np.asarray(
            np.linalg.solve(information, weighted.T @ responses), dtype=np.float64
        )
        residuals = responses - regressors @ coefficients
        squares = float((residuals**2 / variances[:, None]).sum())
        determinant = float(np.log(variances).sum() + np.linalg.slogdet(information)[1])
        likelihood = -(squares + responses.shape[1] * determinant) / 2
        return cls(likelihood, information, coefficients)

    def root(self, scatter: float) -> Root:
        """Return the root; at the centre the gradient is independent of the slope."""
        of_constant = float(self.information[0, 0])
        cross = self.information[0, 1:]
        centre = cross / of_constant
        precision = self.information[1:, 1:] - np.multiply.outer(cross, cross) / of_constant
        slope = self.coefficients[1:].T
        precisions, basis = np.linalg.eigh(precision)
        precisions = np.maximum(precisions, 1e-12 * precisions[-1])
        # Entries of a row of slopes have the precisions of their columns; the symmetric matrix
        # averages each entry with its transpose, weighted by both precisions.
        rotated = basis.T @ slope @ basis
        both = np.add.outer(precisions, precisions)
        slopes = (rotated * precisions[None, :] + rotated.T * precisions[:, None]) / both
        deviations = 1 / np.sqrt(both - np.diag(precisions))
        slopes = _less_steep(slopes, deviations)
        return Root(
            basis=basis,
            centre=centre,
            gradient=basis.T @ (self.coefficients[0] + slope @ centre),
            gradient_deviations=np.full(len(centre), 1 / np.sqrt(of_constant)),
            slopes=slopes,
            slope_deviations=TUNED.scattered * deviations,
            scatter=scatter,
        )


def _less_steep(slopes: Floats, deviations: Floats) -> Floats:
    """Return slopes without the bias of a regression on its own past, per eigenvector."""
    values, vectors = np.linalg.eigh(slopes)
    products = (vectors[:, None, :] * vectors[None, :, :]) ** 2
    # Entries off the diagonal occur twice.
    variances = deviations**2 * (2 - np.eye(len(values)))
    errors = np.sqrt(np.einsum("ij,ijk->k", variances, products))
    ratios = np.maximum(np.abs(values) / errors, 1e-300)
    values = values - TUNED.steep * errors * np.minimum(1.0, (TUNED.clear / ratios) ** 4)
    return np.asarray((vectors * values) @ vectors.T)
