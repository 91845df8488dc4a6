"""Conversion between ρ-zCDP and (ε, δ)-DP, by the tightest known formula.

    log δ(ε) = min over α > 1 of  (α − 1)(αρ − ε + log(1 − 1/α)) − log α

Every α yields a valid bound, so the search for the best one cannot err on the unsafe side. The
inverse functions return the safe end of their last bisection interval.

Guarantee   docs/guarantees/ledger.md, Theorem 1
References  Canonne, Kamath, Steinke (2020), "The Discrete Gaussian for Differential Privacy",
            Proposition 12
"""

from collections.abc import Callable
from functools import lru_cache
from math import exp, inf, log, log1p, sqrt

_HALVINGS = 200
"""Bisection steps, more than floats can tell apart."""


def _boundary(below: Callable[[float], bool], low: float, high: float) -> tuple[float, float]:
    """Bisect until `low` (`below` holds) and `high` (`below` fails) are neighbouring floats."""
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if not low < middle < high:
            break
        if below(middle):
            low = middle
        else:
            high = middle
    return low, high


def delta_of(rho: float, epsilon: float) -> float:
    """Return the smallest δ that ρ-zCDP is known to imply at this ε.

    >>> f"{delta_of(0.024356, 1.0):.4g}"
    '1e-06'
    """
    if rho <= 0:
        return 0.0

    def slope_is_negative(alpha: float) -> bool:
        return (2 * alpha - 1) * rho - epsilon + log1p(-1 / alpha) < 0

    _, alpha = _boundary(slope_is_negative, 1.0 + 1e-12, (epsilon + 1) / (2 * rho) + 2)
    exponent = (alpha - 1) * (alpha * rho - epsilon + log1p(-1 / alpha)) - log(alpha)
    return min(1.0, exp(min(exponent, 0.0)))


@lru_cache(maxsize=1024)
def epsilon_of(rho: float, delta: float) -> float:
    """Return the smallest ε that ρ-zCDP is known to imply at this δ.

    >>> f"{epsilon_of(0.024356, 1e-6):.4f}"
    '1.0000'
    """
    if rho <= 0:
        return 0.0
    if delta <= 0:
        return inf
    enough = rho + 2 * sqrt(rho * log(1 / delta))
    _, high = _boundary(lambda epsilon: delta_of(rho, epsilon) > delta, 0.0, enough)
    return high


@lru_cache(maxsize=256)
def rho_of(epsilon: float, delta: float) -> float:
    """Return the largest ρ that implies (ε, δ)-DP.

    >>> f"{rho_of(1.0, 1e-6):.6f}"
    '0.024356'
    """
    high = 1.0
    while delta_of(high, epsilon) <= delta:
        high *= 2
    low, _ = _boundary(lambda rho: delta_of(rho, epsilon) <= delta, 0.0, high)
    return low
