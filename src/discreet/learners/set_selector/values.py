"""What a chosen set is worth to all people, for a share of the budget."""

import numpy as np

from discreet.arrays import Floats
from discreet.release.door import Door
from discreet.release.gathering import Gathered, HeldRows, Rows
from discreet.release.gathering.gain_path import Chain
from discreet.release.noise import Once

__all__ = ["value_of"]


def value_of(door: Door, noise: Once | None, people: Gathered, chain: Chain, chosen: list[int]) -> Floats:
    """The worth of the set, added up over all people, and its standard deviation; nothing if not paid for."""
    if noise is None:
        return np.zeros(0)
    held, sums = people.gathering, noise.gathering
    assert isinstance(held, HeldRows)
    assert isinstance(sums, Rows)
    *before, last = chosen

    def worth(rows: Floats) -> Floats:
        state = chain.begin(rows)
        for item in before:
            state = chain.take(rows, state, item)
        return chain.worths(rows, state)[:, last : last + 1]

    total = door.release(noise, held.total(people, worth, sums))
    return np.array([float(total[0]), noise.standard_deviation])
