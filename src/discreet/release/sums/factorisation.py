"""Toeplitz factors of the prefix-sum matrix that need only a few buffers.

Prefix sums are a multiplication by the lower triangular matrix A of ones. Releasing y = Cx + noise
and publishing A·C⁻¹y yields all prefixes; the square root C = √A (coefficients c_j = C(2j, j)/4^j)
is nearly the best choice of C. It needs the whole history, but the c_j are the moments of a
positive measure on [0, 1], which a short sum of exponentials approximates as closely as needed:

    c_0 = 1,   c_j = Σ_b ω_b · λ_b^(j−1)        (a "buffered linear Toeplitz" matrix, BLT)

With B buffers a Gauss quadrature reproduces c_1 … c_2B exactly (horizons up to 2B + 1). Beyond
that, rates λ_b with equal spacing in the logarithm and weights by least squares are within 0.3 % of
the square root's error up to 10⁷ rounds (benchmarks/sums.py). Privacy holds for any positive
weights; the choice matters for the error only. The computation takes a millisecond, without SciPy.

Guarantee   docs/guarantees/sums.md, Theorem 3
References  Fichtenberger, Henzinger, Upadhyay (2023)
            Dvijotham, McMahan, Pillutla, Steinke, Thakurta (2024)
"""

from dataclasses import dataclass
from functools import cached_property
from math import lgamma, pi

import numpy as np

from discreet.arrays import Floats, Integers

BUFFERS = 8
"""The largest number of buffers, and of exponentials."""


@dataclass(frozen=True)
class Exponentials:
    """The coefficients c_0 = 1, c_j = Σ_b weight_b · (1 − decay_b)^(j−1).

    `decay` is 1 − λ, so that rates close to 1 do not lose digits.
    """

    decay: Floats
    weight: Floats

    def norm_squared(self, length: int) -> float:
        """Return ‖c‖² over the first `length` coefficients: that of C's largest column."""
        if length <= 1:
            return 1.0
        pairs = np.multiply.outer(self.weight, self.weight)
        sums = _geometric(self.decay[:, None], self.decay[None, :], length - 1)
        return float(1 + np.sum(pairs * sums))

    @cached_property
    def _inverse(self) -> "_Inverse":
        """The coefficients of C⁻¹, which are a sum of exponentials too."""
        return _Inverse.of(self.decay, self.weight)

    def row_norm_squared(self, length: int) -> float:
        """Return the squared norm of row `length` of A·C⁻¹.

        It is the variance of that prefix per unit variance of noise. 1/c is a sum of exponentials
        too: its poles are the zeros of c, one between any two neighbouring rates.
        """
        if self.decay.size == 0:
            return float(length)
        inverse = self._inverse
        settled = inverse.settled
        cross = -np.expm1(length * inverse.logs) @ inverse.fading
        pairs = -np.sum(inverse.fading_pairs * np.expm1(length * inverse.log_pairs))
        return float(np.real(settled**2 * length + 2 * settled * cross + pairs))

    def row_products(self, lengths: Integers) -> Floats:
        """Return the inner products of rows `lengths` (increasing) of A·C⁻¹.

        They are the covariances of these prefixes per unit variance of noise.
        """
        if self.decay.size == 0:
            return np.asarray(np.minimum.outer(lengths, lengths), dtype=np.float64)
        inverse = self._inverse
        settled = inverse.settled
        products = np.empty((len(lengths), len(lengths)))
        for place, length in enumerate(lengths.tolist()):
            later = np.exp(np.multiply.outer(lengths[place:] - length, inverse.logs))
            cross = -np.expm1(length * inverse.logs) * inverse.fading
            pairs = -np.sum(inverse.fading_pairs * np.expm1(length * inverse.log_pairs), axis=0)
            row = np.real(settled**2 * length + settled * ((1 + later) @ cross) + later @ pairs)
            products[place, place:] = products[place:, place] = row
        return products

    def inverse_norm_squared(self, length: int) -> float:
        """Return the squared norm of row `length` of C⁻¹.

        It is the variance of the difference of that prefix to the one before, per unit variance of
        noise.
        """
        if self.decay.size == 0 or length <= 1:
            return 1.0
        inverse = self._inverse
        faded = np.sum(inverse.residue_pairs * np.expm1((length - 1) * inverse.log_pairs))
        return float(1 - np.real(faded))


@dataclass(frozen=True, eq=False)
class _Inverse:
    """1/c as a sum of exponentials, with the products that norms of its rows need."""

    logs: np.ndarray
    """Logarithms of the rates."""
    log_pairs: np.ndarray
    """Sums of all pairs of `logs`."""
    settled: float
    """Limit of the prefix sums of 1/c."""
    fading: Floats
    """Amplitude of each rate in the prefix sums of 1/c, summed over all prefixes."""
    fading_pairs: Floats
    """Products of all pairs of amplitudes in the prefix sums, summed over all prefixes."""
    residue_pairs: Floats
    """Products of all pairs of amplitudes in 1/c itself, summed over all coefficients."""

    @classmethod
    def of(cls, decay: Floats, weight: Floats) -> "_Inverse":
        """Return the inverse of the factor with these decays and weights."""
        zeros, slopes = _zeros(decay, weight)
        residues = -1 / slopes
        fading = -residues / zeros
        logs = _logarithms(zeros)
        apart = zeros[:, None] + zeros[None, :] - zeros[:, None] * zeros[None, :]
        return cls(
            logs=logs,
            log_pairs=np.add.outer(logs, logs),
            settled=1 + float(np.sum(residues / zeros)),
            fading=fading / zeros,
            fading_pairs=np.multiply.outer(fading, fading) / apart,
            residue_pairs=np.multiply.outer(residues, residues) / apart,
        )


def _logarithms(zeros: Floats) -> np.ndarray:
    """log(1 − θ), complex if a zero exceeds 1 and its powers alternate (over 10⁸ releases)."""
    if (zeros < 1).all():
        return np.log1p(-zeros)
    below = np.log1p(-np.minimum(zeros, 0.5)) + 0j
    return np.where(zeros < 0.5, below, np.log((1 - zeros) + 0j))


def factor(horizon: int, buffers: int = BUFFERS) -> Exponentials:
    """Return the factor for `horizon` releases.

    >>> exact = factor(5)
    >>> [round(float(np.sum(exact.weight * (1 - exact.decay) ** j)), 6) for j in range(4)]
    [0.5, 0.375, 0.3125, 0.273438]
    """
    if horizon <= 2 * buffers + 1:
        return _gauss(horizon // 2)
    # Rates closer than a factor of three would make the least-squares weights change sign.
    apart = 1 + int(np.log(horizon / 0.4) / 1.2)
    rates = np.geomspace(1.0, 0.4 / horizon, min(buffers, apart))
    ages = np.unique(np.round(np.geomspace(1, horizon - 1, 200)))
    wanted = np.array([_square_root_coefficient(age) for age in ages])
    design = np.exp(-np.multiply.outer(ages - 1, rates)) / wanted[:, None]
    weight = np.linalg.lstsq(design, np.ones(ages.size))[0]
    return Exponentials(-np.expm1(-rates), weight)


def square_root_norm(horizon: int) -> float:
    """Return ‖c‖² of the exact square root.

    Its square is the largest variance of a prefix for unit sensitivity and unit noise.
    """
    ages = np.arange(1, min(horizon, 10**6))
    logs = np.cumsum(np.log1p(-1 / (2 * ages)))  # logarithms of the coefficients
    total = 1 + float(np.sum(np.exp(2 * logs)))
    if horizon > 10**6:
        # c_j² = 1/(πj) · (1 − 1/(4j) + …): the tail is an integral to ten digits
        total += (np.log((horizon - 0.5) / (10**6 - 0.5)) - (1 / 10**6 - 1 / horizon) / 4) / pi
    return total


def _square_root_coefficient(age: float) -> float:
    """The coefficient c_age of √A: C(2·age, age)/4^age."""
    return float(np.exp(lgamma(age + 0.5) - lgamma(age + 1)) / np.sqrt(pi))


def _gauss(buffers: int) -> Exponentials:
    """The Gauss quadrature of √(λ/(1−λ))/π on [0, 1] (Chebyshev polynomials of the third kind)."""
    angles = (2 * np.arange(1, buffers + 1) - 1) * pi / (2 * buffers + 1)
    nodes = (1 + np.cos(angles)) / 2
    return Exponentials(1 - nodes, 2 * nodes / (2 * buffers + 1))


def _geometric(first: Floats, second: Floats, length: int) -> Floats:
    """Σ_{t < length} ((1−first)(1−second))^t, without cancellation for small arguments."""
    grown = -np.expm1(length * (np.log1p(-first) + np.log1p(-second)))
    return np.asarray(grown / (first + second - first * second), dtype=np.float64)


def _zeros(decay: Floats, weight: Floats) -> tuple[Floats, Floats]:
    """The zeros θ of 1 + Σ weight/(decay − θ), by bisection between its poles, and the slopes."""
    order = np.argsort(decay)
    poles = decay[order]
    weight = weight[order]
    # Distances from the pole below, so that zeros close to it do not lose digits.
    low = np.zeros_like(poles)
    high = np.append(np.diff(poles), weight.sum())
    apart = poles[None, :] - poles[:, None]
    for _ in range(80):
        middle = (low + high) / 2
        negative = 1 + np.sum(weight / (apart - middle[:, None]), axis=1) < 0
        low = np.where(negative, middle, low)
        high = np.where(negative, high, middle)
    distance = (low + high) / 2
    slopes = np.sum(weight / (apart - distance[:, None]) ** 2, axis=1)
    return poles + distance, slopes
