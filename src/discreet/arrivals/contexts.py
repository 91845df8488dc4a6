"""Contexts as they come in with a question: one row of numbers a person."""

from typing import Any

import numpy as np

from discreet.arrays import Floats
from discreet.arrivals.feedback import as_numbers_anyway, row_of
from discreet.errors import OutOfBounds

__all__ = ["as_contexts"]


def as_contexts(contexts: Any, width: int, count: int, *, one: bool) -> Floats:
    """So many numbers a round, one row each, copied.

    One person's context is refused if it is not so many numbers. Among many, whoever brings something else
    has a context of NaN: one person's row must not decide whether others are answered.

    >>> as_contexts([[1, 2], "x", [3, 4]], 2, 3, one=False)
    array([[ 1.,  2.],
           [nan, nan],
           [ 3.,  4.]])
    """
    if one:
        row = row_of(contexts, width)
        if row is None:
            raise OutOfBounds(f"a context must be {width} numbers")
        return row.reshape(1, width).copy()
    if isinstance(contexts, np.ndarray) and contexts.dtype.kind in "biufUSc":
        if contexts.shape != (count, width):
            raise OutOfBounds(f"contexts must be a matrix with {width} numbers a row, one row a round")
        if contexts.dtype.kind in "USc":  # one entry made it so: everybody else's numbers are numbers
            found = as_numbers_anyway(contexts)
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
