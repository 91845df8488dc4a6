"""Compiled decisions: pure functions of released values and of requests.

Every row is computed separately and in a fixed order, so a batch decides exactly as single rows do;
products of whole matrices would differ in the last bits.
"""

import numpy as np

from discreet.arrays import Floats
from discreet.compiled import compiled


@compiled
def descend(signs: Floats, field: Floats, pairs: Floats, most: int) -> None:
    """Flip one sign at a time, the one that lowers the cost most, until none does; in place.

    `signs` and `field`, the derivative of the cost in each sign, are rows × starts × items; `pairs`
    has the weights of pairs per row, or one matrix for all rows.
    """
    rows, starts, items = signs.shape
    for row in range(rows):
        weights = pairs[row if pairs.shape[0] > 1 else 0]
        for start in range(starts):
            sign, slope = signs[row, start], field[row, start]
            for _ in range(most):
                item, least = 0, np.inf
                for place in range(items):
                    change = -2 * sign[place] * slope[place]
                    if change < least:
                        item, least = place, change
                if not least < -1e-12:
                    break
                step = -2 * sign[item]
                for place in range(items):
                    slope[place] += step * weights[item, place]
                sign[item] += step


@compiled
def admit_contexts(contexts: Floats, bounds: Floats, length: float, out: Floats) -> None:
    """Clip every number of a context to its bound, then the context to a length.

    A context that is not finite becomes zero.
    """
    for row in range(contexts.shape[0]):
        squares, finite = 0.0, True
        for place in range(contexts.shape[1]):
            number = contexts[row, place]
            finite &= bool(np.isfinite(number))
            number = min(bounds[place], max(-bounds[place], number))
            out[row, place] = number
            squares += number * number
        shrink = 1.0
        if not finite:
            shrink = 0.0
        elif squares > length * length:
            shrink = length / np.sqrt(squares)
        if shrink != 1.0:
            for place in range(contexts.shape[1]):
                out[row, place] = out[row, place] * shrink if finite else 0.0


@compiled
def map_contexts(
    contexts: Floats, scales: Floats, centre: Floats, matrix: Floats, constant: float, out: Floats
) -> None:
    """Write (constant, (scales · context − centre) · matrix), one row per context."""
    for row in range(contexts.shape[0]):
        mapped = out[row]
        mapped[0] = constant
        mapped[1:] = 0.0
        for place in range(contexts.shape[1]):
            number = contexts[row, place] * scales[place] - centre[place]
            for target in range(matrix.shape[1]):
                mapped[1 + target] += number * matrix[place, target]


@compiled
def score_arms(
    contexts: Floats,
    bounds: Floats,
    length: float,
    weights: Floats,
    offsets: Floats,
    admitted: Floats,
    scores: Floats,
) -> None:
    """Write offsets + clipped contexts · weights, one row per context and one column per arm.

    `weights` is features × arms.
    """
    admit_contexts(contexts, bounds, length, admitted)
    arms = offsets.size
    for row in range(contexts.shape[0]):
        for arm in range(arms):
            scores[row, arm] = offsets[arm]
        for place in range(contexts.shape[1]):
            number = admitted[row, place]
            for arm in range(arms):
                scores[row, arm] += number * weights[place, arm]


@compiled
def spread_of_arms(mapped: Floats, covariances: Floats, out: Floats) -> None:
    """Write √(zᵀ Σ_a z) for every context z of an arm a and the arm's covariance Σ_a.

    `mapped` is contexts × arms × numbers.
    """
    for row in range(mapped.shape[0]):
        for arm in range(covariances.shape[0]):
            vector, total = mapped[row, arm], 0.0
            for place in range(vector.size):
                inner = 0.0
                for other in range(vector.size):
                    inner += covariances[arm, place, other] * vector[other]
                total += vector[place] * inner
            out[row, arm] = np.sqrt(max(total, 0.0))
