"""Ridge regression from noisy second moments, one regression per slot.

    θ̂ = G⁺ b        G = Σ zzᵀ + noise,  b = Σ u·z + noise

The noise of G has eigenvalues up to about √(2D) times the standard deviation of its diagonal.
Smaller eigenvalues are not resolved and are raised to that value, which is the ridge. The
covariance of θ̂ contains the noise of b, the noise of rewards, and the noise of G times θ̂.

All of it is computed from released values.

References  Sheffet (2017), "Differentially Private Ordinary Least Squares"
"""

from dataclasses import dataclass

import numpy as np

from discreet.arrays import Floats
from discreet.optim.spiked_covariance import noise_edge

LEAST_RESOLVED = 0.1
"""Least value of `Fitted.resolved`, for slots where noise hides all second moments."""


@dataclass(frozen=True, eq=False)
class Fitted:
    """Coefficients (slots × D) and their covariances (slots × D × D)."""

    coefficients: Floats
    covariances: Floats
    resolved: Floats
    """Share of each slot's second moments before the ridge: about the shrinkage of coefficients."""


def fit_ridges(
    grams: Floats,
    moments: Floats,
    *,
    gram_noise: float,
    moment_noise: float,
    reward_noise: float = 1.0,
) -> Fitted:
    """Return the ridge regressions of all slots.

    `gram_noise` is the standard deviation of a matrix's diagonal (off the diagonal it is 1/√2 of
    that), `moment_noise` that of a moment, `reward_noise` that of a reward around its mean.

    >>> grams, moments = np.eye(2)[None] * 50, np.array([[10.0, -5.0]])
    >>> fit_ridges(grams, moments, gram_noise=0.1, moment_noise=0.1).coefficients
    array([[ 0.2, -0.1]])
    """
    size = moments.shape[1]
    least = noise_edge(size, gram_noise)
    values, vectors = np.linalg.eigh(grams)
    raised = np.maximum(values, max(least, 1e-12))
    resolved = np.clip(values.sum(axis=1) / raised.sum(axis=1), LEAST_RESOLVED, 1.0)
    rotated = np.einsum("kji,kj->ki", vectors, moments)
    coefficients = np.einsum("kij,kj->ki", vectors, rotated / raised)
    squares = np.einsum("ki,ki->k", coefficients, coefficients)[:, None]
    variances = moment_noise**2 + reward_noise**2 * raised + gram_noise**2 / 2 * squares
    covariances = np.einsum("kij,kj,klj->kil", vectors, variances / raised**2, vectors)
    # The noise E of G has more variance along θ̂ itself: cov(Eθ) = σ²/2·(‖θ‖²·I + θθᵀ).
    along = np.einsum("kij,kj->ki", vectors, rotated / raised**2)
    covariances += gram_noise**2 / 2 * along[:, :, None] * along[:, None, :]
    return Fitted(coefficients, covariances, resolved)
