"""Public coins: exploration, thresholds and rounding, never noise.

A coin is a keyed pseudo-random function of (the turn's coin key, round). The key is committed with the turn, before any
decision that uses it, so replicas agree without talking and a crash cannot re-roll.

Guarantee   docs/guarantees/turn.md, Lemma 2: coins are part of the transcript and independent of the data
"""

from hashlib import blake2b

import numpy as np

from discreet.errors import ConfigError

__all__ = ["Coin"]


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
