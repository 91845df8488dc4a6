"""The tuned constants of both modes, each with the benchmark that measures it.

benchmarks/contextual.py plays in worlds that nothing was tuned on: it shows what a change of a
constant gains or loses, and is no place to choose one.
"""

from dataclasses import dataclass
from functools import cached_property
from math import sqrt


@dataclass(frozen=True)
class RidgeTuning:
    """The tuned constants of the ridge mode."""

    constant: float = 0.25
    """Size of the constant in front of a context, in typical lengths (benchmarks/contextual.py)."""
    clip: float = 1.25
    """Length to which contexts are clipped for their second moments, in typical lengths
    (benchmarks/contextual.py)."""
    resolved: float = 1.3
    """An eigenvalue counts if it is larger than this multiple of the largest that noise alone has
    (benchmarks/contextual.py)."""
    fewest: float = 100.0
    """People of the first preparation, at least (benchmarks/contextual.py)."""
    lengths: int = 22
    """People of the first preparation, in units of √features times the noise
    (benchmarks/contextual.py)."""
    lengths_share: int = 100
    """One of this many rounds is in the first preparation, at most (benchmarks/contextual.py)."""
    gram: float = 3.0
    """People of the second preparation, in units of what the noise of second moments asks for
    (benchmarks/contextual.py)."""
    gram_share: int = 50
    """There is a second preparation if it takes at most one of this many rounds
    (benchmarks/contextual.py)."""
    first_block: int = 3
    """Rounds of the first block, in units of the numbers of all regressions times the noise
    (benchmarks/contextual.py)."""
    first_share: int = 25
    """One of this many rounds is in the first block, at most (benchmarks/contextual.py)."""
    growth: float = 1.2
    """Factor by which blocks grow after the preparations (benchmarks/contextual.py)."""

    @cached_property
    def shrinking(self) -> float:
        """Length of a context of length 1 with the constant in front."""
        return sqrt(1 + self.constant**2)

    @cached_property
    def entered(self) -> float:
        """The constant as it stands in a mapped context, whose length is at most 1."""
        return self.constant / self.shrinking


@dataclass(frozen=True)
class Shares:
    """How a screening divides its budget."""

    draws: float
    values: float
    ridge: float
    scalars: float


@dataclass(frozen=True)
class ScreenTuning:
    """The tuned constants of the screen mode."""

    screenings: int = 2
    """Number of screenings; each is twice as long as the one before (benchmarks/contextual.py)."""
    constant: float = 0.67
    """Size of the constant in front of an arm's features, in typical features
    (benchmarks/contextual.py)."""
    typical: float = 1.6
    """Rewards are clipped to this multiple of their typical distance from the prediction
    (benchmarks/contextual.py)."""
    effect: float = 0.09
    """Effect of a feature that matters, in half ranges of rewards: sets the length of screenings
    (benchmarks/contextual.py)."""
    contexts: float = 0.5
    """Share of the first budget for contexts (benchmarks/contextual.py)."""
    rewards: float = 0.4
    """Share of the first budget for the arms' rewards (benchmarks/contextual.py)."""
    squares: float = 0.1
    """Share of the first budget for squared rewards (benchmarks/contextual.py)."""
    first: Shares = Shares(0.6, 0.3, 0.08, 0.02)
    """How the first screening divides its budget (benchmarks/contextual.py)."""
    later: Shares = Shares(0.6, 0.2, 0.18, 0.02)
    """How the last screening divides its budget: more for the ridge on features found before
    (benchmarks/contextual.py)."""
    fewer: float = 0.2
    """Share by which the last screening draws fewer features (benchmarks/contextual.py)."""
    least_share: int = 100
    """One of this many rounds is in the first screening, at least, and in the stage before it
    (benchmarks/contextual.py)."""
    most_share: int = 12
    """One of this many rounds is in the first screening, at most (benchmarks/contextual.py)."""
    first_share: int = 50
    """One of this many rounds is in the first block after the preparations
    (benchmarks/contextual.py)."""
    growth: float = 1.25
    """Factor by which blocks grow after the preparations (benchmarks/contextual.py)."""


RIDGE = RidgeTuning()
SCREEN = ScreenTuning()
