"""Cost of text labels in bulk."""

from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

from discreet import Privacy, SetMaximizer

ITEMS, SLOTS, ROUNDS, CHUNK, REPEATS = 100, 5, 10**6, 20_000, 5


def bulk_with_labels_over_without() -> float:
    """Rounds per second with text labels over those with numbers, in 10⁶ rounds of clicks.

    Decisions are read, and every third visitor clicks on the item in the second slot, by its label.
    The median of five pairs of runs.
    """
    labels = [f"sku-{number:05d}" for number in range(ITEMS)]
    return median(_seconds(ITEMS, seed) / _seconds(labels, seed) for seed in range(REPEATS))


def _seconds(items: Any, seed: int) -> float:
    privacy = Privacy(1.0)
    shop = SetMaximizer(items, SLOTS, ROUNDS, privacy, feedback="clicks", stream="iid", seed=seed)
    none = np.array([None if isinstance(items, list) else -1])
    began = perf_counter()
    while shop.clock < ROUNDS:
        shop.release_if_due()
        tickets = shop.open_many(min(shop.rounds_until_release, CHUNK))
        clicks = tickets.decisions[:, 1].copy()
        clicks[np.arange(len(clicks)) % 3 > 0] = none
        shop.close_many(tickets, clicks)
    return perf_counter() - began
