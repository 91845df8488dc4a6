"""No warnings on threads that read people: a warning would tell about a person.

Filters of warnings belong to the whole process, and `warnings.catch_warnings` on several threads
puts back what others have changed. So there is one filter for all, which is never taken away: it
matches on the threads that are silent at the moment, and on no others.
"""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from threading import local


class _Depth(local):
    """How many `silence` this thread is inside."""

    value = 0


_depth = _Depth()


class _OnSilentThreads(type):
    """Every warning counts as one of this kind while the thread is silent."""

    def __subclasscheck__(cls, category: type) -> bool:
        return _depth.value > 0


class _Silenced(Warning, metaclass=_OnSilentThreads):
    """The category of the filter."""


_FILTER = ("ignore", None, _Silenced, None, 0)


@contextmanager
def silence() -> Iterator[None]:
    """Show no warning of this thread, whatever filters there are; other threads warn as ever."""
    _depth.value += 1
    try:
        if not warnings.filters or warnings.filters[0] != _FILTER:
            _put_first()
        yield
    finally:
        _depth.value -= 1


def _put_first() -> None:
    """Let the filter come before those that were added since, in one step: other threads may be
    silent.
    """
    others = [entry for entry in warnings.filters if entry != _FILTER]
    warnings.filters[:] = [_FILTER, *others]  # type: ignore[index]
