"""All that a caller can read of a learner between two calls: it must not depend on an open block.

Every public property of every learner is read, and every log record; a new one is audited without
being named here.
"""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from threading import get_ident

import numpy as np

from discreet.audit.cases.case import Case
from discreet.engine.codec import fingerprint
from discreet.engine.logs import LOGGER
from discreet.errors import DiscreetError
from discreet.learners.base import Learner

FIXED = ("settings",)
"""Properties that cannot change."""


def readings(case: Case, learner: Learner) -> Iterator[tuple[str, object]]:
    """Yield all readings by name; an error counts as its text."""
    for name in _properties(type(learner)):
        yield name, _outcome(partial(getattr, learner, name))
    context = None if case.context is None else case.context(np.random.default_rng(0))
    yield "scores()", _outcome(lambda: learner.scores(context))
    yield "report()", _outcome(learner.report)
    yield "_repr_html_()", _outcome(learner._repr_html_)


@contextmanager
def logged() -> Iterator[list[str]]:
    """Collect the log records of this thread, of all levels, while the context lasts.

    They reach no other handler, because an audit makes thousands of them.
    """
    records: list[str] = []
    collector = _Collector(records)
    before = LOGGER.level, LOGGER.propagate
    LOGGER.addHandler(collector)
    LOGGER.setLevel(logging.DEBUG)
    LOGGER.propagate = False
    try:
        yield records
    finally:
        LOGGER.removeHandler(collector)
        LOGGER.setLevel(before[0])
        LOGGER.propagate = before[1]


class _Collector(logging.Handler):
    """A handler that appends the text of each record of its thread to a list."""

    def __init__(self, records: list[str]) -> None:
        super().__init__()
        self._records = records
        self._thread = get_ident()

    def emit(self, record: logging.LogRecord) -> None:
        if record.thread == self._thread:
            self._records.append(f"{record.levelname}: {record.getMessage()}")


def difference(case: Case, here: Learner, there: Learner) -> str | None:
    """Return the name of the first reading in which two learners differ, or None."""
    for (name, one), (_, two) in zip(readings(case, here), readings(case, there), strict=True):
        if fingerprint(one) != fingerprint(two):
            return name
    return None


def _properties(kind: type[Learner]) -> tuple[str, ...]:
    properties = [name for name in dir(kind) if isinstance(getattr(kind, name), property)]
    return tuple(name for name in properties if not name.startswith("_") and name not in FIXED)


def _outcome(read: Callable[[], object]) -> object:
    try:
        return read()
    except DiscreetError as error:
        return f"{type(error).__name__}: {error}"
