"""Guarantees, learners in a named mode, and masks for the scenarios."""

from collections.abc import Callable
from typing import Any

from discreet import Privacy
from discreet.learners.forced import forced
from measures.equality.runs import Random

USUAL, PURE = Privacy(1.0, 1e-6), Privacy(1.0)
RETURNING = Privacy(1.0, 1e-6, contributions=3, keyed=True)
NAN = float("nan")
HOW = (
    *("person", "mask", "refused", "broken", "keyed", "events", "before"),
    *("single", "at_once", "resume", "replay"),
)
"""What says who comes and how, and is no setting of a learner."""


def made(
    kind: type[Any], *arguments: Any, mode: str = "auto", **settings: Any
) -> Callable[..., Any]:
    """Return a constructor of a learner, in a named mode if one is given."""
    if mode == "auto":
        return lambda **more: kind(*arguments, **settings, **more)
    return lambda **more: forced(kind, mode, *arguments, **settings, **more)


def some(items: int, always: int) -> Callable[[Random], Any]:
    """Return masks with three quarters of the items; the first ones are always available."""

    def mask(generator: Random) -> Any:
        drawn = generator.random(items) < 0.75
        drawn[:always] = True
        return drawn

    return mask


def failing(chosen: Any) -> float:
    """Fail: a person's callable that raises."""
    raise ZeroDivisionError("nothing")
