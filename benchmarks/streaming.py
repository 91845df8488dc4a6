"""StreamingLearner: errors beside the papers' algorithms, other worlds, and speed.

Prints one JSON line. SubOpt of published methods is the best of a grid in hindsight, as in the
paper; ours is not tuned. Speeds are medians of five, with BLAS on one thread. Real tables are in
benchmarks/real.py.
"""

from math import inf
from statistics import mean, median
from time import perf_counter
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from discreet import Privacy, StreamingLearner, warm_up
from discreet.arrays import Floats
from discreet.domains import LpBall
from discreet.learners.forced import forced
from discreet.losses import SquaredLoss
from discreet.papers.rivals.sco_tables import CASES, best_of_grids, case_name
from discreet.progress import shown
from discreet.simulate.problems.regression import Coefficients, Regression
from discreet.tasks import repeat
from report import write

SEEDS = 10
COLUMNS = ("discreet", "frank_wolfe", "rival", "published")
SPARSE = ("leader", "frank-wolfe")
SPARSE_SEEDS = range(3)
KINDS = ("plain", "anisotropic", "correlated", "sparse", "noisy", "inner", "short")
GEOMETRIES = (1.5, 2.0, inf)
OTHERS = ("auto", "passes", "leader", "frank-wolfe")
OTHER_SEEDS = range(100, 106)
REPETITIONS = 5


@shown()
def errors_of_cases() -> dict[str, dict[str, Any]]:
    """Return SubOpt of every method in every case."""
    found = best_of_grids(COLUMNS, SEEDS)
    table: dict[str, dict[str, Any]] = {}
    for case in CASES:
        row: dict[str, Any] = {}
        for column, error in found[case_name(*case)].items():
            name = ("noisy_sfw" if case[0] <= 2 else "noisy_sgd") if column == "rival" else column
            row |= {name: error.mean, f"{name}_sd": error.standard_deviation}
        table[case_name(*case)] = row
    return table


def error_in(world: Regression, delta: float, mode: str = "auto") -> float:
    """Return SubOpt of one learner at ε = 1."""
    problem = Coefficients(len(world.targets), Privacy(1.0, delta), world.domain.dimension)
    return problem.outcome(problem.learner(world, mode=mode), world)


def sparse_error(mode: str, seed: int) -> float:
    """Return SubOpt at p = 1, d = 1000 with ten coefficients that are not 0, 10⁵ samples."""
    return error_in(Regression.drawn(10**5, 1000, 1, support=10, seed=seed), 1e-5, mode)


def other_error(kind: str, p: float, mode: str, seed: int) -> float:
    """Return SubOpt in a world other than the papers': 20,000 samples, 20 coefficients."""
    return error_in(Regression.varied(kind, 20_000, 20, p, seed=seed), 1e-6, mode)


def long_error(seed: int) -> float:
    """Return SubOpt for correlated features, 10⁵ samples, p = 2, untuned."""
    return error_in(Regression.varied("correlated", 10**5, 20, 2.0, seed=seed), 1e-6)


@shown()
def mean_long_error() -> float:
    """Return the mean of `long_error` over seeds."""
    return mean(repeat(long_error, [(seed,) for seed in OTHER_SEEDS], label="long"))


@shown()
def sparse_errors() -> dict[str, float]:
    """Return mean errors over seeds, by mode."""
    tasks = [(mode, seed) for mode in SPARSE for seed in SPARSE_SEEDS]
    errors = repeat(sparse_error, tasks, label="sparse")
    means = np.reshape(errors, (len(SPARSE), len(SPARSE_SEEDS))).mean(axis=1).tolist()
    return dict(zip(SPARSE, means, strict=True))


@shown()
def other_errors() -> dict[str, dict[str, dict[str, float]]]:
    """Return mean errors over seeds, by kind of world, geometry and mode."""
    tasks = [
        (kind, p, mode, seed)
        for kind in KINDS
        for p in GEOMETRIES
        for mode in OTHERS
        for seed in OTHER_SEEDS
    ]
    errors = repeat(other_error, tasks, label="other worlds")
    shape = (len(KINDS), len(GEOMETRIES), len(OTHERS), len(OTHER_SEEDS))
    means = np.reshape(errors, shape).mean(axis=3).tolist()
    return {
        kind: {
            f"p{p:g}": dict(zip(OTHERS, row, strict=True))
            for p, row in zip(GEOMETRIES, rows, strict=True)
        }
        for kind, rows in zip(KINDS, means, strict=True)
    }


def speeds(
    dimension: int = 100, samples: int = 200_000, *, mode: str = "leader", horizon: int = 10**6
) -> dict[str, float]:
    """Return microseconds per sample, with BLAS on one thread.

    discreet in its blocks for `horizon` samples, NumPy mini-batches of the same size, and river one
    by one.
    """
    generator = np.random.default_rng(0)
    features = generator.normal(size=(samples, dimension)) + generator.normal(size=(samples, 1))
    features /= np.linalg.norm(features, axis=1, keepdims=True)
    targets = features @ generator.normal(size=dimension) / 10
    with threadpool_limits(1, user_api="blas"):
        private_seconds(features[:2000], targets[:2000], 2000, mode)  # compiles
        ours, numpy = [], []
        for _ in range(REPETITIONS):
            block, seconds = private_seconds(features, targets, horizon, mode)
            ours.append(seconds)
            numpy.append(minibatch_seconds(features, targets, block))
        river = [river_seconds(features[:3000], targets[:3000]) for _ in range(REPETITIONS)]
    return {
        "discreet": median(ours) / samples * 1e6,
        "numpy": median(numpy) / samples * 1e6,
        "river": median(river) / 3000 * 1e6,
    }


def private_seconds(
    features: Floats, targets: Floats, horizon: int, mode: str
) -> tuple[int, float]:
    """Return the block of a private learner, and its time for these samples."""
    domain = LpBall(features.shape[1])
    bounds = {"feature_bound": 1.0, "target_bound": 1.0}
    privacy = Privacy(1.0, 1e-6)
    learner = forced(StreamingLearner, mode, domain, SquaredLoss(), horizon, privacy, **bounds)
    block = learner.settings.schedule.block
    began = perf_counter()
    learner.observe_stream(features, targets)
    return block, perf_counter() - began


def minibatch_seconds(features: Floats, targets: Floats, block: int) -> float:
    """Return the time of non-private gradient steps on mini-batches in NumPy."""
    point = np.zeros(features.shape[1])
    began = perf_counter()
    for first in range(0, len(targets), block):
        part = features[first : first + block]
        residuals = part @ point - targets[first : first + block]
        point -= 0.1 * (2 * part.T @ residuals / len(part))
    return perf_counter() - began


def river_seconds(features: Floats, targets: Floats) -> float:
    """Return the time of river's linear regression, one sample at a time."""
    from river.linear_model import LinearRegression
    from river.optim import SGD

    model = LinearRegression(SGD(0.01))
    rows = [dict(enumerate(row.tolist())) for row in features]
    began = perf_counter()
    for row, target in zip(rows, targets.tolist(), strict=True):
        model.learn_one(row, target)
    return perf_counter() - began


def main() -> None:
    """Measure and print."""
    warm_up()
    microseconds = speeds()
    whitened = speeds(50, 500_000, mode="whitened", horizon=500_000)
    report = {
        "subopt": errors_of_cases(),
        "speedup_over_river": microseconds["river"] / microseconds["discreet"],
        "cost_over_numpy_minibatch": microseconds["discreet"] / microseconds["numpy"],
        "whitened_cost_over_numpy_minibatch_d50": whitened["discreet"] / whitened["numpy"],
        "sparse_p1_d1000_T1e5": sparse_errors(),
        "other_worlds": other_errors(),
        "correlated_p2_T1e5": mean_long_error(),
        "microseconds_a_sample": microseconds,
    }
    write(report)


if __name__ == "__main__":
    main()
