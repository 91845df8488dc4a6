"""The compiled entrance of click models: gains, clipping, quantising and adding in one pass over each row."""

from typing import Any

import numpy as np

from discreet.release.kernels import compiled


@compiled
def add_click_gains(rows: Any, slate: Any, unit: Any, limit: Any, total: Any) -> None:
    """Add every visitor's gains on top of each prefix of the slate to `total` (slots × items), in integer steps.

    For an item that is already before a slot, the gain is that on top of the *other* items before it: what the slot would see
    if the item were free. A gain of 1 is `unit` steps; a visitor whose gains, stacked over slots and items, are longer than
    `limit` steps is scaled down to it. `limit` leaves room for rounding each entry by at most ½, so the integers obey the bound
    (docs/guarantees/sets.md, Lemma 4).
    """
    slots, items = total.shape
    free, kept, alone = np.empty(slots), np.empty(slots), np.empty((slots, slots))
    for row in range(rows.shape[0]):
        squares = 0.0
        for item in range(items):
            squares += rows[row, item] * rows[row, item]
        length = 0.0
        for slot in range(slots):
            free[slot] = 1.0
            for before in range(slot):
                free[slot] *= 1.0 - rows[row, slate[before]]
            length += free[slot] * free[slot] * squares
            for shown in range(slot):  # on top of the other items before this slot
                chance = rows[row, slate[shown]]
                gain = chance
                for before in range(slot):
                    if before != shown:
                        gain *= 1.0 - rows[row, slate[before]]
                alone[slot, shown] = gain
                length += gain * gain - free[slot] * free[slot] * chance * chance
        length = np.sqrt(max(length, 0.0)) * unit
        factor = unit if length <= limit else unit * (limit / length)
        for slot in range(slots):
            scale = factor * free[slot]
            for shown in range(slot):
                kept[shown] = total[slot, slate[shown]]
            for item in range(items):
                total[slot, item] += np.floor(scale * rows[row, item] + 0.5)
            for shown in range(slot):
                total[slot, slate[shown]] = kept[shown] + np.floor(factor * alone[slot, shown] + 0.5)


@compiled
def add_cut_steps(weights: Any, first: Any, second: Any, counts: Any, steps: Any) -> None:
    """Add each edge's weight to the step of its first end along the order, and take it back at its second, where the edge counts."""
    for row in range(weights.shape[0]):
        for edge in range(weights.shape[1]):
            if counts[edge]:
                steps[row, first[edge]] += weights[row, edge]
                steps[row, second[edge]] -= weights[row, edge]
