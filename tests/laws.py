"""Exact laws and divergences, independent of the library's code."""

from fractions import Fraction

import mpmath
import numpy as np

from discreet.release.selection import Selection

ORDERS = np.concatenate([np.linspace(1.01, 4, 25), np.geomspace(4, 5000, 40)])
"""The orders α at which divergences are compared."""
FEW_ORDERS = np.array([1.01, 2.0, 6.0])


def gaussian_law(sigma: int, reach: int) -> dict[int, mpmath.mpf]:
    """Return the discrete Gaussian law on −reach … reach."""
    variance = mpmath.mpf(sigma) ** 2
    weights = {
        x: mpmath.exp(-(mpmath.mpf(x) ** 2) / (2 * variance)) for x in range(-reach, reach + 1)
    }
    total = mpmath.fsum(weights.values())
    return {x: weight / total for x, weight in weights.items()}


def laplace_law(scale: int, reach: int) -> dict[int, mpmath.mpf]:
    """Return the discrete Laplace law on −reach … reach."""
    weights = {x: mpmath.exp(-mpmath.mpf(abs(x)) / scale) for x in range(-reach, reach + 1)}
    total = mpmath.fsum(weights.values())
    return {x: weight / total for x, weight in weights.items()}


def selection_law(
    selection: Selection, scores: list[int], available: list[bool] | None = None
) -> list[Fraction]:
    """Return the exact probabilities of a draw, from the kernel's integer weights."""
    mask = None if available is None else np.array(available)
    high, low = selection.weights(np.array(scores, dtype=np.int64), mask)
    weights = [(int(top) << 64) + int(bottom) for top, bottom in zip(high, low, strict=True)]
    return [Fraction(weight, sum(weights)) for weight in weights]


def zcdp_of(here: list[Fraction], there: list[Fraction], orders: np.ndarray = ORDERS) -> float:
    """Return the smallest ρ with D_α ≤ αρ on a grid of orders, in both directions."""
    pairs = [(_real(p), _real(q)) for p, q in zip(here, there, strict=True) if p > 0 or q > 0]
    largest = mpmath.mpf(0)
    for order in map(mpmath.mpf, orders):
        for forth in (True, False):
            moment = mpmath.fsum(
                (p**order * q ** (1 - order)) if forth else (q**order * p ** (1 - order))
                for p, q in pairs
            )
            largest = max(largest, mpmath.log(moment) / (order - 1) / order)
    return float(largest)


def epsilon_of(here: list[Fraction], there: list[Fraction]) -> float:
    """Return the smallest ε of pure DP for two laws."""
    pairs = [(_real(p), _real(q)) for p, q in zip(here, there, strict=True) if p > 0 or q > 0]
    return max(abs(float(mpmath.log(p / q))) for p, q in pairs)


def _real(fraction: Fraction) -> mpmath.mpf:
    return mpmath.mpf(fraction.numerator) / fraction.denominator
