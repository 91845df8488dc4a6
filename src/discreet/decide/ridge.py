"""Coefficients of a ridge regression from noisy second moments, one regression a slot.

    θ̂ = G⁺ b        G = Σ zzᵀ + noise,  b = Σ u·z + noise

The noise of G has eigenvalues up to about √(2D) times the standard deviation of its diagonal; smaller
eigenvalues say nothing and are raised to that, which is the ridge. The covariance of θ̂ counts the noise of b,
the noise of rewards, and the noise of G as far as it meets θ̂.

All of it is computed from released values.

References  Sheffet (2017), "Differentially Private Ordinary Least Squares"
"""

from dataclasses import dataclass
from math import inf, sqrt

import numpy as np

from discreet.arrays import Floats
from discreet.decide.evening import noise_edge

__all__ = ["Fitted", "beyond_noise", "drawn_together", "fit_ridges"]

LEAST_RESOLVED = 0.1
"""Where noise hides all second moments, no less than this share counts as left."""


@dataclass(frozen=True, eq=False)
class Fitted:
    """Coefficients (slots × D) and their covariances (slots × D × D)."""

    coefficients: Floats
    covariances: Floats
    resolved: Floats
    """The share of each slot's second moments that the ridge left: coefficients are shrunk about so far."""


def fit_ridges(
    grams: Floats, moments: Floats, *, gram_noise: float, moment_noise: float, reward_noise: float = 1.0
) -> Fitted:
    """Fit every slot.

    `gram_noise` is the standard deviation of a matrix's diagonal (beside it 1/√2 of that), `moment_noise`
    that of a moment, `reward_noise` that of a reward around its mean.

    >>> exact = fit_ridges(np.eye(2)[None] * 50, np.array([[10.0, -5.0]]), gram_noise=0.1, moment_noise=0.1)
    >>> exact.coefficients
    array([[ 0.2, -0.1]])
    """
    size = moments.shape[1]
    least = noise_edge(size, gram_noise)
    values, vectors = np.linalg.eigh(grams)
    raised = np.maximum(values, max(least, 1e-12))
    resolved = np.clip(values.sum(axis=1) / raised.sum(axis=1), LEAST_RESOLVED, 1.0)
    values = raised
    turned = np.einsum("kji,kj->ki", vectors, moments)
    coefficients = np.einsum("kij,kj->ki", vectors, turned / values)
    lengths = np.einsum("ki,ki->k", coefficients, coefficients)[:, None]
    variances = moment_noise**2 + reward_noise**2 * values + gram_noise**2 / 2 * lengths
    covariances = np.einsum("kij,kj,klj->kil", vectors, variances / values**2, vectors)
    # The noise of G hits θ̂ once more along θ̂ itself: cov(Eθ) = σ²/2·(‖θ‖²·I + θθᵀ).
    along = np.einsum("kij,kj->ki", vectors, turned / values**2)
    covariances += gram_noise**2 / 2 * along[:, :, None] * along[:, None, :]
    return Fitted(coefficients, covariances, resolved)


def drawn_together(
    values: Floats, deviations: Floats, variance: float, resolved: float, *, most: float = inf
) -> tuple[Floats, Floats]:
    """Estimates of several things, and their standard deviations, drawn to their common mean.

    The largest of noisy estimates is on average too large. If what is estimated varies by `variance`, and
    estimates are a share `resolved` of it plus noise, its posterior mean is not, whichever is picked.
    Estimates beyond ±`most`, which nothing can be, count as this in the mean.

    >>> values, deviations = drawn_together(np.array([0.0, 2.0]), np.array([1.0, 1.0]), 1.0, 1.0)
    >>> values, deviations.round(2)
    (array([0.5, 1.5]), array([0.87, 0.87]))
    """
    if not np.isfinite(variance):
        return values, deviations
    noise = np.maximum(deviations, 1e-12) ** 2
    total = resolved**2 * variance + noise
    possible = np.clip(values, -most, most)
    mean = np.sum(possible / total, axis=-1, keepdims=True) / np.sum(1 / total, axis=-1, keepdims=True)
    kept = np.minimum(resolved * variance / total, 1.0)
    unsure = variance * noise / total + (1 - kept) ** 2 / np.sum(1 / total, axis=-1, keepdims=True)
    return mean + kept * (values - mean), np.sqrt(np.minimum(unsure, noise))


def beyond_noise(seen: float, noise: float, numbers: int) -> float:
    """The variance of what is estimated, if so many estimates vary by `seen` and noise alone by `noise`.

    A smooth positive part of the difference, as wide as chance is: 0 would take all to be alike for sure.
    """
    chance = noise * sqrt(2 / numbers)
    return (seen - noise + sqrt((seen - noise) ** 2 + chance**2)) / 2
