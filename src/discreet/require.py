"""Checks of settings: whole numbers, numbers, flags, lists, one of a few values.

Each check returns the value as a plain Python object, or raises a `ConfigError` with one wording.
"""

import os
from collections.abc import Iterable, Sequence, Sized
from difflib import get_close_matches
from math import inf
from typing import Any, TypeVar

import numpy as np

from discreet.errors import ConfigError

Choice = TypeVar("Choice")

MOST_LETTERS = 60
"""The largest number of characters of a wrong text in a message."""


def plain(value: Any) -> Any:
    """Return a NumPy scalar as a Python number, for JSON and TOML; other values as they are."""
    is_number = isinstance(value, np.generic) or (isinstance(value, np.ndarray) and not value.ndim)
    return value.item() if is_number else value


def shown(value: object) -> str:
    """Return a short description of a wrong value, for an error message.

    A number or a text is shown, shortened. A larger value may be personal data in the place of a
    setting: only its type and size are shown.

    >>> shown(2.5), shown("soon"), shown([[0.7, 0.1]]), shown(np.zeros((3, 2)))
    ('2.5', "'soon'", 'a list of 1', 'an array of shape (3, 2)')
    """
    value = plain(value)
    if isinstance(value, int) and value.bit_length() > 128:
        return f"a whole number of {value.bit_length()} bits"
    if value is None or type(value) in (bool, int, float, complex):
        return repr(value)
    if isinstance(value, str | bytes | os.PathLike):
        return _shortened(value)
    if isinstance(value, np.ndarray):
        return f"an array of shape {value.shape}"
    if isinstance(value, type):
        return f"the class {value.__name__}"
    kind = type(value).__name__
    article = "an" if kind[0] in "AEIOUaeiou" else "a"
    try:
        if isinstance(value, Sized):
            return f"{article} {kind} of {len(value)}" if len(value) else f"an empty {kind}"
    except Exception:  # raised by the class of the value
        pass
    return f"{article} {kind}"


def _shortened(value: "str | bytes | os.PathLike[str] | os.PathLike[bytes]") -> str:
    """A text in quotes, cut to `MOST_LETTERS` characters."""
    text = os.fspath(value)
    if len(text) <= MOST_LETTERS:
        return repr(text)
    return f"{text[:MOST_LETTERS]!r}… (of {len(text)})"


def whole(name: str, value: object, least: int = 1, most: int | None = None) -> int:
    """Return the value as a whole number between `least` and `most`, or raise.

    >>> whole("slots", 2.5)
    Traceback (most recent call last):
    discreet.errors.ConfigError: slots must be a whole number, at least 1, got 2.5
    """
    value = plain(value)
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        value = int(value)  # 1e5 is a whole number
    largest = inf if most is None else most
    if isinstance(value, int) and not isinstance(value, bool) and least <= value <= largest:
        return int(value)
    rule = f"at least {least}" if most is None else f"between {least} and {most}"
    raise ConfigError(f"{name} must be a whole number, {rule}, got {shown(value)}")


def number(name: str, value: object, low: float = -inf, high: float = inf) -> float:
    """Return the value as a number between `low` and `high`, or raise.

    >>> number("bound", "one", 0, 10)
    Traceback (most recent call last):
    discreet.errors.ConfigError: bound must be a number between 0 and 10, got 'one'
    """
    value = plain(value)
    if isinstance(value, int | float) and not isinstance(value, bool) and low <= value <= high:
        try:
            return float(value)
        except OverflowError:
            pass
    raise ConfigError(f"{name} must be a number between {low:g} and {high:g}, got {shown(value)}")


def one_of(name: str, value: object, allowed: Sequence[Choice]) -> Choice:
    """Return the value if it equals an allowed one of the same type, or raise."""
    value = plain(value)
    for candidate in allowed:
        if type(candidate) is type(value) and candidate == value:
            return candidate
    raise ConfigError(
        f"{name} must be one of {', '.join(map(str, allowed))}, got {shown(value)}"
        f"{nearest(value, allowed)}"
    )


def nearest(value: object, allowed: Iterable[object]) -> str:
    """Return ", did you mean …?" if a wrong text is close to an allowed one; otherwise "".

    >>> nearest("horizn", ["epsilon", "horizon"]), nearest("colour", ["epsilon", "horizon"])
    (', did you mean horizon?', '')
    """
    words = [str(word) for word in allowed]
    near = get_close_matches(value, words, 1) if isinstance(value, str) else []
    return f", did you mean {near[0]}?" if near else ""


def known_keys(given: Iterable[str], known: Iterable[str], table: str = "") -> None:
    """Refuse a key that a table of settings does not have, with the nearest one that it has.

    >>> known_keys(["horizn"], ["epsilon", "horizon"])
    Traceback (most recent call last):
    discreet.errors.ConfigError: unknown key 'horizn', did you mean horizon?
    >>> known_keys(["colour"], ["sites", "reach", "box"], "function")
    Traceback (most recent call last):
    discreet.errors.ConfigError: function: unknown key 'colour', known are box, reach, sites
    """
    words = sorted(known)
    for key in given:
        if key not in words:
            meant = nearest(key, words) or f", known are {', '.join(words)}"
            where = f"{table}: " if table else ""
            raise ConfigError(f"{where}unknown key {shown(key)}{meant}")


def listed(name: str, value: object) -> list[Any]:
    """Return the entries of a list, a tuple, an array or another iterable as a list, or raise.

    >>> listed("labels", "tea")
    Traceback (most recent call last):
    discreet.errors.ConfigError: labels must be a list, got 'tea'
    """
    value = plain(value)
    if isinstance(value, Iterable) and not isinstance(value, str | bytes):
        return list(value)
    raise ConfigError(f"{name} must be a list, got {shown(value)}")


def flag(name: str, value: object) -> bool:
    """Return the value if it is true or false, or raise."""
    value = plain(value)
    if isinstance(value, bool):
        return value
    raise ConfigError(f"{name} must be true or false, got {shown(value)}")
