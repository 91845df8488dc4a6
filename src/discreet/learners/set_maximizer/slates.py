"""Slates from released tables: post-processing, without personal data."""

from typing import TYPE_CHECKING

import numpy as np

from discreet.arrays import Floats, Integers, Mask
from discreet.compiled import OnFirstUse

if TYPE_CHECKING:
    from discreet.learners.set_maximizer import kernels as kernels
else:
    kernels = OnFirstUse("discreet.learners.set_maximizer.kernels")


def distinct_leaders(table: Floats, available: Mask | None = None) -> Integers:
    """Return a slate: per slot (row of the table), the best available item not chosen before."""
    left = np.ones(table.shape[1], dtype=np.bool_) if available is None else available.copy()
    slate: list[int] = []
    for scores in table:
        if not left.any():
            break
        slate.append(int(np.argmax(np.where(left, scores, -np.inf))))
        left[slate[-1]] = False
    return np.array(slate, dtype=np.int64)


def filled_up(slates: Integers, available: Mask, order: Integers) -> Integers:
    """Return slates, one per row, with unavailable items replaced by available ones in this order.

    If there are not enough available items, a slate ends with −1.
    """
    filled = np.empty(slates.shape, dtype=np.int64)
    kernels.fill_up(slates, one_row_each(available), order, filled)
    return filled


def one_row_each(available: Mask) -> Mask:
    """Return masks with one row per round, or a single row for all of them."""
    return available[None] if available.ndim == 1 else available
