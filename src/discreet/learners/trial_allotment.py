"""Which round of a block tries what: a number of rounds of each thing, in a shuffled order, in
closed form.

Rounds are shuffled by a keyed bijection of the numbers below 2^bits, walked until it falls below
the length of the block. Rounds that come out below the first count try the first thing, and so on;
the rest tries nothing.

    rounds      0 1 2 3 4 5 6 7
    shuffled    5 0 3 7 1 6 2 4
    tries       . A B . A . B .          two rounds of A, two of B

The key is public and fixed before the block begins; it need not keep a secret.

Runtime     O(1) per round, O(things) memory, whatever the length of the block
"""

from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from discreet.arrays import Integers
from discreet.engine.coins import scattered_one
from discreet.errors import ConfigError


@dataclass(frozen=True)
class Shuffle:
    """A permutation of 0 … `length` − 1, the same for the same key.

    >>> Shuffle(5, b"sixteen byte key").of(np.arange(5))
    array([1, 4, 3, 0, 2])
    """

    length: int
    key: bytes

    @cached_property
    def _steps(self) -> list[tuple[int, int]]:
        """Odd factors and addends of the three multiplications."""
        words = [scattered_one(self.key, number) & self._mask for number in range(6)]
        return [(words[2 * step] | 1, words[2 * step + 1]) for step in range(3)]

    @cached_property
    def _bits(self) -> int:
        return max(1, (self.length - 1).bit_length())

    @cached_property
    def _mask(self) -> int:
        return (1 << self._bits) - 1

    def of(self, numbers: Integers) -> Integers:
        """Return where these numbers come out; those beyond the length begin again at 0."""
        found = self._once((numbers % self.length).astype(np.uint64))
        outside = np.flatnonzero(found >= self.length)
        while len(outside):
            found[outside] = self._once(found[outside])
            outside = outside[found[outside] >= self.length]
        return found.astype(np.int64)

    def of_one(self, number: int) -> int:
        """Return where one number comes out: as `of`, in plain Python."""
        half, mask, number = (self._bits + 1) // 2, self._mask, number % self.length
        (one, plus_one), (two, plus_two), (three, plus_three) = self._steps
        while True:
            number = (number * one + plus_one) & mask
            number ^= number >> half
            number = (number * two + plus_two) & mask
            number ^= number >> half
            number = (number * three + plus_three) & mask
            if number < self.length:
                return number

    def _once(self, words: np.ndarray) -> np.ndarray:
        """A bijection of the numbers below 2^bits: multiplied by odd factors, and shifted onto
        themselves.
        """
        half, mask = np.uint64((self._bits + 1) // 2), np.uint64(self._mask)
        with np.errstate(over="ignore"):
            for step, (factor, addend) in enumerate(self._steps):
                words = (words * np.uint64(factor) + np.uint64(addend)) & mask
                if step < 2:
                    words = words ^ (words >> half)
        return words


@dataclass(frozen=True, eq=False)
class TrialAllotment:
    """How many rounds of a block of `length` rounds try each of some things (`counts`), and which.

    >>> tries = TrialAllotment(np.array([2, 3]), 8, b"sixteen byte key")
    >>> np.bincount(tries.of(np.arange(8)))                                      # 2 tries nothing
    array([2, 3, 3])
    """

    counts: Integers
    length: int
    key: bytes

    def __post_init__(self) -> None:
        if int(self.counts.sum()) > self.length or (self.counts < 0).any():
            raise ConfigError(
                f"{int(self.counts.sum())} tries do not fit a block of {self.length} rounds"
            )

    @cached_property
    def shuffle(self) -> Shuffle:
        """The order of the rounds."""
        return Shuffle(self.length, self.key)

    @cached_property
    def _ends(self) -> Integers:
        return np.cumsum(self.counts)

    @cached_property
    def _listed_ends(self) -> list[int]:
        return list(self._ends.tolist())

    @cached_property
    def _newest(self) -> dict[int, int]:
        """What the newest single round tries."""
        return {}

    @property
    def rest(self) -> int:
        """How many rounds try nothing."""
        return self.length - int(self.counts.sum())

    def of(self, positions: Integers) -> Integers:
        """Return the thing that each round tries, by its number; `len(counts)` for nothing.

        Positions of rounds are counted from the beginning of the block.
        """
        return np.searchsorted(self._ends, self.shuffle.of(positions), side="right")

    def of_one(self, position: int) -> int:
        """Return what one round tries: as `of`. It is asked for again when the answer comes."""
        found = self._newest.get(position)
        if found is None:
            found = bisect_right(self._listed_ends, self.shuffle.of_one(position))
            self._newest.clear()
            self._newest[position] = found
        return found
