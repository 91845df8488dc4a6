"""A rate that starts bold and is cut when released values show that it loses.

Whoever plays p = softmax(η·G̃) over noisy totals G̃ of gains, with a coin of its own every round,
loses at most

    ln n/η + η·T·X,    X = B/8 + r/4        B rounds between two releases, r the mean range of the noise

against every stream, also one that sees each decision (docs/guarantees/adversarial.md, Theorem 1).
The least bound has η₀ = √(ln n/(T·X)), and keeps little of the value of streams that are calm. So
the rate starts at 64·η₀, and a quarter of it is kept whenever what was lost, as released values
tell it, exceeds one more level:

    lost = max G̃ − Ẽ        Ẽ: the noisy total of what the chances earned
    while η > η₀ and lost > (cuts + 1)·θ:    η = max(η₀, η/4), cuts = cuts + 1        θ = 0.01·bound + r

Guarantee   docs/guarantees/adversarial.md, Theorem 2 (value); post-processing as far as privacy goes
References  Freund, Schapire (1997); Cesa-Bianchi, Lugosi (2006), "Prediction, Learning, and Games"
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from math import ceil, erf, log, sqrt
from typing import Self

import numpy as np

from discreet.arrays import Floats

CUT = 4.0
"""What a cut divides the rate by."""
BLOCK_OF_RANGE = 0.25
"""A block's rounds over the range of the noise: longer ones lose more to streams that alternate
with them.
"""
MOST_RELEASES = 1000
"""Each is a durable commit; with so many, 2√(ln n/8000) per round is the least that the bound
can be.
"""


@dataclass(frozen=True)
class AdaptiveRate:
    """The rates that a run may have, all of them public before anyone comes.

    >>> rate = AdaptiveRate.for_stream(10, rounds=20_000, block=32, range=120.0, boldness=64.0, patience=0.01)
    >>> round(rate.at(0) / rate.at(3)), rate.cuts_after(0, lost=0.0), rate.cuts_after(0, lost=1e9)
    (64, 0, 3)
    """

    slowest: float
    """η₀, whose bound on the regret is the least."""
    boldness: float
    """How many times as large the rate is at first."""
    level: float
    """θ: what may be lost before each cut."""
    bound: float
    """On the regret at the slowest rate, 2√(ln n·T·X) for each expert."""

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
        """The rates for so many rounds in blocks, if noise has this mean range.

        `patience` is the share of the bound that may be lost before a cut; `experts` say how many
        choices are made by one rate.
        """
        each = block / 8 + range / 4
        choices = log(max(2, candidates))
        bound = 2 * experts * sqrt(choices * rounds * each)
        level = patience * bound + range * sqrt(experts)
        return cls(sqrt(choices / (rounds * each)), boldness, level, bound)

    @property
    def most_cuts(self) -> int:
        """After so many the rate is the slowest."""
        cuts = 0
        while self.at(cuts) > self.slowest:
            cuts += 1
        return cuts

    def at(self, cuts: int) -> float:
        """The rate after so many cuts."""
        return max(self.slowest, self.boldness * self.slowest / CUT**cuts)

    def cuts_after(self, cuts: int, lost: float) -> int:
        """How many cuts there are once so much was lost."""
        while self.at(cuts) > self.slowest and lost > (cuts + 1) * self.level:
            cuts += 1
        return cuts


def block_for(rounds: int, range_of: Callable[[int], float]) -> int:
    """A quarter of the range of the noise, which depends a little on how many blocks there are.

    `range_of` tells the range for a block; there are at most 1000 releases, and at least one.

    >>> block_for(20_000, lambda block: 132.0), block_for(10**6, lambda block: 132.0)
    (33, 1000)
    """
    shortest = max(1, ceil(rounds / MOST_RELEASES))
    block = shortest
    for _ in range(4):
        block = max(shortest, min(int(BLOCK_OF_RANGE * range_of(block)), rounds // 2))
    return block


def softmax(scores: Floats, rate: float) -> Floats:
    """The chances exp(rate·score), normalised, along the last axis.

    >>> softmax(np.array([0.0, 1.0]), np.log(3.0)).round(2)
    array([0.25, 0.75])
    """
    weights = np.exp(rate * (scores - scores.max(axis=-1, keepdims=True)))
    return np.asarray(weights / weights.sum(axis=-1, keepdims=True), dtype=np.float64)


@cache
def expected_range(count: int) -> float:
    """The expected difference between the largest and the least of so many standard normal numbers.

    >>> round(expected_range(2), 2), round(expected_range(10), 2)
    (1.13, 3.08)
    """
    points = np.linspace(-9.0, 9.0, 3601)
    below = np.array([(1 + erf(point / sqrt(2))) / 2 for point in points])
    # ∫ P(the least ≤ x < the largest) dx
    inside = 1 - below**count - (1 - below) ** count
    return float(inside.sum() * (points[1] - points[0]))
