"""Run the benchmarks one after another, and write the page of results.

    python benchmarks/run.py                          all of them, for hours
    python benchmarks/run.py --only sampler sums      some of them
    python benchmarks/run.py --movielens ml-100k/u.data --pickups pickups.npy
    python benchmarks/run.py --quick                  the figures of the front door, in a minute

A benchmark writes results/<name>.json, and its bars to standard error. A benchmark that fails or
lacks something leaves the file of its last run. Every file holds its date, versions, machine and
seeds; RESULTS.md shows them all, beside the peers first. The exit code is 1 if a benchmark fails,
or if a figure of the front door misses its goal.

`--quick` writes results/front.json: bytes of the README, pages whose code runs, links that lead
nowhere, milliseconds of `import discreet` after NumPy, and seconds of `make docs`.
"""

import argparse
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

import results_page
from measures.front_door import Figure, figures
from report import write

HERE = Path(__file__).resolve().parent
NAMES = (
    *("frame", "equality", "sampler", "sums", "display", "warm", "minimize", "streaming", "real"),
    *("contextual", "selection", "traffic", "movielens", "pickups", "published", "returning"),
    *("ways", "mended", "tables", "readability"),
)
"""All benchmarks, in the order in which they run."""
DIFFPRIVLIB = Path(sys.prefix) / "diffprivlib" / "bin" / "python"
"""Python of an environment with diffprivlib, which needs an older scikit-learn."""


class Benchmark(NamedTuple):
    """A script with its arguments, or the reason why it cannot run."""

    name: str
    arguments: tuple[str, ...] = ()
    lacks: str = ""


def planned(names: Sequence[str], movielens: str | None, pickups: str | None) -> list[Benchmark]:
    """Return the named benchmarks with their arguments, in the order of `NAMES`.

    >>> planned(["sums", "pickups"], None, None)[1]
    Benchmark(name='pickups', arguments=(), lacks='the option --pickups PATH')
    """
    found = {name: Benchmark(name) for name in NAMES if name in names}
    for name, path in (("movielens", movielens), ("pickups", pickups)):
        if name in found and path is None:
            found[name] = Benchmark(name, lacks=f"the option --{name} PATH")
        elif name in found:
            found[name] = Benchmark(name, (f"--{name}", str(path)))
    if "real" in found:
        lacks = "" if DIFFPRIVLIB.exists() else f"{DIFFPRIVLIB}, which `make bench` sets up"
        found["real"] = Benchmark("real", (str(DIFFPRIVLIB),), lacks)
    return list(found.values())


def run_all(benchmarks: Sequence[Benchmark]) -> dict[str, int]:
    """Run the benchmarks with a line of progress each, and return the exit codes of failed ones."""
    failed = {}
    for place, (name, arguments, lacks) in enumerate(benchmarks, 1):
        begin = f"[{place}/{len(benchmarks)}] {name}"
        if lacks:
            print(f"{begin}: skipped, lacks {lacks}", flush=True)
            continue
        print(f"{begin} …", flush=True)
        began = perf_counter()
        command = [sys.executable, str(HERE / f"{name}.py"), *arguments]
        code = subprocess.run(command, stdout=subprocess.DEVNULL, check=False).returncode
        if code:
            failed[name] = code
        outcome = f"failed with exit code {code}" if code else "done"
        print(f"{begin}: {outcome} after {perf_counter() - began:.0f} s", flush=True)
    return failed


def shown(figure: Figure) -> str:
    """Return the line of a figure.

    >>> shown(Figure("readme_bytes", 28000, "at most 6000", False))
    'MISSED readme_bytes = 28000 (at most 6000)'
    """
    state = {True: "ok", False: "MISSED", None: "not measured"}[figure.met]
    value = "" if figure.value is None else f" = {figure.value}"
    note = f": {figure.note}" if figure.note else ""
    return f"{state} {figure.name}{value} ({figure.goal}){note}"


def quick() -> int:
    """Measure the front door, print and keep its figures; return the number of missed goals."""
    found = figures()
    write({figure.name: figure._asdict() for figure in found}, "front")
    print("\n".join(map(shown, found)))
    return sum(figure.met is False for figure in found)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    chosen = parser.add_mutually_exclusive_group()
    chosen.add_argument("--only", nargs="+", choices=NAMES, metavar="NAME", help=", ".join(NAMES))
    chosen.add_argument("--quick", action="store_true", help="the figures of the front door")
    parser.add_argument("--movielens", metavar="PATH", help="the file u.data of MovieLens 100K")
    parser.add_argument("--pickups", metavar="PATH", help="a .npy file with two columns: points")
    arguments = parser.parse_args()
    if arguments.quick:
        raise SystemExit(1 if quick() else 0)
    benchmarks = planned(arguments.only or NAMES, arguments.movielens, arguments.pickups)
    failed = run_all(benchmarks)
    results_page.main()
    skipped = sum(bool(each.lacks) for each in benchmarks)
    done = len(benchmarks) - len(failed) - skipped
    print(f"{done} done, {len(failed)} failed, {skipped} skipped; see {results_page.PAGE}")
    for name, code in failed.items():
        print(f"failed: benchmarks/{name}.py (exit code {code}), whose last report is kept")
    raise SystemExit(1 if failed else 0)


if __name__ == "__main__":
    main()
