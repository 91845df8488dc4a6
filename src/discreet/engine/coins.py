"""Public coins: exploration, thresholds and rounding, never noise.

A coin is a keyed pseudo-random function of (the turn's coin key, round). The key is committed with
the turn, before any decision that uses it, so replicas agree without talking and a crash cannot
re-roll. Coins are part of the transcript, and independent of the data.

Guarantee   docs/guarantees/engine.md, Lemma 2
"""

from hashlib import blake2b, shake_256
from itertools import pairwise

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.errors import ConfigError

STRETCH = 1024
"""How many rounds' coins are made at once."""


class Coin:
    """The coins of one round, always the same for the same key and round.

    >>> coin = Coin(b"sixteen byte key", round=7)
    >>> coin.below(6) == Coin(b"sixteen byte key", round=7).below(6)
    True
    """

    __slots__ = ("_drawn", "_keyed", "_round")

    def __init__(self, key: bytes, round: int) -> None:
        self._keyed = blake2b(digest_size=8, key=key)
        self._round = round
        self._drawn = 0

    def _word(self) -> int:
        function = self._keyed.copy()
        function.update(self._round.to_bytes(8, "little") + self._drawn.to_bytes(8, "little"))
        self._drawn += 1
        return int.from_bytes(function.digest(), "little")

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
    """One coin a round, for all rounds of one turn, many at once: 1024 rounds come from one keyed
    hash.

    >>> coins = Coins(b"sixteen byte key")
    >>> bool(coins.uniform(np.array([7, 5000]))[0] == coins.uniform(np.array([7]))[0])
    True
    """

    __slots__ = ("_newest", "key")

    def __init__(self, key: bytes) -> None:
        self.key = key
        self._newest: tuple[int, Floats] | None = None

    def uniform(self, rounds: Integers) -> Floats:
        """One number in [0, 1) a round, a multiple of 2⁻⁵³."""
        if not len(rounds):
            return np.zeros(0)
        if len(rounds) == 1:
            stretch, place = divmod(int(rounds[0]), STRETCH)
            return self._stretch(stretch)[place : place + 1]
        stretches, places = np.divmod(rounds, STRETCH)
        found = np.empty(len(rounds))
        edges = [0, *(np.flatnonzero(np.diff(stretches)) + 1).tolist(), len(rounds)]
        for first, last in pairwise(edges):  # runs of rounds in the same stretch
            found[first:last] = self._stretch(int(stretches[first]))[places[first:last]]
        return found

    def below(self, number: int, rounds: Integers) -> Integers:
        """One whole number from 0 to `number` − 1 a round, all equally likely up to 2⁻⁵³."""
        if len(rounds) == 1:
            return np.array([int(self.uniform(rounds)[0] * number)])
        return (self.uniform(rounds) * number).astype(np.int64)

    def _stretch(self, number: int) -> Floats:
        """The numbers of 1024 rounds."""
        if self._newest is None or self._newest[0] != number:
            hashed = shake_256(b"discreet coins" + self.key + number.to_bytes(8, "little"))
            digest = hashed.digest(8 * STRETCH)
            words = np.frombuffer(digest, dtype="<u8")
            numbers: Floats = (words >> np.uint64(11)).astype(np.float64) * 2.0**-53
            numbers.setflags(write=False)  # views of it are handed out
            self._newest = number, numbers
        return self._newest[1]


def scattered(key: bytes, numbers: Integers) -> np.ndarray:
    """A 64-bit word for each number, spread evenly: for public schedules, many at once.

    The finaliser of SplitMix64 on the number and the key; fixed before anyone comes and public, so
    it need not keep a secret.
    """
    first = np.uint64(int.from_bytes(key[:8], "little"))
    second = np.uint64(int.from_bytes(key[8:16], "little"))
    with np.errstate(over="ignore"):
        word = (np.asarray(numbers).astype(np.uint64) + np.uint64(1)) * np.uint64(
            0x9E3779B97F4A7C15
        ) + first
        word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        word = ((word ^ (word >> np.uint64(27))) + second) * np.uint64(0x94D049BB133111EB)
        return np.asarray(word ^ (word >> np.uint64(31)))


def scattered_one(key: bytes, number: int) -> int:
    """The same word for one number, in plain Python."""
    first = int.from_bytes(key[:8], "little")
    second = int.from_bytes(key[8:16], "little")
    word = ((number + 1) * 0x9E3779B97F4A7C15 + first) & _WORD
    word = ((word ^ (word >> 30)) * 0xBF58476D1CE4E5B9) & _WORD
    word = (((word ^ (word >> 27)) + second) * 0x94D049BB133111EB) & _WORD
    return word ^ (word >> 31)


_WORD = 2**64 - 1
