"""People bring data, operators bring code: what cannot be read of a person is that person's blank.

A person is numbers, texts, lists and records. A callable (a set function, a gradient, a loss) is the
operator's: what it raises for a person counts against that person alone.
"""

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import current_thread, main_thread
from typing import TypeVar

import numpy as np

from discreet.turn.signals import held

__all__ = ["asked_of", "quietly", "reading"]

Answer = TypeVar("Answer")


@contextmanager
def reading() -> Iterator[None]:
    """Read people: signals wait until the end, so no handler's exception is a person's; nothing warns."""
    with held, np.errstate(all="ignore"), quietly():
        yield


@contextmanager
def quietly() -> Iterator[None]:
    """Show no warning: it would tell about a person.

    Filters belong to the whole process, and threads that change them leave each other's behind: so only the
    main thread does, for those too that work for it meanwhile.
    """
    if current_thread() is not main_thread():
        yield
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def asked_of(person: Callable[[], Answer], otherwise: Answer) -> Answer:
    """What is read of a person; `otherwise` if that raises. Inside `reading`.

    Inside it only a second Ctrl-C comes from outside. Anything else is of the function that was called:
    `SystemExit` of a parser, or the panic of a library in Rust, which is no `Exception`.
    """
    try:
        return person()
    except KeyboardInterrupt:
        raise
    except BaseException:
        return otherwise
