"""Which rounds of a block are trials, and of what: public, fixed before anyone comes, in closed form.

A block is cut into as many equal stretches as it has trials; one round of each stretch, somewhere in it, is a
trial. Every cycle of trials tries each kind of thing once, in a shuffled order. So whole cycles try
everything equally often, and nobody can tell from the clock alone when a trial comes.

    rounds   0 1 2 3 4 5 6 7 8 9 …
    trials       B     A     C  …          three kinds, stretches of three rounds

Runtime     O(1) a round; memory for some shuffled orders, whatever the horizon
"""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from discreet.arrays import Integers
from discreet.errors import ConfigError
from discreet.turn.coins import Coin, scattered, scattered_one

__all__ = ["TrialSchedule", "Trials", "check_trials"]

MOST_CELLS, MOST_ORDERS = 2**15, 64
"""Shuffled orders take turns: as many as fit."""
MOST_TRIALS = 2**31
"""Of a block: products with rounds then fit 64 bits."""


class Trials(NamedTuple):
    """Which of some rounds are trials (their places in the list), and of which kind each is."""

    places: Integers
    kinds: Integers


FIRST = np.zeros(1, dtype=np.int64)
NOTHING = Trials(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))


def check_trials(count: int) -> None:
    """Refuse more trials a block than the schedule can place."""
    if count > MOST_TRIALS:
        raise ConfigError(f"at most {MOST_TRIALS:,} trials a block, got {count:,}: explore less")


@dataclass(frozen=True)
class TrialSchedule:
    """`cycles` trials of each of `kinds` things in a block of so many `rounds`.

    >>> schedule = TrialSchedule(kinds=3, cycles=2, rounds=60, key=b"sixteen byte key")
    >>> np.bincount(schedule.among(np.arange(60)).kinds)
    array([2, 2, 2])
    """

    kinds: int
    cycles: int
    rounds: int
    key: bytes

    def __post_init__(self) -> None:
        if not 1 <= self.count <= min(self.rounds, MOST_TRIALS):
            raise ConfigError(f"{self.count} trials do not fit a block of {self.rounds} rounds")

    @property
    def count(self) -> int:
        """How many trials the block has."""
        return self.kinds * self.cycles

    @cached_property
    def _orders(self) -> Integers:
        """Shuffled orders of the kinds, one a row."""
        rows = max(1, min(MOST_ORDERS, MOST_CELLS // self.kinds, self.cycles))
        generator = Coin(self.key, 2**62).generator()
        return generator.permuted(np.tile(np.arange(self.kinds), (rows, 1)), axis=1)

    def among(self, positions: Integers) -> Trials:
        """The trials among these rounds, which are counted from the beginning of the block."""
        if len(positions) == 1:
            return self._at(int(positions[0]))
        stretch = self._stretch(positions)
        begin = self._begin(stretch)
        length = self._begin(stretch + 1) - begin
        chosen = begin + (scattered(self.key, stretch) % length.astype(np.uint64)).astype(np.int64)
        places = np.flatnonzero((positions == chosen) & (positions >= 0) & (positions < self.rounds))
        cycle, place = np.divmod(stretch[places], self.kinds)
        return Trials(places, self._orders[cycle % len(self._orders), place])

    def _at(self, position: int) -> Trials:
        """The same for one round, without arrays: that is what one visitor waits for."""
        if not 0 <= position < self.rounds:
            return NOTHING
        stretch = (position * self.count + self.count - 1) // self.rounds
        while stretch * self.rounds // self.count > position:
            stretch -= 1
        begin = stretch * self.rounds // self.count
        end = (stretch + 1) * self.rounds // self.count
        if position != begin + scattered_one(self.key, stretch) % (end - begin):
            return NOTHING
        cycle, place = divmod(stretch, self.kinds)
        return Trials(FIRST, self._orders[cycle % len(self._orders), place : place + 1])

    def _begin(self, stretch: Integers) -> Integers:
        """The first round of a stretch: stretch · rounds / count, rounded down, without leaving 64 bits."""
        whole, rest = divmod(self.rounds, self.count)
        return np.asarray(stretch * whole + stretch * rest // self.count, dtype=np.int64)

    def _stretch(self, positions: Integers) -> Integers:
        """The stretch that a round lies in."""
        near = np.floor(positions * (self.count / self.rounds)).astype(np.int64)  # off by one at most
        near = np.clip(near, 0, self.count - 1)
        near -= (self._begin(near) > positions) & (near > 0)
        near += (self._begin(near + 1) <= positions) & (near < self.count - 1)
        return np.asarray(near, dtype=np.int64)
