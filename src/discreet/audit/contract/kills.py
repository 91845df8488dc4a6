"""Processes that die at a chosen statement: what they showed before must still hold afterwards."""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, NamedTuple

import discreet
from discreet.learners.base import Learner
from discreet.learners.registry import load

if TYPE_CHECKING:
    from _typeshed import TraceFunction

Show = Callable[[object], None]
"""Writes a value where it outlives the process."""


class Death(NamedTuple):
    """Whether a process finished its work, and the values that it showed, as text."""

    finished: bool
    shown: list[str]


def run_and_die(
    path: Path, prepare: Callable[[Learner], None], work: Callable[[Learner, Show], None], last: int
) -> Death:
    """In a child process load and prepare a learner, then work until `last` lines have run.

    Only lines of this package count.
    """
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            learner = load(path)
            prepare(learner)
            sys.settrace(_deadly(last))
            work(learner, lambda value: _write(writer, value))
            os._exit(0)
        finally:
            os._exit(3)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        shown = pipe.read().split("\n")[:-1]
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code in (0, 9), "the child neither finished nor was killed where it should be"
    return Death(code == 0, shown)


def _write(pipe: int, value: object) -> None:
    os.write(pipe, f"{value!r}\n".encode())


def _deadly(last: int) -> "TraceFunction":
    """Return a trace function that ends the process after `last` lines of this package."""
    lines = 0
    package = str(Path(discreet.__file__).parent)

    def count(frame: FrameType, event: str, argument: object) -> "TraceFunction | None":
        nonlocal lines
        if not frame.f_code.co_filename.startswith(package):
            return None
        if event == "line":
            lines += 1
            if lines > last:
                os._exit(9)
        return count

    return count
