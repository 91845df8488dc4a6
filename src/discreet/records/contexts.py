"""What comes in with a question: one row of numbers per person, and which candidates are
available.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from discreet.arrays import Floats
from discreet.errors import OutOfBounds
from discreet.feedback import from_text_or_complex, row_of


def as_contexts(contexts: Any, width: int, count: int, *, one: bool) -> Floats:
    """So many numbers a round, one row each, copied.

    One person's context is refused if it is not so many numbers. Among many, whoever brings
    something else has a context of NaN: one person's row must not decide whether others are
    answered.

    >>> as_contexts([[1, 2], "x", [3, 4]], 2, 3, one=False)
    array([[ 1.,  2.],
           [nan, nan],
           [ 3.,  4.]])
    """
    if one:
        if isinstance(contexts, Mapping):
            raise OutOfBounds(f"a context by name needs named features: hand in {width} numbers")
        row = row_of(contexts, width)
        if row is None:
            raise OutOfBounds(f"a context must be {width} numbers")
        return row.reshape(1, width).copy()
    if isinstance(contexts, np.ndarray) and contexts.dtype.kind in "biufUSc":
        if contexts.shape != (count, width):
            raise OutOfBounds(
                f"contexts must be a matrix with {width} numbers a row, one row a round"
            )
        if (
            contexts.dtype.kind in "USc"
        ):  # one entry made it so: everybody else's numbers are numbers
            found = from_text_or_complex(contexts)
            assert found is not None
            return found
        with np.errstate(all="ignore"):  # a warning would tell about a person
            return np.array(contexts, dtype=np.float64)
    rows = np.full((count, width), np.nan)
    for place in range(count):
        row = row_of(contexts[place], width)
        if row is not None:
            rows[place] = row
    return rows


def by_feature(contexts: object, features: Sequence[object], *, one: bool) -> object:
    """Contexts, where dictionaries by feature name have become lists in the features' order.

    One person's dictionary is refused if its names are not those of the features. Among many,
    whoever brings such a one has no context: one person's dictionary must not decide whether others
    are answered.

    >>> by_feature([{"weight": 2, "age": 1}, [3, 4], {"age": 5}], ["age", "weight"], one=False)
    [[1, 2], [3, 4], None]
    """
    if one:
        if not isinstance(contexts, Mapping):
            return contexts
        row = _in_order(contexts, features)
        if row is None:
            names = ", ".join(map(str, features[:8])) + (", …" if len(features) > 8 else "")
            raise OutOfBounds(f"a context by name must have each feature once: {names}")
        return row
    if not isinstance(contexts, list | tuple):
        return contexts
    return [_in_order(each, features) if isinstance(each, Mapping) else each for each in contexts]


def _in_order(context: Mapping[object, object], features: Sequence[object]) -> list[object] | None:
    """The values of a dictionary in the features' order; None if its names are others."""
    if len(context) != len(features) or any(feature not in context for feature in features):
        return None
    return [context[feature] for feature in features]
