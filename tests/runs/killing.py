"""Kills runs at every line, in processes of their own, and prints the results as JSON.

The processes are forked from one that has never read a table: the threads of Polars do not survive
a fork.
"""

import json
import os
import pathlib
import shutil
import sys
from itertools import count
from pathlib import Path
from typing import Any

from rich.console import Console

import discreet
from discreet.runs import columns, decisions, run

WRITES = (pathlib.Path.open, pathlib.Path.write_text, pathlib.Path.write_bytes)
"""Functions of the standard library in which a file may be half written."""
WATCHED = {module.__file__ for module in (run, columns, decisions)}
COMPARED = ("columns.json", "decisions.jsonl", "report.json")


def in_child(work: Any, last: int | None = None) -> int:
    """Work in a child process until `last` lines of the run and of writes; return its exit code."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    lines = 0
    writes = {function.__code__ for function in WRITES}

    def watch(frame: Any, event: str, argument: Any) -> Any:
        nonlocal lines
        if frame.f_code.co_filename not in WATCHED and frame.f_code not in writes:
            return None
        if event == "line":
            lines += 1
            if last is not None and lines > last:
                os._exit(9)
        return watch

    try:
        sys.settrace(watch)
        work()
        os._exit(0)
    except BaseException as error:
        sys.settrace(None)
        print(repr(error), file=sys.stderr)
    finally:
        os._exit(3)


def main(folder: Path, before: str, step: int) -> None:
    """Kill the run over `log.csv` every `step` lines, after a whole run over `before`."""

    def over(log: str, out: Path) -> Any:
        return lambda: run.run_log(folder / "shop.toml", folder / log, out, Console(quiet=True))

    def contents(out: Path) -> list[str]:
        return [(out / name).read_text() for name in COMPARED]

    whole = folder / "whole"
    assert in_child(over("log.csv", whole)) == 0
    begun = folder / "begun"
    if before != "nothing":
        assert in_child(over(before, begun)) == 0
    killed = 0
    broken = []
    seen = set()
    for last in count(step=step):
        out = folder / "out"
        shutil.rmtree(out, ignore_errors=True)
        if begun.exists():
            shutil.copytree(begun, out)
        code = in_child(over("log.csv", out), last)
        if code == 0:
            break
        assert code == 9, f"the run neither finished nor was killed at line {last}"
        killed += 1
        left = tuple((path.name, path.read_bytes()) for path in sorted(out.glob("*")))
        if left in seen:  # an earlier kill left the same files
            continue
        seen.add(left)
        if in_child(over("log.csv", out)) or contents(out) != contents(whole):
            broken.append(last)
    print(json.dumps({"killed": killed, "broken": broken, "ways": len(seen)}))


if __name__ == "__main__":
    # Kernels are compiled once, for all children.
    discreet.warm_up(discreet.SetMaximizer(2, 1, 30, discreet.Privacy(1.0, 1e-6)))
    run.CHECKPOINT = 1  # type: ignore[assignment]  # after every answer
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
