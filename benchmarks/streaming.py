"""StreamingLearner: errors beside the papers' algorithms, a sparse problem, real data, and speed. Prints one JSON line.

SubOpt is the best of a grid in hindsight for every method alike, as in the paper; "default" is without any tuning.
"""

import json
from math import inf
from statistics import mean, pstdev
from time import perf_counter
from typing import Any

import numpy as np
from rich.console import Console

from discreet import Privacy, StreamingLearner, warm_up
from discreet.arrivals import SquaredLoss
from discreet.domains import LpBall
from discreet.lab.regression import Regression
from discreet.lab.repeat import repeat
from discreet.lab.sco_tables import CASES, PACES, case_name, grids, suboptimality

SEEDS = range(10)
SPARSE: dict[str, dict[str, Any]] = {
    "frank_wolfe": {"method": "frank-wolfe"},
    "frank_wolfe_final": {"method": "frank-wolfe", "allocation": "final"},
    "leader_entropy": {"method": "leader", "curvature": 0.0},
}
KINDS = ("plain", "anisotropic", "correlated", "sparse", "noisy", "inner", "short")
GEOMETRIES = (1.5, 2.0, inf)
OTHERS: dict[str, dict[str, Any]] = {"leader": {}, "leader_convex": {"curvature": 0.0}, "frank_wolfe": {"method": "frank-wolfe"}}


def errors_of_cases(console: Console) -> dict[str, dict[str, Any]]:
    """SubOpt of every method in every case."""
    columns = ("leader", "frank_wolfe", "rival", "published", "leader_default", "frank_wolfe_default")
    plan = [(case, column, place) for case in CASES for column in columns for place in range(len(grids(case[0])[column]))]
    extra = ["sufficient_statistics", "phased_sgd"]
    tasks = [(case, *grids(case[0])[column][place], seed) for case, column, place in plan for seed in SEEDS]
    found = np.reshape(repeat(suboptimality, tasks, label="errors", console=console), (len(plan), len(SEEDS)))
    table: dict[str, dict[str, Any]] = {case_name(*case): {} for case in CASES}
    for (case, column, _), row in zip(plan, found, strict=True):
        name = ("noisy_sfw" if case[0] <= 2 else "noisy_sgd") if column == "rival" else column
        known = table[case_name(*case)]
        if name not in known or row.mean() < known[name]:
            known[name], known[f"{name}_sd"] = float(row.mean()), float(row.std())
    for case in CASES:
        table[case_name(*case)].setdefault("noisy_sfw", None)
        if case[0] <= 2:
            tries = [mean(suboptimality(case, "noisy_sfw", {"pace": pace, "unit": True}, seed) for seed in SEEDS) for pace in PACES]
            table[case_name(*case)]["noisy_sfw_unit_constants"] = min(tries)
        for name in extra:
            tries = [mean(suboptimality(case, name, {"pace": pace}, seed) for seed in range(4)) for pace in (0.1, 0.3, 1.0, 3.0)]
            table[case_name(*case)][name] = min(tries)
    return table


def sparse_error(settings: dict[str, Any], pace: float, seed: int) -> float:
    """SubOpt at p = 1, d = 1000, ten coefficients that are not 0, 10⁵ samples, ε = 1, δ = 1/T."""
    world = Regression.drawn(10**5, 1000, 1, support=10, seed=seed)
    learner = StreamingLearner(
        world.domain, SquaredLoss(), 10**5, Privacy(1.0, 1e-5), feature_bound=1.0, target_bound=1.0, pace=pace, **settings
    )
    learner.observe_stream(world.features, world.targets)
    return world.suboptimality(learner.coefficients)


def other_error(kind: str, p: float, settings: dict[str, Any], seed: int) -> float:
    """SubOpt in another world than the papers', 20,000 samples, 20 coefficients, ε = 1, δ = 1e-6, without tuning."""
    world = Regression.varied(kind, 20_000, 20, p, seed=seed)
    learner = StreamingLearner(world.domain, SquaredLoss(), 20_000, Privacy(1.0, 1e-6), feature_bound=1.0, target_bound=1.0, **settings)
    learner.observe_stream(world.features, world.targets)
    return world.suboptimality(learner.coefficients)


def data_sets() -> dict[str, tuple[Any, Any, tuple[float, float]]]:
    """Features, classes 0 and 1, and the public range of features."""
    from river.datasets import Phishing
    from sklearn.datasets import load_digits

    rows, classes = zip(*Phishing(), strict=True)
    pixels, digits = load_digits(return_X_y=True)
    return {
        "phishing": (np.array([list(row.values()) for row in rows], dtype=float), np.array(classes).astype(int), (0.0, 1.0)),
        "digits_5_or_more": (pixels, (digits >= 5).astype(int), (0.0, 16.0)),
    }


def accuracy(name: str, epsilon: float | None, seed: int) -> float:
    """On the last 30 % of a shuffled data set; without ε: one pass of scikit-learn's SGDClassifier."""
    from sklearn.linear_model import SGDClassifier

    from discreet.estimators import PrivateStreamingClassifier

    features, classes, ranges = data_sets()[name]
    order = np.random.default_rng(seed).permutation(len(classes))
    train, test = np.split(order, [int(0.7 * len(order))])
    if epsilon is None:
        scaled = (2 * features - ranges[0] - ranges[1]) / (ranges[1] - ranges[0])
        plain = SGDClassifier(loss="log_loss", max_iter=1, tol=None, average=True, random_state=seed).fit(scaled[train], classes[train])
        return float(plain.score(scaled[test], classes[test]))
    model = PrivateStreamingClassifier(epsilon, 1e-5, feature_range=ranges).fit(features[train], classes[train])
    return float(model.score(features[test], classes[test]))


def speeds(dimension: int = 100, samples: int = 200_000, horizon: int = 10**6) -> dict[str, float]:
    """Microseconds a sample: discreet in its blocks for a million samples, NumPy mini-batches of the same size, and river one by one."""
    from river.linear_model import LinearRegression
    from river.optim import SGD

    generator = np.random.default_rng(0)
    features = generator.normal(size=(samples, dimension))
    features /= np.linalg.norm(features, axis=1, keepdims=True)
    targets = features @ generator.normal(size=dimension) / 10

    def private() -> StreamingLearner:
        return StreamingLearner(LpBall(dimension), SquaredLoss(), horizon, Privacy(1.0, 1e-6), feature_bound=1.0, target_bound=1.0)

    private().observe_stream(features[:2000], targets[:2000])
    learner = private()
    block = learner.rounds_until_release
    times: dict[str, list[float]] = {"discreet": [], "numpy": []}
    for _ in range(3):
        learner = private()
        began = perf_counter()
        learner.observe_stream(features, targets)
        times["discreet"].append(perf_counter() - began)
        point = np.zeros(dimension)
        began = perf_counter()
        for first in range(0, samples, block):
            part = features[first : first + block]
            point -= 0.1 * (2 * part.T @ (part @ point - targets[first : first + block]) / len(part))
        times["numpy"].append(perf_counter() - began)
    model = LinearRegression(SGD(0.01))
    rows = [dict(enumerate(row.tolist())) for row in features[:3000]]
    began = perf_counter()
    for row, target in zip(rows, targets[:3000].tolist(), strict=True):
        model.learn_one(row, target)
    river = (perf_counter() - began) / 3000
    return {name: min(values) / samples * 1e6 for name, values in times.items()} | {"river": river * 1e6}


def main() -> None:
    """Measure and print."""
    warm_up()
    console = Console(stderr=True)
    microseconds = speeds()
    subopt = errors_of_cases(console)
    paces = (1.0, 3.0, 10.0)
    tries = [(settings, pace, seed) for settings in SPARSE.values() for pace in paces for seed in range(3)]
    found = np.reshape(repeat(sparse_error, tries, label="sparse", console=console), (len(SPARSE), len(paces), 3)).mean(axis=2)
    sparse = {
        name: {f"pace_{pace:g}": float(value) for pace, value in zip(paces, row, strict=True)}
        for name, row in zip(SPARSE, found, strict=True)
    }
    others = [(kind, p, settings, seed) for kind in KINDS for p in GEOMETRIES for settings in OTHERS.values() for seed in range(100, 106)]
    shape = (len(KINDS), len(GEOMETRIES), len(OTHERS), 6)
    worlds = np.reshape(repeat(other_error, others, label="other worlds", console=console), shape).mean(axis=3)
    other = {
        kind: {f"p{p:g}": dict(zip(OTHERS, row.tolist(), strict=True)) for p, row in zip(GEOMETRIES, block, strict=True)}
        for kind, block in zip(KINDS, worlds, strict=True)
    }
    runs = [(name, epsilon, seed) for name in data_sets() for epsilon in (None, 0.5, 1.0, 4.0) for seed in range(10)]
    scores = np.reshape(repeat(accuracy, runs, label="real data", console=console), (-1, 4, 10))
    labels = ("non_private", "epsilon_0.5", "epsilon_1", "epsilon_4")
    real = {
        name: {
            label: {"mean": float(np.mean(row)), "standard_deviation": pstdev(row.tolist())}
            for label, row in zip(labels, block, strict=True)
        }
        for name, block in zip(data_sets(), scores, strict=True)
    }
    report = {
        "subopt": subopt,
        "speedup_over_river": microseconds["river"] / microseconds["discreet"],
        "cost_over_numpy_minibatch": microseconds["discreet"] / microseconds["numpy"],
        "real_data": real,
        "sparse_p1_d1000_T1e5": sparse,
        "other_worlds": other,
        "microseconds_a_sample": microseconds,
    }
    print(json.dumps(report))


if __name__ == "__main__":
    main()
