"""Gains of the click model over all prefixes of a slate, stacked as in gain_sum.py, compiled."""

import numpy as np

from discreet.arrays import Floats


def stack_click_gains(shown: Floats, steepness: float, stacked: Floats) -> None:
    """Write the stacked gains of one visitor, who clicks the items of the slate at `shown`.

    The gains g_1 ≥ … ≥ g_k of an item over the prefixes of the slate become their sum over √k, then
    the drops g_i − g_{i+1} times `steepness`: one row per item. The first row is that of an item
    that is not in the slate, over its probability of a click. The others are those of the slate's
    items: their gains are those over the *other* items before each slot, as if the item were not in
    the slate.
    """
    slots = len(shown)
    for row in range(slots + 1):
        place = row - 1
        total = 0.0
        earlier = 0.0
        for slot in range(slots):
            gain = 1.0 if row == 0 else shown[place]
            for before in range(slot):
                if before != place:
                    gain *= 1.0 - shown[before]
            total += gain
            stacked[row, slot] = steepness * max(earlier - gain, 0.0)
            earlier = gain
        stacked[row, 0] = np.divide(total, np.sqrt(slots))  # unlike /, it never raises: faster
