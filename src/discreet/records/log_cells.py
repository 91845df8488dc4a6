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
from discreet.entries import plain_entry

UNIFORM = "uniform"
"""Replaces propensities: slates were drawn uniformly from all items."""
NAMING = ("slate", "item", "click", "arm")
"""Columns whose cells name items, unless a learner reads them as numbers."""


def item_text(value: object) -> str:
    """Return a logged item or arm as a text.

    One cell may have turned the whole numbers of a column into floats, decimals or complex numbers,
    or its texts into bytes. A float that stands for several whole numbers is none of them: it keeps
    its point or its exponent. A cell that Python does not write out, such as a number of 5,000
    digits, gives an empty text.

    >>> item_text(" tea"), item_text(101), item_text(101.0), item_text(10**5000)
    ('tea', '101', '101', '')
    >>> item_text(101 + 0j), item_text(b"tea"), item_text(2.0**60)
    ('101', 'tea', '1.152921504606847e+18')
    """
    try:
        plain = plain_entry(value)
        return str(plain if plain == plain else value).strip()
    except Exception:  # one person's cell must not end the reading
        return ""


def key_text(value: object) -> str | None:
    """Return an id or a kind of event as a text; None for an empty cell.

    A float that stands for several whole numbers is no id: the rows of several requests would be
    taken for those of one.

    >>> key_text(" a7 "), key_text(7.0), key_text(""), key_text(float("nan")), key_text(2.0**60)
    ('a7', '7', None, None, None)
    """
    value = plain_entry(value)
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
