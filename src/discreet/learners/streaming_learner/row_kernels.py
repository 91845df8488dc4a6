"""Compiled: how long rows of features are, and rows as a released map sees them.

Every row is computed by itself and in one order, so samples that come one by one count exactly as
many do.
"""

import numpy as np

from discreet.arrays import Floats
from discreet.compiled import compiled, compiled_sums


@compiled_sums
def product(first: Floats, second: Floats) -> float:
    """⟨first, second⟩, over as many numbers as the first has."""
    total = 0.0
    for place in range(first.size):
        total += first[place] * second[place]
    return total


@compiled
def row_length(row: Floats, constant: float, order: float) -> float:
    """The l_order length of a row and one more number; order 0 stands for l_∞. Not finite if a
    number is.
    """
    largest, total = abs(constant), abs(constant)
    for place in range(row.size):
        largest = max(largest, abs(row[place]))
        total += abs(row[place])
    if order == 1.0 or not np.isfinite(total):
        return total
    if order == 0.0 or largest == 0.0:
        return largest
    if (
        order == 2.0 and largest < 1e150 and largest > 1e-150
    ):  # squares are far inside what floats can hold
        length: float = np.sqrt(product(row, row) + constant * constant)
        return length
    powers: float = (abs(constant) / largest) ** order
    for place in range(row.size):
        powers += (abs(row[place]) / largest) ** order
    mean: float = powers ** (1.0 / order)
    return largest * mean


@compiled
def row_lengths(rows: Floats, constant: float, order: float, out: Floats) -> None:
    """The length of every row and the constant."""
    for row in range(rows.shape[0]):
        out[row] = row_length(rows[row], constant, order)


@compiled
def whiten_rows(
    rows: Floats,
    constant: float,
    dual: float,
    bound: float,
    directions: Floats,
    factors: Floats,
    rest: float,
    out: Floats,
) -> None:
    """Rows of l_dual length at most `bound`, with the constant if there is one, evened out.

    A direction (they are orthonormal) is multiplied by its factor, all else by `rest`. Rows that
    are not finite become NaN, which adds nothing anywhere.
    """
    size = rows.shape[1]
    for row in range(rows.shape[0]):
        whitened = out[row]
        squares = product(rows[row], rows[row])
        length = np.sqrt(squares)
        if dual != 2.0 or not np.isfinite(length):
            length = row_length(rows[row], 0.0, dual)
        if not np.isfinite(length):
            whitened[:] = np.nan
            continue
        shrink = 1.0 if length <= bound else bound / length
        for place in range(size):
            whitened[place] = rows[row, place] * (shrink * rest)
        if out.shape[1] > size:
            whitened[size] = constant * rest
        for spike in range(directions.shape[0]):
            # Orthonormal directions: what one of them takes out, no other sees.
            along = product(directions[spike], whitened) * (factors[spike] / rest - 1.0)
            for place in range(whitened.size):
                whitened[place] += along * directions[spike, place]
