"""Rivals that solve the normal equations: with noise, and without."""

from math import sqrt

import numpy as np

from discreet.arrays import Floats
from discreet.budget.conversion import rho_of
from discreet.lab.published.lp_geometry import Constants
from discreet.lab.regression import Regression

__all__ = ["non_private", "sufficient_statistics"]


def sufficient_statistics(
    world: Regression,
    epsilon: float,
    delta: float,
    pace: float,
    seed: int,
    constants: Constants | None = None,
) -> Floats:
    """Gaussian noise on Σxxᵀ and Σxy once, then ridge regression. Sound; `pace` scales the ridge."""
    generator = np.random.default_rng(seed)
    dimension = world.features.shape[1]
    length = dimension ** max(0.0, 0.5 - 1 / world.domain.dual)
    targets = np.clip(world.targets, -1, 1)
    sigma = sqrt(2) * sqrt(length**4 + length**2) / sqrt(2 * rho_of(epsilon, delta))
    noise = generator.normal(0, sigma, size=(dimension, dimension))
    moments = world.features.T @ world.features + (noise + noise.T) / sqrt(2)
    products = world.features.T @ targets + generator.normal(0, sigma, size=dimension)
    ridge = pace * sigma * sqrt(dimension)
    found = np.linalg.lstsq(moments + ridge * np.eye(dimension), products, rcond=None)[0]
    return world.domain.project(np.asarray(found, dtype=np.float64))


def non_private(
    world: Regression,
    epsilon: float,
    delta: float,
    pace: float,
    seed: int,
    constants: Constants | None = None,
) -> Floats:
    """Least squares, without privacy."""
    return np.asarray(np.linalg.lstsq(world.features, world.targets, rcond=None)[0], dtype=np.float64)
