"""The tuned constants of both modes, each with the benchmark that measures it.

benchmarks/contextual.py uses problems on which nothing was tuned: it shows the effect of a change,
and must not be used to choose a constant.
"""

from dataclasses import dataclass
from functools import cached_property
from math import sqrt


@dataclass(frozen=True)
class RidgeTuning:
    """The tuned constants of the ridge mode."""

    constant: float = 0.25
    """The constant in front of a context, in typical norms (benchmarks/contextual.py)."""
    clip: float = 1.25
    """The norm to which contexts are clipped for second moments, in typical norms
    (benchmarks/contextual.py)."""
    resolved: float = 1.3
    """An eigenvalue counts if it exceeds this multiple of the largest eigenvalue of pure noise
    (benchmarks/contextual.py)."""
    fewest: float = 100.0
    """The least number of people of the first preparation (benchmarks/contextual.py)."""
    lengths: int = 22
    """The number of people of the first preparation, in units of √features times the noise
    (benchmarks/contextual.py)."""
    lengths_share: int = 100
    """The first preparation has at most one in this number of rounds (benchmarks/contextual.py)."""
    gram: float = 3.0
    """The number of people of the second preparation, in units of features^1.5 times the noise
    (benchmarks/contextual.py)."""
    gram_share: int = 50
    """There is a second preparation if it takes at most one in this number of rounds
    (benchmarks/contextual.py)."""
    first_block: int = 3
    """The number of rounds of the first block, in units of all coefficients times the noise
    (benchmarks/contextual.py)."""
    first_share: int = 25
    """The first block has at most one in this number of rounds (benchmarks/contextual.py)."""
    growth: float = 1.2
    """The factor by which blocks grow after the preparations (benchmarks/contextual.py)."""

    @cached_property
    def shrinking(self) -> float:
        """The norm of a context of norm 1 with the constant in front."""
        return sqrt(1 + self.constant**2)

    @cached_property
    def entered(self) -> float:
        """The constant in a mapped context, whose norm is at most 1."""
        return self.constant / self.shrinking


@dataclass(frozen=True)
class Shares:
    """The shares of the budget of a screening."""

    draws: float
    values: float
    ridge: float
    scalars: float


@dataclass(frozen=True)
class ScreenTuning:
    """The tuned constants of the screen mode."""

    screenings: int = 2
    """The number of screenings; each is twice as long as the last (benchmarks/contextual.py)."""
    constant: float = 0.67
    """The constant in front of the features of an arm, in units of a typical feature
    (benchmarks/contextual.py)."""
    typical: float = 1.6
    """Residuals of rewards are clipped to this multiple of their typical size
    (benchmarks/contextual.py)."""
    effect: float = 0.09
    """The assumed effect of a feature that matters, in half ranges of rewards; it determines the
    length of screenings (benchmarks/contextual.py)."""
    contexts: float = 0.5
    """The share of the first budget for contexts (benchmarks/contextual.py)."""
    rewards: float = 0.4
    """The share of the first budget for rewards (benchmarks/contextual.py)."""
    squares: float = 0.1
    """The share of the first budget for squared rewards (benchmarks/contextual.py)."""
    first: Shares = Shares(0.6, 0.3, 0.08, 0.02)
    """The shares of the first screening (benchmarks/contextual.py)."""
    later: Shares = Shares(0.6, 0.2, 0.18, 0.02)
    """The shares of the last screening: more for the ridge on features of earlier draws
    (benchmarks/contextual.py)."""
    fewer: float = 0.2
    """The share by which the last screening draws fewer features (benchmarks/contextual.py)."""
    least_share: int = 100
    """The first block has one in this number of rounds, and the first screening at least that
    (benchmarks/contextual.py)."""
    most_share: int = 12
    """The first screening has at most one in this number of rounds (benchmarks/contextual.py)."""
    first_share: int = 50
    """The first block after the preparations has one in this number of rounds
    (benchmarks/contextual.py)."""
    growth: float = 1.25
    """The factor by which blocks grow after the preparations (benchmarks/contextual.py)."""


RIDGE = RidgeTuning()
SCREEN = ScreenTuning()
