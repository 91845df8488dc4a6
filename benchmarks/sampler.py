"""What exactness costs: our samplers against OpenDP's exact ones and NumPy's floating-point ones, in the same run.

Prints one JSON line. `gaussian_speedup_over_opendp` and `selection_speedup_over_opendp` are ratios of times for the same task;
`gaussian_cost_over_numpy` is our time per coordinate over NumPy's for a float normal.
"""

import json
from collections.abc import Callable
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

from discreet import warm_up
from discreet.release.noise import DiscreteGaussian, DiscreteLaplace
from discreet.release.randomness import system_words
from discreet.release.selection import Selection

DIMENSION = 100_000
CANDIDATES = 100_000
SIGMA = 2**24


def seconds(task: Callable[[], Any], repetitions: int) -> float:
    """The median time of a task, after one run that does not count."""
    task()
    times = []
    for _ in range(repetitions):
        began = perf_counter()
        task()
        times.append(perf_counter() - began)
    return median(times)


def main() -> None:
    """Measure and print."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    warm_up()
    words = system_words()
    integers = dp.vector_domain(dp.atom_domain(T=int))
    scores = np.random.default_rng(0).integers(0, 1000, CANDIDATES)
    rate = 0.1
    selection = Selection.at_rate(rate, span=2)
    few = [0] * (DIMENSION // 10)  # OpenDP is timed on a tenth of the coordinates
    their_gaussian = dp.m.make_gaussian(integers, dp.l2_distance(T=float), scale=float(SIGMA))
    their_laplace = dp.m.make_laplace(integers, dp.l1_distance(T=int), scale=float(SIGMA))
    their_max = dp.m.make_noisy_max(integers, dp.linf_distance(T=int), dp.zero_concentrated_divergence(), scale=1 / rate)
    listed = scores.tolist()
    generator = np.random.default_rng()
    per_coordinate = {
        "gaussian": seconds(lambda: DiscreteGaussian(SIGMA).draw(DIMENSION, words), 15) / DIMENSION,
        "laplace": seconds(lambda: DiscreteLaplace(SIGMA).draw(DIMENSION, words), 15) / DIMENSION,
        "numpy_normal": seconds(lambda: generator.standard_normal(DIMENSION), 15) / DIMENSION,
        "numpy_laplace": seconds(lambda: generator.laplace(size=DIMENSION), 15) / DIMENSION,
        "opendp_gaussian": seconds(lambda: their_gaussian(few), 3) / len(few),
        "opendp_laplace": seconds(lambda: their_laplace(few), 3) / len(few),
    }
    ours, theirs = seconds(lambda: selection.draw(scores, words), 15), seconds(lambda: their_max(listed), 3)
    report = {
        "gaussian_speedup_over_opendp": per_coordinate["opendp_gaussian"] / per_coordinate["gaussian"],
        "gaussian_cost_over_numpy": per_coordinate["gaussian"] / per_coordinate["numpy_normal"],
        "selection_speedup_over_opendp": theirs / ours,
        "laplace_speedup_over_opendp": per_coordinate["opendp_laplace"] / per_coordinate["laplace"],
        "laplace_cost_over_numpy": per_coordinate["laplace"] / per_coordinate["numpy_laplace"],
        "nanoseconds": {name: value * 1e9 for name, value in per_coordinate.items()},
        "selection_milliseconds": {"discreet": ours * 1e3, "opendp": theirs * 1e3},
    }
    print(json.dumps(report))


if __name__ == "__main__":
    main()
