"""Shrinkage of noisy estimates: towards zero, or towards each other.

All arguments are released values and calibrated variances: post-processing.

References  James, Stein (1961); Efron, Morris (1973)
"""

from math import inf, sqrt

import numpy as np

from discreet.arrays import Floats


def james_stein(squared: float, noise: float) -> float:
    """Return the factor that shrinks an estimate by its own noise, in the manner of James and
    Stein.

    `squared` is the squared length of the estimate, `noise` the part of it that is expected of
    noise.

    >>> james_stein(4.0, 1.0), james_stein(0.5, 1.0)
    (0.75, 0.0)
    """
    signal = max(squared - noise, 0.0)
    return signal / (signal + noise)


def drawn_together(
    values: Floats, deviations: Floats, variance: float, resolved: float, *, most: float = inf
) -> tuple[Floats, Floats]:
    """Estimates of several things, and their standard deviations, drawn to their common mean.

    The largest of noisy estimates is on average too large. If what is estimated varies by
    `variance`, and estimates are a share `resolved` of it plus noise, its posterior mean is not,
    whichever is picked. Estimates beyond ±`most`, which nothing can be, count as this in the mean.

    >>> values, deviations = drawn_together(np.array([0.0, 2.0]), np.array([1.0, 1.0]), 1.0, 1.0)
    >>> values, deviations.round(2)
    (array([0.5, 1.5]), array([0.87, 0.87]))
    """
    if not np.isfinite(variance):
        return values, deviations
    noise = np.maximum(deviations, 1e-12) ** 2
    total = resolved**2 * variance + noise
    possible = np.clip(values, -most, most)
    mean = np.sum(possible / total, axis=-1, keepdims=True) / np.sum(
        1 / total, axis=-1, keepdims=True
    )
    kept = np.minimum(resolved * variance / total, 1.0)
    unsure = variance * noise / total + (1 - kept) ** 2 / np.sum(1 / total, axis=-1, keepdims=True)
    return mean + kept * (values - mean), np.sqrt(np.minimum(unsure, noise))


def beyond_noise(seen: float, noise: float, numbers: int) -> float:
    """The variance of what is estimated, if so many estimates vary by `seen` and noise alone by
    `noise`.

    A smooth positive part of the difference, as wide as chance is: 0 would take all to be alike for
    sure.
    """
    chance = noise * sqrt(2 / numbers)
    return (seen - noise + sqrt((seen - noise) ** 2 + chance**2)) / 2
