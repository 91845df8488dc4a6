"""Cost of exactness: discreet's samplers, OpenDP's exact ones and NumPy's float ones.

Prints one JSON line, all of the same run. `gaussian_speedup_over_opendp` and
`selection_speedup_over_opendp` are ratios of times for the same task; `gaussian_cost_over_numpy` is
our time per coordinate over that for a float normal of NumPy.
"""

from collections.abc import Callable
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

from discreet import warm_up
from discreet.release.noise import DiscreteGaussian, DiscreteLaplace
from discreet.release.randomness import system_bits
from discreet.release.selection import Selection
from report import write

DIMENSION = 100_000
CANDIDATES = 100_000
SIGMA = 2**24
RATE = 0.1


def seconds(task: Callable[[], Any], repetitions: int) -> float:
    """Return the median time of a task, after one run that does not count."""
    task()
    times = []
    for _ in range(repetitions):
        began = perf_counter()
        task()
        times.append(perf_counter() - began)
    return median(times)


def our_seconds(scores: Any) -> dict[str, float]:
    """Return seconds per coordinate of noise, discreet's and NumPy's, and of one selection."""
    bits = system_bits()
    generator = np.random.default_rng()
    selection = Selection.at_rate(RATE, span=2)
    tasks: dict[str, Callable[[], Any]] = {
        "gaussian": lambda: DiscreteGaussian(SIGMA).draw(DIMENSION, bits),
        "laplace": lambda: DiscreteLaplace(SIGMA).draw(DIMENSION, bits),
        "numpy_normal": lambda: generator.standard_normal(DIMENSION),
        "numpy_laplace": lambda: generator.laplace(size=DIMENSION),
    }
    found = {name: seconds(task, 15) / DIMENSION for name, task in tasks.items()}
    return found | {"selection": seconds(lambda: selection.draw(scores, bits), 15)}


def their_seconds(scores: Any) -> dict[str, float]:
    """Return OpenDP's seconds per coordinate (of a tenth of them) and of one noisy maximum."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    integers = dp.vector_domain(dp.atom_domain(T=int))
    gaussian = dp.m.make_gaussian(integers, dp.l2_distance(T=float), scale=float(SIGMA))
    laplace = dp.m.make_laplace(integers, dp.l1_distance(T=int), scale=float(SIGMA))
    zcdp = dp.zero_concentrated_divergence()
    noisy_max = dp.m.make_noisy_max(integers, dp.linf_distance(T=int), zcdp, scale=1 / RATE)
    few = [0] * (DIMENSION // 10)
    listed = scores.tolist()
    return {
        "opendp_gaussian": seconds(lambda: gaussian(few), 3) / len(few),
        "opendp_laplace": seconds(lambda: laplace(few), 3) / len(few),
        "selection": seconds(lambda: noisy_max(listed), 3),
    }


def main() -> None:
    """Measure and print."""
    warm_up()
    scores = np.random.default_rng(0).integers(0, 1000, CANDIDATES)
    ours, theirs = our_seconds(scores), their_seconds(scores)
    selection = {"discreet": ours.pop("selection"), "opendp": theirs.pop("selection")}
    each = ours | theirs
    report = {
        "gaussian_speedup_over_opendp": each["opendp_gaussian"] / each["gaussian"],
        "gaussian_cost_over_numpy": each["gaussian"] / each["numpy_normal"],
        "selection_speedup_over_opendp": selection["opendp"] / selection["discreet"],
        "laplace_speedup_over_opendp": each["opendp_laplace"] / each["laplace"],
        "laplace_cost_over_numpy": each["laplace"] / each["numpy_laplace"],
        "nanoseconds": {name: value * 1e9 for name, value in each.items()},
        "selection_milliseconds": {name: value * 1e3 for name, value in selection.items()},
    }
    write(report)


if __name__ == "__main__":
    main()
