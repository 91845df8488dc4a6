"""Private selection: the exponential mechanism, drawn exactly on integers.

    P(a) ∝ W_a = max(2⁴⁰, ⌊2¹⁰⁰ · exp(−rate · gap_a)⌋),   gap_a = best score − score of a

If replacing one person moves the scores by changes that all lie in an interval of length `span`,
the privacy loss of one draw has range b = rate · span + INTEGER_SLACK, and one draw costs b, pure,
or b²/8, zCDP. Scores are integers.

Guarantee   docs/guarantees/selection.md, Theorem 1 (bounded range), Lemma 2 (integer weights),
            Theorem 3 (slots)
Runtime     O(n) per draw
References  McSherry, Talwar (2007); Dong, Durfee, Rogers (2020); Cesar, Rogers (2021)
"""

from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Integers, Mask
from discreet.budget.privacy import Charge, pure, zcdp
from discreet.errors import ConfigError
from discreet.limits import MOST_CANDIDATES
from discreet.release.aggregators.base import Aggregator
from discreet.release.randomness import RandomBits

INTEGER_SLACK = 2.0**-39 + 4 * 2.0**-49
"""Range added by integer weights: 2 · 2^−FLOOR by rounding, 4 errors of the exponential."""
_RATE_UNIT = 2.0**-57
"""Rates are whole multiples of this."""


@dataclass(frozen=True)
class Selection:
    """An exponential mechanism: its rate, and the price of one draw.

    Guarantee   docs/guarantees/selection.md, Theorem 1 and Lemma 2

    Parameters
    ----------
    units
        The rate per integer of score, in whole multiples of 2⁻⁵⁷.
    span
        The length of the interval in which all score changes lie when one person is replaced.

    Examples
    --------
    One person moves each of ten scores by at most 1; the budget pays for 50 draws:

    >>> from discreet.release.aggregators import Rows
    >>> gains = Rows(10, norm=float("inf"), nonnegative=True)
    >>> chosen = Selection.for_budget(zcdp(0.01), gains, draws=50)
    >>> f"{chosen.rate:.4f}", f"{(chosen.charge('zcdp') * 50).amount:.6f}"
    ('0.0200', '0.010000')
    """

    units: int
    span: int

    def __post_init__(self) -> None:
        if not 1 <= self.units < 2**63:
            raise ConfigError(
                "the rate must be between 2^-57 and 64 per unit of score, got "
                f"{self.units * _RATE_UNIT:.3g}"
            )
        if self.span < 1:
            raise ConfigError(f"span must be a whole number, at least 1, got {self.span}")

    @classmethod
    def at_rate(cls, rate: float, span: int) -> "Selection":
        """Return the selection with this rate per integer of score, rounded down to 2⁻⁵⁷."""
        return cls(min(int(rate / _RATE_UNIT), 2**63 - 1), span)

    @classmethod
    def for_budget(cls, budget: Charge, aggregator: Aggregator, *, draws: int) -> "Selection":
        """Return the sharpest selection of which this budget pays for `draws` draws.

        zCDP: draws · b²/8 = ρ; pure: draws · b = ε; with b = rate · span + INTEGER_SLACK.
        """
        zcdp_range = budget.measure == "zcdp"
        largest = sqrt(8 * budget.amount / draws) if zcdp_range else budget.amount / draws
        # A little less, so that floating-point rounding here cannot exceed the budget.
        rate = (largest * (1 - 2**-45) - INTEGER_SLACK) / aggregator.span
        return cls.at_rate(rate, aggregator.span)

    @property
    def rate(self) -> float:
        """The rate η: the exponent per integer of score."""
        return self.units * _RATE_UNIT

    @property
    def range(self) -> float:
        """The range b of the privacy loss of one draw."""
        return (self.rate * self.span + INTEGER_SLACK) * (1 + 2**-48)  # certainly rounded up

    def charge(self, measure: str) -> Charge:
        """Price of one draw."""
        return zcdp(self.range**2 / 8) if measure == "zcdp" else pure(self.range)

    def weights(
        self, scores: Integers, available: Mask | None = None
    ) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
        """Return the integer weights as high and low 64-bit halves: the exact law of a draw."""
        from discreet.release import kernels

        high = np.empty(scores.size, dtype=np.uint64)
        low = np.empty(scores.size, dtype=np.uint64)
        mask = checked_candidates(scores, available)
        kernels.fill_weights(scores, mask, np.uint64(self.units), high, low)
        return high, low

    def draw(self, scores: Integers, bits: RandomBits, available: Mask | None = None) -> int:
        """Return one candidate with probability proportional to its weight, available ones only."""
        from discreet.release import kernels

        high, low = self.weights(scores, available)
        return int(kernels.draw_weighted(high, low, bits.address, bits.state))


def checked_candidates(scores: Integers, available: Mask | None) -> Mask:
    """Return the mask of available candidates, or raise if there is nothing to select from."""
    if scores.dtype != np.int64 or scores.ndim != 1:
        raise ConfigError(
            f"scores must be one row of int64, got {scores.dtype} of shape {scores.shape}"
        )
    if not 1 <= scores.size <= MOST_CANDIDATES:
        raise ConfigError(f"a selection needs between 1 and 2^27 candidates, got {scores.size}")
    if available is None:
        return np.ones(scores.size, dtype=np.bool_)
    if available.shape != scores.shape:
        raise ConfigError(
            f"available must have one entry per candidate ({scores.size}), got shape "
            f"{available.shape}"
        )
    if not available.any():
        raise ConfigError("no candidate is available: make at least one available")
    return available
