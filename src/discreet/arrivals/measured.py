"""Compiled: how long rows of features are, and rows as a released map sees them.

Every row is computed by itself and in one order, so samples that come one by one count exactly as many do.
"""

from typing import Any

import numpy as np

from discreet.compiled import compiled, compiled_sums


@compiled_sums
def product(first: Any, second: Any) -> Any:
    """⟨first, second⟩, over as many numbers as the first has."""
    total = 0.0
    for place in range(first.size):
        total += first[place] * second[place]
    return total


@compiled
def row_length(row: Any, constant: Any, order: Any) -> Any:
    """The l_order length of a row and one more number; order 0 stands for l_∞. Not finite if a number is."""
    largest, total = abs(constant), abs(constant)
    for place in range(row.size):
        largest = max(largest, abs(row[place]))
        total += abs(row[place])
    if order == 1.0 or not np.isfinite(total):
        return total
    if order == 0.0 or largest == 0.0:
        return largest
    if order == 2.0 and largest < 1e150 and largest > 1e-150:  # squares are far inside what floats can hold
        return np.sqrt(product(row, row) + constant * constant)
    powers = (abs(constant) / largest) ** order
    for place in range(row.size):
        powers += (abs(row[place]) / largest) ** order
    return largest * powers ** (1.0 / order)


@compiled
def row_lengths(rows: Any, constant: Any, order: Any, out: Any) -> None:
    """The length of every row and the constant."""
    for row in range(rows.shape[0]):
        out[row] = row_length(rows[row], constant, order)


@compiled
def even_rows(
    rows: Any, constant: Any, dual: Any, bound: Any, directions: Any, factors: Any, rest: Any, out: Any
) -> None:
    """Rows of l_dual length at most `bound`, with the constant if there is one, evened out.

    A direction (they are orthonormal) is multiplied by its factor, all else by `rest`. Rows that are not
    finite become NaN, which adds nothing anywhere.
    """
    size = rows.shape[1]
    for row in range(rows.shape[0]):
        evened = out[row]
        squares = product(rows[row], rows[row])
        length = np.sqrt(squares)
        if dual != 2.0 or not np.isfinite(length):
            length = row_length(rows[row], 0.0, dual)
        if not np.isfinite(length):
            evened[:] = np.nan
            continue
        shrink = 1.0 if length <= bound else bound / length
        for place in range(size):
            evened[place] = rows[row, place] * (shrink * rest)
        if out.shape[1] > size:
            evened[size] = constant * rest
        for spike in range(directions.shape[0]):
            # Orthonormal directions: what one of them takes out, no other sees.
            along = product(directions[spike], evened) * (factors[spike] / rest - 1.0)
            for place in range(evened.size):
                evened[place] += along * directions[spike, place]
