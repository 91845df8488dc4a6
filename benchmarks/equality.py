"""Whether seeded runs of two checkouts are equal, bit for bit: decisions, draws, charges, reports.

Each checkout runs its own scenarios (`measures/equality/scenarios.py`) with its own package, in a
process of its own. Recorded are all decisions, the input and the output of every draw at the door,
the ledger, and all that may be read after each release; not the layout of the state. Values are
compared, texts are not: the wording of guarantees, reasons and refusals may change. The first
difference of each scenario is printed to standard error.

Prints one JSON line: `seeded_equal` says for each mode whether all its runs are equal. The exit
code is 1 if one differs. Without `--against` this checkout runs twice, which shows that runs can be
repeated; with `--only` the result is printed and not written.

    python benchmarks/equality.py --against ../before
    python benchmarks/equality.py --against ../before --only clicks
"""

import argparse
import json
import os
import re
import subprocess
import sys
import warnings
from itertools import zip_longest
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from report import write

HERE = Path(__file__).resolve().parent.parent
THREADS = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS", "NUMBA_NUM_THREADS")
"""What tells libraries how many threads to use."""

WORDED = ("facts", "notices", "chosen")
"""Entries whose texts are wording."""
QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")
REFUSAL = re.compile(r"^['\"]?(\w+Error|OutOfBounds|HorizonReached): .*", re.DOTALL)


class Recorded(NamedTuple):
    """The trace of one scenario in one checkout."""

    mode: str
    entries: list[list[str]]
    error: str
    """Why the run broke off; "" if it did not."""


def record(only: str, out: Path) -> None:
    """Run the scenarios with the package that this process imports, and write their traces."""
    import discreet
    from measures.equality.scenarios import scenarios
    from measures.equality.trace import Trace, recorded_doors

    package = Path(discreet.__file__).parent
    found: dict[str, Recorded] = {}
    for scenario in scenarios():
        if only not in scenario.name:
            continue
        trace, mode, error = Trace(), "", ""
        try:
            with recorded_doors(trace), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                mode = scenario.run(trace)
        except Exception as raised:
            error = f"{type(raised).__name__}: {raised} (at {trace.step})"
        found[scenario.name] = Recorded(mode, [list(entry) for entry in trace.entries], error)
        if error or not len(found) % 50:
            print(
                f"{package}: {len(found)} runs, {scenario.name} {error}",
                file=sys.stderr,
                flush=True,
            )
    missing = known_modes() - {each.mode for each in found.values()}
    if missing and not only:
        raise SystemExit(f"no scenario runs {', '.join(sorted(missing))}")
    out.write_text(json.dumps(found), encoding="utf-8")


def known_modes() -> set[str]:
    """Return all modes of all learners, as "Learner mode"."""
    from discreet import SetSelector
    from discreet.learners.homes import HOMES
    from discreet.learners.registry import learner_named

    kinds: list[Any] = [SetSelector, *(learner_named(name) for name in HOMES)]
    return {f"{kind.__name__} {mode}" for kind in kinds for mode in kind.modes}


def recorded(sources: list[Path], only: str) -> list[dict[str, Recorded]]:
    """Return the traces of the scenarios in each checkout; the checkouts run in parallel."""
    with TemporaryDirectory() as folder:
        files = [Path(folder) / str(place) for place in range(len(sources))]
        processes = [
            _started(source, only, file) for source, file in zip(sources, files, strict=True)
        ]
        codes = [process.wait() for process in processes]
        if any(codes):
            raise SystemExit("a checkout could not be run: see above")
        read = [json.loads(file.read_text(encoding="utf-8")) for file in files]
    return [{name: Recorded(*each) for name, each in found.items()} for found in read]


def _started(source: Path, only: str, out: Path) -> subprocess.Popen[bytes]:
    environment = os.environ | dict.fromkeys(THREADS, "1") | {"PYTHONPATH": str(source / "src")}
    script = source / "benchmarks" / "equality.py"
    command = [sys.executable, str(script), "--only", only, "--record", str(out)]
    return subprocess.Popen(command, env=environment)


def _values(run: Recorded) -> list[tuple[str, str, str]]:
    """Return the entries of a run without wording: when, what, and its value."""
    found = []
    for step, what, text in run.entries:
        if what == "guarantee":
            continue
        value = REFUSAL.sub("refused", text)
        if what in WORDED:
            value = QUOTED.sub("a text", value)
        found.append((step, what, value))
    return found


def difference(here: Recorded | None, there: Recorded | None) -> str:
    """Return the first difference of two runs as text; "" if none. An aborted run differs."""
    if here is None or there is None:
        return "runs in one of the checkouts only"
    for one, two in zip_longest(_values(here), _values(there)):
        if one != two:
            return f"{_shown(one)}\n   there: {_shown(two)}"
    if here.error or there.error:
        return f"broke off: {here.error or there.error}"
    return ""


def _shown(entry: Any) -> str:
    return "nothing more" if entry is None else f"{entry[0]}, {entry[1]}: {entry[2]}"


def compared(against: Path, only: str = "") -> dict[str, Any]:
    """Run all scenarios in this checkout and another one, and print differences to stderr."""
    here, there = recorded([HERE, against.resolve()], only)
    equal: dict[str, bool] = {}
    differing = []
    for name in here | there:
        found = difference(here.get(name), there.get(name))
        if found:
            differing.append(name)
            print(f"DIFFERS {name}: {found}", file=sys.stderr, flush=True)
        run = here.get(name) or there[name]
        mode = run.mode or name
        equal[mode] = equal.get(mode, True) and not found
    return {
        "seeded_equal": dict(sorted(equal.items())),
        "runs": len(here),
        "entries": sum(len(each.entries) for each in here.values()),
        "differing": differing,
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--against",
        type=Path,
        default=HERE,
        help="the checkout to compare with; by default, this one",
    )
    parser.add_argument("--only", default="", help="run scenarios whose names contain this")
    parser.add_argument("--record", type=Path, default=None, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.record is not None:
        record(arguments.only, arguments.record)
        return
    found = compared(arguments.against, arguments.only)
    if arguments.only:
        print(json.dumps(found), flush=True)  # a part is no result to keep
    else:
        write(found)
    raise SystemExit(1 if found["differing"] else 0)


if __name__ == "__main__":
    main()
