"""All that a caller can read of a learner between two calls: it must not depend on an open block.

Every public property of every learner is read; a new one is audited without being named here.
"""

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from discreet.audit.cases.case import Case
from discreet.engine.codec import fingerprint
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
