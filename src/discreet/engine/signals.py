"""Delays signals while feedback is added and while a release is made.

A signal handler may raise: Ctrl-C, a request to terminate, the soft time limit of a task queue.
Inside `held` a signal is only noted; its handler is called at the end of the outermost `held`.
Therefore

- a batch counts whole, or not at all if the signal came before it;
- a release is made, committed and charged once, and then the handler is called;
- the exception of a handler is never mistaken for a person who cannot be read.

A single answer to a problem with one aggregator is not held, which would cost a tenth of a round:
its round is first removed from the open ones, then one call of compiled code adds it, so an
exception between two bytecodes leaves it counted once or not at all.

A second Ctrl-C inside raises KeyboardInterrupt at once, in case a function of the operator does not
return. No person counts twice: a release is discarded as in a crash, a batch of which no person was
added is undone, and in any other batch the people who were not added yet add nothing.

Python calls handlers on the main thread only, so `held` does nothing on other threads.
"""

import _signal  # type: ignore[import-not-found]
import os
import signal
from collections.abc import Callable
from contextlib import ContextDecorator, ExitStack
from functools import partial
from threading import get_ident, main_thread
from types import FrameType

Handlers = dict[int, Callable[[int, FrameType | None], object]]

getsignal = _signal.getsignal
install = _signal.signal
"""Functions of `signal` without its enumerations, which takes a tenth of the time."""

NUMBERS = tuple(
    int(getattr(signal, name))
    for name in (
        *("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGABRT", "SIGBREAK"),
        *("SIGALRM", "SIGUSR1", "SIGUSR2", "SIGXCPU"),
    )
    if hasattr(signal, name)
)
"""Signals that wait if their handler is a function."""


class _Held(ContextDecorator):
    """Context manager and decorator that delays signals; `held` is its one instance.

    It replaces handlers by `_note`, which calls the handler itself if nothing is held. So signals
    may arrive while handlers are being replaced or restored.
    """

    def __init__(self) -> None:
        self._depth = 0
        self._thread = 0
        self._handlers: Handlers = {}
        self._arrived: list[int] = []
        self._noting = partial(self._note, self._handlers)

    def __enter__(self) -> None:
        thread = get_ident()
        if thread != main_thread().ident:
            return
        if not self._depth:
            # New ones each time: a handler that was installed inside may hold on to the old ones.
            handlers: Handlers = {}
            noting = partial(self._note, handlers)
            self._thread, self._handlers, self._noting = thread, handlers, noting
            for number in NUMBERS:
                handler = getsignal(number)
                if isinstance(handler, partial) and handler.func == self._note:
                    handler = handler.args[0][number]  # left by a signal that came just here
                if callable(handler):
                    handlers[number] = handler
                    install(number, noting)
        self._depth += 1

    def __exit__(self, *error: object) -> None:
        if get_ident() != self._thread:
            return
        self._depth -= 1
        if self._depth:
            return
        arrived, self._arrived = self._arrived, []
        try:
            for number, handler in tuple(self._handlers.items()):
                if getsignal(number) is self._noting:
                    install(number, handler)
        finally:
            if arrived:
                self._deliver(arrived)

    def _deliver(self, arrived: list[int]) -> None:
        """Call the handlers of all signals that arrived, each once, even if some raise."""
        with ExitStack() as calls:
            for number in reversed(dict.fromkeys(arrived)):
                calls.callback(self._handlers[number], number, None)

    def _note(self, handlers: Handlers, number: int, frame: FrameType | None) -> None:
        """Note a signal for later; call its handler at once if nothing is held."""
        handler = handlers[number]
        if not self._depth:
            handler(number, frame)
            return
        if number in self._arrived and _is_inside(_Held.__exit__, frame):
            return  # the first one is delivered soon
        self._arrived.append(number)
        if handler is signal.default_int_handler and self._arrived.count(number) == 2:
            raise KeyboardInterrupt


def _is_inside(function: Callable[..., object], frame: FrameType | None) -> bool:
    """Return whether a frame belongs to a call of this function."""
    while frame is not None and frame.f_code is not function.__code__:
        frame = frame.f_back
    return frame is not None


held = _Held()
"""Delays signals: `with held:` or `@held`."""
if hasattr(os, "register_at_fork"):  # in a child of a worker thread nothing would end the hold
    os.register_at_fork(after_in_child=held.__init__)  # type: ignore[misc]
