"""What settings may be: whole numbers, numbers, flags, one of a few words.

One wording for every refusal, so that a wrong type is a `ConfigError` and never a foreign one.
"""

from collections.abc import Sequence
from math import inf
from typing import Any

import numpy as np

from discreet.errors import ConfigError

__all__ = ["flag", "number", "one_of", "plain", "whole"]


def plain(value: Any) -> Any:
    """NumPy's numbers as Python's, which JSON and TOML know; anything else as it is."""
    return value.item() if isinstance(value, np.generic) else value


def whole(name: str, value: Any, least: int = 1, most: int | None = None) -> int:
    """A whole number between `least` and `most`.

    >>> whole("slots", 2.5)
    Traceback (most recent call last):
    discreet.errors.ConfigError: slots must be a whole number, at least 1, got 2.5
    """
    value = plain(value)
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        value = int(value)  # as in 1e5
    is_whole = isinstance(value, int) and not isinstance(value, bool)
    if is_whole and least <= value and (most is None or value <= most):
        return int(value)
    rule = f"at least {least}" if most is None else f"between {least} and {most}"
    raise ConfigError(f"{name} must be a whole number, {rule}, got {value!r}")


def number(name: str, value: Any, low: float = -inf, high: float = inf) -> float:
    """A number between `low` and `high`.

    >>> number("bound", "one", 0, 10)
    Traceback (most recent call last):
    discreet.errors.ConfigError: bound must be a number between 0 and 10, got 'one'
    """
    value = plain(value)
    if isinstance(value, int | float) and not isinstance(value, bool) and low <= value <= high:
        try:
            return float(value)
        except OverflowError:
            value = "a number beyond all floats"
    raise ConfigError(f"{name} must be a number between {low:g} and {high:g}, got {value!r}")


def one_of(name: str, value: Any, allowed: Sequence[Any]) -> Any:
    """One of the allowed values, of the same type."""
    value = plain(value)
    for candidate in allowed:
        if type(candidate) is type(value) and candidate == value:
            return value
    raise ConfigError(f"{name} must be one of {', '.join(map(str, allowed))}, got {value!r}")


def flag(name: str, value: Any) -> bool:
    """True or False."""
    value = plain(value)
    if isinstance(value, bool):
        return value
    raise ConfigError(f"{name} must be true or false, got {value!r}")
