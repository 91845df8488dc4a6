"""Suppression of warnings on threads that read personal data, which a warning could reveal.

Warning filters belong to the whole process, and `warnings.catch_warnings` on one thread undoes the
changes of others. This module therefore adds one filter, which stays: it matches on threads that
are silent at the moment, and on no others.
"""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from threading import local


class _Depth(local):
    """The number of `silence` contexts that this thread is inside."""

    value = 0


_depth = _Depth()


class _OnSilentThreads(type):
    """A metaclass for which every warning class is a subclass while the thread is silent."""

    def __subclasscheck__(cls, category: type) -> bool:
        return _depth.value > 0


class _Silenced(Warning, metaclass=_OnSilentThreads):
    """The warning category of the filter."""


_FILTER = ("ignore", None, _Silenced, None, 0)


@contextmanager
def silence() -> Iterator[None]:
    """Suppress all warnings of this thread; other threads are not affected."""
    _depth.value += 1
    try:
        if not warnings.filters or warnings.filters[0] != _FILTER:
            _put_first()
        yield
    finally:
        _depth.value -= 1


def _put_first() -> None:
    """Move the filter to the front, in one assignment, because other threads may be silent."""
    others = [entry for entry in warnings.filters if entry != _FILTER]
    warnings.filters[:] = [_FILTER, *others]  # type: ignore[index]
