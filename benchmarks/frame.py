"""Cost of the engine: a round, many at once, a release, an import; and the result of the audit.

Prints one JSON line. `--against PATH` (a checkout of another version) measures the same rounds
there too, in processes of their own with one thread each, which alternate; `old_over_new` is that
version's time per round over this one's (above 1: this one is faster), the median of the ratios of
the alternations, for the modes that both have; null without it. `frame_versions.py` says how each
version makes its modes.

    python benchmarks/frame.py --against ../before
    python benchmarks/frame.py --against ../before --only rounds --modes clicks

`--only rounds` measures rounds alone, of the modes whose names contain `--modes`; the result is
printed and not kept.
"""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from equality import compared
from frame_versions import preamble_of, version_of
from report import write

ALTERNATIONS = 15
"""How often the checkouts take turns."""
REPEATS = 5
"""How often an import is timed."""
HORIZONS = (10**4, 10**6, 10**9)
HERE = Path(__file__).resolve().parent.parent
THREADS = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS", "NUMBA_NUM_THREADS")
"""What tells libraries how many threads to use."""
GROWING = (
    *("RunningSum", "Hedge", "SetMaximizer full drifting", "SetMaximizer full iid"),
    *("SetMaximizer bandit drifting", "SetMaximizer bandit iid"),
    *("SetMaximizer clicks drifting", "SetMaximizer clicks iid"),
    *("SetMinimizer full", "SetMinimizer bandit drifting", "SetMinimizer bandit iid"),
    "StreamingLearner leader",
)
"""Whose releases are timed at long horizons."""
NOTICEABLE = 5e-3
"""Seconds of a release, at the longest horizon, whose growth is reported: shorter ones vary by
half.
"""

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
    if "bandit" in name or name.startswith("ContextualBandit"):
        return float(G.uniform())
    if "clicks" in name:
        return None
    if name == "SetMinimizer full":
        return G.uniform(0, 0.01, size=39)
    if name.startswith("StreamingLearner"):
        return G.uniform(-0.3, 0.3, size=10), float(G.uniform(-1, 1))
    if name.startswith("ContinuousMaximizer"):
        return G.uniform(0, 1, size=20)
    return G.uniform(0, 1, size=100 if name.startswith("SetMaximizer") else 10)

def rows(name, count):
    people = [person(name) for _ in range(count)]
    if "clicks" in name:
        return np.full(count, -1)
    if name.startswith("StreamingLearner"):
        return np.array([x for x, _ in people]), np.array([y for _, y in people])
    return np.array(people)

def release_if_due(made):
    due = made.release_if_due if hasattr(made, "release_if_due") else made.turn  # before 0.6
    due()

def questions_of(name, made, count):  # contexts, masks and persons, whichever come with questions
    found = {}
    if name.startswith("ContextualBandit"):
        found["contexts"] = G.uniform(-0.3, 0.3, size=(count, made.settings.features))
    if name.endswith("masks"):
        candidates = made.settings.arms if "contexts" in found else made.settings.items
        found["available"] = G.random((count, candidates)) < 0.9
        found["available"][:, :5] = True
    if name.endswith("keyed"):
        found["persons"] = G.permutation(10 * count)[:count].tolist()
    return found
"""

ROUNDS = """
ONE = {"contexts": "context", "available": "available", "persons": "person"}

def one_by_one(name, made):
    medians = []
    for group in range(12):  # other processes interfere: the least median is the machine's own
        together = questions_of(name, made, 50)
        questions = [
            {ONE[key]: values[place] for key, values in together.items()} for place in range(50)
        ]
        times = []
        for question, each in zip(questions, [person(name) for _ in range(50)]):
            began = time.perf_counter()
            made.act(**question); made.observe(each)
            times.append(time.perf_counter() - began)
        medians.append(median(times))
    return min(medians) * 1e6

def many(name, made):
    feed = rows(name, 1000)
    questions = questions_of(name, made, 1000)
    medians = []
    for group in range(4):
        times = []
        for call in range(8):
            release_if_due(made)
            count = min(1000, made.rounds_until_release)
            part = (feed[0][:count], feed[1][:count]) if isinstance(feed, tuple) else feed[:count]
            more = {key: values[:count] for key, values in questions.items()}
            began = time.perf_counter()
            made.close_many(made.open_many(more.pop("contexts", count), **more), part)
            times.append((time.perf_counter() - began) / count)
        medians.append(median(times))
    return min(medians) * 1e6

def both(name, code):
    return one_by_one(name, eval(code)), many(name, eval(code))
print(json.dumps({name: both(name, code) for name, code in json.loads(sys.argv[1]).items()}))
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
        release_if_due(made)
        times.append(time.perf_counter() - began)
    return min(times), made.state_bytes
print(json.dumps({name: release(name, code) for name, code in json.loads(sys.argv[1]).items()}))
"""


def worker(code: str, names: Iterable[str], source: Path) -> Any:
    """Run code on the named modes in a single-threaded process, with the package of a checkout."""
    preamble = preamble_of(version_of(source))
    modes = {name: preamble.modes[name] for name in names}
    environment = os.environ | dict.fromkeys(THREADS, "1") | {"PYTHONPATH": str(source / "src")}
    command = [sys.executable, "-c", preamble.imports + PEOPLE + code, json.dumps(modes)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"a worker failed in {source}:\n{done.stderr[-2000:]}")
    return json.loads(done.stdout.splitlines()[-1])


class Rounds(NamedTuple):
    """Microseconds of rounds here, and the other checkout's time over it, if there is one."""

    one_by_one: dict[str, float]
    in_thousands: dict[str, float]
    old_over_new: dict[str, float] | None
    old_over_new_in_thousands: dict[str, float] | None


def timed_rounds(names: list[str], against: Path | None, alternations: int) -> Rounds:
    """Time rounds one by one and in thousands, in processes of the two checkouts that alternate.

    Times are the least of all alternations, ratios the median of one per alternation. The checkout
    that comes first changes.
    """
    sources = [HERE] if against is None else [HERE, against]
    for source in sources:
        worker(ROUNDS, names, source)  # compile
    runs = []
    for number in range(alternations):
        order = sources if number % 2 else sources[::-1]
        runs.append({source: worker(ROUNDS, names, source) for source in order})
        print(f"alternation {number + 1} of {alternations}", file=sys.stderr, flush=True)

    def least(kind: int) -> dict[str, float]:
        return {name: round(min(run[HERE][name][kind] for run in runs), 3) for name in names}

    def ratios(kind: int) -> dict[str, float] | None:
        if against is None:
            return None
        return {
            name: round(median(run[against][name][kind] / run[HERE][name][kind] for run in runs), 3)
            for name in names
        }

    return Rounds(least(0), least(1), ratios(0), ratios(1))


def long_releases(names: Iterable[str], horizon: int) -> dict[str, tuple[float, int]]:
    """Return seconds of the first release and bytes of the state, at this horizon."""
    found = worker(RELEASE.replace("HORIZON", str(horizon)), names, HERE)
    return {name: (seconds, size) for name, (seconds, size) in found.items()}


def import_seconds() -> float:
    """Return the time of `import discreet`, without the start of Python and NumPy."""
    code = (
        "import time, numpy; began = time.perf_counter(); "
        "import discreet; print(time.perf_counter() - began)"
    )
    runs = [
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        for _ in range(REPEATS)
    ]
    return min(float(run.stdout) for run in runs)


def audit(pairs: int) -> tuple[float, int]:
    """Return the largest cost over charge of all modes, and the number of pairs of streams."""
    from discreet.audit.cases.learners import cases
    from discreet.audit.transcript import measured_costs

    found = [measured_costs(case, pairs=pairs, seed=1) for case in cases()]
    return max(each.largest_cost_over_charge for each in found), sum(each.pairs for each in found)


def releases(names: list[str]) -> dict[str, Any]:
    """Return milliseconds of the first release and bytes of the state at each horizon."""
    found = {horizon: long_releases(names, horizon) for horizon in HORIZONS}
    for _ in range(2):  # again, in turns: a busy neighbour must not decide
        for horizon in HORIZONS:
            for name, (seconds, size) in long_releases(names, horizon).items():
                found[horizon][name] = (min(seconds, found[horizon][name][0]), size)
    first, last = found[10**6], found[10**9]
    return {
        "release_milliseconds": {
            str(horizon): {name: round(each[0] * 1e3, 3) for name, each in by.items()}
            for horizon, by in found.items()
        },
        "state_bytes": {
            str(horizon): {name: each[1] for name, each in by.items()}
            for horizon, by in found.items()
        },
        "release_growth_1e9_over_1e6": {
            name: round(last[name][0] / first[name][0], 3) if last[name][0] >= NOTICEABLE else None
            for name in names
        },
    }


def measured_modes(containing: str, against: Path | None) -> list[str]:
    """Return the modes whose names contain a text, of those that both checkouts have."""
    known = [preamble_of(version_of(source)).modes for source in (HERE, against or HERE)]
    names = [name for name in known[0] if name in known[1] and containing in name]
    if not names:
        raise SystemExit(f"no mode is called like {containing!r}: known are {', '.join(known[0])}")
    return names


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
    parser.add_argument(
        "--alternations",
        type=int,
        default=ALTERNATIONS,
        help="how often the two checkouts take turns",
    )
    parser.add_argument("--only", choices=("rounds",), default=None, help="measure rounds alone")
    parser.add_argument(
        "--modes", default="", help="measure rounds of modes whose names contain this"
    )
    arguments = parser.parse_args()

    against = None if arguments.against is None else arguments.against.resolve()
    rounds = timed_rounds(measured_modes(arguments.modes, against), against, arguments.alternations)
    report: dict[str, Any] = {
        "settings": {
            "version": version_of(HERE),
            "against": None if against is None else version_of(against),
            "pairs": arguments.pairs,
            "alternations": arguments.alternations,
        },
        "old_over_new": rounds.old_over_new,
        "old_over_new_in_thousands": rounds.old_over_new_in_thousands,
        "microseconds_a_round": rounds.one_by_one,
        "microseconds_a_round_in_thousands": rounds.in_thousands,
    }
    if arguments.only == "rounds" or arguments.modes:
        print(json.dumps(report), flush=True)  # a part is no result to keep
        return
    report["seeded_equal"] = None if against is None else compared(against)["seeded_equal"]
    report |= releases(list(GROWING))
    largest, pairs = audit(arguments.pairs)
    write(
        {
            **report,
            "audit_largest_cost_over_charge": largest,
            "audit_pairs": pairs,
            "import_seconds": round(import_seconds(), 4),
        }
    )


if __name__ == "__main__":
    main()
