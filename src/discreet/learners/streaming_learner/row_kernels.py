"""Compiled kernels: norms of rows of features, and whitened rows.

Every row is computed separately and in one order, so samples that arrive one by one give exactly
the numbers of a batch.
"""

import numpy as np

from discreet.arrays import Floats
from discreet.compiled import compiled, compiled_sums


@compiled_sums
def product(first: Floats, second: Floats) -> float:
    """Return ⟨first, second⟩, over the length of `first`."""
    total = 0.0
    for place in range(first.size):
        total += first[place] * second[place]
    return total


@compiled
def row_length(row: Floats, constant: float, order: float) -> float:
    """Return the l_order norm of a row and the constant; order 0 stands for l_∞.

    The result is not finite if one of the numbers is not.
    """
    largest = abs(constant)
    total = abs(constant)
    for place in range(row.size):
        largest = max(largest, abs(row[place]))
        total += abs(row[place])
    if order == 1.0 or not np.isfinite(total):
        return total
    if order == 0.0 or largest == 0.0:
        return largest
    squares_fit = largest < 1e150 and largest > 1e-150  # far inside the range of floats
    if order == 2.0 and squares_fit:
        length: float = np.sqrt(product(row, row) + constant * constant)
        return length
    powers: float = (abs(constant) / largest) ** order
    for place in range(row.size):
        powers += (abs(row[place]) / largest) ** order
    mean: float = powers ** (1.0 / order)
    return largest * mean


@compiled
def row_lengths(rows: Floats, constant: float, order: float, out: Floats) -> None:
    """Write the norm of every row, with the constant, into `out`."""
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
    """Write rows scaled to l_dual norm at most `bound`, with the constant, and whitened to `out`.

    Each of the orthonormal directions is multiplied by its factor, their complement by `rest`. A
    row that is not finite becomes NaN, which adds nothing to any aggregate.
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
            # The directions are orthonormal, so scaling one does not change the others.
            along = product(directions[spike], whitened) * (factors[spike] / rest - 1.0)
            for place in range(whitened.size):
                whitened[place] += along * directions[spike, place]
