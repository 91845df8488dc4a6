"""Gains along a path of choices: what one person adds to the scores of all steps together is at
most 1.

A person's worth of a set lies in [0, 1] and, on the integers here, never falls along a path. The
gain of item a on top of the path is what the worth would rise by; what was reached is updated with
the same integers, so the gains of a person telescope: along ANY path they are non-negative and add
up to at most `levels`.

    gain_p(a) = max(0, ⌊levels · worth_p(S + a)⌋ − reached_p)

That is much less than `levels` at each of k steps, and mechanisms in
discreet/release/sampled_path.py need it.

Nothing is remembered of a person between steps: what they have reached is computed again from the
path, by the same operations on the same row, so the same integers. It costs one column of worths
for each item on the path, and lets people stay in parts that are read, on whatever machine, at
every step.

Guarantee   docs/guarantees/aggregators.md, Lemmas 11 and 12
Runtime     one pass over the people a step
"""

from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

import numpy as np

from discreet.arrays import Floats, Integers, Mask
from discreet.errors import ConfigError
from discreet.release.aggregators.base import Aggregate, kernels
from discreet.release.aggregators.held_rows import Held, HeldRows
from discreet.release.aggregators.partitions import Part
from discreet.release.sampled_path import GivenCoins, SecretCoins

Known = TypeVar("Known")


class Chain(Protocol[Known]):
    """How rows of people see a growing set: every row by itself."""

    def begin(self, rows: np.ndarray) -> Known:
        """What is known of these rows with the empty set."""

    def worths(self, rows: np.ndarray, state: Known) -> Floats:
        """The worth of the set with one more item, people × items."""

    def worth(self, rows: np.ndarray, state: Known, item: int) -> Floats:
        """The same for one item: bit for bit this column of `worths`."""

    def take(self, rows: np.ndarray, state: Known, item: int) -> Known:
        """What is known after this item was taken."""


@dataclass(frozen=True)
class _Scores:
    """The gains of every item on top of a path, added up over the people of a part who are kept."""

    chain: Chain[Any]
    sampled: GivenCoins | SecretCoins
    path: tuple[int, ...]
    prices: Floats = field(repr=False)
    levels: int

    def __call__(self, part: Part) -> Integers:
        total = np.zeros(len(self.prices), dtype=np.int64)
        for first, everyone in part.pieces():
            rows = everyone[self.sampled.sampled(first, len(everyone))]
            if len(rows):
                self._add(rows, total)
        return total

    def _add(self, rows: np.ndarray, total: Integers) -> None:
        levels = float(self.levels)
        state, reached = self.chain.begin(rows), np.zeros(len(rows), dtype=np.int64)
        for item in self.path:
            worth = np.ascontiguousarray(self.chain.worth(rows, state, item), dtype=np.float64)
            kernels.take_path_gains(worth, reached, levels)
            state = self.chain.take(rows, state, item)
        worths = np.ascontiguousarray(self.chain.worths(rows, state), dtype=np.float64)
        kernels.add_path_gains(worths, reached, self.prices, levels, total)


class GainPath:
    """Held people along one path of choices.

    It belongs to the door: what it adds up is secret, and never leaves without a mechanism.

    Parameters
    ----------
    aggregated
        Held rows of people, or people in parts.
    chain
        How they see a growing set.
    prices
        A factor in (0, 1] for each item: how much its gains count.
    levels
        How many integer steps a worth of 1 has.
    """

    def __init__(
        self, aggregate: Aggregate, chain: Chain[Any], prices: Floats, levels: int
    ) -> None:
        self.levels = levels
        self._aggregate = aggregate
        self._chain = chain
        self._prices = np.ascontiguousarray(np.clip(prices, 0.0, 1.0))
        self._sampled: GivenCoins | SecretCoins = GivenCoins(np.zeros(0, dtype=np.bool_))
        self._path: list[int] = []

    @property
    def people(self) -> int:
        """How many there are, kept or not."""
        return self._aggregate.aggregator.shape[0]

    def copied(self) -> "GainPath":
        """The same people as they are now, before the first step: for audits."""
        held = Aggregate(self._aggregate.aggregator, self._held.copy())
        return GainPath(held, self._chain, self._prices, self.levels)

    def differs(self, other: "GainPath") -> Integers:
        """Which people are not the same in both."""
        return np.flatnonzero((self._held != other._held).any(axis=1))

    @property
    def _held(self) -> Integers:
        """The rows of all people, who must be held here: an audit that misses some would see
        nothing.
        """
        if isinstance(self._aggregate, Held) and self._aggregate.staying:
            raise ConfigError(
                "people who stay in their parts cannot be compared: audit people who are held"
            )
        return self._aggregate.values

    def begin(self, sampled: GivenCoins | SecretCoins | Mask) -> None:
        """Start with the people whom coins, or a mask, keep, and with the empty set."""
        self._sampled = GivenCoins(sampled) if isinstance(sampled, np.ndarray) else sampled
        self._path = []

    def scores(self) -> Integers:
        """The gains of every item, added up over people."""
        held = self._aggregate.aggregator
        assert isinstance(held, HeldRows)
        task = _Scores(self._chain, self._sampled, tuple(self._path), self._prices, self.levels)
        total = np.zeros(len(self._prices), dtype=np.int64)
        for scores in held.asked(self._aggregate, task):
            total += scores
        return total

    def take(self, item: int) -> None:
        """Add an item to the path."""
        self._path.append(item)
