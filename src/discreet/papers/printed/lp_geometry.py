"""Smoothness of dual norms, and the constants of a loss in l_p.

A norm is κ-regular if a κ₊-smooth norm ‖·‖₊ is near it: ‖x‖² ≤ ‖x‖₊² ≤ (κ/κ₊)‖x‖². Noise of density
∝ exp(−‖z‖₊²/2σ²) then costs κ·s²/2σ² of zCDP for a change of s in the norm. l_r is (r − 1)-smooth
for r ≥ 2.

References  Bassily, Guzmán, Nandi (2021), "Non-Euclidean Differentially Private Stochastic Convex
            Optimization"; Han et al. (2022), Lemmas 3.9 and 3.10
"""

from math import exp, inf, log
from typing import NamedTuple

import numpy as np

from discreet.arrays import Floats
from discreet.errors import ConfigError
from discreet.losses import CallableLoss, Loss
from discreet.optim.domains import LpBall


class Constants(NamedTuple):
    """L, β and D: gradients have length at most L and are β-Lipschitz, the domain has diameter D.

    Lengths are in the norm l_p, those of gradients in its dual.
    """

    lipschitz: float
    smoothness: float
    diameter: float

    @property
    def reach(self) -> float:
        """βD + L: the largest length of a weighted difference of two gradients."""
        return self.smoothness * self.diameter + self.lipschitz


def regression_constants(
    ball: LpBall, feature_bound: float = 1.0, target_bound: float = 1.0
) -> Constants:
    """Return the constants of the squared loss on an l_p ball of radius R.

    With features of dual norm up to X and targets up to Y they are 2X(XR + Y), 2X² and 2R.

    >>> regression_constants(LpBall(5, 1.5))
    Constants(lipschitz=4.0, smoothness=2.0, diameter=2.0)
    >>> regression_constants(LpBall(5, 1.5, radius=2.0))
    Constants(lipschitz=6.0, smoothness=2.0, diameter=4.0)
    """
    longest = feature_bound * ball.radius + target_bound
    return Constants(2 * feature_bound * longest, 2 * feature_bound**2, 2 * ball.radius)


class Regularity(NamedTuple):
    """Regularity of the dual norm of an l_p ball: κ, and ‖·‖₊ = factor · ‖·‖_order."""

    kappa: float
    order: float
    factor: float = 1.0


def printed_regularity(p: float, dimension: int) -> Regularity:
    """Return the printed κ and ‖·‖₊ of Lemmas 3.9 and 3.10.

    Lemma 3.9, p ≤ 2: κ = min{q − 1, e²(ln d − 1)}, ‖·‖₊ = ‖·‖_{κ₊}, κ₊ = min{q − 1, ln d − 1}.
    Lemma 3.10, p > 2: κ = d^(1 − 2/p), ‖·‖₊ = d^(1/2 − 1/p)·‖·‖₂.

    The definition needs index κ₊ + 1. With an index below 2 ‖·‖₊ is not smooth, and below 1, as for
    d < 8, it is not a norm, but noise can be drawn.

    >>> printed_regularity(1.5, 5)
    Regularity(kappa=2.0, order=0.609..., factor=1.0)
    >>> printed_regularity(inf, 9)
    Regularity(kappa=9.0, order=2.0, factor=3.0)
    """
    if p > 2:
        return _beyond_two(p, dimension)
    steep = _dual(p) - 1
    order = min(steep, log(dimension) - 1)
    if order <= 0:
        raise ConfigError(
            f"the printed index of the smooth norm is {order:.2g} for dimension {dimension}: take "
            "a dimension of 3 or more"
        )
    return Regularity(min(steep, exp(2) * (log(dimension) - 1)), order)


def corrected_regularity(p: float, dimension: int) -> Regularity:
    """Return κ and ‖·‖₊ with the corrected index κ₊ + 1.

    ‖·‖₊ is l_q itself, or l_r with r = ln d ≥ 2 if that is more regular.

    >>> corrected_regularity(1.5, 5)
    Regularity(kappa=2.0, order=3.0, factor=1.0)
    >>> corrected_regularity(1.01, 100)
    Regularity(kappa=26.63..., order=4.60..., factor=1.0)
    """
    if p > 2:
        return _beyond_two(p, dimension)
    own = Regularity(_dual(p) - 1, _dual(p))
    logarithm = log(dimension)
    if logarithm < 2:
        return own if p > 1 else sound_regularity(p, dimension)
    other = Regularity(exp(2) * (logarithm - 1), logarithm)
    return min(own, other)


def proved_kappa(p: float, dimension: int, order: float) -> float | None:
    """Return the κ of l_order as ‖·‖₊ of the dual norm, by the definition; None if not smooth.

    ‖x‖_q ≤ ‖x‖_r ≤ d^(1/r − 1/q)·‖x‖_q for 2 ≤ r ≤ q, and l_r is (r − 1)-smooth: κ = (r − 1)·d^(2/r
    − 2/q).

    >>> round(proved_kappa(1.5, 100, 2.0), 2), proved_kappa(1.5, 5, 0.6)
    (4.64, None)
    """
    if p > 2:
        return _beyond_two(p, dimension).kappa
    if order < 2:
        return None
    return float((order - 1) * dimension ** (2 / order - 2 / _dual(p)))


def sound_regularity(p: float, dimension: int) -> Regularity:
    """Return the l_r, 2 ≤ r ≤ q, with the least `proved_kappa`.

    >>> sound_regularity(1.0, 4)
    Regularity(kappa=4.0, order=2.0, factor=1.0)
    """
    if p > 2:
        return _beyond_two(p, dimension)
    highest = min(_dual(p), max(2.0, 4 * log(dimension)))
    choices = []
    for order in np.linspace(2.0, highest, 200).tolist():
        kappa = proved_kappa(p, dimension, order)
        assert kappa is not None
        choices.append(Regularity(kappa, order))
    return min(choices)


def _beyond_two(p: float, dimension: int) -> Regularity:
    return Regularity(dimension ** (1 - 2 / p), 2.0, dimension ** (0.5 - 1 / p))


def _dual(p: float) -> float:
    return inf if p == 1 else p / (p - 1)


def gradient_difference(
    loss: Loss | CallableLoss,
    sample: tuple[Floats, float],
    newer: tuple[float, Floats],
    older: tuple[float, Floats],
) -> Floats:
    """Return a·∇f(θ; x) − b·∇f(θ′; x) of one sample, for the pairs (a, θ) and (b, θ′).

    >>> from discreet.losses import SquaredLoss
    >>> sample = np.array([1.0, 2.0]), 1.0
    >>> gradient_difference(SquaredLoss(), sample, (3, np.zeros(2)), (1, np.ones(2)))
    array([-10., -20.])
    """
    features, target = sample
    weight, here = newer
    other_weight, before = older
    if isinstance(loss, CallableLoss):
        gradient = loss.of(here, features, target)
        other_gradient = loss.of(before, features, target)
        return weight * gradient - other_weight * other_gradient
    margins = np.array([features @ here, features @ before])
    slopes = loss.slopes(margins, np.array([target, target]))
    return np.asarray((weight * slopes[0] - other_weight * slopes[1]) * features, dtype=np.float64)


def finite(numbers: Floats) -> Floats:
    """Replace non-finite numbers by 0: no noise covers numbers that cannot be clipped."""
    return np.nan_to_num(numbers, posinf=0.0, neginf=0.0)


def clipped(vector: Floats, bound: float, order: float) -> Floats:
    """Clip a vector to the bound in l_q; for q = ∞, each coordinate by itself."""
    vector = finite(vector)
    if order == inf:
        return np.clip(vector, -bound, bound)
    length = float(np.linalg.norm(vector, order))
    return vector * (bound / length) if length > bound else vector
