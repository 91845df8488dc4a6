"""Greedy paths among people who were kept by a coin: pure privacy that does not grow with the steps.

Each person is kept with probability p by one secret coin. Among those kept, items are drawn one after
another, each by the exponential mechanism with rate η on the gains on top of what was drawn before. A
person's gains along any path add up to at most 1 (discreet/release/gathering/gain_path.py), so

    ε = ln(1 + p·e^η/(1 − p))        whatever the number of steps

Draws are exact: a proposal, accepted with probability exp(−η·gap) (a floor under the weights, as
discreet/release/selection.py has it, would break the telescoping). η and p are dyadic.

Guarantee   docs/guarantees/selection.md, Theorem 5
Runtime     one pass over the kept people a step
"""

from dataclasses import dataclass
from math import exp, expm1, inf, log, log1p, nextafter, sqrt

import numpy as np

from discreet.budget.privacy import Charge, pure
from discreet.errors import ConfigError

__all__ = ["SampledPath"]

WHOLE = 2**16
"""Chances are whole multiples of 1/WHOLE."""
RATE_UNIT = 2**12
"""Rates are whole multiples of 1/RATE_UNIT."""


@dataclass(frozen=True)
class SampledPath:
    """How many people are kept, and how sharply items are drawn among them.

    Parameters
    ----------
    keep
        Of 65,536 coins so many show "kept".
    rate
        The exponent of a gain of 1, in units of 1/4096.

    Examples
    --------
    >>> path = SampledPath.for_budget(1.0, people=1000, steps=10, candidates=300)
    >>> round(path.chance, 2), round(path.exponent, 2), path.charge.amount <= 1
    (0.34, 1.22, True)
    """

    keep: int
    rate: int

    def __post_init__(self) -> None:
        if not (1 <= self.keep < WHOLE and 1 <= self.rate < 2**20):
            raise ConfigError("the budget is too small or too large for sampled paths: use another method")

    @classmethod
    def for_budget(cls, epsilon: float, *, people: int, steps: int, candidates: int) -> "SampledPath":
        """The path of this price with the least predicted error: noise of the draws and of the sampling.

        error = steps · ln(candidates)/(p·η) + √(people·(1 − p)/p)
        """
        found, least = None, inf
        for keep in np.unique(np.linspace(WHOLE / 1024, WHOLE * 0.98, 400).astype(int)).tolist():
            chance = keep / WHOLE
            odds = expm1(epsilon) * (1 - chance) / chance * (1 - 2**-40)
            rate = int(log(odds) * RATE_UNIT) if odds > 1 else 0
            if not 1 <= rate < 2**20:
                continue
            drawn = steps * log(max(2, candidates)) / (chance * rate / RATE_UNIT)
            error = drawn + sqrt(people * (1 - chance) / chance)
            if error < least:
                found, least = cls(keep, rate), error
        if found is None:
            raise ConfigError(f"epsilon = {epsilon:g} is too small or too large for sampled paths")
        return found

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
        """ε = ln(1 + p·e^η/(1 − p)), rounded up."""
        epsilon = log1p(self.chance * exp(self.exponent) / (1 - self.chance))
        return pure(nextafter(epsilon * (1 + 2**-44), inf))

    def error(self, people: int, steps: int, candidates: int) -> float:
        """The predicted error of a whole path, in people."""
        drawn = steps * log(max(2, candidates)) / (self.chance * self.exponent)
        return drawn + sqrt(people * (1 - self.chance) / self.chance)
