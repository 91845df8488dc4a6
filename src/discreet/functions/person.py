"""Reading one person's data: what cannot be read counts as missing, for that person alone.

A person is numbers, texts, lists and records. A callable (a set function, a gradient, a loss) is
the operator's code: an exception that it raises for a person counts against that person alone.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import numpy as np

from discreet.engine.signals import held
from discreet.silence import silence

Answer = TypeVar("Answer")


@contextmanager
def reading() -> Iterator[None]:
    """Read people's data: signals wait until the end, and no warning is shown.

    Signals wait so that the exception of a signal handler is never taken for unreadable data.
    Warnings are suppressed because their text may quote a person's data.
    """
    with held, np.errstate(all="ignore"), silence():
        yield


def result_or(read: Callable[[], Answer], default: Answer) -> Answer:
    """Return `read()`, or `default` if it raises; for use inside `reading`.

    Inside `reading` only a second Ctrl-C comes from outside, so `KeyboardInterrupt` is raised
    again. Every other exception belongs to the function that was called, also those that are no
    `Exception`: the `SystemExit` of a parser, or the panic of a library in Rust.
    """
    try:
        return read()
    except KeyboardInterrupt:
        raise
    except BaseException:
        return default
