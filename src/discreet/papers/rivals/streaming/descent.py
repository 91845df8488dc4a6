"""Rivals that descend along gradients: NoisySGD and LocalMD."""

from math import ceil, log, log2, sqrt
from typing import NamedTuple

import numpy as np

from discreet.arrays import Floats
from discreet.compiled import compiled
from discreet.errors import ConfigError
from discreet.optim.domains import LpBall
from discreet.papers.printed.lp_geometry import Constants
from discreet.papers.rivals.streaming.problem import Euclidean, clipped_targets, constants_of
from discreet.simulate.problems.regression import Regression


def noisy_sgd(
    world: Regression,
    epsilon: float,
    delta: float,
    pace: float,
    seed: int,
    constants: Constants | None = None,
) -> Floats:
    """Run NoisySGD: n² noisy projected steps on single samples, averaged; meant for small ε.

        θ ← Proj(θ − η(∇f(θ; x_i) + N(0, σ²I))), i uniform;  σ² = 8L² ln(1/δ)/ε²
        η = D/(L·n)·min{1/√n, ε/√(d ln(1/δ))}

    For a claimed ε = 1 the general bound for subsampled Gaussian noise certifies 1.8.
    """
    samples, dimension = world.features.shape
    plane = Euclidean.of(world.domain, constants_of(world, constants))
    sigma = sqrt(8 * log(1 / delta)) * plane.lipschitz / epsilon
    least = min(1 / sqrt(samples), epsilon / sqrt(dimension * log(1 / delta)))
    step = pace * plane.diameter / (plane.lipschitz * samples) * least
    _seed(seed)
    ball = world.domain
    targets = clipped_targets(world)
    mean = _noisy_descent(world.features, targets, samples**2, step, sigma, ball.p, ball.radius)
    return np.asarray(mean, dtype=np.float64)


def local_md(
    world: Regression,
    epsilon: float,
    delta: float,
    pace: float,
    seed: int,
    constants: Constants | None = None,
) -> Floats:
    """Run LocalMD (1 ≤ p ≤ 2): phases on halving samples, each solved by noisy mirror descent.

        in phase i = 1 … ⌈log₂n⌉, with n_i = n/2^i unused samples and η_i = η/2^(4i), from x_{i−1}:
            minimise (1/n_i)Σf(x; s) + ‖x − x_{i−1}‖_p²/(η_i n_i (p − 1)) over the points x of C
            with ‖x − x_{i−1}‖_p ≤ 2Lη_i n_i (p − 1) by T = (n_i/b)² steps of mirror descent with
            h(x) = ‖x − x_{i−1}‖_p²/(2(p − 1)) on batches of b = max{√(n_i/ln d), √(d/ε)} samples,
            each gradient with N(0, σ²I), σ = 100·L₂√ln(1/δ)/(bε)
        η = D/L·min{1/√((p − 1)n), ε/√(d ln(1/δ))};  for p = 1, take 1 + 1/ln d for p

    Steps of mirror descent have length 2/(λ(k + 1)), where λ = 2/(η_i n_i) is the convexity of the
    phase. Where the trust region extends beyond C, points are projected. The method does not
    converge, as its users say: σ is large, and regions shrink by a factor of thirty-two from phase
    to phase. The constants of η, b and σ are those that its rate and its users suggest; they were
    not checked against the text.
    """
    ball = world.domain
    if ball.p > 2:
        raise ConfigError(f"p must be at most 2, got {ball.p!r}: LocalMD is printed for 1 ≤ p ≤ 2")
    samples, dimension = world.features.shape
    known = constants_of(world, constants)
    p = ball.p if ball.p > 1 else 1 + 1 / log(max(dimension, 3))
    generator = np.random.default_rng(seed)
    least = min(1 / sqrt((p - 1) * samples), epsilon / sqrt(dimension * log(1 / delta)))
    eta = pace * known.diameter / known.lipschitz * least
    steep = Euclidean.of(ball, known).lipschitz
    centre = np.zeros(dimension)
    used = 0
    for phase in range(1, ceil(log2(samples)) + 1):
        count = samples >> phase
        if count < 1:
            break
        phase_eta = eta / 16**phase
        wanted = max(sqrt(count / log(max(dimension, 3))), sqrt(dimension / epsilon))
        batch = min(count, ceil(wanted))
        settings = Phase(
            p=p,
            pull=2 / (phase_eta * count),
            reach=2 * known.lipschitz * phase_eta * count * (p - 1),
            batch=batch,
            steps=max(1, (count // batch) ** 2),
            sigma=100 * steep * sqrt(log(1 / delta)) / (batch * epsilon),
        )
        part = slice(used, used + count)
        centre = _mirror_descent(world, part, centre, settings, generator)
        used += count
    return centre


class Phase(NamedTuple):
    """One phase of LocalMD: λ (`pull`), the trust region's radius (`reach`), its mirror descent."""

    p: float
    pull: float
    reach: float
    batch: int
    steps: int
    sigma: float


def _mirror_descent(
    world: Regression, part: slice, centre: Floats, phase: Phase, generator: np.random.Generator
) -> Floats:
    """Return the mean of the points, later ones with more weight, as for strong convexity."""
    region = LpBall(len(centre), phase.p, phase.reach)
    targets = clipped_targets(world)
    offset = np.zeros_like(centre)
    mean = np.zeros_like(centre)
    for step in range(1, phase.steps + 1):
        rows = generator.integers(part.start, part.stop, size=phase.batch)
        residuals = world.features[rows] @ (centre + offset) - targets[rows]
        gradient = 2 * world.features[rows].T @ residuals / phase.batch
        noisy = gradient + generator.normal(0, phase.sigma, size=len(centre))
        length = 2 / (phase.pull * (step + 1))
        # A mirror step in closed form: the leader of minus (∇h(x) − length·(ĝ + λ∇h(x))).
        dual_point = (1 - length * phase.pull) * mirror_map(offset, phase.p) - length * noisy
        offset = region.lead(-dual_point, 1.0)
        point = centre + offset
        project_onto_ball(point, world.domain.p, world.domain.radius)
        offset = point - centre
        mean += (offset - mean) * 2 / (step + 1)
    return centre + mean


def mirror_map(point: Floats, p: float) -> Floats:
    """Return ∇h for h(x) = ‖x‖_p²/(2(p − 1))."""
    length = float(np.linalg.norm(point, p))
    if length == 0:
        return np.zeros_like(point)
    sizes = np.sign(point) * (np.abs(point) / length) ** (p - 1)
    return np.asarray(length * sizes / (p - 1), dtype=np.float64)


# Below: compiled.


@compiled
def _seed(seed: int) -> None:
    np.random.seed(seed)


@compiled
def _noisy_descent(
    features: Floats,
    targets: Floats,
    steps: int,
    length: float,
    sigma: float,
    p: float,
    radius: float,
) -> Floats:
    """Return the mean of all points of noisy projected SGD on the average loss, from 0."""
    samples, dimension = features.shape
    here = np.zeros(dimension)
    total = np.zeros(dimension)
    for _ in range(steps):
        row = int(np.random.random() * samples)
        margin = 0.0
        for place in range(dimension):
            margin += features[row, place] * here[place]
        slope = 2 * (margin - targets[row])
        for place in range(dimension):
            force = slope * features[row, place] + sigma * np.random.standard_normal()
            here[place] -= length * force
        project_onto_ball(here, p, radius)
        for place in range(dimension):
            total[place] += here[place]
    return total / steps


@compiled
def project_onto_ball(point: Floats, p: float, radius: float) -> None:
    """Move a point to the nearest point of the l_p ball, in place, for any p ≥ 1."""
    if np.isinf(p):
        for place in range(point.size):
            point[place] = min(radius, max(-radius, point[place]))
        return
    largest = np.max(np.abs(point))
    if largest == 0 or _power_sum(point, largest, p) * (largest / radius) ** p <= 1:
        return
    # Each coordinate solves x + μ·x^(p−1) = |y|; the right μ makes the norm the radius.
    sizes = np.abs(point)
    low, high = 0.0, 1.0
    while _shrunk_power(sizes, high, p, radius) > 1:
        high *= 2.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        if _shrunk_power(sizes, middle, p, radius) > 1:
            low = middle
        else:
            high = middle
    for place in range(point.size):
        size = _shrunk(sizes[place], high, p)
        point[place] = size if point[place] > 0 else -size


@compiled
def _power_sum(point: Floats, largest: float, p: float) -> float:
    total = 0.0
    for place in range(point.size):
        total += (abs(point[place]) / largest) ** p
    return total


@compiled
def _shrunk_power(sizes: Floats, multiplier: float, p: float, radius: float) -> float:
    """Return ‖x‖_p^p/radius^p for the x that belongs to a multiplier μ."""
    total = 0.0
    for place in range(sizes.size):
        total += (_shrunk(sizes[place], multiplier, p) / radius) ** p
    return total


@compiled
def _shrunk(size: float, multiplier: float, p: float) -> float:
    """Return the x ≥ 0 with x + μ·x^(p−1) = y, by bisection; for p = 1 it is max(0, y − μ)."""
    if p == 1:
        return max(0.0, size - multiplier)
    low, high = 0.0, size
    for _ in range(60):
        middle = 0.5 * (low + high)
        if middle + multiplier * middle ** (p - 1) > size:
            high = middle
        else:
            low = middle
    return low
