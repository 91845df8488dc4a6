"""Domains of points: boxes, l_p balls and simplices, with the operations that learners need.

    corner(direction)        argmin over the domain of ⟨direction, v⟩: Frank–Wolfe's oracle
    project(point)           the nearest point of the domain
    lead(total, stiffness)   argmin of ⟨total, x⟩ + stiffness · ψ(x): the regularised leader
    spread                   max ψ − min ψ; ψ is 1-strongly convex in the domain's norm
    dual_norm(vector)        the dual of that norm
    noise_square             about E‖z‖² in the dual norm for standard normal z, or more
    diameter(order)          the largest distance of two points in the l_order norm
    dual                     q with 1/p + 1/q = 1: the norm in which features are bounded

Domains are public and never depend on a person's data. `Domain` documents all methods.

References  Hazan (2016), "Introduction to Online Convex Optimization"
            Duchi et al. (2008), projection onto the l₁ ball
"""

from dataclasses import dataclass, field
from math import gamma, inf, log, pi, sqrt
from typing import Protocol, runtime_checkable

import numpy as np

from discreet import require
from discreet.arrays import Floats
from discreet.errors import ConfigError

SMALLEST, LARGEST = 1e-150, 1e150
"""Bounds on lengths: their squares are far inside the range of floats."""


@runtime_checkable
class Domain(Protocol):
    """A convex set of decisions, with a regulariser ψ that fits its geometry."""

    @property
    def dimension(self) -> int:
        """Number of coordinates of a point."""

    @property
    def dual(self) -> float:
        """q with 1/p + 1/q = 1: the norm in which features are bounded."""

    @property
    def spread(self) -> float:
        """Range of the regulariser: max ψ − min ψ over the domain."""

    @property
    def noise_square(self) -> float:
        """About E‖z‖² in the dual norm for standard normal z, or more."""

    @property
    def corners(self) -> int:
        """Number of corners if that is about the dimension; 0 otherwise."""

    def corner_at(self, number: int) -> Floats:
        """Return the corner with this number."""

    def dual_norm(self, vector: Floats) -> float:
        """Return the dual of the norm in which ψ is 1-strongly convex."""

    def diameter(self, order: float) -> float:
        """Return the largest distance of two points in the l_order norm."""

    def reach(self, point: Floats) -> float:
        """Return how far a point is from the middle, as a share: 1 on the boundary.

        For a domain whose points all lie on the boundary the share is 0.
        """

    def start(self) -> Floats:
        """Return the point of least ψ."""

    def corner(self, direction: Floats) -> Floats:
        """Return the point v of least ⟨direction, v⟩."""

    def project(self, point: Floats) -> Floats:
        """Return the nearest point of the domain."""

    def lead(self, total: Floats, stiffness: float) -> Floats:
        """Return the point x of least ⟨total, x⟩ + stiffness · ψ(x)."""


def _check_sizes(dimension: int, **positive: float) -> None:
    """Refuse sizes for which the domain would be empty or unbounded."""
    require.whole("dimension", dimension)
    for name, value in positive.items():
        require.number(name, value, SMALLEST, LARGEST)


@dataclass(frozen=True)
class Box:
    """A box: {x : low ≤ x_i ≤ high for every i}, with ψ(x) = ½·‖x − middle‖².

    Parameters
    ----------
    dimension
        Number of coordinates.
    low, high
        Bounds on every coordinate.

    Examples
    --------
    >>> Box(2, low=0.0, high=1.0).lead(np.array([3.0, -0.5]), stiffness=2.0)
    array([0.  , 0.75])
    """

    dimension: int
    low: float = -1.0
    high: float = 1.0

    def __post_init__(self) -> None:
        low = require.number("low", self.low, -LARGEST, LARGEST)
        high = require.number("high", self.high, -LARGEST, LARGEST)
        _check_sizes(self.dimension, width=high - low)

    @property
    def dual(self) -> float:
        return 1.0

    @property
    def spread(self) -> float:
        return self.dimension * (self.high - self.low) ** 2 / 8

    @property
    def noise_square(self) -> float:
        return float(self.dimension)

    def dual_norm(self, vector: Floats) -> float:
        return float(np.linalg.norm(vector))

    @property
    def corners(self) -> int:
        return 0

    def corner_at(self, number: int) -> Floats:
        raise ConfigError("a box has too many corners to number them")

    def diameter(self, order: float) -> float:
        return float((self.high - self.low) * self.dimension ** (1 / order))

    def reach(self, point: Floats) -> float:
        return float(np.max(np.abs(point - self.start()))) * 2 / (self.high - self.low)

    def start(self) -> Floats:
        return np.full(self.dimension, (self.low + self.high) / 2)

    def corner(self, direction: Floats) -> Floats:
        return np.where(direction > 0, self.low, self.high)

    def project(self, point: Floats) -> Floats:
        return np.clip(point, self.low, self.high)

    def lead(self, total: Floats, stiffness: float) -> Floats:
        return self.project(self.start() - total / stiffness)


@dataclass(frozen=True)
class LpBall:
    """An l_p ball: {x : ‖x‖_p ≤ radius}, for any p from 1 to infinity.

    The regulariser ψ fits the geometry: ‖x‖_p²/(2(p − 1)) for 1 < p ≤ 2, whose leader is a closed
    form; ½·‖x‖₂² for p > 2; and for p = 1 the entropy of x as a mixture of the 2d corners, so that
    the regret grows with log d only.

    Parameters
    ----------
    dimension
        Number of coordinates.
    p
        Order of the norm, from 1 to infinity (`math.inf`; `inf` in TOML).
    radius
        Largest norm of a point.

    Examples
    --------
    >>> LpBall(3, p=1).corner(np.array([0.5, -2.0, 1.0]))
    array([0., 1., 0.])
    >>> LpBall(2, p=1.5, radius=2.0).project(np.array([3.0, 0.0]))
    array([2., 0.])
    """

    dimension: int
    p: float = field(default=2.0, metadata={"infinite": True})
    radius: float = 1.0

    def __post_init__(self) -> None:
        _check_sizes(self.dimension, radius=self.radius)
        require.number("p", self.p, 1.0, inf)

    @property
    def dual(self) -> float:
        return _dual(self.p)

    @property
    def spread(self) -> float:
        if self.p == 1:
            return self.radius**2 * log(2 * self.dimension)
        if self.p <= 2:
            return self.radius**2 / (2 * (self.p - 1))
        return float(self.radius**2 * self.dimension ** (1 - 2 / self.p) / 2)

    @property
    def noise_square(self) -> float:
        return _noise_square(self.dimension, min(self.p, 2.0))

    def dual_norm(self, vector: Floats) -> float:
        return _norm(vector, _dual(min(self.p, 2.0)))

    @property
    def corners(self) -> int:
        return 2 * self.dimension if self.p == 1 else 0

    def corner_at(self, number: int) -> Floats:
        corner = np.zeros(self.dimension)
        corner[number % self.dimension] = self.radius if number < self.dimension else -self.radius
        return corner

    def diameter(self, order: float) -> float:
        return float(2 * self.radius * self.dimension ** max(0.0, 1 / order - 1 / self.p))

    def reach(self, point: Floats) -> float:
        return float(np.linalg.norm(point, self.p)) / self.radius

    def start(self) -> Floats:
        return np.zeros(self.dimension)

    def corner(self, direction: Floats) -> Floats:
        if self.p == 1:
            place = int(np.argmax(np.abs(direction)))
            corner = np.zeros(self.dimension)
            corner[place] = -self.radius * np.sign(direction[place]) or self.radius
            return corner
        return -self.radius * _dual_map(direction, self.dual)

    def project(self, point: Floats) -> Floats:
        if _norm(point, self.p) <= self.radius:
            return point
        if self.p == 1:
            return np.sign(point) * _onto_simplex(np.abs(point), self.radius)
        if self.p == 2:
            return np.asarray(point * (self.radius / np.linalg.norm(point)), dtype=np.float64)
        if self.p == inf:
            return np.clip(point, -self.radius, self.radius)
        return np.sign(point) * _onto_lp(np.abs(point), self.p, self.radius)

    def lead(self, total: Floats, stiffness: float) -> Floats:
        if self.p == 1:
            scores = np.concatenate([-total, total]) / (stiffness * self.radius)
            shares = np.exp(scores - scores.max())
            shares /= shares.sum()
            difference = shares[: self.dimension] - shares[self.dimension :]
            return np.asarray(self.radius * difference, dtype=np.float64)
        if self.p > 2:
            return self.project(-total / stiffness)
        # ⟨v, x⟩ + (h/2)‖x‖_p² is least along the dual map of v, at length min(radius, ‖v‖_q / h).
        length = _norm(total, self.dual) * (self.p - 1) / stiffness
        return -min(self.radius, length) * _dual_map(total, self.dual)


@dataclass(frozen=True)
class Simplex:
    """A simplex: {x : x ≥ 0, Σ x_i = total}, with the entropy as ψ.

    Parameters
    ----------
    dimension
        Number of coordinates.
    total
        Sum of the coordinates.

    Examples
    --------
    >>> Simplex(3).project(np.array([1.0, 0.5, -2.0]))
    array([0.75, 0.25, 0.  ])
    """

    dimension: int
    total: float = 1.0

    def __post_init__(self) -> None:
        _check_sizes(self.dimension, total=self.total)

    @property
    def dual(self) -> float:
        return inf

    @property
    def spread(self) -> float:
        return self.total**2 * log(max(2, self.dimension))

    @property
    def noise_square(self) -> float:
        return _noise_square(self.dimension, 1.0)

    def dual_norm(self, vector: Floats) -> float:
        return float(np.max(np.abs(vector)))

    @property
    def corners(self) -> int:
        return self.dimension

    def corner_at(self, number: int) -> Floats:
        corner = np.zeros(self.dimension)
        corner[number] = self.total
        return corner

    def diameter(self, order: float) -> float:
        return float(self.total * 2 ** (1 / order)) if self.dimension > 1 else 0.0

    def reach(self, point: Floats) -> float:
        return 0.0

    def start(self) -> Floats:
        return np.full(self.dimension, self.total / self.dimension)

    def corner(self, direction: Floats) -> Floats:
        corner = np.zeros(self.dimension)
        corner[int(np.argmin(direction))] = self.total
        return corner

    def project(self, point: Floats) -> Floats:
        return _onto_simplex(point, self.total)

    def lead(self, total: Floats, stiffness: float) -> Floats:
        scores = -total / (stiffness * self.total)
        shares = np.exp(scores - scores.max())
        return np.asarray(self.total * shares / shares.sum(), dtype=np.float64)


def _dual(p: float) -> float:
    """Return q with 1/p + 1/q = 1."""
    if p == 1:
        return inf
    return 1.0 if p == inf else p / (p - 1)


def _norm(vector: Floats, order: float) -> float:
    """Return the l_order norm; the largest entry is divided out so that no power overflows."""
    largest = float(np.max(np.abs(vector), initial=0.0))
    if not 0 < largest < inf:
        return largest
    return largest * float(np.linalg.norm(vector / largest, order))


def _noise_square(dimension: int, p: float) -> float:
    """Return about E‖z‖_q² for `dimension` standard normal numbers, or more."""
    if p == 1:
        return 2 * log(2 * dimension)
    q = _dual(p)
    moment = 2 ** (q / 2) * gamma((q + 1) / 2) / sqrt(pi) if q < 60 else inf  # E|z|^q of one number
    by_moments = (dimension * moment) ** (2 / q)
    by_largest = 2 * log(2 * dimension) * dimension ** (2 / q)
    return float(min(by_moments, by_largest))


def _dual_map(direction: Floats, q: float) -> Floats:
    """Return the point of the unit l_p sphere of largest product with the direction; 0 for 0."""
    if q == 1:
        return np.sign(direction)
    largest = float(np.max(np.abs(direction), initial=0.0))
    if largest == 0:
        return np.zeros_like(direction)
    scaled = direction / largest
    powers = np.sign(scaled) * np.abs(scaled) ** (q - 1)
    return np.asarray(powers / np.sum(np.abs(scaled) ** q) ** (1 - 1 / q), dtype=np.float64)


def _onto_simplex(point: Floats, total: float) -> Floats:
    """Return the nearest point with x ≥ 0 and Σx = total."""
    point = point - np.max(point)  # has the same projection, and avoids cancellation
    falling = np.sort(point)[::-1]
    excess = (np.cumsum(falling) - total) / np.arange(1, len(point) + 1)
    threshold = float(excess[np.flatnonzero(falling > excess)[-1]])
    return np.asarray(np.maximum(point - threshold, 0.0), dtype=np.float64)


def _onto_lp(sizes: Floats, p: float, radius: float) -> Floats:
    """Return the nearest point of the l_p sphere, for sizes ≥ 0 outside of it and 1 < p < ∞, p ≠ 2.

    x + λ·x^(p−1) = size in each coordinate, with the λ for which ‖x‖_p = radius.
    """
    from scipy.optimize import brentq

    positive = sizes > 0
    logarithms = np.log(sizes[positive])

    def shrunk(log_weight: float) -> Floats:
        # e^y + λe^((p−1)y) − size is convex and increasing in y = ln x, and not below 0 at the
        # start, so Newton's method decreases monotonically to the root.
        y = np.minimum(logarithms, (logarithms - log_weight) / (p - 1))
        for _ in range(50):
            linear = np.exp(y)
            power = np.exp(log_weight + (p - 1) * y)
            step = (linear + power - sizes[positive]) / (linear + (p - 1) * power)
            y = y - step
            if np.max(step) < 1e-14:
                break
        point = np.zeros_like(sizes)
        point[positive] = np.exp(y)
        return point

    def excess(log_weight: float) -> float:
        return log(_norm(shrunk(log_weight), p) / radius)

    point = sizes
    if excess(-60.0) > 0 > excess(60.0):
        point = shrunk(brentq(excess, -60.0, 60.0, xtol=1e-14))
    return np.asarray(point * (radius / _norm(point, p)), dtype=np.float64)
