"""Gains along a path of items: one person's gains over all steps add up to at most 1.

A person's value of a set lies in [0, 1] and, on the integers here, never decreases along a path.
The gain of item a over the path S is the increase of that value. The value reached is updated with
the same integers, so one person's gains telescope: along ANY path they are non-negative and add up
to at most `levels`.

    gain_p(a) = max(0, ⌊levels · worth_p(S + a)⌋ − reached_p)

That is a much smaller total than `levels` at each of k steps, and the mechanism in
discreet/release/sampled_path.py relies on it.

No state is held per person between steps. The value reached is computed again from the path, by the
same operations on the same row, which yield the same integers. It costs one column of values per
item on the path, and people may stay in partitions that any machine reads at every step.

Guarantee   docs/guarantees/aggregators.md, Lemmas 11 and 12
Runtime     one pass over the people per step
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

Progress = TypeVar("Progress")
"""Intermediate results of a chain for rows and a set, from which the set is extended."""


class Chain(Protocol[Progress]):
    """A set function of single rows, evaluated along a growing set."""

    def begin(self, rows: np.ndarray) -> Progress:
        """Return the progress of these rows at the empty set."""

    def worths(self, rows: np.ndarray, state: Progress) -> Floats:
        """Return the value of the set plus each item, people × items."""

    def worth(self, rows: np.ndarray, state: Progress, item: int) -> Floats:
        """Return the value of the set plus one item: bit for bit this column of `worths`."""

    def take(self, rows: np.ndarray, state: Progress, item: int) -> Progress:
        """Return the progress after this item joined the set."""


@dataclass(frozen=True)
class _Scores:
    """A task for one part: the gains of every item over a path, summed over sampled people."""

    chain: Chain[Any]
    sampled: GivenCoins | SecretCoins
    path: tuple[int, ...]
    prices: Floats = field(repr=False)
    levels: int

    def __call__(self, part: Part) -> Integers:
        total = np.zeros(len(self.prices), dtype=np.int64)
        for first, rows in part.pieces():
            sampled = rows[self.sampled.sampled(first, len(rows))]
            if len(sampled):
                self._add(sampled, total)
        return total

    def _add(self, rows: np.ndarray, total: Integers) -> None:
        """Add the gains of these people to `total`."""
        levels = float(self.levels)
        state = self.chain.begin(rows)
        reached = np.zeros(len(rows), dtype=np.int64)
        for item in self.path:
            worth = np.ascontiguousarray(self.chain.worth(rows, state, item), dtype=np.float64)
            kernels.take_path_gains(worth, reached, levels)
            state = self.chain.take(rows, state, item)
        worths = np.ascontiguousarray(self.chain.worths(rows, state), dtype=np.float64)
        kernels.add_path_gains(worths, reached, self.prices, levels, total)


class GainPath:
    """The scores of all items over a growing path, among people whose rows are held.

    Scores are secret: the door reads them, and publishes an item only through a mechanism.

    Guarantee   docs/guarantees/aggregators.md, Lemma 11

    Parameters
    ----------
    aggregate
        An aggregate of `HeldRows`, held in memory or in partitions.
    chain
        The value of a growing set for each row.
    prices
        A factor in (0, 1] per item, by which its gains are multiplied.
    levels
        The number of integer steps of a value of 1.
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
        """The number of people, sampled or not."""
        return self._aggregate.aggregator.shape[0]

    def copied(self) -> "GainPath":
        """Return a path with a copy of the rows, before its first step: for audits."""
        held = Aggregate(self._aggregate.aggregator, self._held.copy())
        return GainPath(held, self._chain, self._prices, self.levels)

    def differs(self, other: "GainPath") -> Integers:
        """Return the numbers of the people whose rows differ between two paths: for audits."""
        return np.flatnonzero((self._held != other._held).any(axis=1))

    @property
    def _held(self) -> Integers:
        """The rows of all people, who must be held in memory: an audit must compare all of them."""
        if isinstance(self._aggregate, Held) and self._aggregate.staying:
            raise ConfigError(
                "rows that stay in partitions cannot be compared: audit rows that are held"
            )
        return self._aggregate.values

    def begin(self, sampled: GivenCoins | SecretCoins | Mask) -> None:
        """Start at the empty set, with the people whom the coins or the mask sample."""
        self._sampled = GivenCoins(sampled) if isinstance(sampled, np.ndarray) else sampled
        self._path = []

    def scores(self) -> Integers:
        """Return the gains of every item over the path, summed over sampled people."""
        held = self._aggregate.aggregator
        assert isinstance(held, HeldRows)
        task = _Scores(self._chain, self._sampled, tuple(self._path), self._prices, self.levels)
        total = np.zeros(len(self._prices), dtype=np.int64)
        for scores in held.per_part(self._aggregate, task):
            total += scores
        return total

    def take(self, item: int) -> None:
        """Add an item to the path."""
        self._path.append(item)
