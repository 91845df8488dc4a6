"""The array types that everything here speaks of."""

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
Word = np.uint64
"""A random word, or an unsigned number of 64 bits."""


Entry = TypeVar("Entry", bound=np.generic)


def repeated(row: NDArray[Entry], count: int) -> NDArray[Entry]:
    """The same row so many times, without copying it."""
    return row[None] if count == 1 else np.broadcast_to(row, (count, *row.shape))
