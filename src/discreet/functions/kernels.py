"""Compiled passes over people's rows: what each item adds along an order, for cuts and coverage."""

from discreet.arrays import Floats, Integers, Mask
from discreet.compiled import compiled


@compiled
def add_cut_gains(
    weights: Floats, first: Integers, second: Integers, counts: Mask, gains: Floats
) -> None:
    """Add each counted edge's weight to its first end's gain; subtract it at the second end."""
    for row in range(weights.shape[0]):
        for edge in range(weights.shape[1]):
            if counts[edge]:
                gains[row, first[edge]] += weights[row, edge]
                gains[row, second[edge]] -= weights[row, edge]


@compiled
def add_topics(weights: Floats, first: Integers, gains: Floats) -> None:
    """Add each topic's weight to the gain of the item that covers it first; −1 is no item."""
    for row in range(weights.shape[0]):
        for topic in range(weights.shape[1]):
            if first[topic] >= 0:
                gains[row, first[topic]] += weights[row, topic]


@compiled
def weigh_items(weights: Floats, covers: Floats, gains: Floats) -> None:
    """Write what each item covers of each person's weights: a sum over topics in a fixed order.

    This is not a matrix product: the numbers of one person must not depend on which other people
    are in the batch, not even in their last bits.
    """
    for person in range(weights.shape[0]):
        for item in range(covers.shape[0]):
            gains[person, item] = 0.0
        for topic in range(weights.shape[1]):
            weight = weights[person, topic]
            for item in range(covers.shape[0]):
                gains[person, item] += weight * covers[item, topic]
