"""Exact noise on the integers: the discrete Laplace and the discrete Gaussian.

The samplers use integers only, from the random bits to the integer that they return, so the law is
the one in the proof and not an approximation of it.

    discrete Laplace     l₁ sensitivity s    costs s/scale, pure
    discrete Gaussian    l₂ sensitivity s    costs s²/2σ², zCDP

Guarantee   docs/guarantees/noise.md, Theorems 1 (Laplace) and 2 (Gaussian)
Runtime     about 0.1 µs per coordinate
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
"""The largest σ for which the products of the Gaussian sampler fit 64 bits."""
LARGEST_SCALE = 2**48
"""The largest scale for which the products of the Laplace sampler fit 64 bits."""


class Noise(Protocol):
    """A law on the integers, centred at zero, with its price."""

    @property
    def norm(self) -> int:
        """The norm of the sensitivity that the price depends on: 1 for l₁, 2 for l₂."""

    def charge(self, sensitivity: float) -> Charge:
        """Price of this noise on a vector of this sensitivity, which is measured in `norm`."""

    @property
    def variance(self) -> float:
        """Variance of one coordinate, in squared integer steps."""

    def draw(self, size: int, bits: RandomBits) -> Integers:
        """Return `size` independent draws."""


@dataclass(frozen=True)
class DiscreteLaplace:
    """The discrete Laplace law P(x) ∝ exp(−|x| / scale): pure DP for l₁ sensitivities.

    Guarantee   docs/guarantees/noise.md, Theorem 1

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
        """s/scale of pure ε, rounded up."""
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
    """The discrete Gaussian law P(x) ∝ exp(−x² / 2σ²): zCDP for l₂ sensitivities.

    Guarantee   docs/guarantees/noise.md, Theorem 2

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
        """s²/2σ² of zCDP, rounded up."""
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
    """Return the finest grid of at most `most` levels and the least noise on it for this budget.

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
            f"this budget needs noise of {per_level:.3g} times the bound, more than the samplers "
            "can draw: raise epsilon"
        )
    scale = ceil(levels * per_level)
    return levels, DiscreteGaussian(scale) if budget.measure == "zcdp" else DiscreteLaplace(scale)


Kind = TypeVar("Kind", bound=Aggregator)
Kind_co = TypeVar("Kind_co", bound=Aggregator, covariant=True)


@dataclass(frozen=True)
class CalibratedNoise(Generic[Kind_co]):
    """Noise for people who enter this ONE release, in the measure in which it is least.

    At ε = 1 and δ = 10⁻⁶ a count needs a standard deviation of 6.4 in zCDP and of 2.8 in the pure
    measure.

    Guarantee   docs/guarantees/ledger.md, Theorem 5

    Parameters
    ----------
    aggregator
        The aggregator on the grid that the noise is calibrated for.
    noise
        The law of the noise, in integer steps of that grid.

    Examples
    --------
    >>> from discreet.release.aggregators import OneChoice
    >>> once = CalibratedNoise.calibrate(Privacy(1.0, 1e-6), OneChoice(10))
    >>> type(once.noise).__name__, round(once.standard_deviation, 1)
    ('DiscreteLaplace', 2.8)
    """

    aggregator: Kind_co
    noise: Noise

    @staticmethod
    def for_budget(budget: Charge, aggregator: Kind, most: int = 2**16) -> "CalibratedNoise[Kind]":
        """Return the least noise that this budget pays for."""
        levels, noise = noise_for(budget, aggregator, most)
        return CalibratedNoise(aggregator.on_grid(levels), noise)

    @staticmethod
    def calibrate(
        privacy: Privacy,
        aggregator: Kind,
        most: int = 2**16,
        share: float = 1.0,
        *,
        blocks: int = 0,
    ) -> "CalibratedNoise[Kind]":
        """Return the least noise over the measures in which a person may pay for one release.

        Parameters
        ----------
        privacy
            The privacy asked for.
        aggregator
            The aggregator of the release.
        most
            The largest number of levels of the grid.
        share
            The share of the budget that this release may spend.
        blocks
            The number of blocks released in this way, if nothing else is released; see
            `Privacy.apart`.
        """
        candidates = [
            CalibratedNoise.for_budget(budget * share, aggregator, most)
            for budget in privacy.apart(blocks)
        ]
        return min(candidates, key=lambda candidate: candidate.standard_deviation)

    @property
    def charge(self) -> Charge:
        """Price of the release for each person in it."""
        return self.noise.charge(self.aggregator.sensitivity(self.noise.norm))

    @property
    def standard_deviation(self) -> float:
        """Standard deviation of each number, in units of the bound."""
        return sqrt(self.noise.variance) / self.aggregator.levels
