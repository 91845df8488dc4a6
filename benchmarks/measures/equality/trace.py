"""The trace of a seeded run: decisions, draws at the door, charges, and public values."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from functools import wraps
from hashlib import sha1
from typing import Any

import numpy as np

from discreet.errors import DiscreetError
from discreet.release.door import Door

Entry = tuple[str, str, str]
"""When (the step of the run), what, and its value as text."""
DRAWS = ("noised", "draw", "coins", "draw_exactly")
"""The methods of a door that draw."""
READ = (
    *("clock", "horizon", "releases", "rounds_before_release", "rounds_until_release", "labels"),
    *("decision", "facts", "notices", "active", "pending", "log_rows", "point", "total"),
    *(
        "standard_deviation",
        "coefficients",
        "intercept",
        "standard_errors",
        "intercept_standard_error",
    ),
)
"""What may be read of learners, where they have it."""


class Trace:
    """The entries of one run, in order.

    >>> trace = Trace()
    >>> trace.step = "round 3"
    >>> trace.note("decision", 0.5)
    >>> trace.entries
    [('round 3', 'decision', '0x1.0000000000000p-1')]
    """

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.step = "start"
        self._releases = -1

    def note(self, what: str, value: Any) -> None:
        """Add one value."""
        self.entries.append((self.step, what, plain(value)))

    def tried(self, what: str, call: Any) -> None:
        """Add what a call gives, or the error with which it refuses."""
        try:
            self.note(what, call())
        except DiscreetError as error:
            self.note(what, f"{type(error).__name__}: {error}")

    def look(self, learner: Any, context: Any = None, *, always: bool = False) -> None:
        """Add all that may be read of a learner, if it made a release since the last look."""
        if learner.releases == self._releases and not always:
            return
        self._releases = learner.releases
        for name in READ:
            if hasattr(type(learner), name):
                self.note(name, getattr(learner, name))
        self.note("ledger", learner.snapshot().ledger.as_plain())
        self.note("guarantee", str(learner.guarantee))
        self.tried("scores", lambda: learner.scores(context))
        self.tried("report", learner.report)


@contextmanager
def recorded_doors(trace: Trace) -> Iterator[None]:
    """Record what goes into every draw at any door, and what comes out."""
    usual = {name: getattr(Door, name) for name in DRAWS}

    def recording(name: str) -> Any:
        @wraps(usual[name])
        def draw(door: Door, *arguments: Any) -> Any:
            drawn = usual[name](door, *arguments)
            trace.note(f"into {name} of release {door.index}", arguments)
            trace.note(f"out of {name} of release {door.index}", drawn)
            return drawn

        return draw

    try:
        for name in DRAWS:
            setattr(Door, name, recording(name))
        yield
    finally:
        for name, method in usual.items():
            setattr(Door, name, method)


def plain(value: Any) -> str:
    """Return a value as text, equal for equal bits; types of containers do not count.

    >>> plain({"a": (np.float64(0.5), [1, None])})
    "{'a': [0x1.0000000000000p-1, [1, None]]}"
    """
    if isinstance(value, np.ndarray) and value.dtype.kind not in "OU":
        digest = sha1(np.ascontiguousarray(value).tobytes()).hexdigest()
        first = ", ".join(plain(each) for each in value.reshape(-1)[:4])
        return f"{value.dtype.str}{list(value.shape)} {digest} [{first}…]"
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, float | np.floating):
        return float(value).hex()
    if isinstance(value, np.generic):
        return repr(value.item())
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key!r}: {plain(each)}" for key, each in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(plain(each) for each in value) + "]"
    if is_dataclass(value) and not isinstance(value, type):
        inside = ", ".join(
            f"{each.name}={plain(getattr(value, each.name))}" for each in fields(value)
        )
        return f"{type(value).__name__}({inside})"
    return repr(value)
