"""A person's own code: whatever it raises counts against them alone, and stops nothing for the others.

While such code runs, real signals (Ctrl-C, a request to terminate) are noted, and delivered once everyone in
the batch was read; asked a second time, they are delivered at once. So an exception that comes out of a
person's code is always that person's.
"""

import signal
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import current_thread, main_thread
from typing import Any, TypeVar

from discreet.turn.signals import deliver

__all__ = ["asked_of", "quietly", "reading"]

Answer = TypeVar("Answer")

_SIGNALS = [
    getattr(signal, name)
    for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGALRM", "SIGUSR1", "SIGUSR2", "SIGBREAK")
    if hasattr(signal, name)
]


class _AskedTwice(BaseException):
    """A signal came a second time while people were being read."""


@contextmanager
def reading() -> Iterator[None]:
    """Read people's own code: signals wait until the end of it, warnings are not shown."""
    if current_thread() is not main_thread():  # signals are delivered to the main thread only
        yield
        return
    with quietly(), _signals_held():
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


@contextmanager
def _signals_held() -> Iterator[None]:
    arrived: list[int] = []

    def note(number: int, frame: Any) -> None:
        arrived.append(number)
        if arrived.count(number) > 1:
            raise _AskedTwice

    handlers: dict[int, Any] = {}
    try:
        for number in _SIGNALS:
            handler = signal.getsignal(number)
            if callable(handler):
                handlers[number] = handler
                signal.signal(number, note)
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        deliver(arrived)


def asked_of(person: Callable[[], Answer], otherwise: Answer) -> Answer:
    """What a person's code gives; `otherwise` if it raises anything at all."""
    try:
        return person()
    except _AskedTwice:
        raise
    except BaseException:
        return otherwise
