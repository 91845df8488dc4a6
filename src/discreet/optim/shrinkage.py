"""Shrinkage of noisy estimates: towards zero, towards their start, or towards each other.

All arguments are released values and calibrated variances: post-processing.

References  James, Stein (1961); Efron, Morris (1973)
"""

from math import inf, sqrt

import numpy as np

from discreet.arrays import Floats


def james_stein(squared: float, noise: float) -> float:
    """Return the James–Stein factor that shrinks an estimate by its own noise.

    `squared` is the squared length of the estimate, `noise` the expected squared length of its
    noise.

    >>> james_stein(4.0, 1.0), james_stein(0.5, 1.0)
    (0.75, 0.0)
    """
    signal = max(squared - noise, 0.0)
    return signal / (signal + noise)


def threshold_shrinkage(squared: float, size: int) -> float:
    """Return the factor κ that shrinks an estimate of `size` coordinates towards its start.

    `squared` is q, the squared length of the estimate in standard deviations of its noise, and
    `size` is d. The estimate is hardly worse than publishing the start:

        κ = 0                                        if q ≤ t
        κ = 1 − (d + (t − d)·(t/q)²)/q               else        t = d + 2√(2d) + 2
        κ = max(0, 1 − t/q)                          for d ≤ 5

    For an estimate with normal noise and signal-to-noise ratio s² (squared length of the truth over
    d variances), the expected squared error over that of publishing the start is, at d = 10,

        s²              0.1    0.5    1      4      16
        unshrunk        10     2      1      .25    .06
        James–Stein     2.07   .89    .61    .21    .06
        threshold       1.04   .96    .83    .24    .06

    >>> threshold_shrinkage(12.0, 10), round(threshold_shrinkage(100.0, 10), 2)
    (0.0, 0.9)
    """
    threshold = size + 2 * sqrt(2 * size) + 2
    if squared <= threshold:
        return 0.0
    if size <= 5:
        return 1 - threshold / squared
    return 1 - (size + (threshold - size) * (threshold / squared) ** 2) / squared


def shrink_to_common_mean(
    values: Floats, deviations: Floats, variance: float, resolved: float, *, most: float = inf
) -> tuple[Floats, Floats]:
    """Return estimates shrunk to their common mean, and the posterior standard deviations.

    The largest of several noisy estimates is too large on average. If the true values vary by
    `variance`, and an estimate is a share `resolved` of the true value plus noise, the posterior
    mean is right on average, whichever value is selected. Estimates beyond ±`most`, which no true
    value reaches, count as ±`most` in the common mean.

    >>> values, deviations = shrink_to_common_mean(np.array([0.0, 2.0]), np.ones(2), 1.0, 1.0)
    >>> values, deviations.round(2)
    (array([0.5, 1.5]), array([0.87, 0.87]))
    """
    if not np.isfinite(variance):
        return values, deviations
    noise = np.maximum(deviations, 1e-12) ** 2
    total = resolved**2 * variance + noise
    possible = np.clip(values, -most, most)
    precision = np.sum(1 / total, axis=-1, keepdims=True)
    mean = np.sum(possible / total, axis=-1, keepdims=True) / precision
    factor = np.minimum(resolved * variance / total, 1.0)
    posterior = variance * noise / total + (1 - factor) ** 2 / precision
    return mean + factor * (values - mean), np.sqrt(np.minimum(posterior, noise))


def excess_variance(seen: float, noise: float, numbers: int) -> float:
    """Return the variance of the true values, for estimates of variance `seen` and noise `noise`.

    This is a smooth positive part of the difference, smoothed by its standard deviation over
    `numbers` estimates: the value 0 would treat all true values as equal for certain.
    """
    deviation = noise * sqrt(2 / numbers)
    return (seen - noise + sqrt((seen - noise) ** 2 + deviation**2)) / 2
