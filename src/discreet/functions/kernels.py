"""Compiled passes over people's rows: what each item adds along an order, for cuts and for
coverage.
"""

from discreet.arrays import Floats, Integers, Mask
from discreet.compiled import compiled


@compiled
def add_cut_steps(
    weights: Floats, first: Integers, second: Integers, counts: Mask, steps: Floats
) -> None:
    """Add the weight of each edge that counts to the step of its first end; take it back at its
    second.
    """
    for row in range(weights.shape[0]):
        for edge in range(weights.shape[1]):
            if counts[edge]:
                steps[row, first[edge]] += weights[row, edge]
                steps[row, second[edge]] -= weights[row, edge]


@compiled
def add_topics(weights: Floats, first: Integers, steps: Floats) -> None:
    """Add each topic's weight to the step of the item that covers it first; −1 if none does."""
    for row in range(weights.shape[0]):
        for topic in range(weights.shape[1]):
            if first[topic] >= 0:
                steps[row, first[topic]] += weights[row, topic]


@compiled
def weigh_items(weights: Floats, covers: Floats, gains: Floats) -> None:
    """What each item covers of each person's weights: Σ over topics, always in the same order.

    Not a matrix product: one person's numbers must not depend on who else is there, not even in
    their last bits.
    """
    for person in range(weights.shape[0]):
        for item in range(covers.shape[0]):
            gains[person, item] = 0.0
        for topic in range(weights.shape[1]):
            weight = weights[person, topic]
            for item in range(covers.shape[0]):
                gains[person, item] += weight * covers[item, topic]
