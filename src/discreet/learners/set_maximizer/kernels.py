"""Compiled kernels of slates under masks, and of their public counts: no personal data.

Sums and products run from left to right, one factor at a time, so that counts of one round and of
many are equal to the last bit. `masks` and `times` have one entry per round, or one for all of
them.

Importing this module imports Numba; the rest of the library does so on first use.
"""

import numpy as np

from discreet.arrays import Floats, Integers, Mask
from discreet.compiled import compiled


@compiled
def fill_up(slates: Integers, masks: Mask, order: Integers, filled: Integers) -> None:
    """Write slates into `filled`: their available items, then available ones in this order.

    −1 stands where available items run out.
    """
    rounds, slots = slates.shape
    for place in range(rounds):
        mask = masks[place if len(masks) > 1 else 0]
        slate = filled[place]
        count = 0
        for slot in range(slots):
            item = slates[place, slot]
            if item >= 0 and mask[item]:
                slate[count] = item
                count += 1
        own = count
        for item in order:
            if count == slots:
                break
            if mask[item] and not stands(slate, own, item):
                slate[count] = item
                count += 1
        slate[count:] = -1


@compiled
def fill_up_before_last(planned: Integers, mask: Mask, order: Integers, filled: Integers) -> None:
    """Write one slate into `filled` as `fill_up` does, with the tried item in the last place.

    The last planned item is tried; if it is unavailable, the first available item of the order that
    is not shown yet is tried instead.
    """
    slots = len(planned)
    last = planned[slots - 1]
    count = 0
    for slot in range(slots - 1):
        if mask[planned[slot]]:
            filled[count] = planned[slot]
            count += 1
    own = count
    tried = last if mask[last] else -1
    for item in order:
        if count == slots - 1 and tried >= 0:
            break
        if not mask[item] or item == last or stands(filled, own, item):
            continue
        if tried < 0:
            tried = item
        else:
            filled[count] = item
            count += 1
    if tried >= 0:
        filled[count] = tried
        count += 1
    filled[count:] = -1


@compiled
def fill_up_all_before_last(
    arm_slates: Integers, arms: Integers, masks: Mask, order: Integers, filled: Integers
) -> None:
    """Write the slates of many rounds as `fill_up_before_last` does; each round shows one arm."""
    for place in range(len(arms)):
        mask = masks[place if len(masks) > 1 else 0]
        fill_up_before_last(arm_slates[arms[place]], mask, order, filled[place])


@compiled
def stands(slate: Integers, count: int, item: int) -> bool:
    """Return whether an item is among the first `count` of a slate."""
    for slot in range(count):  # noqa: SIM110  Numba knows no generators
        if slate[slot] == item:
            return True
    return False


@compiled
def count_views(
    slates: Integers,
    times: Integers,
    interest: Floats,
    chosen: Mask,
    behind: float,
    unit: int,
    counts: Integers,
) -> None:
    """Add, per item, the expected number of visitors who look at it.

    Only visitors who click none of the `chosen` items count: their share is `behind`.
    """
    for place in range(len(slates)):
        often = times[place if len(times) > 1 else 0]
        left = 1.0
        for item in slates[place]:
            if item < 0:
                continue
            if not chosen[item]:
                counts[0, item] += often * np.int64(np.rint(min(left / behind, 1.0) * unit))
            left *= 1 - interest[item]


@compiled
def count_shown(
    slates: Integers, times: Integers, chosen: Mask, unit: int, counts: Integers
) -> None:
    """Add, per item, the number of rounds that show it; `chosen` items do not count."""
    for place in range(len(slates)):
        often = times[place if len(times) > 1 else 0]
        for item in slates[place]:
            if item >= 0 and not chosen[item]:
                counts[0, item] += often * unit


@compiled
def count_gains(
    slates: Integers, times: Integers, interest: Floats, chosen: Mask, unit: int, counts: Integers
) -> None:
    """Add Σx², Σx·value and Σx per item: x is the derivative of the slate's value by its interest.

    The value of a slate is 1 − Π(1 − interest), the probability of a click.
    """
    for place in range(len(slates)):
        often = times[place if len(times) > 1 else 0]
        no_click = 1.0
        for item in slates[place]:
            if item >= 0:
                no_click *= 1 - interest[item]
        for item in slates[place]:
            if item >= 0 and not chosen[item]:
                gain = no_click / (1 - interest[item])
                counts[0, item] += often * np.int64(np.rint(gain * gain * unit))
                counts[1, item] += often * np.int64(np.rint(gain * (1 - no_click) * unit))
                counts[2, item] += often * np.int64(np.rint(gain * unit))


@compiled
def count_exchanged(
    slate: Integers,
    cell: int,
    expected: float,
    interest: Floats,
    by_clicks: bool,
    unit: int,
    views: Integers,
    more: Integers,
) -> None:
    """Add the difference between the counts of a masked round and the planned ones.

    `cell` is the planned cell; `expected` is the planned share of visitors who click none of the
    items before the last. See `ExchangeSlates.count_masked`.
    """
    count = 0
    while count < len(slate) and slate[count] >= 0:
        count += 1
    last = slate[count - 1]
    remaining = 1.0
    for place in range(count - 1):
        remaining *= 1 - interest[slate[place]]
    slot = cell // len(interest)
    looks = remaining / expected if by_clicks else 1.0
    views[slot, last] += np.int64(np.rint(looks * unit))
    views[slot, cell - slot * len(interest)] -= unit
    difference = (expected - remaining) * (1 - interest[last])
    more[slot, last] += np.int64(np.rint(difference * unit))


@compiled
def count_all_exchanged(
    slates: Integers,
    cells: Integers,
    expected: Floats,
    interest: Floats,
    by_clicks: bool,
    unit: int,
    views: Integers,
    more: Integers,
) -> None:
    """Add the differences of many rounds as `count_exchanged` does."""
    for place in range(len(slates)):
        count_exchanged(
            slates[place], cells[place], expected[place], interest, by_clicks, unit, views, more
        )
