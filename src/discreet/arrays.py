"""The array types that the release code speaks of."""

import numpy as np
from numpy.typing import NDArray

__all__ = ["Floats", "Integers", "Mask"]

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
