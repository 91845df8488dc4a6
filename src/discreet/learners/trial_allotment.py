"""Allotment of the rounds of a block to trials, shuffled, in closed form.

Rounds are shuffled by a keyed bijection of the numbers below 2^bits, iterated until the result
falls below the length of the block. Rounds whose result is below the first count make the first
trial, and so on; the remaining rounds make none.

    rounds      0 1 2 3 4 5 6 7
    shuffled    5 0 3 7 1 6 2 4
    trials      . A B . A . B .          two rounds of A, two of B

The key is public and fixed before the block begins; no secret depends on it.

Runtime     O(1) per round, O(trials) memory, whatever the length of the block
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
        """Odd factor and addend of each of the three multiplications."""
        bits = [scattered_one(self.key, number) & self._mask for number in range(6)]
        return [(bits[2 * step] | 1, bits[2 * step + 1]) for step in range(3)]

    @cached_property
    def _bits(self) -> int:
        return max(1, (self.length - 1).bit_length())

    @cached_property
    def _mask(self) -> int:
        return (1 << self._bits) - 1

    def of(self, numbers: Integers) -> Integers:
        """Return the images of these numbers, which are taken modulo the length."""
        images = self._once((numbers % self.length).astype(np.uint64))
        outside = np.flatnonzero(images >= self.length)
        while len(outside):
            images[outside] = self._once(images[outside])
            outside = outside[images[outside] >= self.length]
        return images.astype(np.int64)

    def of_one(self, number: int) -> int:
        """Return the image of one number: like `of`, in plain Python."""
        half = (self._bits + 1) // 2
        mask = self._mask
        number = number % self.length
        (one, plus_one), (two, plus_two), (three, plus_three) = self._steps
        while True:
            number = (number * one + plus_one) & mask
            number ^= number >> half
            number = (number * two + plus_two) & mask
            number ^= number >> half
            number = (number * three + plus_three) & mask
            if number < self.length:
                return number

    def _once(self, numbers: np.ndarray) -> np.ndarray:
        """Apply the bijection of the numbers below 2^bits once: odd factors and xor-shifts."""
        half = np.uint64((self._bits + 1) // 2)
        mask = np.uint64(self._mask)
        with np.errstate(over="ignore"):
            for step, (factor, addend) in enumerate(self._steps):
                numbers = (numbers * np.uint64(factor) + np.uint64(addend)) & mask
                if step < 2:
                    numbers = numbers ^ (numbers >> half)
        return numbers


@dataclass(frozen=True, eq=False)
class TrialAllotment:
    """Allotment of a block of `length` rounds: `counts[i]` rounds make trial i, the rest none.

    >>> allotment = TrialAllotment(np.array([2, 3]), 8, b"sixteen byte key")
    >>> np.bincount(allotment.of(np.arange(8)))                            # 2 stands for no trial
    array([2, 3, 3])
    """

    counts: Integers
    length: int
    key: bytes

    def __post_init__(self) -> None:
        if int(self.counts.sum()) > self.length or (self.counts < 0).any():
            raise ConfigError(
                f"{int(self.counts.sum())} trials do not fit a block of {self.length} rounds"
            )

    @cached_property
    def shuffle(self) -> Shuffle:
        """The permutation of the rounds."""
        return Shuffle(self.length, self.key)

    @cached_property
    def _ends(self) -> Integers:
        """Where the images of each trial's rounds end."""
        return np.cumsum(self.counts)

    @cached_property
    def _listed_ends(self) -> list[int]:
        return list(self._ends.tolist())

    @cached_property
    def _newest(self) -> dict[int, int]:
        """The trial of the newest single round."""
        return {}

    @property
    def rest(self) -> int:
        """Number of rounds without a trial."""
        return self.length - int(self.counts.sum())

    def of(self, positions: Integers) -> Integers:
        """Return the trial of each round, by its number; `len(counts)` for none.

        Positions of rounds are counted from the beginning of the block.
        """
        return np.searchsorted(self._ends, self.shuffle.of(positions), side="right")

    def of_one(self, position: int) -> int:
        """Return the trial of one round: like `of`, remembered until the answer comes."""
        trial = self._newest.get(position)
        if trial is None:
            trial = bisect_right(self._listed_ends, self.shuffle.of_one(position))
            self._newest.clear()
            self._newest[position] = trial
        return trial
