"""Rivals of StreamingLearner for linear regression with squared loss, as they are printed.

For comparison only, in floating point. On the unit ball with rows of unit l_q norm and targets up to 1, a
gradient is at most L = 4 long, the smoothness is β = 2, the diameter D = 2: `SOUND`. The paper does not state
what it used; `UNIT` = (1, 1, 1) is what favours it most, and not sound. Each rival takes a `pace`, the factor
of its step length that the papers choose from a grid in hindsight. "Sound" is meant with SOUND constants.

References  Han et al. (2022); Bassily, Guzmán, Nandi (2021); Bassily et al. (2020); Asi et al. (2021);
            Feldman, Koren, Talwar (2020); Vu, Slavković (2009), sufficient statistics
"""

from math import ceil, log, log2, sqrt
from typing import Any, NamedTuple, Protocol

import numpy as np

from discreet.arrays import Floats
from discreet.budget.conversion import rho_of
from discreet.compiled import compiled
from discreet.lab.noise import TreeNoise, generalised_gaussian
from discreet.lab.regression import Regression
from discreet.release.randomness import seeded_words

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


SOUND = Constants(4.0, 2.0, 2.0)
UNIT = Constants(1.0, 1.0, 1.0)


class Rival(Protocol):
    """The coefficients that a method finds."""

    def __call__(
        self,
        world: Regression,
        epsilon: float,
        delta: float,
        pace: float,
        seed: int,
        constants: Constants = SOUND,
    ) -> Floats: ...


class DualNorm(NamedTuple):
    """How regular the dual norm of an l_p ball is, as printed, with index κ₊ + 1 = q for p ≤ 2."""

    kappa: float
    order: float
    """Of its smooth companion."""
    factor: float
    """Between the two."""

    @classmethod
    def of_ball(cls, p: float, dimension: int) -> "DualNorm":
        """κ = q − 1 for p ≤ 2; beyond, the Euclidean norm is the smooth companion."""
        if p <= 2:
            q = p / (p - 1)
            return cls(q - 1, q, 1.0)
        return cls(dimension ** (1 - 2 / p), 2.0, dimension ** (0.5 - 1 / p))


def published(
    world: Regression, epsilon: float, delta: float, pace: float, seed: int, constants: Constants = SOUND
) -> Floats:
    """Algorithm 1 as printed, with noise of the printed variance. Sound up to ε + ε²/(4·ln(1/δ))."""
    return _recursive(world, _printed_sigma(world, epsilon, delta, constants), pace, seed)


def published_with_slip(
    world: Regression, epsilon: float, delta: float, pace: float, seed: int, constants: Constants = SOUND
) -> Floats:
    """Algorithm 1 with the squared noise norm drawn from Gamma(d/2, 2σ) instead of Gamma(d/2, 2σ²).

    UNSOUND: far too little noise. It is that of a σ which is the square root of the printed one.
    """
    return _recursive(world, sqrt(_printed_sigma(world, epsilon, delta, constants)), pace, seed)


def _printed_sigma(world: Regression, epsilon: float, delta: float, constants: Constants) -> float:
    """Of the noise in a node of the tree."""
    samples, dimension = world.features.shape
    levels = ceil(log2(samples)) + 1
    reach = constants.smoothness * constants.diameter + constants.lipschitz
    kappa = DualNorm.of_ball(world.domain.p, dimension).kappa
    return sqrt(8 * levels**2 * kappa * log(levels / delta)) * reach / epsilon


def _recursive(world: Regression, sigma: float, pace: float, seed: int) -> Floats:
    samples, dimension = world.features.shape
    dual = DualNorm.of_ball(world.domain.p, dimension)
    words = seeded_words(seed, 0)
    nodes = generalised_gaussian(dimension, sigma, dual.order, words, draws=samples) / dual.factor
    noise = TreeNoise(dimension).of_sums(nodes)
    point = np.zeros(dimension)
    _recursive_frank_wolfe(world.features, world.targets, float(world.domain.dual), noise, pace, point)
    return point


def noisy_sfw(
    world: Regression, epsilon: float, delta: float, pace: float, seed: int, constants: Constants = SOUND
) -> Floats:
    """NoisySFW: one gradient of half the samples, then √n recursive steps on small batches. Sound."""
    samples, dimension = world.features.shape
    dual = DualNorm.of_ball(world.domain.p, dimension)
    words = seeded_words(seed, 0)

    def noise(sigma: float) -> Floats:
        return generalised_gaussian(dimension, sigma, dual.order, words) / dual.factor

    step = log(samples) / (2 * sqrt(samples))
    spread = sqrt(32 * dual.kappa * log(1 / delta))
    first = spread * constants.lipschitz / (samples * epsilon)
    later = spread / sqrt(samples) * constants.smoothness * constants.diameter * step / epsilon
    half = samples // 2
    batch = max(1, int(sqrt(samples)) // 2)
    here = np.zeros(dimension)
    direction = _gradient(world, slice(0, half), here) + noise(first)
    for number in range(int(sqrt(samples))):
        before = here
        here = here + min(1.0, pace * step) * (world.domain.corner(direction) - here)
        part = slice(half + number * batch, half + (number + 1) * batch)
        if part.stop > samples:
            break
        newest = _gradient(world, part, here)
        recursive = (1 - step) * (direction + newest - _gradient(world, part, before)) + step * newest
        direction = recursive + noise(later)
    return here


def noisy_sgd(
    world: Regression, epsilon: float, delta: float, pace: float, seed: int, constants: Constants = SOUND
) -> Floats:
    """NoisySGD: n² noisy projected steps on single samples, averaged. Sound for ε of at most about 1.

    For the l_∞ ball, of which the steps stay inside.
    """
    samples, dimension = world.features.shape
    sigma = sqrt(8 * log(1 / delta)) * constants.lipschitz / epsilon
    step = pace * constants.diameter / (samples * sqrt(constants.lipschitz**2 + dimension * sigma**2))
    _seed(seed)
    _, mean = _noisy_descent(
        world.features, world.targets, np.zeros(dimension), samples**2, step, sigma, 0.0, 1.0
    )
    return np.asarray(mean, dtype=np.float64)


def local_md(
    world: Regression, epsilon: float, delta: float, pace: float, seed: int, constants: Constants = SOUND
) -> Floats:
    """LocalMD: phases on halving samples, each solved by n_i² steps near the last one, then noised.

    Does not converge, as its users say.
    """
    samples, dimension = world.features.shape
    generator = np.random.default_rng(seed)
    centre = np.zeros(dimension)
    used = 0
    _seed(seed)
    for phase in range(1, int(log2(samples)) + 1):
        count = samples >> phase
        part = slice(used, used + count)
        used += count
        eta = _first_step(samples, dimension, epsilon, delta, pace, constants) / 4**phase
        inner = sqrt(8 * log(1 / delta)) * constants.lipschitz / epsilon
        pull = 1 / (eta * count)
        found, _ = _noisy_descent(
            world.features[part], world.targets[part], centre, count**2, eta / count, inner, pull, 1e3
        )
        noise = _phase_noise(generator, eta, dimension, epsilon, delta, constants)
        centre = world.domain.project(np.asarray(found) + noise)
    return centre


def phased_sgd(
    world: Regression, epsilon: float, delta: float, pace: float, seed: int, constants: Constants = SOUND
) -> Floats:
    """Phased SGD: one pass over halving parts, each average noised, with steps that fall by four. Sound."""
    samples, dimension = world.features.shape
    generator = np.random.default_rng(seed)
    centre = np.zeros(dimension)
    used = 0
    for phase in range(1, int(log2(samples)) + 1):
        count = samples >> phase
        step = _first_step(samples, dimension, epsilon, delta, pace, constants) / 4**phase
        here = centre
        mean = np.zeros(dimension)
        for row in range(used, used + count):
            here = world.domain.project(here - step * _gradient(world, slice(row, row + 1), here))
            mean += here / count
        used += count
        centre = mean + _phase_noise(generator, step, dimension, epsilon, delta, constants)
    return world.domain.project(centre)


def _first_step(
    samples: int, dimension: int, epsilon: float, delta: float, pace: float, constants: Constants
) -> float:
    """Of the methods in phases, before it falls by four from phase to phase."""
    least = min(1 / sqrt(samples), epsilon / sqrt(dimension * log(1 / delta)))
    return pace * constants.diameter / constants.lipschitz * least


def _phase_noise(
    generator: np.random.Generator,
    step: float,
    dimension: int,
    epsilon: float,
    delta: float,
    constants: Constants,
) -> Floats:
    """What the result of a phase is noised with."""
    sigma = 4 * constants.lipschitz * step * sqrt(log(1 / delta)) / epsilon
    return generator.normal(0, sigma, size=dimension)


def sufficient_statistics(
    world: Regression, epsilon: float, delta: float, pace: float, seed: int, constants: Constants = SOUND
) -> Floats:
    """Gaussian noise on Σxxᵀ and Σxy once, then ridge regression. Sound; `pace` scales the ridge.

    Not a stream: one release at the end.
    """
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
    world: Regression, epsilon: float, delta: float, pace: float, seed: int, constants: Constants = SOUND
) -> Floats:
    """Least squares, without privacy."""
    return np.asarray(np.linalg.lstsq(world.features, world.targets, rcond=None)[0], dtype=np.float64)


RIVALS: dict[str, Rival] = {
    "published": published,
    "published_with_slip": published_with_slip,
    "noisy_sfw": noisy_sfw,
    "noisy_sgd": noisy_sgd,
    "local_md": local_md,
    "phased_sgd": phased_sgd,
    "sufficient_statistics": sufficient_statistics,
    "non_private": non_private,
}


def _gradient(world: Regression, part: slice, point: Floats) -> Floats:
    features = world.features[part]
    residuals = features @ point - world.targets[part]
    return np.asarray(2 * features.T @ residuals / len(features), dtype=np.float64)


# Below: compiled.


@compiled
def _seed(seed: Any) -> None:
    np.random.seed(seed)


@compiled
def _recursive_frank_wolfe(features: Any, targets: Any, dual: Any, noise: Any, pace: Any, here: Any) -> None:
    """The printed Algorithm 1: running sums of g_t = (t + 1)∇f(θ_t) − t∇f(θ_{t−1}), and their noise."""
    samples, dimension = features.shape
    before = here.copy()
    total = np.zeros(dimension)
    for time in range(1, samples + 1):
        row = features[time - 1]
        newest, oldest = 0.0, 0.0
        for place in range(dimension):
            newest += row[place] * here[place]
            oldest += row[place] * before[place]
        target = targets[time - 1]
        total += (2 * (time + 1) * (newest - target) - 2 * time * (oldest - target)) * row
        direction = total + noise[time - 1]
        before[:] = here
        step = min(1.0, pace / (time + 1))
        length = np.sum(np.abs(direction) ** dual) ** (1 / dual) if dual > 1 else 1.0
        for place in range(dimension):
            size = (abs(direction[place]) / length) ** (dual - 1) if dual > 1 else 1.0
            corner = -size if direction[place] > 0 else size
            here[place] += step * (corner - here[place])


@compiled
def _noisy_descent(
    features: Any, targets: Any, centre: Any, steps: Any, length: Any, sigma: Any, pull: Any, reach: Any
) -> Any:
    """Noisy SGD on the average loss plus (pull/2)·‖θ − centre‖², in [−reach, reach]: last point and mean."""
    samples, dimension = features.shape
    here = centre.copy()
    total = np.zeros(dimension)
    for _ in range(steps):
        row = int(np.random.random() * samples)
        margin = 0.0
        for place in range(dimension):
            margin += features[row, place] * here[place]
        slope = 2 * (margin - targets[row])
        for place in range(dimension):
            force = slope * features[row, place] + pull * (here[place] - centre[place])
            moved = here[place] - length * (force + sigma * np.random.standard_normal())
            here[place] = min(reach, max(-reach, moved))
            total[place] += here[place]
    return here, total / steps
