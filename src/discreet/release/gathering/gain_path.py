"""Gains along a path of choices: what one person adds to the scores of all steps together is at most 1.

A person's worth of a set lies in [0, 1] and, on the integers here, never falls along a path. The gain of item
a on top of the path is what the worth would rise by; what was reached is updated with the same integers, so
the gains of a person telescope: along ANY path they are non-negative and add up to at most `levels`.

    gain_p(a) = max(0, ⌊levels · worth_p(S + a)⌋ − reached_p)

That is much less than `levels` at each of k steps, and mechanisms in discreet/release/sampled.py need it.

Guarantee   docs/guarantees/gathering.md, Lemma 11
Runtime     one pass over the people a step
"""

from typing import Any, Protocol

import numpy as np

from discreet.arrays import Floats, Integers, Mask
from discreet.release.gathering.base import Gathered, kernels
from discreet.release.gathering.held_rows import CHUNK, FULL

__all__ = ["Chain", "GainPath"]


class Chain(Protocol):
    """How rows of people see a growing set: every row by itself."""

    def begin(self, rows: Floats) -> Any:
        """What is known of these rows with the empty set."""

    def worths(self, rows: Floats, state: Any) -> Floats:
        """The worth of the set with one more item, people × items."""

    def take(self, rows: Floats, state: Any, item: int) -> Any:
        """What is known after this item was taken."""


class GainPath:
    """Held people along one path of choices.

    It belongs to the door: what it adds up is secret, and never leaves without a mechanism.

    Parameters
    ----------
    gathered
        Held rows of people.
    chain
        How they see a growing set.
    prices
        A factor in (0, 1] for each item: how much its gains count.
    levels
        How many integer steps a worth of 1 has.
    """

    def __init__(self, gathered: Gathered, chain: Chain, prices: Floats, levels: int) -> None:
        self.levels = levels
        self.people = len(gathered.values)
        self._gathered = gathered
        self._chain = chain
        self._prices = np.ascontiguousarray(np.clip(prices, 0.0, 1.0))
        self._parts: list[tuple[Floats, Integers]] = []
        self._states: list[Any] = []

    def copied(self) -> "GainPath":
        """The same people as they are now, before the first step: for audits."""
        held = Gathered(self._gathered.gathering, self._gathered.values.copy())
        return GainPath(held, self._chain, self._prices, self.levels)

    def differs(self, other: "GainPath") -> Integers:
        """Which people are not the same in both."""
        return np.flatnonzero((self._gathered.values != other._gathered.values).any(axis=1))

    def begin(self, kept: Mask) -> None:
        """Start with these people and the empty set."""
        held = self._gathered.values[kept]
        self._parts = [
            (part.astype(np.float64) / FULL, np.zeros(len(part), dtype=np.int64))
            for part in (held[first : first + CHUNK] for first in range(0, len(held), CHUNK))
        ]
        self._states = [self._chain.begin(rows) for rows, _ in self._parts]

    def scores(self) -> Integers:
        """The gains of every item, added up over people."""
        total = np.zeros(len(self._prices), dtype=np.int64)
        for (rows, reached), state in zip(self._parts, self._states, strict=True):
            worths = np.ascontiguousarray(self._chain.worths(rows, state), dtype=np.float64)
            kernels().add_path_gains(worths, reached, self._prices, float(self.levels), total)
        return total

    def take(self, item: int) -> None:
        """Add an item to the path."""
        for place, (rows, reached) in enumerate(self._parts):
            # The same call on the same rows as in `scores`: the same integers, so that gains telescope.
            worths = np.ascontiguousarray(self._chain.worths(rows, self._states[place]), dtype=np.float64)
            kernels().take_path_gains(np.ascontiguousarray(worths[:, item]), reached, float(self.levels))
            self._states[place] = self._chain.take(rows, self._states[place], item)
