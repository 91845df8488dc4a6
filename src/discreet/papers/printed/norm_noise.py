"""Privacy loss of noise with density ∝ exp(−‖z‖_r²/2σ²), r > 0, by numerical integration.

For r ≥ 2 the norm is smooth, and one number bounds the loss
(discreet/papers/printed/lp_geometry.py). For r < 2 gradients of ‖z‖_r² jump or are infinite where a
coordinate is 0, no such bound holds, and the loss is integrated:

    L(z) = ln p(z) − ln p(z − Δ) = (‖z − Δ‖_r² − ‖z‖_r²)/2σ²,   z drawn from p
    δ(ε) = E max(0, 1 − e^(ε − L)),  for several nodes with L the sum of independent losses

Δ has equal coordinates: among all changes of the same l_q length, q > r, it is the longest in l_r.
Another change may cost more, so the results are lower bounds of the noise's ε and δ.

Symbols     d the dimension, r the `order` of the norm, lengths in units of σ
Runtime     2^15 quasi-random points of d + 1 numbers; sums of losses by a fast Fourier transform
"""

from functools import cache

import numpy as np

from discreet.arrays import Floats

POINTS = 15
"""Number of points of the integration, as a power of 2."""
BINS = 2**15
"""Losses are rounded down to this number of parts of the largest one; δ is never overstated."""


@cache
def losses(dimension: int, order: float, length: float, dual: float) -> Floats:
    """Return L at equally likely points, for the change with equal coordinates and l_q length.

    With index r = 2 the noise is Gaussian and the mean of L is ‖Δ‖²/2σ²; here Δ has length 0.3:

    >>> round(float(losses(4, 2.0, 0.3, 2.0).mean()), 3)
    0.045
    """
    from scipy.special import gammaincinv
    from scipy.stats.qmc import Sobol

    spread = Sobol(dimension + 1, scramble=True, seed=1).random_base2(POINTS)
    # ‖z‖_r² is Gamma(d/2, 2); |z_i|^r are independent Gamma(1/r) up to their sum; signs are fair.
    signs = np.sign(spread[:, :-1] - 0.5)
    parts = gammaincinv(1 / order, np.abs(2 * spread[:, :-1] - 1))
    radii = np.sqrt(2 * gammaincinv(dimension / 2, spread[:, -1]))
    shares = parts / parts.sum(axis=1, keepdims=True)
    noise = radii[:, None] * signs * shares ** (1 / order)
    moved = np.sum(np.abs(noise - length / dimension ** (1 / dual)) ** order, axis=1) ** (2 / order)
    return np.asarray((moved - radii**2) / 2)


def delta_given(
    epsilon: float, dimension: int, order: float, length: float, dual: float, *, nodes: int = 1
) -> float:
    """Lower bound of δ(ε) for nodes with independent noise, all moved by the same Δ.

    With 11 nodes of Gaussian noise it is close to the exact δ:

    >>> from discreet.papers.errata.erratum import gaussian_delta
    >>> exact = gaussian_delta(1.0, 0.3 * 11**0.5)
    >>> bool(abs(delta_given(1.0, 4, 2.0, 0.3, 2.0, nodes=11) / exact - 1) < 0.02)
    True
    """
    sums, chances = _summed(dimension, order, length, dual, nodes)
    return _beyond(epsilon, sums, chances)


def epsilon_given(
    delta: float, dimension: int, order: float, length: float, dual: float, *, nodes: int = 1
) -> float:
    """Lower bound of the least ε with δ(ε) ≤ δ, by bisection.

    >>> round(epsilon_given(1e-3, 4, 2.0, 0.3, 2.0, nodes=11), 1)
    3.1
    """
    sums, chances = _summed(dimension, order, length, dual, nodes)
    low = 0.0
    high = max(0.0, float(sums[-1]))
    for _ in range(50):
        middle = (low + high) / 2
        if _beyond(middle, sums, chances) > delta:
            low = middle
        else:
            high = middle
    return high


def _beyond(epsilon: float, sums: Floats, chances: Floats) -> float:
    """E max(0, 1 − e^(ε − L)), for sums in ascending order."""
    first = int(np.searchsorted(sums, epsilon))
    return float(-chances[first:] @ np.expm1(epsilon - sums[first:]))


@cache
def _summed(
    dimension: int, order: float, length: float, dual: float, nodes: int
) -> tuple[Floats, Floats]:
    """Return the possible sums of all nodes' losses, on a grid, and their probabilities."""
    node_losses = losses(dimension, order, length, dual)
    step = float(np.abs(node_losses).max()) / BINS
    places = np.floor(node_losses / step).astype(np.int64)
    first = int(places.min())
    chances = np.bincount(places - first) / len(node_losses)
    size = nodes * (len(chances) - 1) + 1
    summed = np.fft.irfft(np.fft.rfft(chances, 2 * size) ** nodes, 2 * size)[:size]
    sums = step * (nodes * first + np.arange(size, dtype=np.float64))
    return sums, np.maximum(summed, 0.0).astype(np.float64)
