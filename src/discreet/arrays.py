"""Array types that all packages share."""

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
Word = np.uint64
"""An unsigned integer of 64 bits."""

Entry = TypeVar("Entry", bound=np.generic)


def repeated(row: NDArray[Entry], count: int) -> NDArray[Entry]:
    """Return an array with the row `count` times, without a copy of the row."""
    return row[None] if count == 1 else np.broadcast_to(row, (count, *row.shape))
