"""Greedy paths among people who were kept by a coin: pure privacy that does not grow with the
steps.

Each person is kept with probability p by one secret coin. Among those kept, items are drawn one
after another, each by the exponential mechanism with rate η on the gains on top of what was drawn
before. A person's gains along any path add up to at most 1
(discreet/release/aggregators/gain_path.py), so

    ε = ln((1 − p + p·e^η) / (1 − p + p·e^(−kη)))        for k steps; at most ln(1 + p·e^η/(1 − p)) for any k

A coin is a keyed pseudo-random function of the person's number among all people, with a secret key
that is drawn for this one path: whoever holds a person's row, on whatever machine, finds the same
coin, and nobody without the key can. The same key twice would show who was kept.

Draws are exact: a proposal, accepted with probability exp(−η·gap) (a floor under the weights, as
discreet/release/selection.py has it, would break the telescoping). η and p are dyadic.

Guarantee   docs/guarantees/selection.md, Theorem 4
Runtime     one pass over the kept people a step
"""

from dataclasses import dataclass, field
from hashlib import shake_256
from math import expm1, inf, log, log1p, nextafter, sqrt

import numpy as np

from discreet.arrays import Mask
from discreet.budget.privacy import Charge, pure
from discreet.errors import ConfigError

WHOLE = 2**16
"""Chances are whole multiples of 1/WHOLE."""
RATE_UNIT = 2**12
"""Rates are whole multiples of 1/RATE_UNIT."""
MOST_RATE = 2**18
"""Up to here the exponential of a rate is far inside what floats can hold."""
STRETCH = 1024
"""How many people's coins come from one keyed hash."""


@dataclass(frozen=True)
class SampledPath:
    """How many people are kept, and how sharply items are drawn among them.

    Parameters
    ----------
    keep
        Of 65,536 coins so many show "kept"; all of them keep everybody.
    rate
        The exponent of a gain of 1, in units of 1/4096.
    steps
        How many items are drawn, at most.

    Examples
    --------
    >>> path = SampledPath.for_budget(1.0, people=1000, steps=10, candidates=300)
    >>> round(path.chance, 2), round(path.exponent, 2), path.charge.amount <= 1
    (0.34, 1.22, True)
    >>> SampledPath.for_budget(1.0, people=1000, steps=1, candidates=300).chance  # one draw needs no coins
    1.0
    """

    keep: int
    rate: int
    steps: int

    def __post_init__(self) -> None:
        if not (1 <= self.keep <= WHOLE and 1 <= self.rate < MOST_RATE and self.steps >= 1):
            raise ConfigError("the budget is too small or too large for sampled paths")

    @classmethod
    def for_budget(
        cls, epsilon: float, *, people: int, steps: int, candidates: int
    ) -> "SampledPath":
        """The path of this price with the least predicted error."""
        found, least = None, inf
        for keep in np.unique(np.linspace(WHOLE / 1024, WHOLE, 400).astype(int)).tolist():
            path = cls._sharpest(keep, steps, epsilon)
            error = inf if path is None else path.error(people, candidates)
            if error < least:
                found, least = path, error
        if found is None:
            raise ConfigError(f"epsilon = {epsilon:g} is too small or too large for sampled paths")
        return found

    @classmethod
    def _sharpest(cls, keep: int, steps: int, epsilon: float) -> "SampledPath | None":
        """The largest rate that the budget pays for, by bisection; None if there is none."""
        low, high = 0, MOST_RATE
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (
                (middle, high) if _epsilon(keep, middle, steps) <= epsilon else (low, middle)
            )
        return cls(keep, low, steps) if low else None

    @property
    def chance(self) -> float:
        """The probability p with which a person is kept."""
        return self.keep / WHOLE

    @property
    def exponent(self) -> float:
        """The rate η on a gain of 1."""
        return self.rate / RATE_UNIT

    @property
    def charge(self) -> Charge:
        """What a path costs each person."""
        return pure(_epsilon(self.keep, self.rate, self.steps))

    def error(self, people: int, candidates: int) -> float:
        """How far a path falls short, in people: by the noise of its draws, and by that of
        sampling.

        steps · ln(candidates)/(p·η) + √(people·(1 − p)/p)
        """
        drawn = self.steps * log(max(2, candidates)) / (self.chance * self.exponent)
        return drawn + sqrt(people * (1 - self.chance) / self.chance)


def _epsilon(keep: int, rate: int, steps: int) -> float:
    """ln((1 − p + p·e^η) / (1 − p + p·e^(−kη))), rounded up."""
    chance, exponent = keep / WHOLE, rate / RATE_UNIT
    above = log1p(chance * expm1(exponent))
    below = log1p(chance * expm1(-steps * exponent)) if keep < WHOLE else -steps * exponent
    return nextafter((above - below) * (1 + 2**-40), inf)


@dataclass(frozen=True)
class SecretCoins:
    """One coin a person, found from a secret key and the person's number; as secret as noise.

    SHAKE-256 of the key and the stretch of 1024 people gives 16 bits each; a person is kept if they
    are below `keep`. A key serves one path and is never kept in a file; `Door.coins` draws it.

    >>> coins = SecretCoins(bytes(32), keep=2**15)
    >>> bool((coins.sampled(0, 3000)[1000:1100] == coins.sampled(1000, 100)).all())
    True
    """

    key: bytes = field(repr=False)
    keep: int

    def sampled(self, first: int, count: int) -> Mask:
        """Which of so many people, from the one with number `first` on, are kept."""
        if self.keep == WHOLE:
            return np.ones(count, dtype=np.bool_)
        begin, end = first // STRETCH, -(-(first + count) // STRETCH)
        numbers = np.concatenate(
            [self._stretch(number) for number in range(begin, max(end, begin + 1))]
        )
        place = first - begin * STRETCH
        return np.asarray(numbers[place : place + count] < self.keep)

    def _stretch(self, number: int) -> np.ndarray:
        hashed = shake_256(b"discreet kept" + self.key + number.to_bytes(8, "little"))
        return np.frombuffer(hashed.digest(2 * STRETCH), dtype="<u2")


@dataclass(frozen=True, eq=False)
class GivenCoins:
    """Coins as they are given, one a person: for audits, which go through both sides of one."""

    mask: Mask = field(repr=False)

    def sampled(self, first: int, count: int) -> Mask:
        """Which of so many people, from the one with number `first` on, are kept."""
        return self.mask[first : first + count]
