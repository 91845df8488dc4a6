"""What the frame costs: a round, many at once, a release at any horizon, an import; what the audit finds.

Prints one JSON line. `--against PATH` (a checkout of another version) measures the same rounds there too,
alternating in processes of their own with one thread each; `old_over_new` is that version's time a round over
this one's (above 1: this one is faster) for the modes that both have, null without it. `frame_versions.py`
says how each version makes its modes.

    python benchmarks/frame.py --against ../before
"""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from frame_versions import preamble_of, version_of
from report import write

REPEATS = 5
HORIZONS = (10**4, 10**6, 10**9)
HERE = Path(__file__).resolve().parent.parent
THREADS = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS", "NUMBA_NUM_THREADS")
"""What tells libraries how many threads to use."""
GROWING = ("SetMaximizer", "SetMinimizer", "StreamingLearner leader", "RunningSum", "Hedge")
"""Whose releases are timed at long horizons."""

PEOPLE = """
import json, sys, time
import numpy as np
from statistics import median
P = Privacy(1.0, 1e-6)
CUT = MinusModular(GraphCut(tuple((i, i + 1) for i in range(19))))
SQUARED = SquaredLoss()
BOUNDS = {"feature_bound": 1.0, "target_bound": 1.0}
G = np.random.default_rng(0)

def person(name):
    if "bandit" in name:
        return float(G.uniform())
    if "clicks" in name:
        return None
    if name == "SetMinimizer full":
        return G.uniform(0, 0.01, size=39)
    if name.startswith("StreamingLearner"):
        return G.uniform(-0.3, 0.3, size=10), float(G.uniform(-1, 1))
    return G.uniform(0, 1, size=100 if name.startswith("SetMaximizer") else 10)

def rows(name, count):
    people = [person(name) for _ in range(count)]
    if "clicks" in name:
        return np.full(count, -1)
    if name.startswith("StreamingLearner"):
        return np.array([x for x, _ in people]), np.array([y for _, y in people])
    return np.array(people)
"""

ROUNDS = """
def one_by_one(name, made):
    medians = []
    for group in range(12):  # a busy neighbour comes and goes: the least median is the machine's own
        times = []
        for each in [person(name) for _ in range(50)]:
            began = time.perf_counter()
            made.act(); made.observe(each)
            times.append(time.perf_counter() - began)
        medians.append(median(times))
    return min(medians) * 1e6
print(json.dumps({name: one_by_one(name, eval(code)) for name, code in json.loads(sys.argv[1]).items()}))
"""

MANY = """
def many(name, made):
    feed = rows(name, 1000)
    made.turn()
    times = []
    for _ in range(12):
        made.turn()
        count = min(1000, made.rounds_until_release)
        part = (feed[0][:count], feed[1][:count]) if isinstance(feed, tuple) else feed[:count]
        began = time.perf_counter()
        made.close_many(made.open_many(count), part)
        times.append((time.perf_counter() - began) / count)
    return median(times) * 1e6
print(json.dumps({name: many(name, eval(code)) for name, code in json.loads(sys.argv[1]).items()}))
"""

RELEASE = """
def release(name, code):
    times, repeats = [], 8
    while len(times) < repeats:
        made = eval(code.replace("10**6", "HORIZON"))
        first = made.rounds_until_release
        repeats = 8 if first <= 10**6 else 3  # a long block takes long to open
        left = min(10_000, first)
        made.close_many(made.open_many(left), rows(name, left))
        while made.clock < first:
            made.open_many(min(1_000_000, first - made.clock))
        began = time.perf_counter()
        made.turn()
        times.append(time.perf_counter() - began)
    return min(times), made.state_bytes
print(json.dumps({name: release(name, code) for name, code in json.loads(sys.argv[1]).items()}))
"""


def worker(code: str, names: Iterable[str], source: Path) -> Any:
    """Run code on the named modes in a process of its own, on one thread, with the package of a checkout."""
    preamble = preamble_of(version_of(source))
    modes = {name: preamble.modes[name] for name in names}
    environment = os.environ | dict.fromkeys(THREADS, "1") | {"PYTHONPATH": str(source / "src")}
    command = [sys.executable, "-c", preamble.imports + PEOPLE + code, json.dumps(modes)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"a worker failed in {source}:\n{done.stderr[-2000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def round_microseconds(checkouts: list[tuple[Path, list[str]]]) -> list[dict[str, float]]:
    """Microseconds per round of the named modes in each checkout: the least of runs that alternate."""
    for source, names in checkouts:
        worker(ROUNDS, names, source)  # compile
    runs = [[worker(ROUNDS, names, source) for source, names in checkouts] for _ in range(REPEATS)]
    return [
        {name: min(run[place][name] for run in runs) for name in names}
        for place, (_, names) in enumerate(checkouts)
    ]


def long_releases(names: Iterable[str], horizon: int) -> dict[str, tuple[float, int]]:
    """Seconds of the first release and bytes of the state, at this horizon."""
    found = worker(RELEASE.replace("HORIZON", str(horizon)), names, HERE)
    return {name: (seconds, size) for name, (seconds, size) in found.items()}


def import_seconds() -> float:
    """How long `import discreet` takes, besides starting Python and NumPy."""
    code = (
        "import time, numpy; began = time.perf_counter(); import discreet; print(time.perf_counter() - began)"
    )
    runs = [
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        for _ in range(REPEATS)
    ]
    return min(float(run.stdout) for run in runs)


def audit(pairs: int) -> tuple[float, int]:
    """The largest cost over charge of all ways of learning, and how many pairs of streams showed it."""
    from discreet.checks.transcript import measured_costs
    from discreet.lab.cases import cases

    found = [measured_costs(case, pairs=pairs, seed=1) for case in cases()]
    return max(each.largest_cost_over_charge for each in found), sum(each.pairs for each in found)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--against", type=Path, default=None, help="a checkout of the version to compare with"
    )
    parser.add_argument(
        "--pairs",
        type=int,
        default=40,
        help="pairs of streams that the audit sends through each way of learning",
    )
    arguments = parser.parse_args()

    version, before = version_of(HERE), None
    names = list(preamble_of(version).modes)
    checkouts = [(HERE, names)]
    if arguments.against:
        there = arguments.against.resolve()
        before = version_of(there)
        known = preamble_of(before).modes
        checkouts.append((there, [name for name in names if name in known]))
    here, *others = round_microseconds(checkouts)
    at_once = [worker(MANY, names, HERE) for _ in range(REPEATS)]
    long_names = [name for name in names if name.startswith(GROWING)]
    releases = {horizon: long_releases(long_names, horizon) for horizon in HORIZONS}
    for _ in range(2):  # again, in turns: a busy neighbour must not decide
        for horizon in HORIZONS:
            for name, (seconds, size) in long_releases(long_names, horizon).items():
                releases[horizon][name] = (min(seconds, releases[horizon][name][0]), size)
    largest, pairs = audit(arguments.pairs)
    ratios = [{name: round(old / here[name], 3) for name, old in other.items()} for other in others]
    write(
        {
            "settings": {"version": version, "against": before, "pairs": arguments.pairs},
            "old_over_new": ratios[0] if ratios else None,
            "microseconds_a_round": {name: round(found, 2) for name, found in here.items()},
            "microseconds_a_round_in_thousands": {
                name: round(min(run[name] for run in at_once), 3) for name in names
            },
            "release_milliseconds": {
                str(horizon): {name: round(found[0] * 1e3, 3) for name, found in by.items()}
                for horizon, by in releases.items()
            },
            "state_bytes": {
                str(horizon): {name: found[1] for name, found in by.items()}
                for horizon, by in releases.items()
            },
            "release_growth_1e9_over_1e6": {
                name: round(releases[10**9][name][0] / releases[10**6][name][0], 3) for name in long_names
            },
            "audit_largest_cost_over_charge": largest,
            "audit_pairs": pairs,
            "import_seconds": round(import_seconds(), 4),
        }
    )


if __name__ == "__main__":
    main()
