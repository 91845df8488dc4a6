"""People bring data, operators bring code: what cannot be read of a person is that person's blank.

A person is numbers, texts, lists and records. A callable (a set function, a gradient, a loss) is
the operator's: what it raises for a person counts against that person alone.
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
    """Read people: signals wait until the end, so no handler's exception is a person's; nothing
    warns.
    """
    with held, np.errstate(all="ignore"), silence():
        yield


def asked_of(person: Callable[[], Answer], otherwise: Answer) -> Answer:
    """What is read of a person; `otherwise` if that raises. Inside `reading`.

    Inside it only a second Ctrl-C comes from outside. Anything else is of the function that was
    called: `SystemExit` of a parser, or the panic of a library in Rust, which is no `Exception`.
    """
    try:
        return person()
    except KeyboardInterrupt:
        raise
    except BaseException:
        return otherwise
