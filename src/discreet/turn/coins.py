"""Public coins: exploration, thresholds and rounding, never noise.

A coin is a keyed pseudo-random function of (the turn's coin key, round). The key is committed with the turn,
before any decision that uses it, so replicas agree without talking and a crash cannot re-roll.

Guarantee   docs/guarantees/turn.md, Lemma 2: coins are part of the transcript and independent of the data
"""

from hashlib import blake2b

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.errors import ConfigError

__all__ = ["Coin", "Coins", "scattered", "scattered_one"]


class Coin:
    """The coins of one round, always the same for the same key and round.

    >>> coin = Coin(b"sixteen byte key", round=7)
    >>> coin.below(6) == Coin(b"sixteen byte key", round=7).below(6)
    True
    """

    def __init__(self, key: bytes, round: int) -> None:
        self.key = key
        self._round = round
        self._drawn = 0

    def _word(self) -> int:
        place = self._round.to_bytes(8, "little") + self._drawn.to_bytes(8, "little")
        self._drawn += 1
        return int.from_bytes(blake2b(place, digest_size=8, key=self.key).digest(), "little")

    def below(self, number: int) -> int:
        """A whole number from 0 to `number` − 1, all equally likely."""
        if not 1 <= number <= 2**63:
            raise ConfigError(f"a coin has between 1 and 2^63 sides, got {number}")
        limit = 2**64 - 2**64 % number
        while (word := self._word()) >= limit:
            pass
        return word % number

    def generator(self) -> np.random.Generator:
        """A NumPy generator for long public shuffles."""
        return np.random.Generator(np.random.PCG64([self._word(), self._word()]))

    def uniform(self) -> float:
        """A number in [0, 1), a multiple of 2⁻⁵³."""
        return (self._word() >> 11) * 2.0**-53


class Coins:
    """The coins of all rounds of one turn.

    >>> coins = Coins(b"sixteen byte key")
    >>> coins.uniform(np.array([7, 8])).tolist() == [coins.of(7).uniform(), coins.of(8).uniform()]
    True
    """

    __slots__ = ("key",)

    def __init__(self, key: bytes) -> None:
        self.key = key

    def of(self, round: int) -> Coin:
        """The coins of one round."""
        return Coin(self.key, round)

    def uniform(self, rounds: Integers) -> Floats:
        """One number in [0, 1) a round."""
        return np.array([Coin(self.key, round).uniform() for round in rounds.tolist()])

    def below(self, number: int, rounds: Integers) -> Integers:
        """One whole number from 0 to `number` − 1 a round."""
        return np.array([Coin(self.key, round).below(number) for round in rounds.tolist()], dtype=np.int64)


def scattered(key: bytes, numbers: Integers) -> np.ndarray:
    """A 64-bit word for each number, spread evenly: for public schedules, many at once.

    The finaliser of SplitMix64 on the number and the key; fixed before anyone comes and public, so it need
    not keep a secret.
    """
    first, second = (np.uint64(int.from_bytes(key[place : place + 8], "little")) for place in (0, 8))
    with np.errstate(over="ignore"):
        word = (np.asarray(numbers).astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15) + first
        word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        word = ((word ^ (word >> np.uint64(27))) + second) * np.uint64(0x94D049BB133111EB)
        return np.asarray(word ^ (word >> np.uint64(31)))


def scattered_one(key: bytes, number: int) -> int:
    """The same word for one number, in plain Python."""
    first, second = int.from_bytes(key[:8], "little"), int.from_bytes(key[8:16], "little")
    word = ((number + 1) * 0x9E3779B97F4A7C15 + first) & _WORD
    word = ((word ^ (word >> 30)) * 0xBF58476D1CE4E5B9) & _WORD
    word = (((word ^ (word >> 27)) + second) * 0x94D049BB133111EB) & _WORD
    return word ^ (word >> 31)


_WORD = 2**64 - 1
