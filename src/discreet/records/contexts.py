"""Contexts of requests: one row of numbers per person."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from discreet.arrays import Floats
from discreet.errors import OutOfBounds
from discreet.feedback import from_text_or_complex, row_by_row, row_of


def as_contexts(contexts: Any, width: int, count: int, *, one: bool) -> Floats:
    """Return one row of `width` numbers per round, copied.

    One person's context is refused if it is anything else. In a batch a malformed context becomes
    NaN: one person's row must not decide whether others get a decision.

    >>> as_contexts([[1, 2], "x", [3, 4]], 2, 3, one=False)
    array([[ 1.,  2.],
           [nan, nan],
           [ 3.,  4.]])
    """
    if one:
        if isinstance(contexts, Mapping):
            raise OutOfBounds(f"a context by name needs named features: pass {width} numbers")
        row = row_of(contexts, width)
        if row is None:
            raise OutOfBounds(f"a context must be {width} numbers")
        return row.reshape(1, width).copy()
    if isinstance(contexts, np.ndarray) and contexts.dtype.kind in "biufUSc":
        if contexts.shape != (count, width):
            raise OutOfBounds(
                f"contexts must be a matrix with {width} numbers per row, one row per round"
            )
        if contexts.dtype.kind in "USc":  # one entry turned all numbers into texts or complex
            numbers = from_text_or_complex(contexts)
            assert numbers is not None
            return numbers
        with np.errstate(all="ignore"):  # a warning would reveal a person's data
            return np.array(contexts, dtype=np.float64)
    return row_by_row([contexts[place] for place in range(count)], width)


def by_feature(contexts: object, features: Sequence[object], *, one: bool) -> object:
    """Return contexts with dictionaries by feature name replaced by lists in the features' order.

    One person's dictionary is refused if its names are not those of the features. In a batch it
    becomes None: one person's dictionary must not decide whether others get a decision.

    >>> by_feature([{"weight": 2, "age": 1}, [3, 4], {"age": 5}], ["age", "weight"], one=False)
    [[1, 2], [3, 4], None]
    """
    if one:
        if not isinstance(contexts, Mapping):
            return contexts
        row = _in_order(contexts, features)
        if row is None:
            ending = ", …" if len(features) > 8 else ""
            names = ", ".join(map(str, features[:8])) + ending
            raise OutOfBounds(f"a context by name must have each feature once: {names}")
        return row
    if not isinstance(contexts, list | tuple):
        return contexts
    return [_in_order(each, features) if isinstance(each, Mapping) else each for each in contexts]


def _in_order(context: Mapping[object, object], features: Sequence[object]) -> list[object] | None:
    """Return the values of a dictionary in the features' order; None if its names differ."""
    if len(context) != len(features) or any(feature not in context for feature in features):
        return None
    return [context[feature] for feature in features]
