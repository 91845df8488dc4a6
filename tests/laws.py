"""Exact laws and divergences, written independently of the library."""

from fractions import Fraction

import mpmath
import numpy as np

from discreet.release.selection import Selection

ORDERS = np.concatenate([np.linspace(1.01, 4, 25), np.geomspace(4, 5000, 40)])


def gaussian_law(sigma: int, reach: int) -> dict[int, mpmath.mpf]:
    """The discrete Gaussian on −reach … reach."""
    weights = {x: mpmath.exp(-(mpmath.mpf(x) ** 2) / (2 * mpmath.mpf(sigma) ** 2)) for x in range(-reach, reach + 1)}
    total = mpmath.fsum(weights.values())
    return {x: weight / total for x, weight in weights.items()}


def laplace_law(scale: int, reach: int) -> dict[int, mpmath.mpf]:
    """The discrete Laplace on −reach … reach."""
    weights = {x: mpmath.exp(-mpmath.mpf(abs(x)) / scale) for x in range(-reach, reach + 1)}
    total = mpmath.fsum(weights.values())
    return {x: weight / total for x, weight in weights.items()}


def selection_law(selection: Selection, scores: list[int], available: list[bool] | None = None) -> list[Fraction]:
    """The exact probabilities of a draw, from the integer weights of the shipped kernel."""
    mask = None if available is None else np.array(available)
    high, low = selection.weights(np.array(scores, dtype=np.int64), mask)
    weights = [(int(top) << 64) + int(bottom) for top, bottom in zip(high, low, strict=True)]
    return [Fraction(weight, sum(weights)) for weight in weights]


def zcdp_of(here: list[Fraction], there: list[Fraction], orders: np.ndarray = ORDERS) -> float:
    """The smallest ρ with D_α(here‖there) ≤ αρ on a grid of orders, both ways round."""
    largest = mpmath.mpf(0)
    for first, second in ((here, there), (there, here)):
        for order in map(mpmath.mpf, orders):
            moment = mpmath.fsum(
                (mpmath.mpf(p.numerator) / p.denominator) ** order * (mpmath.mpf(q.numerator) / q.denominator) ** (1 - order)
                for p, q in zip(first, second, strict=True)
                if p > 0
            )
            largest = max(largest, mpmath.log(moment) / (order - 1) / order)
    return float(largest)


def epsilon_of(here: list[Fraction], there: list[Fraction]) -> float:
    """The smallest pure ε."""
    return max(abs(float(mpmath.log(mpmath.mpf(p.numerator) * q.denominator / (mpmath.mpf(p.denominator) * q.numerator)))) for p, q in zip(here, there, strict=True))  # fmt: skip  # noqa: E501
