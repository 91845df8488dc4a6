"""The rivals' call signature, the constants of a regression, and its gradients."""

from typing import NamedTuple, Protocol

import numpy as np

from discreet.arrays import Floats
from discreet.optim.domains import LpBall
from discreet.papers.printed.lp_geometry import Constants, regression_constants
from discreet.simulate.problems.regression import Regression

UNIT = Constants(1.0, 1.0, 1.0)
"""The constants that favour the papers most; not sound."""


class Rival(Protocol):
    """A method for regression: a function that returns its last coefficients."""

    def __call__(
        self,
        world: Regression,
        epsilon: float,
        delta: float,
        pace: float,
        seed: int,
        constants: Constants | None = None,
    ) -> Floats: ...


class Euclidean(NamedTuple):
    """L, β and D of an l_p problem, measured in l_2."""

    lipschitz: float
    smoothness: float
    diameter: float

    @classmethod
    def of(cls, ball: LpBall, constants: Constants) -> "Euclidean":
        """Return the constants in l_2 from those in l_p.

        ‖·‖₂ ≤ d^max(0, 1/2 − 1/r)·‖·‖_r, for gradients with r = q and for points with r = p.

        >>> Euclidean.of(LpBall(16, p=float("inf")), Constants(1.0, 1.0, 2.0))
        Euclidean(lipschitz=1.0, smoothness=1.0, diameter=8.0)
        """
        steep = ball.dimension ** max(0.0, 0.5 - 1 / ball.dual)
        wide = ball.dimension ** max(0.0, 0.5 - 1 / ball.p)
        return cls(
            steep * constants.lipschitz, steep**2 * constants.smoothness, wide * constants.diameter
        )


def constants_of(world: Regression, constants: Constants | None) -> Constants:
    """Return the given constants, or those of rows and targets up to 1."""
    return regression_constants(world.domain) if constants is None else constants


def clipped_targets(world: Regression) -> Floats:
    """Return the targets, clipped to ±1."""
    return np.clip(world.targets, -1.0, 1.0)


def mean_gradient(world: Regression, part: slice, point: Floats) -> Floats:
    """Return the mean gradient of a part of the samples at a point."""
    features = world.features[part]
    residuals = features @ point - clipped_targets(world)[part]
    return np.asarray(2 * features.T @ residuals / len(features), dtype=np.float64)
