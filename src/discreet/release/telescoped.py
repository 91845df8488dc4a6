"""Greedy paths among all people, in zCDP: what k draws cost is far less than k times what one does.

As in discreet/release/sampled.py, items are drawn one after another by the exponential mechanism with rate η
on the gains on top of what was drawn before, and a person's gains along any path add up to at most 1; but
everybody is kept. Composed, the k draws would cost k·η²/2. A person can be served only once:

    ρ = c_k · η²        c_k ≈ 0.50, 0.63, 0.81, 1.28, 2.28, 5.33 for k = 1, 2, 5, 10, 20, 50

The worst people are all-or-nothing, so that what remains is a recursion over k steps with three states, for
every order α. It is solved upwards: every number here is at least the true one.

Guarantee   docs/guarantees/selection.md, Theorem 6
Runtime     one pass over the people a step; milliseconds to find the rate
"""

from dataclasses import dataclass
from functools import lru_cache
from math import inf, log, nextafter, sqrt

import numpy as np

from discreet.arrays import Floats
from discreet.budget.privacy import Charge, zcdp
from discreet.errors import ConfigError
from discreet.release.sampled import RATE_UNIT, WHOLE

__all__ = ["TelescopedPath", "path_zcdp"]

FIRST_ORDER, RATIO = 1.004, 1.004
"""The first order at which the divergence is bounded, and the ratio of the next ones."""
ROUNDING = 2.0**-38
"""More than the floats of one step of the recursion are off by, relative to 1, to α and to their sums."""
MOST_EXPONENT = 4
MOST_STEPS = 256
"""For longer paths, discreet/release/sampled.py has far less noise."""


@dataclass(frozen=True)
class TelescopedPath:
    """How sharply items are drawn.

    Parameters
    ----------
    rate
        The exponent of a gain of 1, in units of 1/4096.
    steps
        How many items are drawn, at most.

    Examples
    --------
    >>> path = TelescopedPath.for_budget(0.024356, steps=10)
    >>> round(path.exponent, 3), path.charge.amount <= 0.024356
    (0.138, True)
    """

    rate: int
    steps: int
    keep = WHOLE
    chance = 1.0
    """Everybody is kept."""

    def __post_init__(self) -> None:
        if not (1 <= self.rate <= MOST_EXPONENT * RATE_UNIT and 1 <= self.steps <= MOST_STEPS):
            raise ConfigError("the budget or the rank does not suit telescoped paths: use method='sampled'")

    @classmethod
    def for_budget(cls, rho: float, *, steps: int) -> "TelescopedPath":
        """The sharpest path of this price, by bisection."""
        if not 1 <= steps <= MOST_STEPS:
            return cls(0, steps)  # refused
        # Between k draws that are composed, and one.
        low = max(0, min(int(sqrt(2 * rho / steps) * RATE_UNIT), MOST_EXPONENT * RATE_UNIT) - 1)
        high = min(int(sqrt(3 * rho) * RATE_UNIT) + 2, MOST_EXPONENT * RATE_UNIT + 1)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if path_zcdp(middle, steps) <= rho else (low, middle)
        return cls(low, steps)

    @property
    def exponent(self) -> float:
        """The rate η on a gain of 1."""
        return self.rate / RATE_UNIT

    @property
    def charge(self) -> Charge:
        """What a path costs each person."""
        return zcdp(path_zcdp(self.rate, self.steps))

    def error(self, candidates: int) -> float:
        """How far a path falls short, in people: steps · ln(candidates)/η."""
        return self.steps * log(max(2, candidates)) / self.exponent


@lru_cache(maxsize=1024)
def path_zcdp(rate: int, steps: int) -> float:
    """sup over α > 1 of D_α/α, rounded up.

    D_α does not fall with α: between two orders of the grid, D_α/α is at most the next D over the one before.
    Beyond the last order, D_α ≤ (k + 1)·η, the largest loss that there is (Theorem 5 with p = 1).
    """
    exponent = rate / RATE_UNIT
    largest = (steps + 1) * exponent
    composed = steps * exponent**2 / 2
    # Where the largest loss over the order is under η²/2, less than one draw costs, nothing is left to find.
    last = max(2.0, 2 * largest / exponent**2)
    count = int(log(last / FIRST_ORDER) / log(RATIO)) + 2
    orders = np.asarray(FIRST_ORDER * RATIO ** np.arange(count), dtype=np.float64)
    divergences = np.minimum(_divergences(exponent, steps, orders), largest)
    before = np.concatenate([[1.0], orders[:-1]])
    found = max(float((divergences / before).max()), largest / float(orders[-1]))
    return nextafter(min(found, composed) * (1 + 2**-40), inf)


def _divergences(exponent: float, steps: int, orders: Floats) -> Floats:
    """D_α of the worst path, at least, for every order.

    W(state) bounds log Σ P(P/P′)^(α − 1) from there on. Both people are `waiting` to be served, or only the
    one of P (`mine`), or only the one of P′ (`theirs`); nothing more can happen once both are served. A step
    has some probability for each of a few kinds of items, whose weights in P′ change by the factor x:
    W = max over mixtures of (α − 1)·log(mean of x) + log(mean of y), with log y = W(after) − (α − 1)·log x.
    """
    more = orders - 1
    mine = theirs = waiting = np.zeros(len(orders))
    # An item that serves mine has a gain of 1 in P alone: its weight in P′ falls by e^(−η).
    for _ in range(steps):
        serves_mine, serves_theirs, serves_none = -exponent, exponent, 0.0
        pairs = [
            ((serves_mine, theirs), (serves_theirs, mine)),
            ((serves_mine, theirs), (serves_none, waiting)),
            ((serves_theirs, mine), (serves_none, waiting)),
        ]
        done = np.zeros(len(orders))
        waiting, mine, theirs = (
            np.max([_best_mixture(more, one, other) for one, other in pairs], axis=0),
            _best_mixture(more, (serves_mine, done), (serves_none, mine)),
            _best_mixture(more, (serves_theirs, done), (serves_none, theirs)),
        )
    return np.asarray(waiting / more, dtype=np.float64)


def _best_mixture(more: Floats, one: tuple[float, Floats], other: tuple[float, Floats]) -> Floats:
    """The largest W over mixtures of two kinds of items, at least.

    φ(t) = (α − 1)·log(x₀ + t(x₁ − x₀)) + log(y₀ + t(y₁ − y₀)) is concave: wherever t is, the tangent there is
    above it. So t need not be the best, only near it.
    """
    (first, after_first), (second, after_second) = one, other
    logs = after_first - more * first, after_second - more * second
    scale = np.maximum(*logs)
    low, high = (np.exp(each - scale) for each in logs)
    start, end = np.exp(first), np.exp(second)
    across, up = end - start, high - low
    with np.errstate(all="ignore"):
        best = -(more * across * low + up * start) / ((more + 1) * across * up)
    share = np.clip(np.where(np.isfinite(best), best, 0.5), 0.0, 1.0)
    mean_x, mean_y = start + share * across, low + share * up
    height = more * np.log(mean_x) + np.log(mean_y) + scale
    slope = more * across / mean_x + up / mean_y
    above = np.maximum(0.0, np.maximum(slope * (1 - share), -slope * share))
    return np.asarray(height + above + ROUNDING * (1 + more + np.abs(scale)), dtype=np.float64)
