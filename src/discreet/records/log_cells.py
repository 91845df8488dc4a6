"""Cells of logs of slates: items in order, propensities, and importance weights.

A slate is a list of items, a text with items separated by spaces, or a JSON list. Propensities have
the same forms, with one number per position or one number for the whole slate. Any other cell
counts as nothing: an empty slate, or a weight of 0.
"""

import json
from collections.abc import Sequence
from math import isfinite
from typing import Any

import numpy as np

from discreet.arrays import Floats, Mask

UNIFORM = "uniform"
"""Replaces propensities: slates were drawn uniformly from all items."""


def item_text(value: object) -> str:
    """Return a logged item or arm as a text.

    A column with missing values has whole numbers as floats; these lose their ".0". A cell that
    Python does not write out, such as a number of 5,000 digits, gives an empty text.

    >>> item_text(" tea"), item_text(101), item_text(101.0), item_text(10**5000)
    ('tea', '101', '101', '')
    """
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    try:
        return str(value).strip()
    except Exception:  # one person's cell must not end the reading
        return ""


def key_text(value: object) -> str | None:
    """Return an id or a kind of event as a text; None for an empty cell.

    >>> key_text(" a7 "), key_text(7.0), key_text(""), key_text(float("nan"))
    ('a7', '7', None, None)
    """
    if value is None or (isinstance(value, float) and value != value):
        return None
    return item_text(value) or None


def names_in(text: str) -> list[str]:
    """Return the items of a text, separated by spaces or in a JSON list.

    >>> names_in("tea milk"), names_in('["green tea", 101]'), names_in("[")
    (['tea', 'milk'], ['green tea', '101'], [])
    """
    names = _list_in(text)
    return text.split() if names is None else [item_text(name) for name in names]


def numbers_in(text: str) -> list[float]:
    """Return the numbers of a text, separated by spaces or in a JSON list; NaN for the rest."""
    entries = _list_in(text)
    return [_number(entry) for entry in (text.split() if entries is None else entries)]


def weight_of(propensities: Sequence[float], place: int | None) -> float:
    """Return the importance weight, one over the propensity; 0 if that is no probability.

    The propensity is the one of this place, or the only one if there is one for the whole slate.

    >>> weight_of([0.5, 0.25], 1), weight_of([0.1], 3)
    (4.0, 10.0)
    >>> weight_of([0.5, 0.25], 2), weight_of([2.0], None)
    (0.0, 0.0)
    """
    if len(propensities) == 1:
        propensity = propensities[0]
    elif place is not None and place < len(propensities):
        propensity = propensities[place]
    else:
        return 0.0
    is_probability = isfinite(propensity) and 0 < propensity <= 1
    return 1 / max(propensity, 1e-12) if is_probability else 0.0


def are_probabilities(numbers: Floats) -> Mask:
    """Return which numbers are probabilities above 0."""
    with np.errstate(invalid="ignore"):
        return np.asarray((numbers > 0) & (numbers <= 1))


def _number(entry: Any) -> float:
    """Return a cell as a float, NaN if it is no number."""
    try:
        return float(entry)
    except (TypeError, ValueError, OverflowError):
        return float("nan")


def _list_in(text: str) -> list[object] | None:
    """Return the entries of a JSON list; None if the text does not begin like one."""
    if not text.lstrip().startswith("["):
        return None
    try:
        parsed = json.loads(text)
    except (ValueError, RecursionError):
        return []
    return parsed if isinstance(parsed, list) else []
