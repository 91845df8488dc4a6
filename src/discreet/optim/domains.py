"""Where decisions lie: boxes, l_p balls and simplices, each with the few operations that learners
need.

    corner(direction)         argmin over the domain of ⟨direction, v⟩: the linear oracle of Frank–Wolfe
    project(point)            the nearest point of the domain
    lead(total, stiffness)    argmin of ⟨total, x⟩ + stiffness · ψ(x): the regularised leader, ψ its own
    spread                    max ψ − min ψ over the domain, ψ scaled to be 1-strongly convex in its norm
    dual_norm(vector)         the dual of that norm
    noise_square              about E‖z‖² in the dual norm for standard normal z, or more
    diameter(order)           the largest distance of two points in the l_order norm
    dual                      q with 1/p + 1/q = 1: the norm in which features are bounded

Everything here is public: a domain never sees a person.

References  Hazan (2016), "Introduction to Online Convex Optimization"
            Duchi et al. (2008), projection onto the l₁ ball
"""

from dataclasses import dataclass
from math import gamma, inf, log, pi, sqrt
from typing import Protocol, runtime_checkable

import numpy as np

from discreet import require
from discreet.arrays import Floats
from discreet.errors import ConfigError

SMALLEST, LARGEST = 1e-150, 1e150
"""Of lengths: their squares are far inside what floats can hold."""


@runtime_checkable
class Domain(Protocol):
    """A convex set in which decisions lie, with a regulariser ψ of its own."""

    @property
    def dimension(self) -> int:
        """How many numbers a point has."""

    @property
    def dual(self) -> float:
        """q with 1/p + 1/q = 1: the norm in which features are bounded."""

    @property
    def spread(self) -> float:
        """max ψ − min ψ over the domain."""

    @property
    def noise_square(self) -> float:
        """About E‖z‖² in the dual norm for standard normal z, or more."""

    @property
    def corners(self) -> int:
        """How many corners there are, if about as many as dimensions; 0 otherwise."""

    def corner_at(self, number: int) -> Floats:
        """One of these corners."""

    def dual_norm(self, vector: Floats) -> float:
        """The dual of the norm in which ψ is 1-strongly convex."""

    def diameter(self, order: float) -> float:
        """The largest distance of two points in the l_order norm."""

    def reach(self, point: Floats) -> float:
        """How far from the middle to the boundary a point lies: 1 on it; 0 where all points lie
        on it.
        """

    def start(self) -> Floats:
        """Where to begin: the point of least ψ."""

    def corner(self, direction: Floats) -> Floats:
        """The point v of least ⟨direction, v⟩."""

    def project(self, point: Floats) -> Floats:
        """The nearest point of the domain."""

    def lead(self, total: Floats, stiffness: float) -> Floats:
        """The point x of least ⟨total, x⟩ + stiffness · ψ(x)."""


def _check(dimension: int, **positive: float) -> None:
    require.whole("dimension", dimension)
    for name, value in positive.items():
        require.number(name, value, SMALLEST, LARGEST)  # else the domain would be empty or endless


@dataclass(frozen=True)
class Box:
    """All points between `low` and `high` in every coordinate; ψ(x) = ½·‖x − middle‖².

    >>> Box(2, low=0.0, high=1.0).lead(np.array([3.0, -0.5]), stiffness=2.0)
    array([0.  , 0.75])
    """

    dimension: int
    low: float = -1.0
    high: float = 1.0

    def __post_init__(self) -> None:
        low = require.number("low", self.low, -LARGEST, LARGEST)
        high = require.number("high", self.high, -LARGEST, LARGEST)
        _check(self.dimension, width=high - low)

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
    """All points with ‖x‖_p ≤ radius, for any p from 1 to infinity.

    ψ is ‖x‖_p²/(2(p − 1)) for 1 < p ≤ 2 (its leader is a closed form), ½·‖x‖₂² for p > 2, and for p
    = 1 the entropy of x as a mixture of the 2d corners: each fits the geometry, so that what is
    lost grows with log d at p = 1.

    >>> LpBall(3, p=1).corner(np.array([0.5, -2.0, 1.0]))
    array([0., 1., 0.])
    >>> LpBall(2, p=1.5, radius=2.0).project(np.array([3.0, 0.0]))
    array([2., 0.])
    """

    dimension: int
    p: float = 2.0
    radius: float = 1.0

    def __post_init__(self) -> None:
        _check(self.dimension, radius=self.radius)
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
            chosen = np.zeros(self.dimension)
            chosen[place] = -self.radius * np.sign(direction[place]) or self.radius
            return chosen
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
        # ⟨v, x⟩ + (h/2)‖x‖_p² is least along the dual map of v, at length ‖v‖_q / h, the radius at
        # most.
        length = _norm(total, self.dual) * (self.p - 1) / stiffness
        return -min(self.radius, length) * _dual_map(total, self.dual)


@dataclass(frozen=True)
class Simplex:
    """All points with x ≥ 0 and Σx = total; ψ is the entropy.

    >>> Simplex(3).project(np.array([1.0, 0.5, -2.0]))
    array([0.75, 0.25, 0.  ])
    """

    dimension: int
    total: float = 1.0

    def __post_init__(self) -> None:
        _check(self.dimension, total=self.total)

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
        chosen = np.zeros(self.dimension)
        chosen[int(np.argmin(direction))] = self.total
        return chosen

    def project(self, point: Floats) -> Floats:
        return _onto_simplex(point, self.total)

    def lead(self, total: Floats, stiffness: float) -> Floats:
        scores = -total / (stiffness * self.total)
        shares = np.exp(scores - scores.max())
        return np.asarray(self.total * shares / shares.sum(), dtype=np.float64)


def _dual(p: float) -> float:
    return inf if p == 1 else 1.0 if p == inf else p / (p - 1)


def _norm(vector: Floats, order: float) -> float:
    """The l_order norm, with the largest entry divided out so that no power overflows."""
    largest = float(np.max(np.abs(vector), initial=0.0))
    return (
        largest * float(np.linalg.norm(vector / largest, order)) if 0 < largest < inf else largest
    )


def _noise_square(dimension: int, p: float) -> float:
    """About E‖z‖_q² for d standard normal numbers."""
    if p == 1:
        return 2 * log(2 * dimension)
    q = _dual(p)
    moment = 2 ** (q / 2) * gamma((q + 1) / 2) / sqrt(pi) if q < 60 else inf  # E|z|^q of one number
    by_moments = (dimension * moment) ** (2 / q)
    by_largest = 2 * log(2 * dimension) * dimension ** (2 / q)
    return float(min(by_moments, by_largest))


def _dual_map(direction: Floats, q: float) -> Floats:
    """The point of the unit l_p sphere with the largest product with the direction; 0 for 0."""
    if q == 1:
        return np.sign(direction)
    largest = float(np.max(np.abs(direction), initial=0.0))
    if largest == 0:
        return np.zeros_like(direction)
    scaled = direction / largest
    powers = np.sign(scaled) * np.abs(scaled) ** (q - 1)
    return np.asarray(powers / np.sum(np.abs(scaled) ** q) ** (1 - 1 / q), dtype=np.float64)


def _onto_simplex(point: Floats, total: float) -> Floats:
    """The nearest point with x ≥ 0 and Σx = total."""
    point = point - np.max(point)  # the same projection, and digits where they matter
    falling = np.sort(point)[::-1]
    excess = (np.cumsum(falling) - total) / np.arange(1, len(point) + 1)
    threshold = float(excess[np.flatnonzero(falling > excess)[-1]])
    return np.asarray(np.maximum(point - threshold, 0.0), dtype=np.float64)


def _onto_lp(sizes: Floats, p: float, radius: float) -> Floats:
    """The nearest point of the l_p sphere, for sizes ≥ 0 outside of it and 1 < p < ∞, p ≠ 2.

    x + λ·x^(p−1) = size in each coordinate, with the λ for which ‖x‖_p = radius.
    """
    from scipy.optimize import brentq

    some = sizes > 0
    logarithms = np.log(sizes[some])

    def shrunk(log_weight: float) -> Floats:
        # e^y + λe^((p−1)y) − size is convex and increasing in y = ln x, and not below 0 at the
        # start:
        # Newton's steps go down to its root and never beyond.
        y = np.minimum(logarithms, (logarithms - log_weight) / (p - 1))
        for _ in range(50):
            plain, bent = np.exp(y), np.exp(log_weight + (p - 1) * y)
            step = (plain + bent - sizes[some]) / (plain + (p - 1) * bent)
            y = y - step
            if np.max(step) < 1e-14:
                break
        found = np.zeros_like(sizes)
        found[some] = np.exp(y)
        return found

    def excess(log_weight: float) -> float:
        return log(_norm(shrunk(log_weight), p) / radius)

    found = (
        shrunk(brentq(excess, -60.0, 60.0, xtol=1e-14))
        if excess(-60.0) > 0 > excess(60.0)
        else sizes
    )
    return np.asarray(found * (radius / _norm(found, p)), dtype=np.float64)
