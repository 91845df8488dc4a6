"""If these fail, the noise is not the noise of the proof."""

from collections.abc import Iterator
from hashlib import blake2b

import mpmath
import numpy as np
import pytest
from scipy import stats

from discreet.budget.privacy import Charge, Privacy, pure, zcdp
from discreet.errors import ConfigError
from discreet.release import kernels
from discreet.release.aggregators import Aggregator, OneChoice, PublicCells, Rows
from discreet.release.noise import (
    LARGEST_SCALE,
    LARGEST_SIGMA,
    CalibratedNoise,
    DiscreteGaussian,
    DiscreteLaplace,
    noise_for,
)
from discreet.release.randomness import seeded_bits
from laws import gaussian_law, laplace_law

ALPHA = 1e-6
"""The level of every statistical test here; seeds are fixed."""


def p_value(draws: np.ndarray, law: dict[int, mpmath.mpf]) -> float:
    """Chi-square over cells that expect at least 20 draws; the tails are one cell each."""
    values = np.array(sorted(law))
    chances = np.array([float(law[value]) for value in values])
    frequent = values[chances * draws.size >= 20]
    low = frequent.min()
    high = frequent.max()
    inside = (values >= low) & (values <= high)
    below = chances[values < low].sum()
    above = chances[values > high].sum()
    expected = np.concatenate([[below], chances[inside], [above]]) * draws.size
    within = np.bincount(draws[(draws >= low) & (draws <= high)] - low, minlength=high - low + 1)
    counts = np.concatenate([[np.sum(draws < low)], within, [np.sum(draws > high)]])
    used = expected > 1
    statistic = np.sum((counts[used] - expected[used]) ** 2 / expected[used])
    return float(stats.chi2.sf(statistic, used.sum() - 1))


@pytest.mark.statistical
@pytest.mark.parametrize("sigma", [1, 2, 7, 40])
def test_gaussian_follows_its_law(sigma: int) -> None:
    draws = DiscreteGaussian(sigma).draw(300_000, seeded_bits(11, sigma))
    assert p_value(draws, gaussian_law(sigma, 10 * sigma)) > ALPHA


@pytest.mark.statistical
@pytest.mark.parametrize("scale", [1, 2, 9, 30])
def test_laplace_follows_its_law(scale: int) -> None:
    draws = DiscreteLaplace(scale).draw(300_000, seeded_bits(12, scale))
    assert p_value(draws, laplace_law(scale, 30 * scale)) > ALPHA


@pytest.mark.statistical
def test_the_test_would_notice_two_percent_too_little_noise() -> None:
    draws = DiscreteGaussian(49).draw(1_000_000, seeded_bits(13, 0))
    assert p_value(draws, gaussian_law(50, 500)) < ALPHA


@pytest.mark.statistical
@pytest.mark.parametrize("sigma", [2**20 + 1, 2**26])
def test_large_gaussians_follow_the_continuous_law(sigma: int) -> None:
    draws = DiscreteGaussian(sigma).draw(500_000, seeded_bits(14, sigma)) / sigma
    assert stats.kstest(draws, "norm").pvalue > ALPHA


@pytest.mark.statistical
def test_large_laplaces_follow_the_continuous_law() -> None:
    draws = DiscreteLaplace(2**48).draw(300_000, seeded_bits(15, 0)) / 2.0**48
    assert stats.kstest(draws, "laplace").pvalue > ALPHA


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("numerator", "denominator"), [(0, 1), (1, 3), (1, 1), (7, 2), (2**40, 2**41)]
)
def test_bernoulli_of_an_exponential(numerator: int, denominator: int) -> None:
    bits = seeded_bits(16, numerator)
    top = np.uint64(numerator)
    bottom = np.uint64(denominator)
    hits = sum(kernels.succeeds(top, bottom, bits.address, bits.state) for _ in range(200_000))
    assert stats.binomtest(hits, 200_000, float(np.exp(-numerator / denominator))).pvalue > ALPHA


@pytest.mark.statistical
@pytest.mark.parametrize("number", [1, 2, 3, 10, 1000])
def test_uniform_below_is_uniform(number: int) -> None:
    bits = seeded_bits(17, number)
    most = np.uint64(number)
    draws = np.array(
        [kernels.below(most, bits.address, bits.state) for _ in range(200_000)], dtype=np.int64
    )
    assert draws.min() >= 0
    assert draws.max() < number
    if number > 1:
        assert stats.chisquare(np.bincount(draws, minlength=number)).pvalue > ALPHA


class Reference:
    """The samplers in plain Python, with the same random bits."""

    def __init__(self, seed: int, index: int) -> None:
        from randomgen import AESCounter

        key = blake2b(f"discreet words {seed} {index}".encode(), digest_size=16).digest()
        raw = AESCounter(key=int.from_bytes(key, "little")).random_raw(200_000)
        self.bits: Iterator[int] = map(int, raw)

    def below(self, number: int) -> int:
        while True:
            high, low = divmod(next(self.bits) * number, 2**64)
            if low >= 2**64 % number:
                return high

    def succeeds_below_one(self, numerator: int, denominator: int) -> bool:
        trial = 1
        while self.below(denominator * trial) < numerator:
            trial += 1
        return trial % 2 == 1

    def succeeds(self, numerator: int, denominator: int) -> bool:
        while numerator > denominator:
            if not self.succeeds_below_one(1, 1):
                return False
            numerator -= denominator
        return self.succeeds_below_one(numerator, denominator)

    def laplace(self, scale: int) -> int:
        while True:
            part = self.below(scale)
            while not self.succeeds_below_one(part, scale):
                part = self.below(scale)
            wholes = 0
            while self.succeeds_below_one(1, 1):
                wholes += 1
            size = part + scale * wholes
            if next(self.bits) % 2:
                return size
            if size:
                return -size

    def gaussian(self, sigma: int) -> int:
        while True:
            candidate = self.laplace(sigma)
            if self.succeeds((abs(candidate) - sigma) ** 2, 2 * sigma**2):
                return candidate


@pytest.mark.parametrize("scale", [1, 3, 1000, 2**26])
def test_kernels_draw_exactly_as_the_plain_algorithm_does(scale: int) -> None:
    plain = Reference(1, scale)
    gaussians = DiscreteGaussian(scale).draw(2000, seeded_bits(1, scale))
    assert gaussians.tolist() == [plain.gaussian(scale) for _ in range(2000)]
    plain = Reference(2, scale)
    laplaces = DiscreteLaplace(scale).draw(2000, seeded_bits(2, scale))
    assert laplaces.tolist() == [plain.laplace(scale) for _ in range(2000)]


@pytest.mark.parametrize("sigma", [1, 2, 5])
@pytest.mark.parametrize("shift", [1, 2, 3])
def test_gaussian_charge_covers_the_exact_divergence(sigma: int, shift: int) -> None:
    law = gaussian_law(sigma, 60 * sigma + 10)
    charge = DiscreteGaussian(sigma).charge(shift).rho
    for order in map(mpmath.mpf, (1.01, 1.5, 2, 4, 10, 32)):
        moment = mpmath.fsum(
            law[x] ** order * law[x - shift] ** (1 - order) for x in law if x - shift in law
        )
        assert mpmath.log(moment) / (order - 1) <= order * charge * (1 + mpmath.mpf(10) ** -9)


@pytest.mark.parametrize("scale", [1, 3, 10])
def test_laplace_charge_is_the_largest_ratio(scale: int) -> None:
    law = laplace_law(scale, 200)
    ratio = max(abs(mpmath.log(law[x] / law[x - 2])) for x in range(-150, 150))
    assert float(ratio) == pytest.approx(DiscreteLaplace(scale).charge(2).amount)


def test_variances_are_those_of_the_laws() -> None:
    laplace = float(sum(p * x * x for x, p in laplace_law(3, 300).items()))
    gaussian = float(sum(p * x * x for x, p in gaussian_law(3, 100).items()))
    assert DiscreteLaplace(3).variance == pytest.approx(laplace)
    assert DiscreteGaussian(3).variance == pytest.approx(gaussian, rel=1e-6)


@pytest.mark.parametrize("scale", [0, -1, 2**49, 1.5])
def test_scales_out_of_range_are_refused(scale: int) -> None:
    with pytest.raises(ConfigError, match="must be a whole number"):
        DiscreteLaplace(scale)
    with pytest.raises(ConfigError, match="must be a whole number"):
        DiscreteGaussian(scale)


AGGREGATORS = [
    OneChoice((1,)),
    OneChoice((50,)),
    PublicCells((50,), -2.0, 2.0, copies=2),
    Rows((7,), norm=1),
    Rows((7,), length=3.0),
    Rows((2, 3), norm=float("inf"), nonnegative=True),
]


@pytest.mark.parametrize("aggregator", AGGREGATORS, ids=repr)
@pytest.mark.parametrize(
    "budget", [zcdp(1e-6), zcdp(0.02), zcdp(50.0), pure(1e-4), pure(1.0), pure(30.0)]
)
def test_calibrated_noise_spends_its_budget_and_no_more(
    budget: Charge, aggregator: Aggregator
) -> None:
    levels, noise = noise_for(budget, aggregator, most=2**24)
    paid = noise.charge(aggregator.on_grid(levels).sensitivity(noise.norm))
    assert paid.measure == budget.measure
    assert 0.99 * budget.amount <= paid.amount <= budget.amount


def test_a_budget_too_small_for_the_samplers_is_refused() -> None:
    for budget, largest in ((zcdp(1e-20), LARGEST_SIGMA), (pure(1e-16), LARGEST_SCALE)):
        with pytest.raises(ConfigError, match="raise epsilon"):
            noise_for(budget, Rows((100,)), most=2**24)
        assert largest < 2**53


@pytest.mark.parametrize("aggregator", AGGREGATORS, ids=repr)
@pytest.mark.parametrize(
    "privacy",
    [Privacy(1.0), Privacy(1.0, 1e-6), Privacy(0.1, 1e-9), Privacy(1.0, 1e-6, contributions=3)],
)
def test_one_release_gets_the_least_noise_of_all_measures(
    aggregator: Aggregator, privacy: Privacy
) -> None:
    once = CalibratedNoise.calibrate(privacy, aggregator, most=2**16)
    allowed = {budget.measure: budget.amount for budget in privacy.budgets}
    assert once.charge.amount <= allowed[once.charge.measure]
    for budget in privacy.budgets:
        levels, noise = noise_for(budget, aggregator, most=2**16)
        assert once.standard_deviation <= noise.variance**0.5 / levels
    assert once.aggregator == aggregator.on_grid(once.aggregator.levels)
