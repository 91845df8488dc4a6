"""Release of the worth of a chosen set to all people, for a share of the budget."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.arrays import Floats
from discreet.release.aggregators import Aggregate, HeldRows, Rows
from discreet.release.aggregators.gain_path import Chain
from discreet.release.door import Door
from discreet.release.noise import CalibratedNoise


@dataclass(frozen=True)
class WorthOf:
    """Task that computes the worth of a set to each person, as one column."""

    chain: Chain[Any]
    chosen: tuple[int, ...]

    def __call__(self, rows: Floats) -> Floats:
        *before, last = self.chosen
        state = self.chain.begin(rows)
        for item in before:
            state = self.chain.take(rows, state, item)
        return np.asarray(self.chain.worth(rows, state, last)[:, None])


def value_of(
    door: Door,
    noise: CalibratedNoise[Rows],
    held: HeldRows,
    people: Aggregate,
    chain: Chain[Any],
    chosen: list[int],
) -> Floats:
    """Release the worth of the set, added up over all people, with its standard deviation."""
    worth = held.total(people, WorthOf(chain, tuple(chosen)), noise.aggregator)
    total = door.release(noise, worth)
    return np.array([float(total[0]), noise.standard_deviation])
