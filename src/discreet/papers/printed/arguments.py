"""Checks of the arguments of the published algorithms: one rule per argument name.

>>> @checked
... def play(rows, epsilon, *, bound=1.0):
...     return "played"
>>> play([[0.5]], 1.0, bound=-1.0)
Traceback (most recent call last):
discreet.errors.ConfigError: bound must be a number between 1e-09 and 1e+09, got -1.0
"""

from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import ParamSpec, TypeVar, get_args

import numpy as np

from discreet import require
from discreet.errors import ConfigError
from discreet.optim.domains import LpBall
from discreet.optim.knapsack import Knapsack
from discreet.optim.rounding import Matroid

Given = ParamSpec("Given")
Result = TypeVar("Result")

LEAST, MOST = 1e-9, 1e9
MOST_ROUNDS, MOST_ITEMS = 2**40, 2**20


def checked(play: Callable[Given, Result]) -> Callable[Given, Result]:
    """Decorate a function: check every argument whose name has a rule in `RULES`.

    An argument whose default is None may be None.
    """
    shape = signature(play)

    @wraps(play)
    def called(*args: Given.args, **settings: Given.kwargs) -> Result:
        for name, value in shape.bind(*args, **settings).arguments.items():
            is_left_out = value is None and shape.parameters[name].default is None
            if name in RULES and not is_left_out:
                RULES[name](name, value)
        return play(*args, **settings)

    return called


def needs_sets(domain: object) -> None:
    """Raise ConfigError unless the domain is a matroid or a knapsack.

    >>> needs_sets(LpBall(3))
    Traceback (most recent call last):
    discreet.errors.ConfigError: domain must be a matroid or a Knapsack ..., got LpBall
    """
    if not isinstance(domain, (*get_args(Matroid), Knapsack)):
        kind = type(domain).__name__
        raise ConfigError(f"domain must be a matroid or a Knapsack of discreet.domains, got {kind}")


Rule = Callable[[str, object], object]


def _whole(least: int, most: int) -> Rule:
    return lambda name, value: require.whole(name, value, least, most)


def _number(low: float, high: float) -> Rule:
    return lambda name, value: require.number(name, value, low, high)


def _share(name: str, value: object) -> None:
    number = require.plain(value)
    if isinstance(number, bool) or not isinstance(number, int | float) or not 0 < number <= 1:
        raise ConfigError(f"{name} must be above 0 and at most 1, got {value!r}")


def _table(name: str, value: object) -> None:
    """Require rows of equally many numbers; non-finite entries are personal and handled later."""
    try:
        table = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        table = np.zeros(0)
    if table.ndim != 2 or not table.size:
        raise ConfigError(f"{name} must be a table of numbers with at least one row")


def _ball(name: str, value: object) -> None:
    if not isinstance(value, LpBall):
        raise ConfigError(
            f"{name} must be an LpBall of discreet.domains, got {type(value).__name__}"
        )


RULES: dict[str, Rule] = {
    "vectors": _table,
    "gains": _table,
    "features": _table,
    "contexts": _table,
    "rewards": _table,
    "ball": _ball,
    "items": _whole(1, MOST_ITEMS),
    "slots": _whole(1, 1024),
    "horizon": _whole(1, MOST_ROUNDS),
    "epsilon": _number(1e-12, 1e12),
    "delta": _number(0.0, 1.0),
    "bound": _number(LEAST, MOST),
    "exploration": _share,
    "block": _whole(1, MOST_ROUNDS),
    "copies": _whole(1, MOST_ITEMS),
    "steps": _whole(1, MOST_ITEMS),
    "guesses": _whole(1, MOST_ITEMS),
    "sets": _whole(1, MOST_ITEMS),
    "rate": _number(0.0, MOST),
    "stiffness": _number(LEAST, MOST),
    "pace": _number(0.0, MOST),
    "p": _number(1.0, 2.0),
    "radius": _number(LEAST, MOST),
    "context_bound": _number(LEAST, MOST),
    "gap": _number(LEAST, MOST),
    "clip": _number(LEAST, MOST),
    "warm_up": _whole(0, MOST_ROUNDS),
    "seed": _whole(0, 2**32 - 1),
}
"""The rule of each argument, by its name, which has one meaning in all algorithms."""
