"""Greedy paths among people sampled by a coin: pure privacy with a bound for any number of steps.

Each person is sampled with probability p by one secret coin. Items are drawn one after another, by
the exponential mechanism with rate η on the sampled people's gains over the path so far. One
person's gains along any path add up to at most 1 (discreet/release/aggregators/gain_path.py), so

    ε = ln((1 − p + p·e^η) / (1 − p + p·e^(−kη)))        for k steps
      ≤ ln(1 + p·e^η/(1 − p))                            for any k

A coin is a keyed pseudo-random function of the person's number among all people, with a secret key
that is drawn for this one path. Each machine that holds the person's row and the key computes the
same coin; without the key nobody can. Using a key twice would show who was sampled.

Draws are exact: a proposal is accepted with probability exp(−η·gap). (A floor under the weights, as
in discreet/release/selection.py, would break the telescoping.) η and p are dyadic.

Guarantee   docs/guarantees/selection.md, Theorem 4
Runtime     one pass over the sampled people per step
"""

from dataclasses import dataclass, field
from hashlib import shake_256
from math import expm1, inf, log, log1p, nextafter, sqrt

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Mask
from discreet.budget.privacy import Charge, pure
from discreet.errors import ConfigError

WHOLE = 2**16
"""Sampling probabilities are whole multiples of 1/WHOLE."""
RATE_UNIT = 2**12
"""Rates are whole multiples of 1/RATE_UNIT."""
MOST_RATE = 2**18
"""The exponentials of rates below this one are far inside the range of floats."""
GROUP = 1024
"""The number of people whose coins come from one keyed hash."""


@dataclass(frozen=True)
class SampledPath:
    """The sampling probability, the rate and the number of draws of a path, with its price.

    Guarantee   docs/guarantees/selection.md, Theorem 4

    Parameters
    ----------
    keep
        The sampling probability, in units of 1/65,536; 65,536 samples everyone.
    rate
        The exponent of a gain of 1, in units of 1/4096.
    steps
        The largest number of items to draw.

    Examples
    --------
    >>> path = SampledPath.for_budget(1.0, people=1000, steps=10, candidates=300)
    >>> round(path.chance, 2), round(path.exponent, 2), path.charge.amount <= 1
    (0.34, 1.22, True)

    A single draw needs no coins:

    >>> SampledPath.for_budget(1.0, people=1000, steps=1, candidates=300).chance
    1.0
    """

    keep: int
    rate: int
    steps: int

    def __post_init__(self) -> None:
        if not (1 <= self.keep <= WHOLE and 1 <= self.rate < MOST_RATE and self.steps >= 1):
            raise ConfigError(
                "the budget is too small or too large for sampled paths: change epsilon"
            )

    @classmethod
    def for_budget(
        cls, epsilon: float, *, people: int, steps: int, candidates: int
    ) -> "SampledPath":
        """Return the path of at most this price with the least predicted error."""
        best = None
        least = inf
        for keep in np.unique(np.linspace(WHOLE / 1024, WHOLE, 400).astype(int)).tolist():
            path = cls._sharpest(keep, steps, epsilon)
            error = inf if path is None else path.error(people, candidates)
            if error < least:
                best = path
                least = error
        if best is None:
            raise ConfigError(f"epsilon = {epsilon:g} is too small or too large for sampled paths")
        return best

    @classmethod
    def _sharpest(cls, keep: int, steps: int, epsilon: float) -> "SampledPath | None":
        """The path with the largest rate that the budget pays for, if any, by bisection."""
        low = 0
        high = MOST_RATE
        while high - low > 1:
            middle = (low + high) // 2
            if _epsilon(keep, middle, steps) <= epsilon:
                low = middle
            else:
                high = middle
        return cls(keep, low, steps) if low else None

    @property
    def chance(self) -> float:
        """The probability p with which a person is sampled."""
        return self.keep / WHOLE

    @property
    def exponent(self) -> float:
        """The rate η: the exponent of a gain of 1."""
        return self.rate / RATE_UNIT

    @property
    def charge(self) -> Charge:
        """Price of a path for each person."""
        return pure(_epsilon(self.keep, self.rate, self.steps))

    def error(self, people: int, candidates: int) -> float:
        """Return the predicted loss of a path, in people, from its random draws and from sampling.

        steps · ln(candidates)/(p·η) + √(people·(1 − p)/p)
        """
        drawn = self.steps * log(max(2, candidates)) / (self.chance * self.exponent)
        return drawn + sqrt(people * (1 - self.chance) / self.chance)


def _epsilon(keep: int, rate: int, steps: int) -> float:
    """ln((1 − p + p·e^η) / (1 − p + p·e^(−kη))), rounded up."""
    chance = keep / WHOLE
    exponent = rate / RATE_UNIT
    above = log1p(chance * expm1(exponent))
    below = log1p(chance * expm1(-steps * exponent)) if keep < WHOLE else -steps * exponent
    return nextafter((above - below) * (1 + 2**-40), inf)


@dataclass(frozen=True)
class SecretCoins:
    """One secret coin per person, computed from a key and the person's number.

    SHAKE-256 of the key and the number of a group of 1024 people yields 16 bits per person, who is
    sampled if these are below `keep`. Coins are as secret as noise: a key serves one path and is
    never written to a file; `Door.coins` draws it.

    Guarantee   docs/guarantees/selection.md, Theorem 4 (Coins)

    >>> coins = SecretCoins(bytes(32), keep=2**15)
    >>> bool((coins.sampled(0, 3000)[1000:1100] == coins.sampled(1000, 100)).all())
    True
    """

    key: bytes = field(repr=False)
    keep: int

    def sampled(self, first: int, count: int) -> Mask:
        """Return which of the `count` people from number `first` on are sampled."""
        if self.keep == WHOLE:
            return np.ones(count, dtype=np.bool_)
        begin = first // GROUP
        end = -(-(first + count) // GROUP)
        hashes = np.concatenate(
            [self._hashes(group) for group in range(begin, max(end, begin + 1))]
        )
        place = first - begin * GROUP
        return np.asarray(hashes[place : place + count] < self.keep)

    def _hashes(self, group: int) -> NDArray[np.uint16]:
        """The 16 bits of each person of a group."""
        hashed = shake_256(b"discreet kept" + self.key + group.to_bytes(8, "little"))
        return np.frombuffer(hashed.digest(2 * GROUP), dtype="<u2")


@dataclass(frozen=True, eq=False)
class GivenCoins:
    """Given coins, one per person: for audits, which enumerate both sides of a coin."""

    mask: Mask = field(repr=False)

    def sampled(self, first: int, count: int) -> Mask:
        """Return which of the `count` people from number `first` on are sampled."""
        return self.mask[first : first + count]
