"""SetSelector and ContinuousMaximizer: what private choices keep of greedy's and meta-Frank–Wolfe's value.

Prints one JSON line. (ε, δ) = (1, 1e-6) unless a case says otherwise; twelve seeds that nothing was tuned on
(six at T = 10⁵). `--points FILE` (a .npy file with two columns) measures real points besides; `--cluster`
measures nothing but a choice from 10⁷ people on a Dask cluster of two local workers, against one from 10⁶.
"""

import json
import resource
import sys
from statistics import mean, stdev
from time import perf_counter
from typing import Any

import numpy as np
from rich.console import Console

from discreet import ContinuousMaximizer, Partitions, Privacy, SetSelector, warm_up
from discreet.arrays import Floats
from discreet.arrivals import ClickModel, Multilinear, Nearby
from discreet.domains import UniformMatroid
from discreet.lab.continuous import Tastes, meta_frank_wolfe, played_value
from discreet.lab.progress import bars_on
from discreet.lab.repeat import repeat
from discreet.lab.selection import City, FilmLog, greedy_without_noise, value_to
from discreet.turn.coins import scattered

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


def online_share(people: int, stream: str, epsilon: float, seed: int) -> float:
    """What the sets that are played are worth, over non-private meta-Frank–Wolfe's points."""
    rows, domain = Tastes.drawn(people, stream=stream, seed=seed).rows, UniformMatroid(100, 5)
    learner = ContinuousMaximizer(domain, people, Privacy(epsilon, 1e-6), seed=seed)
    return played_value(learner, rows) / meta_frank_wolfe(
        rows, Multilinear(), domain.vertex, np.full(100, 0.05)
    )


EACH, ITEMS, STEPS = 25_000, 50, 10
"""People in a partition, items, and how many are chosen."""


def tastes(number: int) -> Floats:
    """The people of a partition, each made from their own number among all."""
    words = -(-ITEMS // 4)  # four numbers of 16 bits each
    people = np.arange(number * EACH, (number + 1) * EACH)
    made = scattered(b"tastes of people", (people[:, None] * words + np.arange(words)).reshape(-1))
    numbers = made.view(np.uint16).reshape(EACH, 4 * words)[:, :ITEMS] / 65535.0
    return np.asarray(numbers * numbers * np.linspace(0.1, 0.3, ITEMS))


def peak_megabytes() -> float:
    """The most memory that this process ever had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def cluster() -> dict[str, Any]:
    """A choice of ten of fifty items by 10⁷ people, on two workers that make their rows."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as workers,
        Client(workers) as client,
    ):

        def seconds(people: int) -> float:
            domain, began = UniformMatroid(ITEMS, STEPS), perf_counter()
            selector = SetSelector(domain, Privacy(1.0), function=ClickModel, engine=client, seed=1)
            selector.fit(Partitions(people // EACH, tastes))
            return perf_counter() - began

        seconds(4 * EACH)  # compiles on both workers
        small, large = seconds(10**6), seconds(10**7)
        return {
            "cluster_seconds_1e6": small,
            "cluster_seconds_1e7": large,
            "cluster_time_ratio_10x": large / small,
            "cluster_worker_megabytes": max(client.run(peak_megabytes).values()),
        }


def summary(values: list[float]) -> dict[str, float]:
    """Mean, standard error and the worst of all."""
    return {"mean": mean(values), "standard_error": stdev(values) / len(values) ** 0.5, "worst": min(values)}


def main() -> None:
    """Measure and print."""
    if "--cluster" in sys.argv:
        print(json.dumps(cluster()))
        return
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
    runs = [(*case, seed) for case in ONLINE.values() for seed in (SEEDS if case[0] < 10**5 else SEEDS[:6])]
    played = dict(zip(runs, repeat(online_share, runs, label="online", bar=bars_on(console)), strict=True))
    online = {
        name: summary([value for run, value in played.items() if run[:3] == case])
        for name, case in ONLINE.items()
    }
    report: dict[str, Any] = {"share": shares, "online": online, **cluster()}
    if "--points" in sys.argv:
        path = sys.argv[sys.argv.index("--points") + 1]
        report["real_points"] = {
            f"uniform_{people}": summary([real_share(path, people, seed) for seed in SEEDS])
            for people in (1000, 10_000)
        }
    print(json.dumps(report))


if __name__ == "__main__":
    main()
