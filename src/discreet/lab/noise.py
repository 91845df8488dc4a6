"""Noise of the papers in floating point: for simulation and comparison only.

A floating-point sample has gaps that depend on the noise and so can give the data away; no mechanism of discreet uses these.
Both laws factor into a radius and a direction that is uniform in the sense of the l_r ball (the cone measure).

References  Hardt, Talwar (2010), the K-norm mechanism; Bassily, Guzmán, Nandi (2021), the generalised Gaussian
"""

import numpy as np

from discreet.errors import ConfigError
from discreet.release.arrays import Floats
from discreet.release.randomness import Words

__all__ = ["generalised_gaussian", "l2_gamma"]


def l2_gamma(dimension: int, scale: float, words: Words) -> Floats:
    """Density ∝ exp(−‖z‖₂ / scale): a Gamma(d, scale) radius in a uniform direction.

    ε-differentially private for a change of at most ε·scale in the l₂ norm (in exact arithmetic).
    """
    _check(dimension, scale)
    generator = words.floats()
    return np.asarray(_direction(dimension, 2.0, generator) * generator.gamma(dimension, scale), dtype=np.float64)


def generalised_gaussian(dimension: int, sigma: float, norm: float, words: Words) -> Floats:
    """Density ∝ exp(−‖z‖_r² / 2σ²): the squared radius is Gamma(d/2, 2σ²), not Gamma(d/2, 2σ) as is sometimes printed.

    For r ≥ 2 and a change of at most s in the l_r norm it is (r − 1)·s²/2σ²-zCDP (in exact arithmetic).
    """
    _check(dimension, sigma)
    if not norm >= 1:
        raise ConfigError(f"norm must be at least 1, got {norm}")
    generator = words.floats()
    radius = np.sqrt(generator.gamma(dimension / 2, 2 * sigma**2))
    return np.asarray(_direction(dimension, norm, generator) * radius, dtype=np.float64)


def _direction(dimension: int, norm: float, generator: np.random.Generator) -> Floats:
    """A point of the unit l_r sphere: coordinates with density ∝ exp(−|x|^r), divided by their norm."""
    sizes = generator.gamma(1 / norm, size=dimension) ** (1 / norm)
    point = sizes * generator.choice([-1.0, 1.0], size=dimension)
    return np.asarray(point / np.linalg.norm(point, norm), dtype=np.float64)


def _check(dimension: int, scale: float) -> None:
    if dimension < 1 or not (np.isfinite(scale) and scale > 0):
        raise ConfigError(f"dimension must be at least 1 and the scale greater than 0, got {dimension} and {scale}")
