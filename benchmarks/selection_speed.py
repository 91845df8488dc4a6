"""How fast greedy without noise is, against apricot and submodlib: lazy algorithms all, on one thread.

Prints one JSON line; `benchmarks/selection.py` runs it and adds what it finds. 50 of 10⁴ items:

    facilities   points in 20 dimensions from 30 clusters; similarities exp(−d²/40), made before, for all
    coverage     sets of 5 to 100 of 10⁴ topics, popular ones more often

Each is given its tables in the precision that it is faster with (apricot: 64 bits, the others 32), and is run
once on little data before. If one of them did not choose greedily, nothing is printed.
"""

import os
import sys
from collections.abc import Callable
from importlib.util import find_spec
from time import perf_counter
from typing import Any

from report import write

ITEMS = 10_000
PICKS = 50
THREADS = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS", "NUMBA_NUM_THREADS")
CLOSE = 1e-6
"""How far the values of what was chosen may be apart, relative to them."""


def similarities(count: int) -> Any:
    """Points from clusters, as a table in 32 bits."""
    import numpy as np

    generator = np.random.default_rng(0)
    centres = 2 * generator.normal(size=(30, 20))
    points = centres[generator.integers(0, 30, size=count)] + generator.normal(size=(count, 20))
    squares = (points**2).sum(axis=1)
    distances = np.maximum(squares[:, None] + squares - 2 * points @ points.T, 0.0)
    return np.exp(-distances / 40).astype(np.float32)


def topics(count: int) -> Any:
    """Items × topics, as a sparse table of ones."""
    import numpy as np
    from scipy.sparse import csr_matrix

    generator = np.random.default_rng(0)
    popularity = np.arange(1, count + 1) ** -0.6
    items = np.repeat(np.arange(count), generator.integers(5, 101, size=count))
    drawn = generator.choice(count, size=items.size, p=popularity / popularity.sum())
    table = csr_matrix((np.ones(items.size), (items, drawn)), shape=(count, count))
    table.sum_duplicates()
    table.data[:] = 1.0
    return table


def seconds(work: Callable[[], Any]) -> tuple[float, list[int]]:
    """How long it takes, and the items: once, or the least of five if that is a matter of milliseconds."""
    times: list[float] = []
    while not times or (sum(times) < 1 and len(times) < 5):
        began = perf_counter()
        chosen = work()
        times.append(perf_counter() - began)
    return min(times), [int(item) for item in chosen]


def facility_times(count: int, picks: int) -> dict[str, tuple[float, list[int]]]:
    """Ours, apricot's and submodlib's."""
    from apricot import FacilityLocationSelection
    from submodlib import FacilityLocationFunction

    from discreet.decide.greedy import lazy_facilities

    table = similarities(count)
    wide = table.astype(float)
    theirs = FacilityLocationFunction(n=count, mode="dense", separate_rep=False, sijs=table)

    def selected() -> Any:
        return FacilityLocationSelection(picks, metric="precomputed", optimizer="lazy").fit(wide).ranking

    return {
        "discreet": seconds(lambda: lazy_facilities(table, picks)),
        "apricot": seconds(selected),
        "submodlib": seconds(lambda: _maximised(theirs, picks)),
    }


def coverage_times(count: int, picks: int) -> dict[str, tuple[float, list[int]]]:
    """The same for topics."""
    from apricot import MaxCoverageSelection
    from submodlib import SetCoverFunction

    from discreet.decide.greedy import lazy_coverage

    table = topics(count)
    sets = [set(table.indices[table.indptr[item] : table.indptr[item + 1]].tolist()) for item in range(count)]
    theirs = SetCoverFunction(n=count, cover_set=sets, num_concepts=count)

    def selected() -> Any:
        return MaxCoverageSelection(picks, optimizer="lazy").fit(table).ranking

    return {
        "discreet": seconds(lambda: lazy_coverage(table.indptr, table.indices, picks)),
        "apricot": seconds(selected),
        "submodlib": seconds(lambda: _maximised(theirs, picks)),
    }


def _maximised(function: Any, picks: int) -> list[int]:
    found = function.maximize(
        budget=picks,
        optimizer="LazyGreedy",
        stopIfZeroGain=False,
        stopIfNegativeGain=False,
        show_progress=False,
    )
    return [item for item, _ in found]


def check_facilities(times: dict[str, tuple[float, list[int]]], table: Any) -> None:
    """All must have found sets of the same worth."""
    values = {name: float(table[chosen].max(axis=0).sum(dtype=float)) for name, (_, chosen) in times.items()}
    if max(values.values()) > min(values.values()) * (1 + CLOSE):
        sys.exit(f"what was chosen is not worth the same: {values}")


def check_coverage(times: dict[str, tuple[float, list[int]]], table: Any) -> None:
    """All must have been greedy: of items that cover equally much, each may take another."""
    import numpy as np

    for name, (_, chosen) in times.items():
        left = np.ones(table.shape[1])
        for item in chosen:
            gains = table @ left
            if gains[item] < gains.max() * (1 - CLOSE):
                sys.exit(f"{name} took an item that covers {gains[item]} more, not {gains.max()}")
            left[table.indices[table.indptr[item] : table.indptr[item + 1]]] = 0.0


def main() -> None:
    """Measure and print."""
    missing = [name for name in ("apricot", "submodlib") if find_spec(name) is None]
    if missing:
        sys.exit(f"{' and '.join(missing)} missing: python -m pip install --group peers")
    os.environ.update(dict.fromkeys(THREADS, "1"))  # before NumPy and Numba are imported
    facility_times(200, 5), coverage_times(200, 5)  # compile
    facilities, coverage = facility_times(ITEMS, PICKS), coverage_times(ITEMS, PICKS)
    check_facilities(facilities, similarities(ITEMS))
    check_coverage(coverage, topics(ITEMS))
    report: dict[str, Any] = {
        f"{task}_speedup_over_{peer}": times[peer][0] / times["discreet"][0]
        for task, times in (("facility", facilities), ("coverage", coverage))
        for peer in ("apricot", "submodlib")
    }
    report["greedy_seconds"] = {
        "facility": {name: taken for name, (taken, _) in facilities.items()},
        "coverage": {name: taken for name, (taken, _) in coverage.items()},
    }
    write(report)


if __name__ == "__main__":
    main()
