"""What logs of slates have in their cells: items in order, chances, and what a chance weighs.

A slate is a list of items, or a text with items separated by spaces or a JSON list; so are chances,
one for each place or one for all of them. Whatever else stands there is nobody's: an empty slate, a
weight of 0.
"""

import json
from collections.abc import Sequence
from math import isfinite
from typing import Any

UNIFORM = "uniform"
"""In place of chances: slates were drawn uniformly from all items."""


def item_text(value: Any) -> str:
    """A logged item or arm as a text; a column with missing values holds whole numbers as floats.

    >>> item_text(" tea"), item_text(101), item_text(101.0)
    ('tea', '101', '101')
    """
    return (
        str(int(value)) if isinstance(value, float) and value.is_integer() else str(value).strip()
    )


def names_in(text: str) -> list[str]:
    """Items separated by spaces, or in a JSON list.

    >>> names_in("tea milk"), names_in('["green tea", 101]'), names_in("[")
    (['tea', 'milk'], ['green tea', '101'], [])
    """
    found = _list_in(text)
    return text.split() if found is None else [item_text(name) for name in found]


def numbers_in(text: str) -> list[float]:
    """Numbers separated by spaces, or in a JSON list; NaN for whatever is none."""
    found = _list_in(text)
    return [_number(entry) for entry in (text.split() if found is None else found)]


def weight_of(chances: Sequence[float], place: int | None) -> float:
    """One over the chance: of this place, if there is one for each, or of all of it; 0 if it is
    none.

    >>> weight_of([0.5, 0.25], 1), weight_of([0.1], 3), weight_of([0.5, 0.25], 2), weight_of([2.0], None)
    (4.0, 10.0, 0.0, 0.0)
    """
    if len(chances) == 1:
        chance = chances[0]
    elif place is not None and place < len(chances):
        chance = chances[place]
    else:
        return 0.0
    return 1 / max(chance, 1e-12) if isfinite(chance) and 0 < chance <= 1 else 0.0


def _number(entry: Any) -> float:
    try:
        return float(entry)
    except (TypeError, ValueError, OverflowError):
        return float("nan")


def _list_in(text: str) -> list[Any] | None:
    if not text.lstrip().startswith("["):
        return None
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return []
    return found if isinstance(found, list) else []
