"""SetSelector and ContinuousMaximizer: shares of greedy's and meta-Frank–Wolfe's value.

Prints one JSON line. (ε, δ) = (1, 1e-6) unless a case says otherwise; twelve seeds that nothing was
tuned on (six at T = 10⁵). `--cluster` measures nothing but a choice from 10⁷ people on a Dask
cluster of two local workers, against one from 10⁶. Real points are measured by pickups.py.
"""

import argparse
import resource
from statistics import mean, stdev
from time import perf_counter
from typing import Any, Literal

import numpy as np

from discreet import Partitions, Privacy, SetSelector, warm_up
from discreet.arrays import Floats
from discreet.domains import UniformMatroid
from discreet.engine.coins import scattered
from discreet.functions import ClickModel
from discreet.progress import shown
from discreet.simulate.problems.continuous import Moving
from discreet.simulate.problems.problem import made
from discreet.simulate.problems.selection import City, FilmLog, Records, share_of_greedy, value_to
from discreet.tasks import repeat
from report import write

SEEDS = range(700, 712)
KINDS = ("uniform", "partition", "knapsack")
MODES = ("histogram", "sampled")
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
}
"""Ours for people who are alike over time."""
BESIDE = {"points_uniform_1e4", "points_uniform_1e3", "rows_coverage_1e4", "rows_coverage_943"}
"""Cases in which every mode is measured."""


def share(kind: str, people: int, epsilon: float, mode: str, seed: int) -> float:
    """Return the value of one choice over that of greedy without noise, for the same people."""
    if kind == "film":
        return worth_of(
            FilmLog.drawn(people, seed=seed), UniformMatroid(300, 10), epsilon, mode, seed
        )
    city = City.drawn(people, seed=seed)
    return worth_of(city, city.domain(kind), epsilon, mode, seed)


def worth_of(people: Records, domain: Any, epsilon: float, mode: str, seed: int) -> float:
    """Return the value of one choice over that of greedy without noise."""
    privacy = Privacy(epsilon, 1e-6)
    selector = made(SetSelector, mode, domain, privacy, function=people.function, seed=seed)
    chosen = selector.fit(people.records)
    return share_of_greedy(value_to(people.worths, chosen.numbers), people.worths, domain)


def online_share(people: int, stream: str, epsilon: float, method: str, seed: int) -> float:
    """Return the value of the played sets over that of non-private meta-Frank–Wolfe."""
    assumed: Literal["drifting", "iid"] = "iid" if method == "fresh" else "drifting"
    return Moving(people, Privacy(epsilon, 1e-6), 100, 5, assumed, tastes=stream).share(seed)


@shown()
def online_report() -> dict[str, Any]:
    """Return the shares of all online cases."""
    cases = {name: (*case, "default") for name, case in ONLINE.items()} | ONLINE_BESIDE
    runs = [(*case, seed) for case in cases.values() for seed in _seeds(case)]
    played = dict(zip(runs, repeat(online_share, runs, label="online"), strict=True))
    return {
        name: summary([value for run, value in played.items() if run[:4] == case])
        for name, case in cases.items()
    }


def _seeds(case: tuple[int, str, float, str]) -> range:
    return SEEDS if case[0] < 10**5 else SEEDS[:6]


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
    """Return the largest memory of this process so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def cluster() -> dict[str, Any]:
    """Choose ten of fifty items for 10⁷ people, on two workers that draw their rows."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as workers,
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
    """Return the mean, its standard error and the worst value."""
    return {
        "mean": mean(values),
        "standard_error": stdev(values) / len(values) ** 0.5,
        "worst": min(values),
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cluster", action="store_true", help="only the choice on a cluster")
    arguments = parser.parse_args()
    if arguments.cluster:
        write({"settings": {"cluster": True}} | cluster(), "selection-cluster")
        return
    warm_up()
    plans = [(name, case, "auto") for name, case in CASES.items()]
    for name in sorted(BESIDE):
        for mode in MODES:
            if not (mode == "histogram" and CASES[name][0] == "film"):
                plans.append((f"{name}.{mode}", CASES[name], mode))
    tasks = [(*case, mode, seed) for _, case, mode in plans for seed in SEEDS]
    with shown():
        found = repeat(share, tasks, label="choices")
    shares: dict[str, Any] = {}
    for place, (name, _, _) in enumerate(plans):
        shares[name] = summary(found[place * len(SEEDS) : (place + 1) * len(SEEDS)])
    write({"share": shares, "online": online_report(), **cluster()})


if __name__ == "__main__":
    main()
