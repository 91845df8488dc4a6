"""One call at a time: a lock around the methods of a learner."""

from collections.abc import Callable
from functools import wraps
from threading import Lock, get_ident
from typing import Concatenate, ParamSpec, TypeVar

from discreet.engine.engine import BusyError, Engine

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")
Owner = TypeVar("Owner", bound="Guarded")


class Guarded:
    """Base class of objects whose `guarded` methods run one at a time."""

    _engine: Engine
    _lock: Lock
    _inside: set[int]
    """Identifiers of the threads that are in a call, or wait for one."""

    def _make_lock(self) -> None:
        """Make the lock: what constructors call before anything else."""
        self._inside = set()
        self._lock = Lock()


def guarded(
    method: Callable[Concatenate[Owner, Arguments], Result],
) -> Callable[Concatenate[Owner, Arguments], Result]:
    """Return the method with a lock: other threads wait, and calls from inside are refused.

    Calls from inside come from a signal handler, or from a function of the operator, in the middle
    of another call.
    """
    return _locked(method, after_a_failure=False)


def guarded_even_after_a_failure(method: Callable[[Owner], None]) -> Callable[[Owner], None]:
    """Return the method with a lock, callable even when the engine refuses to go on."""
    return _locked(method, after_a_failure=True)


def _locked(
    method: Callable[Concatenate[Owner, Arguments], Result], *, after_a_failure: bool
) -> Callable[Concatenate[Owner, Arguments], Result]:
    """Return the method with a lock, and a check of the engine before each call.

    The process is checked before the lock: in a fork, a call of another thread holds it for ever.
    """

    @wraps(method)
    def call(self: Owner, /, *arguments: Arguments.args, **named: Arguments.kwargs) -> Result:
        self._engine.check_process()
        inside = self._inside
        thread = get_ident()
        if thread in inside:
            raise BusyError(
                "this learner is busy with another call: functions and signal handlers must not "
                "call it back"
            )
        try:
            inside.add(thread)
            with self._lock:
                if self._engine.failed and not after_a_failure:
                    self._engine.check()
                return method(self, *arguments, **named)
        finally:
            inside.discard(thread)

    return call
