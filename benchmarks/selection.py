"""SetSelector and ContinuousMaximizer: what private choices keep of greedy's and meta-Frank–Wolfe's value.

Prints one JSON line. (ε, δ) = (1, 1e-6) unless a case says otherwise; twelve seeds that nothing was tuned on
(six at T = 10⁵). `--points FILE` (a .npy file with two columns) measures real points besides.
"""

import json
import sys
from statistics import mean, stdev
from typing import Any, Literal

import numpy as np
from rich.console import Console

from discreet import ContinuousMaximizer, Privacy, SetSelector, warm_up
from discreet.arrivals import Multilinear, Nearby
from discreet.domains import UniformMatroid
from discreet.lab.continuous import Tastes, meta_frank_wolfe, played_value, printed_value
from discreet.lab.progress import bars_on
from discreet.lab.repeat import repeat
from discreet.lab.selection import City, FilmLog, greedy_without_noise, value_to

SEEDS = range(700, 712)
KINDS = ("uniform", "partition", "knapsack")
METHODS: dict[str, dict[str, Any]] = {
    "histogram": {"method": "histogram"},
    "sampled": {"method": "sampled"},
    "composed": {"method": "greedy"},
    "mitrovic": {"method": "greedy", "delta": 0.0},
}
CASES: dict[str, tuple[str, int, float]] = {
    **{f"points_{kind}_1e4": (kind, 10**4, 1.0) for kind in KINDS},
    **{f"points_{kind}_1e3": (kind, 10**3, 1.0) for kind in KINDS},
    **{f"points_{kind}_1e4_eps0.1": (kind, 10**4, 0.1) for kind in KINDS},
    **{f"points_{kind}_1e3_eps0.1": (kind, 10**3, 0.1) for kind in KINDS},
    "rows_coverage_1e4": ("film", 10**4, 1.0),
    "rows_coverage_943": ("film", 943, 1.0),
    "rows_coverage_1e4_eps0.1": ("film", 10**4, 0.1),
}
ONLINE: dict[str, tuple[int, str, float]] = {
    "iid_1e4": (10**4, "iid", 1.0),
    "drift_1e4": (10**4, "drift", 1.0),
    "switch_1e4": (10**4, "switch", 1.0),
    "iid_1e4_eps0.1": (10**4, "iid", 0.1),
    "iid_1e5": (10**5, "iid", 1.0),
}
ONLINE_BESIDE: dict[str, tuple[int, str, float, str]] = {
    "iid_1e4.fresh": (10**4, "iid", 1.0, "fresh"),
    "iid_1e4_eps0.1.fresh": (10**4, "iid", 0.1, "fresh"),
    **{
        f"{stream}_1e4.{name}": (10**4, stream, 1.0, name)
        for stream in ("iid", "drift", "switch")
        for name in ("alg4", "dpmfw")
    },
}
"""Ours for people who are alike over time, and the papers' algorithms as printed (lab/published)."""
PRINTED_SEEDS = SEEDS[:4]
"""The papers' algorithms hardly learn: few seeds tell."""
BESIDE = {"points_uniform_1e4", "points_uniform_1e3", "rows_coverage_1e4", "rows_coverage_943"}
"""Cases in which every method is measured."""


def share(kind: str, people: int, epsilon: float, settings: dict[str, Any], seed: int) -> float:
    """What one choice is worth, over what greedy without noise is worth to the same people."""
    domain: Any
    function: Any
    if kind == "film":
        log = FilmLog.drawn(people, seed=seed)
        domain, function, records, worths = UniformMatroid(300, 10), log.function, log.liked, log.liked
    else:
        city = City.drawn(people, seed=seed)
        domain, function, records, worths = city.domain(kind), city.nearby, city.homes, city.worths
    settings = dict(settings)
    privacy = Privacy(epsilon, settings.pop("delta", 1e-6))
    chosen = SetSelector(domain, privacy, function=function, seed=seed, **settings).fit(records)
    return value_to(worths, chosen.items) / value_to(worths, greedy_without_noise(worths, domain))


def real_share(path: str, people: int, seed: int) -> float:
    """The same for people drawn from a file of points."""
    points = np.load(path)
    low, high = points.min(axis=0), points.max(axis=0)
    scaled = (points - low) / np.maximum(high - low, 1e-12)
    drawn = scaled[np.random.default_rng(seed).choice(len(scaled), size=people, replace=False)]
    nearby = Nearby(City(drawn).sites, 0.15, ((0.0, 1.0), (0.0, 1.0)))
    worths = nearby.worths(nearby.admit(drawn, 300)[0])
    domain = UniformMatroid(300, 10)
    chosen = SetSelector(domain, Privacy(1.0, 1e-6), function=nearby, seed=seed).fit(drawn)
    return value_to(worths, chosen.items) / value_to(worths, greedy_without_noise(worths, domain))


def online_share(people: int, stream: str, epsilon: float, method: str, seed: int) -> float:
    """What was played is worth so much, over non-private meta-Frank–Wolfe's points."""
    rows, domain = Tastes.drawn(people, stream=stream, seed=seed).rows, UniformMatroid(100, 5)
    if method in ("boosted", "fresh"):
        assumed: Literal["any", "iid"] = "iid" if method == "fresh" else "any"
        learner = ContinuousMaximizer(domain, people, Privacy(epsilon, 1e-6), stream=assumed, seed=seed)
        earned = played_value(learner, rows)
    else:
        earned = printed_value(method, rows, domain, epsilon, seed=seed)
    return earned / meta_frank_wolfe(rows, Multilinear(), domain.vertex, np.full(100, 0.05))


def online_report(console: Console) -> dict[str, Any]:
    """All that is decided anew as people come."""
    cases = {name: (*case, "boosted") for name, case in ONLINE.items()} | ONLINE_BESIDE
    runs = [(*case, seed) for case in cases.values() for seed in _seeds(case)]
    played = dict(zip(runs, repeat(online_share, runs, label="online", bar=bars_on(console)), strict=True))
    return {
        name: summary([value for run, value in played.items() if run[:4] == case])
        for name, case in cases.items()
    }


def _seeds(case: tuple[int, str, float, str]) -> range:
    if case[3] in ("alg4", "dpmfw"):
        return PRINTED_SEEDS
    return SEEDS if case[0] < 10**5 else SEEDS[:6]


def summary(values: list[float]) -> dict[str, float]:
    """Mean, standard error and the worst of all."""
    return {"mean": mean(values), "standard_error": stdev(values) / len(values) ** 0.5, "worst": min(values)}


def main() -> None:
    """Measure and print."""
    warm_up()
    console = Console(stderr=True)
    plans: list[tuple[str, tuple[str, int, float], dict[str, Any]]] = []
    plans += [(name, case, {}) for name, case in CASES.items()]
    for name in sorted(BESIDE):
        for method, settings in METHODS.items():
            if not (method == "histogram" and CASES[name][0] == "film"):
                plans.append((f"{name}.{method}", CASES[name], settings))
    tasks = [(*case, settings, seed) for _, case, settings in plans for seed in SEEDS]
    found = repeat(share, tasks, label="choices", bar=bars_on(console))
    shares: dict[str, Any] = {}
    for place, (name, _, _) in enumerate(plans):
        shares[name] = summary(found[place * len(SEEDS) : (place + 1) * len(SEEDS)])
    report: dict[str, Any] = {"share": shares, "online": online_report(console)}
    if "--points" in sys.argv:
        path = sys.argv[sys.argv.index("--points") + 1]
        report["real_points"] = {
            f"uniform_{people}": summary([real_share(path, people, seed) for seed in SEEDS])
            for people in (1000, 10_000)
        }
    print(json.dumps(report))


if __name__ == "__main__":
    main()
