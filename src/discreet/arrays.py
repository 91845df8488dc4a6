"""Array types that all packages share."""

from collections.abc import Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
Word = np.uint64
"""An unsigned integer of 64 bits."""

BLOCK = 1024
"""Rows that are copied at once, so that what is written stays in the processor's cache."""

Entry = TypeVar("Entry", bound=np.generic)


def repeated(row: NDArray[Entry], count: int) -> NDArray[Entry]:
    """Return an array with the row `count` times, without a copy of the row."""
    return row[None] if count == 1 else np.broadcast_to(row, (count, *row.shape))


def stacked(columns: Sequence[NDArray[np.generic]], count: int) -> Floats:
    """Return a matrix with these columns of `count` numbers, row after row in memory.

    >>> stacked([np.array([1, 2]), np.array([True, False])], 2)
    array([[1., 1.],
           [2., 0.]])
    """
    matrix = np.empty((count, len(columns)))
    with np.errstate(all="ignore"):  # a warning would reveal a person's data
        for first in range(0, count, BLOCK):
            block = matrix[first : first + BLOCK]
            for place, column in enumerate(columns):
                block[:, place] = column[first : first + BLOCK]
    return matrix
