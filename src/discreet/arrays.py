"""The array types that everything here speaks of."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Floats", "Integers", "Mask", "repeated"]

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]


def repeated(row: Any, count: int) -> Any:
    """The same row so many times, without copying it."""
    return row[None] if count == 1 else np.broadcast_to(row, (count, *row.shape))
