"""Privacy loss of noise with density ∝ exp(−‖z‖_r²/2σ²), for any index r > 0, by numerical
integration.

For r ≥ 2 the norm is smooth, and one number bounds the loss
(discreet/papers/printed/lp_geometry.py). Below, gradients of ‖z‖_r² jump or are infinite where a
coordinate is 0, no such bound holds, and the loss is integrated:

    L(z) = ln p(z) − ln p(z − Δ) = (‖z − Δ‖_r² − ‖z‖_r²)/2σ²,   z drawn from p
    δ(ε) = E max(0, 1 − e^(ε − L)),  of several nodes with L the sum of independent losses

Δ has equal coordinates: of all changes with the same l_q length, q > r, it is the longest in l_r.
Another one may cost more, so what is found here is a lower bound for the noise's ε and δ.

Symbols     d the dimension, r the `order` of the norm, lengths in units of σ
Runtime     2^15 quasi-random points of d + 1 numbers; sums of losses by a fast Fourier transform
"""

from functools import cache

import numpy as np

from discreet.arrays import Floats

POINTS = 15
"""Points of the integration, as a power of 2."""
BINS = 2**15
"""Losses are rounded down to so many parts of the largest one: δ is never overstated by that."""


@cache
def losses(dimension: int, order: float, length: float, dual: float) -> Floats:
    """L at points that are equally likely, for the change with equal coordinates and this l_q
    length.

    With the index r = 2 the noise is Gaussian, and the change here is of length 0.3:

    >>> round(float(losses(4, 2.0, 0.3, 2.0).mean()), 3)         # ‖Δ‖²/2σ²
    0.045
    """
    from scipy.special import gammaincinv
    from scipy.stats.qmc import Sobol

    spread = Sobol(dimension + 1, scramble=True, seed=1).random_base2(POINTS)
    # ‖z‖_r² is Gamma(d/2, 2); |z_i|^r are independent Gamma(1/r) but for their sum, signs are fair
    # coins.
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
    """δ(ε) of this number of nodes with independent noise, all moved by the same Δ: a lower bound.

    >>> from discreet.papers.errata.erratum import gaussian_delta
    >>> exact = gaussian_delta(1.0, 0.3 * 11**0.5)               # of 11 nodes with Gaussian noise
    >>> bool(abs(delta_given(1.0, 4, 2.0, 0.3, 2.0, nodes=11) / exact - 1) < 0.02)
    True
    """
    sums, chances = _summed(dimension, order, length, dual, nodes)
    return _beyond(epsilon, sums, chances)


def epsilon_given(
    delta: float, dimension: int, order: float, length: float, dual: float, *, nodes: int = 1
) -> float:
    """The least ε with δ(ε) ≤ δ, by bisection: a lower bound.

    >>> round(epsilon_given(1e-3, 4, 2.0, 0.3, 2.0, nodes=11), 1)   # as of Gaussian noise
    3.1
    """
    sums, chances = _summed(dimension, order, length, dual, nodes)
    low, high = 0.0, max(0.0, float(sums[-1]))
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
    """The sums that the losses of all nodes can have, on a grid, and their chances."""
    found = losses(dimension, order, length, dual)
    step = float(np.abs(found).max()) / BINS
    places = np.floor(found / step).astype(np.int64)
    first = int(places.min())
    chances = np.bincount(places - first) / len(found)
    size = nodes * (len(chances) - 1) + 1
    summed = np.fft.irfft(np.fft.rfft(chances, 2 * size) ** nodes, 2 * size)[:size]
    sums = step * (nodes * first + np.arange(size, dtype=np.float64))
    return sums, np.maximum(summed, 0.0).astype(np.float64)
