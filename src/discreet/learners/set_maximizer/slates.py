"""Slates from released tables: post-processing, no person is seen here."""

import numpy as np

from discreet.arrays import Floats, Integers, Mask

__all__ = ["distinct_leaders", "filled_up"]


def distinct_leaders(table: Floats, available: Mask | None = None) -> Integers:
    """Slot by slot the best item that is available and not shown yet, as long as there are any."""
    left = np.ones(table.shape[1], dtype=np.bool_) if available is None else available.copy()
    slate: list[int] = []
    for scores in table:
        if not left.any():
            break
        slate.append(int(np.argmax(np.where(left, scores, -np.inf))))
        left[slate[-1]] = False
    return np.array(slate, dtype=np.int64)


def filled_up(slates: Integers, available: Mask | None, order: Integers) -> Integers:
    """Slates, one a row, without what is unavailable or −1, filled up with available items in this order.

    −1 stands at the end only if there are not enough available items.
    """
    filled = np.full(slates.shape, -1, dtype=np.int64)
    for place, slate in enumerate(slates):
        mask = None if available is None else available if available.ndim == 1 else available[place]
        shown = slate[slate >= 0] if mask is None else slate[(slate >= 0) & mask[slate]]
        missing = slates.shape[1] - len(shown)
        if missing:
            left = np.ones(len(order), dtype=np.bool_) if mask is None else mask.copy()
            left[shown] = False
            shown = np.concatenate([shown, order[left[order]][:missing]])
        filled[place, : len(shown)] = shown
    return filled
