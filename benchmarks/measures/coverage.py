"""Share of true coefficients of a regression inside their published 95 % intervals.

    plain        4 independent features, uniform on [−1, 1]
    correlated   the second feature has correlation .95 with the first
    targets      features · truth + noise with standard deviation .1, truth uniform on [−.5, .5]

Each run has its own world: 30,000 samples, from which a stream publishes coefficients repeatedly
("stream"), or many passes publish them once ("fit"). The truth is the population's least
squares.
"""

import sys
from typing import Any

import numpy as np

from discreet import Privacy, StreamingLearner
from discreet.arrays import Floats
from discreet.domains import LpBall
from discreet.losses import SquaredLoss

WORLDS = ("plain", "correlated")
EPSILONS = (0.3, 1.0, 3.0)
METHODS = {"stream": "auto", "fit": "passes"}
SAMPLES, FEATURES, NOISE, TOGETHER = 30_000, 4, 0.1, 0.95
FIRST_SEED, RUNS = 50_000, 300
"""Seeds of the worlds per cell, on which nothing was chosen; each has four intervals."""
LEAST_GIVEN = 0.5


def drawn(world: str, seed: int) -> tuple[Floats, Floats, Floats]:
    """Draw features, targets and the coefficients that generated them."""
    generator = np.random.default_rng([seed, 95])
    features = generator.uniform(-1, 1, size=(SAMPLES, FEATURES))
    if world == "correlated":
        features[:, 1] = TOGETHER * features[:, 0] + (1 - TOGETHER**2) ** 0.5 * features[:, 1]
    truth = generator.uniform(-0.5, 0.5, size=FEATURES)
    return features, features @ truth + generator.normal(0, NOISE, size=SAMPLES), truth


def intervals(world: str, epsilon: float, method: str, runs: int = RUNS) -> tuple[Floats, Floats]:
    """Return the errors of coefficients and their standard errors, one row per run."""
    off, errors = [], []
    for seed in range(FIRST_SEED, FIRST_SEED + runs):
        features, targets, truth = drawn(world, seed)
        learner = StreamingLearner(
            LpBall(FEATURES, 2.0, 2.0),
            SquaredLoss(),
            SAMPLES,
            Privacy(epsilon, 1e-6),
            feature_bound=2.0,
            target_bound=2.0,
            method=METHODS[method],  # type: ignore[arg-type]
            seed=seed,
        )
        learner.observe_stream(features, targets)
        off.append(learner.coefficients - truth)
        errors.append(learner.standard_errors)
    return np.array(off), np.array(errors)


def coverage_of_95() -> dict[str, Any]:
    """Return the share of true coefficients inside: world → ε → stream or fit.

    Intervals that are not given do not count; NaN if fewer than half are.
    """
    return {
        world: {
            f"{epsilon:g}": {method: _share(world, epsilon, method) for method in METHODS}
            for epsilon in EPSILONS
        }
        for world in WORLDS
    }


def _share(world: str, epsilon: float, method: str) -> float:
    off, errors = intervals(world, epsilon, method)
    given = np.isfinite(errors)
    inside = float((np.abs(off) <= 1.96 * errors)[given].mean())
    usual = np.nanmedian(errors, axis=0) / np.sqrt((off**2).mean(axis=0))
    print(
        f"{world}, ε = {epsilon:g}, {method}: {inside:.3f} inside, {given.mean():.2f} given, "
        f"median error over root mean squared error by coefficient {np.round(usual, 1).tolist()}",
        file=sys.stderr,
    )
    return round(inside, 4) if given.mean() >= LEAST_GIVEN else float("nan")
