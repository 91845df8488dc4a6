"""Exact noise on the integers: the discrete Laplace and the discrete Gaussian.

No floating-point number is touched between the random words and the integer that comes out, so the
law is the one in the proof, not an approximation of it.

    change of at most s (l₁), Laplace     costs s/scale, pure
    change of at most s (l₂), Gaussian    costs s²/2σ², zCDP

Guarantee   docs/guarantees/noise.md
Runtime     about 0.1 µs a coordinate
References  Canonne, Kamath, Steinke (2020), "The Discrete Gaussian for Differential Privacy"
"""

from dataclasses import dataclass
from math import ceil, exp, sqrt
from typing import Generic, Protocol, TypeVar

import numpy as np

from discreet import require
from discreet.arrays import Integers
from discreet.budget.privacy import Charge, Privacy, pure, zcdp
from discreet.errors import ConfigError
from discreet.release.aggregators.base import Aggregator
from discreet.release.randomness import RandomBits

LARGEST_SIGMA = 2**26
"""Up to here the Gaussian sampler's products fit 64 bits."""
LARGEST_SCALE = 2**48
"""Up to here the Laplace sampler's products fit 64 bits."""


class Noise(Protocol):
    """A law on the integers, centred at zero, with its price."""

    @property
    def norm(self) -> int:
        """The norm in which its price counts what a person can move: l₁ or l₂."""

    def charge(self, sensitivity: float) -> Charge:
        """The cost of this noise on a vector that one person moves by at most `sensitivity` in
        that norm.
        """

    @property
    def variance(self) -> float:
        """The variance of one coordinate."""

    def draw(self, size: int, bits: RandomBits) -> Integers:
        """Independent draws."""


@dataclass(frozen=True)
class DiscreteLaplace:
    """P(x) ∝ exp(−|x| / scale). Pure differential privacy; sensitivity in l₁.

    >>> from discreet.release.randomness import seeded_bits
    >>> DiscreteLaplace(10).draw(5, seeded_bits(1, 0))
    array([-15, -14,  -5,   3,   4])
    """

    scale: int

    def __post_init__(self) -> None:
        require.whole("scale", self.scale, 1, LARGEST_SCALE)

    @property
    def norm(self) -> int:
        return 1

    def charge(self, sensitivity: float) -> Charge:
        return pure(sensitivity / self.scale * (1 + 2**-48))

    @property
    def variance(self) -> float:
        decay = exp(-1 / self.scale)
        return 2 * decay / (1 - decay) ** 2

    def draw(self, size: int, bits: RandomBits) -> Integers:
        from discreet.release import kernels

        out = np.empty(size, dtype=np.int64)
        kernels.fill_laplace(np.uint64(self.scale), out, bits.address, bits.state)
        return out


@dataclass(frozen=True)
class DiscreteGaussian:
    """P(x) ∝ exp(−x² / 2σ²). zCDP; sensitivity in l₂.

    >>> from discreet.release.randomness import seeded_bits
    >>> DiscreteGaussian(1000).draw(3, seeded_bits(1, 0))
    array([ -214,  -486, -1090])
    """

    sigma: int

    def __post_init__(self) -> None:
        require.whole("sigma", self.sigma, 1, LARGEST_SIGMA)

    @property
    def norm(self) -> int:
        return 2

    def charge(self, sensitivity: float) -> Charge:
        return zcdp((sensitivity / self.sigma) ** 2 / 2 * (1 + 2**-48))

    @property
    def variance(self) -> float:
        return float(self.sigma) ** 2

    def draw(self, size: int, bits: RandomBits) -> Integers:
        from discreet.release import kernels

        out = np.empty(size, dtype=np.int64)
        kernels.fill_gaussian(np.uint64(self.sigma), out, bits.address, bits.state)
        return out


def noise_for(budget: Charge, aggregator: Aggregator, most: int) -> tuple[int, Noise]:
    """The finest grid of at most `most` levels, and the least noise on it that the budget pays for.

    >>> from discreet.release.aggregators import OneChoice
    >>> levels, noise = noise_for(zcdp(0.02), OneChoice(10), most=2**16)
    >>> levels, noise.charge(levels * 2**0.5).amount <= 0.02
    (65536, True)
    """
    if budget.measure == "zcdp":
        per_level = aggregator.unit_sensitivity(2) / sqrt(2 * budget.amount) * (1 + 2**-40)
        levels = min(most, int((LARGEST_SIGMA - 1) / per_level))
    else:
        per_level = aggregator.unit_sensitivity(1) / budget.amount * (1 + 2**-40)
        levels = min(most, int((LARGEST_SCALE - 1) / per_level))
    if levels < 1:
        raise ConfigError(
            f"the budget asks for noise {per_level:.3g} times the bound, more than the samplers "
            "make: "
            "raise epsilon"
        )
    scale = ceil(levels * per_level)
    return levels, DiscreteGaussian(scale) if budget.measure == "zcdp" else DiscreteLaplace(scale)


Kind = TypeVar("Kind", bound=Aggregator)


@dataclass(frozen=True)
class CalibratedNoise(Generic[Kind]):
    """Noise for people who enter this ONE release: in the measure in which it is least.

    At ε = 1 and δ = 10⁻⁶ a count needs a standard deviation of 6.4 in zCDP and of 2.8 in the pure
    measure.

    >>> from discreet.release.aggregators import OneChoice
    >>> once = CalibratedNoise.calibrate(Privacy(1.0, 1e-6), OneChoice(10))
    >>> type(once.noise).__name__, round(once.standard_deviation, 1)
    ('DiscreteLaplace', 2.8)
    """

    aggregator: Kind
    noise: Noise

    @classmethod
    def for_budget(
        cls, budget: Charge, aggregator: Kind, most: int = 2**16
    ) -> "CalibratedNoise[Kind]":
        """The least noise that this budget pays for."""
        levels, noise = noise_for(budget, aggregator, most)
        return cls(aggregator.on_grid(levels), noise)

    @classmethod
    def calibrate(
        cls,
        privacy: Privacy,
        aggregator: Kind,
        most: int = 2**16,
        share: float = 1.0,
        *,
        blocks: int = 0,
    ) -> "CalibratedNoise[Kind]":
        """The least noise of all budgets that a person may spend on one release, or of a share of
        them.

        `blocks` says how many blocks are released in this way, if nothing else is
        (`Privacy.apart`).
        """
        found = [
            cls.for_budget(budget * share, aggregator, most) for budget in privacy.apart(blocks)
        ]
        return min(found, key=lambda once: once.standard_deviation)

    @property
    def charge(self) -> Charge:
        """What the release costs each of its people."""
        return self.noise.charge(self.aggregator.sensitivity(self.noise.norm))

    @property
    def standard_deviation(self) -> float:
        """Of each number, in units of the bound."""
        return sqrt(self.noise.variance) / self.aggregator.levels
