"""Shrinkage of an estimate towards its start by its own known noise: hardly worse than publishing
nothing.

    κ = 0                                        if q ≤ t
    κ = 1 − (d + (t − d)·(t/q)²)/q               else        t = d + 2√(2d) + 2
    κ = max(0, 1 − t/q)                          for d ≤ 5

q is the squared length of the estimate in standard deviations of its noise, d the number of
coordinates. For an estimate with normal noise and signal-to-noise ratio s² (squared length of the
truth over d variances), the expected squared error over that of publishing the start is, at d = 10,

    s²              0.1    0.5    1      4      16
    unshrunk        10     2      1      .25    .06
    James–Stein     2.07   .89    .61    .21    .06
    faded           1.04   .96    .83    .24    .06

All arguments are released values and calibrated variances: post-processing.

References  James, Stein (1961); Efron, Morris (1973)
"""

from math import sqrt


def threshold_shrinkage(squared: float, size: int) -> float:
    """The factor κ for an estimate of `size` coordinates with this squared length in standard
    deviations.

    >>> threshold_shrinkage(12.0, 10), round(threshold_shrinkage(100.0, 10), 2), round(threshold_shrinkage(1e6, 10), 4)
    (0.0, 0.9, 1.0)
    """
    threshold = size + 2 * sqrt(2 * size) + 2
    if squared <= threshold:
        return 0.0
    if size <= 5:
        return 1 - threshold / squared
    return 1 - (size + (threshold - size) * (threshold / squared) ** 2) / squared
