"""Public coins: exploration, thresholds and rounding, never noise.

A coin is a keyed pseudo-random function of (the block's coin key, round). The key is committed with
the snapshot, before any decision that uses it, so replicas agree without communication and a crash
cannot re-roll. Coins are part of the transcript, and independent of the data.

Guarantee   docs/guarantees/engine.md, Lemma 2
"""

from hashlib import blake2b, shake_256
from itertools import pairwise

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.errors import ConfigError

CHUNK = 1024
"""Number of consecutive rounds whose coins are made at once."""


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
        """Return the next 64 random bits of this round."""
        function = self._keyed.copy()
        function.update(self._round.to_bytes(8, "little") + self._drawn.to_bytes(8, "little"))
        self._drawn += 1
        return int.from_bytes(function.digest(), "little")

    def below(self, number: int) -> int:
        """Return a whole number from 0 to `number` − 1, all equally likely."""
        if not 1 <= number <= 2**63:
            raise ConfigError(f"a coin has between 1 and 2^63 sides, got {number}")
        limit = 2**64 - 2**64 % number
        while (word := self._word()) >= limit:
            pass
        return word % number

    def generator(self) -> np.random.Generator:
        """Return a NumPy generator for long public shuffles."""
        return np.random.Generator(np.random.PCG64([self._word(), self._word()]))

    def uniform(self) -> float:
        """Return a number in [0, 1), a multiple of 2⁻⁵³."""
        return (self._word() >> 11) * 2.0**-53


class Coins:
    """One coin per round of a block, many at once: each keyed hash serves 1024 rounds.

    >>> coins = Coins(b"sixteen byte key")
    >>> bool(coins.uniform(np.array([7, 5000]))[0] == coins.uniform(np.array([7]))[0])
    True
    """

    __slots__ = ("_newest", "key")

    def __init__(self, key: bytes) -> None:
        self.key = key
        self._newest: tuple[int, Floats] | None = None

    def uniform(self, rounds: Integers) -> Floats:
        """Return one number in [0, 1) per round, a multiple of 2⁻⁵³."""
        if not len(rounds):
            return np.zeros(0)
        if len(rounds) == 1:
            chunk, place = divmod(int(rounds[0]), CHUNK)
            return self._chunk(chunk)[place : place + 1]
        chunks, places = np.divmod(rounds, CHUNK)
        uniforms = np.empty(len(rounds))
        edges = [0, *(np.flatnonzero(np.diff(chunks)) + 1).tolist(), len(rounds)]
        for first, last in pairwise(edges):  # runs of rounds in the same chunk
            uniforms[first:last] = self._chunk(int(chunks[first]))[places[first:last]]
        return uniforms

    def below(self, number: int, rounds: Integers) -> Integers:
        """Return one whole number from 0 to `number` − 1 per round, uniform up to 2⁻⁵³."""
        if len(rounds) == 1:
            return np.array([int(self.uniform(rounds)[0] * number)])
        return (self.uniform(rounds) * number).astype(np.int64)

    def _chunk(self, number: int) -> Floats:
        """Return the coins of chunk `number`, as numbers in [0, 1)."""
        if self._newest is None or self._newest[0] != number:
            hashed = shake_256(b"discreet coins" + self.key + number.to_bytes(8, "little"))
            digest = hashed.digest(8 * CHUNK)
            words = np.frombuffer(digest, dtype="<u8")
            numbers: Floats = (words >> np.uint64(11)).astype(np.float64) * 2.0**-53
            numbers.setflags(write=False)  # callers get views of it
            self._newest = number, numbers
        return self._newest[1]


def scattered(key: bytes, numbers: Integers) -> np.ndarray:
    """Return 64 pseudo-random bits per number, for public schedules, many at once.

    They are the finaliser of SplitMix64 on the number and the key. Both are public and fixed before
    the first round, so the function need not keep a secret.
    """
    first = np.uint64(int.from_bytes(key[:8], "little"))
    second = np.uint64(int.from_bytes(key[8:16], "little"))
    with np.errstate(over="ignore"):
        word = np.asarray(numbers).astype(np.uint64) + np.uint64(1)
        word = word * np.uint64(0x9E3779B97F4A7C15) + first
        word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        word = ((word ^ (word >> np.uint64(27))) + second) * np.uint64(0x94D049BB133111EB)
        return np.asarray(word ^ (word >> np.uint64(31)))


def scattered_one(key: bytes, number: int) -> int:
    """Return the bits of `scattered` for one number, in plain Python."""
    first = int.from_bytes(key[:8], "little")
    second = int.from_bytes(key[8:16], "little")
    word = ((number + 1) * 0x9E3779B97F4A7C15 + first) & _WORD
    word = ((word ^ (word >> 30)) * 0xBF58476D1CE4E5B9) & _WORD
    word = (((word ^ (word >> 27)) + second) * 0x94D049BB133111EB) & _WORD
    return word ^ (word >> 31)


_WORD = 2**64 - 1
"""Mask of 64 bits."""
