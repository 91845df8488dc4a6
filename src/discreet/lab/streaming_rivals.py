"""Rivals of StreamingLearner for linear regression with squared loss, as they are printed: for comparison only, in floating point.

Constants: on the unit ball with rows of unit l_q norm and targets up to 1, a gradient is at most L = 4 long, the smoothness is β = 2, the
diameter D = 2: `SOUND`. The paper does not state what it used; `UNIT` = (1, 1, 1) is what favours it most, and not sound. Each rival
takes a `pace`, the factor of its step length that the papers choose from a grid in hindsight. "Sound" is meant with SOUND constants.

References  Han et al. (2022); Bassily, Guzmán, Nandi (2021); Bassily et al. (2020); Asi et al. (2021); Feldman, Koren, Talwar (2020);
            Vu, Slavković (2009), sufficient statistics
"""

from math import ceil, log, log2, sqrt
from typing import Any, NamedTuple

import numpy as np

from discreet.lab.regression import Regression
from discreet.release.arrays import Floats
from discreet.release.conversion import rho_of
from discreet.release.kernels import compiled

__all__ = [
    "RIVALS",
    "SOUND",
    "UNIT",
    "local_md",
    "noisy_sfw",
    "noisy_sgd",
    "non_private",
    "phased_sgd",
    "published",
    "published_with_slip",
    "sufficient_statistics",
]


class Constants(NamedTuple):
    """L, β and D."""

    lipschitz: float
    smoothness: float
    diameter: float


SOUND, UNIT = Constants(4.0, 2.0, 2.0), Constants(1.0, 1.0, 1.0)


def regular(p: float, dimension: int) -> tuple[float, float, float]:
    """κ of the dual norm, the order of its smooth companion, and that companion's factor. As printed, with index κ₊ + 1 = q for p ≤ 2."""
    if p <= 2:
        q = p / (p - 1)
        return q - 1, q, 1.0
    return dimension ** (1 - 2 / p), 2.0, dimension ** (0.5 - 1 / p)


def published(world: Regression, epsilon: float, delta: float, pace: float, seed: int, constants: Constants = SOUND) -> Floats:
    """Algorithm 1 as printed, with noise of the printed variance. Sound up to ε + ε²/(4·ln(1/δ))."""
    return _recursive(world, epsilon, delta, pace, seed, constants, slip=False)


def published_with_slip(world: Regression, epsilon: float, delta: float, pace: float, seed: int, constants: Constants = SOUND) -> Floats:
    """Algorithm 1 with the squared noise norm drawn from Gamma(d/2, 2σ) instead of Gamma(d/2, 2σ²). UNSOUND: far too little noise."""
    return _recursive(world, epsilon, delta, pace, seed, constants, slip=True)


def _recursive(world: Regression, epsilon: float, delta: float, pace: float, seed: int, constants: Constants, *, slip: bool) -> Floats:
    samples, dimension = world.features.shape
    kappa, order, factor = regular(world.domain.p, dimension)
    levels = ceil(log2(samples)) + 1
    reach = constants.smoothness * constants.diameter + constants.lipschitz
    sigma = sqrt(8 * levels**2 * kappa * log(levels / delta)) * reach / epsilon
    point = np.zeros(dimension)
    _seed(seed)
    _recursive_frank_wolfe(
        world.features,
        world.targets,
        float(world.domain.dual),
        order,
        factor,
        sigma,
        slip,
        pace,
        np.zeros((2, levels + 1, dimension)),
        point,
    )
    return point


def noisy_sfw(world: Regression, epsilon: float, delta: float, pace: float, seed: int, constants: Constants = SOUND) -> Floats:
    """NoisySFW: one gradient of half the samples, then √n recursive steps on small batches. Sound."""
    generator = np.random.default_rng(seed)
    samples, dimension = world.features.shape
    kappa, order, factor = regular(world.domain.p, dimension)
    step = log(samples) / (2 * sqrt(samples))
    first = sqrt(32 * kappa * log(1 / delta)) * constants.lipschitz / (samples * epsilon)
    later = sqrt(32 * kappa * log(1 / delta) / samples) * constants.smoothness * constants.diameter * step / epsilon
    here, half, batch = np.zeros(dimension), samples // 2, max(1, int(sqrt(samples)) // 2)
    direction = _gradient(world, slice(0, half), here) + generalised_noise(generator, dimension, order, first) / factor
    for number in range(int(sqrt(samples))):
        before = here
        here = here + min(1.0, pace * step) * (world.domain.corner(direction) - here)
        part = slice(half + number * batch, half + (number + 1) * batch)
        if part.stop > samples:
            break
        newest = _gradient(world, part, here)
        recursive = (1 - step) * (direction + newest - _gradient(world, part, before)) + step * newest
        direction = recursive + generalised_noise(generator, dimension, order, later) / factor
    return here


def noisy_sgd(world: Regression, epsilon: float, delta: float, pace: float, seed: int, constants: Constants = SOUND) -> Floats:
    """NoisySGD: n² noisy projected steps on single samples, averaged. Sound for ε of at most about 1."""
    samples, dimension = world.features.shape
    sigma = sqrt(8 * log(1 / delta)) * constants.lipschitz / epsilon
    step = pace * constants.diameter / (samples * sqrt(constants.lipschitz**2 + dimension * sigma**2))
    _seed(seed)
    return np.asarray(_noisy_descent(world.features, world.targets, samples**2, step, sigma), dtype=np.float64)


def local_md(world: Regression, epsilon: float, delta: float, pace: float, seed: int, constants: Constants = SOUND) -> Floats:
    """LocalMD: phases on halving samples, each solved by n_i² steps near the last one, then noised. Does not converge, as its users say."""
    samples, dimension = world.features.shape
    generator, centre, used = np.random.default_rng(seed), np.zeros(dimension), 0
    _seed(seed)
    eta = pace * constants.diameter / constants.lipschitz * min(1 / sqrt(samples), epsilon / sqrt(dimension * log(1 / delta)))
    for phase in range(1, int(log2(samples)) + 1):
        count, eta_here = samples >> phase, eta / 4**phase
        if count < 1:
            break
        part = slice(used, used + count)
        used += count
        inner = sqrt(8 * log(1 / delta)) * constants.lipschitz / epsilon
        features, targets = world.features[part], world.targets[part]
        found = _noisy_descent_near(features, targets, centre, count**2, eta_here / count, inner, 1 / (eta_here * count))
        noise = generator.normal(0, 4 * constants.lipschitz * eta_here * sqrt(log(1 / delta)) / epsilon, size=dimension)
        centre = world.domain.project(np.asarray(found) + noise)
    return centre


def phased_sgd(world: Regression, epsilon: float, delta: float, pace: float, seed: int, constants: Constants = SOUND) -> Floats:
    """Phased SGD: one pass of SGD over halving parts, each average noised, with steps that fall by four. Sound."""
    samples, dimension = world.features.shape
    generator, centre, used = np.random.default_rng(seed), np.zeros(dimension), 0
    eta = pace * constants.diameter / constants.lipschitz * min(1 / sqrt(samples), epsilon / sqrt(dimension * log(1 / delta)))
    for phase in range(1, int(log2(samples)) + 1):
        count, step = samples >> phase, eta / 4**phase
        here, mean = centre, np.zeros(dimension)
        for row in range(used, used + count):
            here = world.domain.project(here - step * _gradient(world, slice(row, row + 1), here))
            mean += here / count
        used += count
        centre = mean + generator.normal(0, 4 * constants.lipschitz * step * sqrt(log(1 / delta)) / epsilon, size=dimension)
    return world.domain.project(centre)


def sufficient_statistics(world: Regression, epsilon: float, delta: float, pace: float, seed: int, constants: Constants = SOUND) -> Floats:
    """Gaussian noise on Σxxᵀ and Σxy once, then ridge regression; not a stream: one release at the end. Sound; `pace` scales the ridge."""
    generator, dimension = np.random.default_rng(seed), world.features.shape[1]
    length = dimension ** max(0.0, 0.5 - 1 / world.domain.dual)
    targets = np.clip(world.targets, -1, 1)
    sigma = sqrt(2) * sqrt(length**4 + length**2) / sqrt(2 * rho_of(epsilon, delta))
    noise = generator.normal(0, sigma, size=(dimension, dimension))
    moments = world.features.T @ world.features + (noise + noise.T) / sqrt(2)
    products = world.features.T @ targets + generator.normal(0, sigma, size=dimension)
    ridge = pace * sigma * sqrt(dimension)
    found = np.linalg.lstsq(moments + ridge * np.eye(dimension), products, rcond=None)[0]
    return world.domain.project(np.asarray(found, dtype=np.float64))


def non_private(world: Regression, epsilon: float, delta: float, pace: float, seed: int, constants: Constants = SOUND) -> Floats:
    """Least squares, without privacy."""
    return np.asarray(np.linalg.lstsq(world.features, world.targets, rcond=None)[0], dtype=np.float64)


RIVALS: dict[str, Any] = {
    "published": published,
    "published_with_slip": published_with_slip,
    "noisy_sfw": noisy_sfw,
    "noisy_sgd": noisy_sgd,
    "local_md": local_md,
    "phased_sgd": phased_sgd,
    "sufficient_statistics": sufficient_statistics,
    "non_private": non_private,
}


def generalised_noise(generator: np.random.Generator, dimension: int, order: float, sigma: float) -> Floats:
    """Density ∝ exp(−‖z‖_order²/2σ²)."""
    sizes = generator.gamma(1 / order, size=dimension) ** (1 / order)
    point = sizes * generator.choice([-1.0, 1.0], size=dimension)
    return np.asarray(point / np.linalg.norm(point, order) * sqrt(generator.gamma(dimension / 2, 2 * sigma**2)), dtype=np.float64)


def _gradient(world: Regression, part: slice, point: Floats) -> Floats:
    features = world.features[part]
    return np.asarray(2 * features.T @ (features @ point - world.targets[part]) / len(features), dtype=np.float64)


@compiled
def _seed(seed: Any) -> None:
    np.random.seed(seed)


@compiled
def _recursive_frank_wolfe(
    features: Any, targets: Any, dual: Any, order: Any, factor: Any, sigma: Any, slip: Any, pace: Any, nodes: Any, here: Any
) -> None:
    """The printed Algorithm 1: g_t = (t + 1)∇f(θ_t) − t∇f(θ_{t−1}) through a tree with generalised Gaussian noise."""
    samples, dimension = features.shape
    exact, noised, before = nodes[0], nodes[1], here.copy()
    for time in range(1, samples + 1):
        row = features[time - 1]
        newest, oldest = 0.0, 0.0
        for place in range(dimension):
            newest += row[place] * here[place]
            oldest += row[place] * before[place]
        gradient = (2 * (time + 1) * (newest - targets[time - 1]) - 2 * time * (oldest - targets[time - 1])) * row
        level = 0
        while time >> level & 1 == 0:
            gradient += exact[level]
            exact[level] = 0.0
            noised[level] = 0.0
            level += 1
        sizes = np.empty(dimension)
        for place in range(dimension):
            sizes[place] = np.random.gamma(1 / order, 1.0) ** (1 / order) * (1.0 if np.random.random() < 0.5 else -1.0)
        radius = np.sqrt(np.random.gamma(dimension / 2, 2 * (sigma if slip else sigma**2))) / factor
        exact[level] = gradient
        noised[level] = gradient + sizes / np.sum(np.abs(sizes) ** order) ** (1 / order) * radius
        direction = np.sum(noised, axis=0)
        before[:] = here
        step = min(1.0, pace / (time + 1))
        length = np.sum(np.abs(direction) ** dual) ** (1 / dual) if dual > 1 else 1.0
        for place in range(dimension):
            size = (abs(direction[place]) / length) ** (dual - 1) if dual > 1 else 1.0
            corner = -size if direction[place] > 0 else size
            here[place] += step * (corner - here[place])


@compiled
def _noisy_descent(features: Any, targets: Any, steps: Any, length: Any, sigma: Any) -> Any:
    """Projected noisy SGD on the l_∞ ball, averaged."""
    samples, dimension = features.shape
    here, mean = np.zeros(dimension), np.zeros(dimension)
    for number in range(steps):
        row = int(np.random.random() * samples)
        margin = 0.0
        for place in range(dimension):
            margin += features[row, place] * here[place]
        slope = 2 * (margin - targets[row])
        for place in range(dimension):
            moved = here[place] - length * (slope * features[row, place] + sigma * np.random.standard_normal())
            here[place] = min(1.0, max(-1.0, moved))
            mean[place] += (here[place] - mean[place]) / (number + 1)
    return mean


@compiled
def _noisy_descent_near(features: Any, targets: Any, centre: Any, steps: Any, length: Any, sigma: Any, pull: Any) -> Any:
    """Noisy descent on the average loss plus (pull/2)·‖θ − centre‖²."""
    samples, dimension = features.shape
    here = centre.copy()
    for _ in range(steps):
        row = int(np.random.random() * samples)
        margin = 0.0
        for place in range(dimension):
            margin += features[row, place] * here[place]
        slope = 2 * (margin - targets[row])
        for place in range(dimension):
            force = slope * features[row, place] + pull * (here[place] - centre[place]) + sigma * np.random.standard_normal()
            here[place] = min(1e3, max(-1e3, here[place] - length * force))
    return here
