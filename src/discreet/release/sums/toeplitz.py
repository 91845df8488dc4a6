"""Running sums by a Toeplitz factorisation with a few buffers.

Release the INTEGER vectors y = round(Cx) + z, with C a lower triangular Toeplitz matrix
(discreet/release/sums/factorisation.py) and z discrete Gaussian; the prefixes A·C⁻¹y are
post-processing. C is applied in fixed-point integers with B buffers:

    y_t = x_t + round(Σ_b ω_b · S_b),   S_b ← λ_b · S_b + x_t        (encode: secret, integers)
    x̂_t = y_t − Σ_b ω_b · Ŝ_b,          Ŝ_b ← λ_b · Ŝ_b + x̂_t        (decode: public, floats)

Rounding makes the first line slightly non-linear. Each coordinate of y may differ by at most 1 + e
from exact arithmetic, where e bounds the sum of the buffers' rounding errors; so the sensitivity is
at most ‖c‖·s₂ + √(N·d)·(1 + e). The grid is so fine that the second term is small; `calibrate`
includes it.

Guarantee   docs/guarantees/sums.md, Theorem 3 (factorisation) and Lemma 4 (rounding)
Runtime     one noise vector and O(B · d) per step; state O(B · d), B ≤ 8, for every horizon
References  Fichtenberger, Henzinger, Upadhyay (2023)
            Denisov et al. (2022)
            Dvijotham et al. (2024)
"""

from dataclasses import dataclass
from functools import cached_property
from math import ceil, floor, log2, sqrt

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.budget.privacy import Charge, zcdp
from discreet.errors import ConfigError
from discreet.release.aggregators.base import Aggregator
from discreet.release.noise import LARGEST_SIGMA, DiscreteGaussian
from discreet.release.sums.factorisation import Exponentials, factor
from discreet.release.sums.prefix_sum import Noised, State, Stream

FREE = zcdp(0.0)
"""Price of a release that was paid ahead; made once, because most releases are."""


@dataclass(frozen=True)
class FixedPoint:
    """The Toeplitz factor in fixed-point integers, as the kernel uses it.

    Guarantee   docs/guarantees/sums.md, Lemma 4
    """

    decay: Integers
    decay_shift: Integers
    weight: Integers
    weight_shift: Integers
    fraction: Integers
    output_fraction: int

    @classmethod
    def of(cls, ideal: Exponentials, stream: Stream, levels: int) -> "FixedPoint":
        """Return the factor with as many binary digits as 64-bit buffers hold without overflow."""
        largest = levels * stream.people  # the largest coordinate of one addend
        reach = np.minimum(stream.releases, 1 / ideal.decay)
        fraction = 61 - np.ceil(np.log2(largest * reach + 1)).astype(np.int64)
        mixed = largest * float(np.sum(ideal.weight * reach)) + 1
        output_fraction = int(min(20, 60 - ceil(log2(mixed)), fraction.min(initial=20)))
        if output_fraction < 1:
            raise ConfigError(
                f"{stream.releases} releases of {stream.people} people are too many for a "
                "Toeplitz sum: plan fewer releases"
            )
        fraction = np.minimum(fraction, 40)
        decay, decay_shift = _mantissas(ideal.decay)
        weight, weight_shift = _mantissas(ideal.weight * 2.0 ** (output_fraction - fraction))
        return cls(decay, decay_shift, weight, weight_shift, fraction, output_fraction)

    @cached_property
    def used(self) -> Exponentials:
        """The coefficients that the integers represent, exactly."""
        weight = self.weight * 2.0 ** (self.fraction - self.output_fraction - self.weight_shift)
        return Exponentials(self.decay * 2.0**-self.decay_shift, weight)

    def drift(self, releases: int) -> float:
        """The bound e on the rounding errors of the buffers, weighted, and of their mixture."""
        reach = np.minimum(releases, 1 / self.used.decay)
        of_buffers = float(np.sum(self.used.weight * reach * 2.0**-self.fraction))
        of_mixing = self.weight.size * 2.0**-self.output_fraction
        return of_buffers + of_mixing


def _mantissas(values: np.ndarray) -> tuple[Integers, Integers]:
    """Each value in (0, 1) as mantissa / 2^shift, with mantissa < 2³² and shift ≥ 32."""
    shift = 31 - np.floor(np.log2(values)).astype(np.int64)
    mantissa = np.minimum(np.floor(values * 2.0**shift), 2**32 - 1).astype(np.int64)
    return mantissa, shift


@dataclass(frozen=True)
class ToeplitzSum:
    """A calibrated Toeplitz sum: noisy mixtures of each block with those before it.

    Guarantee   docs/guarantees/sums.md, Theorem 3 and Lemma 4
    """

    aggregator: Aggregator
    releases: int
    noise: DiscreteGaussian
    fixed: FixedPoint
    rounding: float
    """1 + e: the largest rounding error of one coordinate of a release; 0 without buffers."""

    name = "toeplitz"
    has_cohorts = False

    @classmethod
    def calibrate(cls, budget: Charge, stream: Stream) -> "ToeplitzSum":
        """Return the sum with σ = (‖c‖·s₂ + √(N·d)·(1 + e)) / √(2ρ), on the finest grid."""
        if budget.measure != "zcdp":
            raise ConfigError("a Toeplitz sum needs Gaussian noise: ask for delta > 0")
        ideal = factor(stream.releases)
        shrink = sqrt(2 * budget.amount) * (1 - 2**-40)
        # The fixed-point coefficients differ from the ideal ones by less than 2^-24 of their size.
        norm = sqrt(ideal.norm_squared(stream.releases)) * (1 + 2**-24)
        cells = sqrt(stream.releases * stream.aggregator.cells)
        unit = stream.aggregator.unit_sensitivity(2)
        levels = min(stream.room, floor(((LARGEST_SIGMA - 1) * shrink - 2 * cells) / (norm * unit)))
        if levels < 1:
            numbers = stream.aggregator.size
            raise ConfigError(
                f"{stream.releases} releases of {numbers} numbers are too many for the rounding of "
                "a Toeplitz sum at this budget: plan fewer releases"
            )
        fixed = FixedPoint.of(ideal, stream, levels)
        rounding = 1 + fixed.drift(stream.releases) if ideal.decay.size else 0.0
        exact_norm = sqrt(fixed.used.norm_squared(stream.releases)) * (1 + 2**-40)
        sigma = ceil((exact_norm * levels * unit + rounding * cells) / shrink)
        aggregator = stream.aggregator.on_grid(levels)
        return cls(aggregator, stream.releases, DiscreteGaussian(sigma), fixed, rounding)

    def spent(self, releases: int) -> Charge:
        """(‖c‖·s₂ + √(t·cells)·(1 + e))²/2σ² of zCDP, with t the releases paid ahead.

        The first person is in every release, with the largest coefficients; later people pay less.
        Releases 1, 2, 4, … pay for all releases before the next of these, so that a step need not
        add up coefficients.
        """
        covered = min(2 ** releases.bit_length() - 1, self.releases)
        norm = sqrt(self.fixed.used.norm_squared(covered)) * (1 + 2**-40)
        moved = norm * self.aggregator.sensitivity(2)
        rounded = self.rounding * sqrt(covered * self.aggregator.cells)
        return self.noise.charge(moved + rounded) * (releases > 0)

    def charge(self, index: int) -> Charge:
        """Increase of `spent` at releases 1, 2, 4, …, and 0 at all others."""
        if index & (index + 1):
            return FREE
        return zcdp(self.spent(index + 1).amount - self.spent(index).amount)

    def variance(self, releases: int) -> float:
        """σ² times the squared norm of the row of A·C⁻¹."""
        return self.noise.variance * self.fixed.used.row_norm_squared(releases)

    def step_variance(self, releases: int) -> float:
        """σ² times the squared norm of the row of C⁻¹."""
        return self.noise.variance * self.fixed.used.inverse_norm_squared(releases)

    def covariance(self, releases: Integers) -> Floats:
        return self.noise.variance * self.fixed.used.row_products(releases)

    def start(self) -> tuple[State, State]:
        shape = (self.fixed.decay.size, self.aggregator.size)
        public = {"prefix": np.zeros(shape[1]), "buffers": np.zeros(shape)}
        return public, {"buffers": np.zeros(shape, dtype=np.int64), "steps": 0}

    def step(
        self, public: State, hidden: State, addend: Integers, noised: Noised
    ) -> tuple[State, State]:
        from discreet.release import kernels

        encoded = np.empty_like(addend)
        buffers = hidden["buffers"].copy()
        fixed = self.fixed
        kernels.toeplitz_step(
            buffers,
            addend,
            fixed.decay,
            fixed.decay_shift,
            fixed.weight,
            fixed.weight_shift,
            fixed.fraction,
            np.int64(fixed.output_fraction),
            encoded,
        )
        released = noised(self.noise, encoded)
        newest = np.empty(encoded.size)
        faded = np.empty(buffers.shape)
        kernels.toeplitz_undo(
            public["buffers"], released, 1 - fixed.used.decay, fixed.used.weight, newest, faded
        )
        new_public = {"prefix": public["prefix"] + newest, "buffers": faded}
        new_hidden = {"buffers": buffers, "steps": hidden["steps"] + 1}
        return new_public, new_hidden
