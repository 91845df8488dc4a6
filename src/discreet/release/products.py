"""Compiled loops that add products of people's vectors: spreads, second moments, moments.

They take `unit` (steps per length of 1) alone, which `Rounded` has reduced by the rounding; how far
two people's vectors are apart follows from the lengths, at most 1, to which the loops scale them.

Guarantee   docs/guarantees/aggregators.md, Lemmas 6 to 9
"""

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.compiled import compiled


@compiled
def shrink_to_one(vector: Floats) -> float:
    """Return the factor that scales a vector to a length of at most 1; −1 if it is not finite."""
    squares = 0.0
    for place in range(vector.size):
        squares += vector[place] * vector[place]
    if not np.isfinite(squares):
        return -1.0
    return 1.0 if squares <= 1.0 else 1.0 / np.sqrt(squares)


@compiled
def add_spread(rows: Floats, unit: float, total: Integers) -> None:
    """Add (x, √2·‖x‖², 1) of every row x, scaled to a length of at most 1, in steps.

    Guarantee   docs/guarantees/aggregators.md, Lemmas 6 and 7
    """
    size = rows.shape[1]
    for row in range(rows.shape[0]):
        vector = rows[row]
        shrink = shrink_to_one(vector)
        if shrink < 0.0:
            continue
        squares = 0.0
        for place in range(size):
            entry = vector[place] * shrink
            squares += entry * entry
            total[place] += np.int64(np.floor(unit * entry + 0.5))
        total[size] += np.int64(np.floor(unit * np.sqrt(2.0) * min(1.0, squares) + 0.5))
        total[size + 1] += np.int64(np.floor(unit + 0.5))


@compiled
def add_gram(rows: Floats, unit: float, total: Integers) -> None:
    """Add (zzᵀ, 1) of every row z, scaled to a length of at most 1, in steps.

    The matrix is packed: the lower triangle row by row, entries off the diagonal times √2.

    Guarantee   docs/guarantees/aggregators.md, Lemmas 6 and 8
    """
    size = rows.shape[1]
    for row in range(rows.shape[0]):
        vector = rows[row]
        shrink = shrink_to_one(vector)
        if shrink < 0.0:
            continue
        cell = 0
        for place in range(size):
            beside = unit * np.sqrt(2.0) * (vector[place] * shrink)
            for other in range(place):
                total[cell + other] += np.int64(np.floor(beside * (vector[other] * shrink) + 0.5))
            cell += place
            total[cell] += np.int64(
                np.floor(beside / np.sqrt(2.0) * (vector[place] * shrink) + 0.5)
            )
            cell += 1
        total[cell] += np.int64(np.floor(unit + 0.5))


@compiled
def add_moments(
    contexts: Floats, rewards: Floats, slots: Integers, unit: float, total: Integers
) -> None:
    """Add (pack(zzᵀ)/√2, u·z) of every context z and reward u in its slot, in steps.

    z is scaled to a length of at most 1, and u, clipped to [−1, 1], with it.

    Guarantee   docs/guarantees/aggregators.md, Lemmas 6 and 9
    """
    size = contexts.shape[1]
    for row in range(contexts.shape[0]):
        slot = slots[row]
        reward = rewards[row]
        vector = contexts[row]
        if slot < 0 or slot >= total.shape[0] or not np.isfinite(reward):
            continue
        shrink = shrink_to_one(vector)
        if shrink < 0.0:
            continue
        sums = total[slot]
        clipped = min(1.0, max(-1.0, reward)) * shrink
        cell = 0
        for place in range(size):
            beside = unit * (vector[place] * shrink)
            for other in range(place):
                sums[cell + other] += np.int64(np.floor(beside * (vector[other] * shrink) + 0.5))
            cell += place
            sums[cell] += np.int64(np.floor(beside * (vector[place] * shrink) / np.sqrt(2.0) + 0.5))
            cell += 1
        for place in range(size):
            sums[cell + place] += np.int64(
                np.floor(unit * clipped * (vector[place] * shrink) + 0.5)
            )
