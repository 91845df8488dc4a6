"""Rivals that step towards corners: the paper's own algorithms, and NoisySFW."""

from math import log, sqrt
from typing import Any

import numpy as np

from discreet.arrays import Floats
from discreet.papers.noise import generalised_gaussian
from discreet.papers.printed import streaming_frank_wolfe, streaming_frank_wolfe_l1
from discreet.papers.printed.lp_geometry import Constants, corrected_regularity
from discreet.papers.printed.promise import compared
from discreet.papers.rivals.streaming.problem import clipped_targets, constants_of, mean_gradient
from discreet.release.randomness import seeded_bits
from discreet.simulate.problems.regression import Regression


def published(
    world: Regression,
    epsilon: float,
    delta: float,
    pace: float,
    seed: int,
    constants: Constants | None = None,
) -> Floats:
    """Run Algorithm 1 with the printed σ and a smooth norm, or Algorithm 2 for p = 1."""
    return _published(world, epsilon, delta, "corrected", constants=constants, pace=pace, seed=seed)


def published_by_lemma(
    world: Regression,
    epsilon: float,
    delta: float,
    pace: float,
    seed: int,
    constants: Constants | None = None,
) -> Floats:
    """Run Algorithm 1 with noise by Lemma 3.2, as in its authors' code, which is not private."""
    return _published(world, epsilon, delta, "lemma", constants=constants, pace=pace, seed=seed)


@compared()
def _published(
    world: Regression,
    epsilon: float,
    delta: float,
    noise: streaming_frank_wolfe.Noise,
    **settings: Any,
) -> Floats:
    terms = world.features, clipped_targets(world), world.domain, epsilon, delta
    if world.domain.p == 1:  # its sampler needs no correction
        played = streaming_frank_wolfe_l1.play(*terms, noise="printed", **settings)
    else:
        played = streaming_frank_wolfe.play(*terms, noise=noise, **settings)
    return np.asarray(played.decisions[-1], dtype=np.float64)


def noisy_sfw(
    world: Regression,
    epsilon: float,
    delta: float,
    pace: float,
    seed: int,
    constants: Constants | None = None,
) -> Floats:
    """Run NoisySFW: one gradient of half the samples, then √n Frank–Wolfe steps on small batches.

        d_0 = ∇F(θ_0) of n/2 samples + noise,  σ_0² = 32κL² ln(1/δ)/(n²ε²)
        θ_{t+1} = θ_t + η(v_t − θ_t), v_t the least corner for d_t, η = ln n/(2√n)
        d_t = (1 − η)(d_{t−1} + ∇F(θ_t) − ∇F(θ_{t−1})) + η∇F(θ_t) of √n/2 unused samples + noise,
              σ² = 32κβ²D²η² ln(1/δ)/(nε²)

    A sample moves d_t by up to 4η(βD + L)/√n, and σ covers 4ηβD/√n: the stated noise gives
    (1 + L/βD)·ε.
    """
    samples, dimension = world.features.shape
    known = constants_of(world, constants)
    regularity = corrected_regularity(world.domain.p, dimension)
    bits = seeded_bits(seed, 0)

    def noise(sigma: float) -> Floats:
        return generalised_gaussian(dimension, sigma, regularity.order, bits) / regularity.factor

    step = log(samples) / (2 * sqrt(samples))
    spread = sqrt(32 * regularity.kappa * log(1 / delta))
    first = spread * known.lipschitz / (samples * epsilon)
    later = spread / sqrt(samples) * known.smoothness * known.diameter * step / epsilon
    half = samples // 2
    batch = max(1, int(sqrt(samples)) // 2)
    here = np.zeros(dimension)
    direction = mean_gradient(world, slice(0, half), here) + noise(first)
    for number in range(int(sqrt(samples))):
        before = here
        here = here + min(1.0, pace * step) * (world.domain.corner(direction) - here)
        part = slice(half + number * batch, half + (number + 1) * batch)
        if part.stop > samples:
            break
        newest = mean_gradient(world, part, here)
        corrected = direction + newest - mean_gradient(world, part, before)
        recursive = (1 - step) * corrected + step * newest
        direction = recursive + noise(later)
    return here
