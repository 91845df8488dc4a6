"""A learning rate that starts large and is cut when released values show regret.

A learner that draws from p = softmax(η·G̃) with its own coin every round, over noisy totals G̃ of
gains, has at most the regret

    ln n/η + η·T·X,    X = B/8 + r/4

with B rounds between two releases and r the mean range of the noise, against every stream, also one
that sees each decision (docs/guarantees/adversarial.md, Theorem 1). The bound is least at the rate
η₀ = √(ln n/(T·X)), which gains little on calm streams. So the rate starts at 64·η₀, and is divided
by 4 whenever the regret, estimated from released values, exceeds one more level:

    lost = max G̃ − Ẽ        Ẽ: the noisy total of the expected gains of the draws
    while η > η₀ and lost > (cuts + 1)·θ:    η = max(η₀, η/4), cuts = cuts + 1

with θ = 0.01·bound + r.

Guarantee   docs/guarantees/adversarial.md, Theorem 2 (value); post-processing for privacy
References  Freund, Schapire (1997)
            Cesa-Bianchi, Lugosi (2006), "Prediction, Learning, and Games"
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from math import ceil, erf, log, sqrt
from typing import Self

import numpy as np

from discreet.arrays import Floats

CUT = 4.0
"""Divisor of the rate at every cut."""
BLOCK_OF_RANGE = 0.25
"""Rounds of a block over the range of the noise.

Longer blocks lose more on streams that alternate with the blocks.
"""
MOST_RELEASES = 1000
"""Largest number of releases, each of which is a durable commit.

With as many releases the bound is at least 2√(ln n/8000) per round.
"""


@dataclass(frozen=True)
class AdaptiveRate:
    """The sequence of rates of a run, public before the first round.

    >>> rate = AdaptiveRate.for_stream(
    ...     10, rounds=20_000, block=32, range=120.0, boldness=64.0, patience=0.01
    ... )
    >>> round(rate.at(0) / rate.at(3)), rate.cuts_after(0, lost=0.0), rate.cuts_after(0, lost=1e9)
    (64, 0, 3)
    """

    slowest: float
    """η₀, the rate with the least bound on the regret."""
    boldness: float
    """The first rate over η₀."""
    level: float
    """θ: the regret allowed before each cut."""
    bound: float
    """Bound on the regret at the slowest rate: 2√(ln n·T·X) per expert."""

    @classmethod
    def for_stream(
        cls,
        candidates: int,
        *,
        rounds: int,
        block: int,
        range: float,
        boldness: float,
        patience: float,
        experts: int = 1,
    ) -> Self:
        """Return the rates for `rounds` rounds in blocks, for noise with this mean range.

        `patience` is the share of the bound that may be lost before a cut; `experts` is the number
        of choices that share one rate.
        """
        per_round = block / 8 + range / 4
        log_candidates = log(max(2, candidates))
        slowest = sqrt(log_candidates / (rounds * per_round))
        bound = 2 * experts * sqrt(log_candidates * rounds * per_round)
        level = patience * bound + range * sqrt(experts)
        return cls(slowest, boldness, level, bound)

    @property
    def most_cuts(self) -> int:
        """Number of cuts after which the rate is the slowest."""
        cuts = 0
        while self.at(cuts) > self.slowest:
            cuts += 1
        return cuts

    def at(self, cuts: int) -> float:
        """Return the rate after this number of cuts."""
        return max(self.slowest, self.boldness * self.slowest / CUT**cuts)

    def cuts_after(self, cuts: int, lost: float) -> int:
        """Return the number of cuts once the regret `lost` was observed."""
        while self.at(cuts) > self.slowest and lost > (cuts + 1) * self.level:
            cuts += 1
        return cuts


def block_for(rounds: int, range_of: Callable[[int], float]) -> int:
    """Return the length of a block: a quarter of the range of the noise.

    `range_of` returns the range, which depends a little on the length of a block. There are at most
    1000 releases, and at least one.

    >>> block_for(20_000, lambda block: 132.0), block_for(10**6, lambda block: 132.0)
    (33, 1000)
    """
    shortest = max(1, ceil(rounds / MOST_RELEASES))
    block = shortest
    for _ in range(4):
        block = max(shortest, min(int(BLOCK_OF_RANGE * range_of(block)), rounds // 2))
    return block


def softmax(scores: Floats, rate: float) -> Floats:
    """Return the probabilities ∝ exp(rate·score), along the last axis.

    >>> softmax(np.array([0.0, 1.0]), np.log(3.0)).round(2)
    array([0.25, 0.75])
    """
    weights = np.exp(rate * (scores - scores.max(axis=-1, keepdims=True)))
    return np.asarray(weights / weights.sum(axis=-1, keepdims=True), dtype=np.float64)


@cache
def expected_range(count: int) -> float:
    """Return the expected range (largest minus smallest) of `count` standard normal numbers.

    >>> round(expected_range(2), 2), round(expected_range(10), 2)
    (1.13, 3.08)
    """
    points = np.linspace(-9.0, 9.0, 3601)
    below = np.array([(1 + erf(point / sqrt(2))) / 2 for point in points])
    # ∫ P(smallest ≤ x < largest) dx
    between = 1 - below**count - (1 - below) ** count
    return float(between.sum() * (points[1] - points[0]))
