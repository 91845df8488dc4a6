"""Processes that die at a chosen statement."""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import discreet


def run_and_die(
    path: Path, prepare: Callable[[Any], None], work: Callable[[Any, Callable[[Any], None]], None], last: int
) -> tuple[bool, list[str]]:
    """In a child process: load and prepare, then work until `last` lines of discreet have run.

    Returns whether it lived to the end, and what it showed until then.
    """
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        lines = 0
        package = str(Path(discreet.__file__).parent)

        def count(frame: Any, event: str, argument: Any) -> Any:
            nonlocal lines
            if not frame.f_code.co_filename.startswith(package):
                return None
            if event == "line":
                lines += 1
                if lines > last:
                    os._exit(9)
            return count

        try:
            learner = discreet.load(path)
            prepare(learner)
            sys.settrace(count)
            work(learner, lambda value: os.write(writer, f"{value!r}\n".encode()) and None)
            os._exit(0)
        finally:
            os._exit(3)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        shown = pipe.read().split("\n")[:-1]
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code in (0, 9), "the child neither finished nor was killed where it should be"
    return code == 0, shown
