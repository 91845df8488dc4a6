"""The compiled part of slates under masks: what is shown, and what that counts. Released values
only.

Sums and products go from left to right, one factor at a time, so that one round and many count the
same. `masks` and `times` have one entry per round, or one for all of them.

Importing this module imports Numba; the rest of the library does so on first use.
"""

import numpy as np

from discreet.arrays import Floats, Integers, Mask
from discreet.compiled import compiled


@compiled
def fill_up(slates: Integers, masks: Mask, order: Integers, filled: Integers) -> None:
    """The available items of each slate, then available items in this order; −1 where these run
    out.
    """
    rounds, slots = slates.shape
    for place in range(rounds):
        mask = masks[place if len(masks) > 1 else 0]
        found = filled[place]
        count = 0
        for slot in range(slots):
            item = slates[place, slot]
            if item >= 0 and mask[item]:
                found[count] = item
                count += 1
        kept = count
        for item in order:
            if count == slots:
                break
            if mask[item] and not stands(found, kept, item):
                found[count] = item
                count += 1
        found[count:] = -1


@compiled
def fill_up_before_last(planned: Integers, mask: Mask, order: Integers, found: Integers) -> None:
    """The same for one slate, the last item of which is the one that is tried, and stays last.

    If it is not available, the first item of the order that is not shown yet is tried in its place.
    """
    slots = len(planned)
    last = planned[slots - 1]
    count = 0
    for slot in range(slots - 1):
        if mask[planned[slot]]:
            found[count] = planned[slot]
            count += 1
    kept = count
    tried = last if mask[last] else -1
    for item in order:
        if count == slots - 1 and tried >= 0:
            break
        if not mask[item] or item == last or stands(found, kept, item):
            continue
        if tried < 0:
            tried = item
        else:
            found[count] = item
            count += 1
    if tried >= 0:
        found[count] = tried
        count += 1
    found[count:] = -1


@compiled
def fill_up_all_before_last(
    shown: Integers, things: Integers, masks: Mask, order: Integers, filled: Integers
) -> None:
    """The same for many rounds; each shows one of some things."""
    for place in range(len(things)):
        mask = masks[place if len(masks) > 1 else 0]
        fill_up_before_last(shown[things[place]], mask, order, filled[place])


@compiled
def stands(slate: Integers, count: int, item: int) -> bool:
    """Whether an item is among the first `count` of a slate."""
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
    """Add to each item how often a visitor looks at it; `behind` of them get past the `chosen`
    items.
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
    """Add to each item how often it is shown."""
    for place in range(len(slates)):
        often = times[place if len(times) > 1 else 0]
        for item in slates[place]:
            if item >= 0 and not chosen[item]:
                counts[0, item] += often * unit


@compiled
def count_gains(
    slates: Integers, times: Integers, interest: Floats, chosen: Mask, unit: int, counts: Integers
) -> None:
    """Add Σx², Σx·worth and Σx to each item: x is what its interest moves of the worth of its
    slate.
    """
    for place in range(len(slates)):
        often = times[place if len(times) > 1 else 0]
        nobody = 1.0
        for item in slates[place]:
            if item >= 0:
                nobody *= 1 - interest[item]
        for item in slates[place]:
            if item >= 0 and not chosen[item]:
                gain = nobody / (1 - interest[item])
                counts[0, item] += often * np.int64(np.rint(gain * gain * unit))
                counts[1, item] += often * np.int64(np.rint(gain * (1 - nobody) * unit))
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
    """Add by how much a round under a mask counts otherwise than planned:
    `ExchangeSlates.count_masked`.

    Planned are its cell, and the share of visitors who get past the items before the last.
    """
    count = 0
    while count < len(slate) and slate[count] >= 0:
        count += 1
    last = slate[count - 1]
    met = 1.0
    for place in range(count - 1):
        met *= 1 - interest[slate[place]]
    slot = cell // len(interest)
    looks = met / expected if by_clicks else 1.0
    views[slot, last] += np.int64(np.rint(looks * unit))
    views[slot, cell - slot * len(interest)] -= unit
    fewer = (expected - met) * (1 - interest[last])
    more[slot, last] += np.int64(np.rint(fewer * unit))


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
    """The same for many rounds."""
    for place in range(len(slates)):
        count_exchanged(
            slates[place], cells[place], expected[place], interest, by_clicks, unit, views, more
        )
