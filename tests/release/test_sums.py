"""If these fail, a running sum is wrong, or says more about a person than it was charged for."""

from dataclasses import replace
from itertools import product
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from discreet import Privacy, RunningSum
from discreet.errors import ConfigError
from discreet.release.factorisation import factor, square_root_norm
from discreet.release.noise import DiscreteGaussian, DiscreteLaplace
from discreet.release.privacy import pure, zcdp
from discreet.release.randomness import seeded_words
from discreet.release.sums import METHODS, PrefixSum, Stream, calibrate
from discreet.release.toeplitz import ToeplitzSum
from discreet.release.tree import TreeSum

ALPHA = 1e-6
BUDGET = zcdp(0.024356)
LENGTHS = [*range(1, 36), 63, 64, 65, 127, 128, 129, 255, 256, 257]


class Silence:
    """Noise that is none."""

    def draw(self, size: int, words: Any) -> np.ndarray:
        return np.zeros(size, dtype=np.int64)


def silent(sums: PrefixSum) -> PrefixSum:
    return replace(sums, noise=Silence())  # type: ignore[type-var]


def prefixes(sums: PrefixSum, people: np.ndarray, words: Any = None) -> np.ndarray:
    public, secret = sums.start()
    out = []
    for person in people:
        public, secret = sums.step(public, secret, person, words)
        out.append(public["prefix"])
    return np.array(out)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("length", LENGTHS)
def test_without_noise_every_prefix_is_right(method: str, length: int, crowd: np.random.Generator) -> None:
    sums = calibrate(method, BUDGET, Stream(length, 3, 2, nonnegative=False))
    people = crowd.integers(-sums.levels, sums.levels, size=(length, 3)) // 2
    tolerance = 0.0 if method != "toeplitz" else 3.0 * length  # each encoded vector may be rounded by one step of the grid
    assert np.abs(prefixes(silent(sums), people) - people.cumsum(axis=0)).max() <= tolerance


def test_long_sums_stay_right(crowd: np.random.Generator) -> None:
    sums = calibrate("toeplitz", BUDGET, Stream(5000, 2, 2, nonnegative=False))
    people = crowd.integers(0, sums.levels, size=(5000, 2))
    off = prefixes(silent(sums), people) - people.cumsum(axis=0)
    assert np.abs(off).max() < 0.01 * sums.variance(5000) ** 0.5


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("length", [1, 2, 3, 4, 7, 8, 9, 16])
def test_every_prefix_carries_noise_and_the_last_one_too(method: str, length: int) -> None:
    sums = calibrate(method, BUDGET, Stream(length, 4, 2, nonnegative=False))
    noisy = prefixes(sums, np.zeros((length, 4), dtype=np.int64), seeded_words(1, length))
    assert (np.abs(noisy) > 0).all()


@pytest.mark.statistical
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("length", [1, 2, 3, 8, 21, 64])
def test_the_noise_is_as_large_as_stated(method: str, length: int) -> None:
    """20,000 coordinates are 20,000 independent copies; the variance of each prefix is tested at α."""
    sums = calibrate(method, BUDGET, Stream(length, 20_000, 2, nonnegative=False))
    noisy = prefixes(sums, np.zeros((length, 20_000), dtype=np.int64), seeded_words(2, length))
    for count in range(1, length + 1):
        statistic = np.sum(noisy[count - 1] ** 2) / sums.variance(count)
        assert ALPHA / 2 < stats.chi2.cdf(statistic, 20_000) < 1 - ALPHA / 2
        step = np.sum((noisy[count - 1] - (noisy[count - 2] if count > 1 else 0)) ** 2) / sums.step_variance(count)
        assert stats.chi2.cdf(step, 20_000) < 1 - ALPHA / 2
        assert method == "honaker" or stats.chi2.cdf(step, 20_000) > ALPHA / 2  # there it is a bound


@pytest.mark.parametrize("length", range(1, 40))
@pytest.mark.parametrize("refined", [False, True])
def test_nobody_lies_in_more_nodes_than_the_ledger_counts(length: int, refined: bool) -> None:
    """Direct: list the released nodes up to each time, and count those of each person."""
    sums = TreeSum.calibrate(BUDGET, Stream(length, 1, 2, nonnegative=False), refined=refined)
    in_nodes = np.zeros(length, dtype=int)
    each = sums.noise.charge(sums.sensitivity).amount
    for count in range(1, length + 1):
        height = (count & -count).bit_length() - 1
        for level in range(height + 1) if refined else [height]:
            in_nodes[count - 2**level : count] += 1
        assert sums.spent(count).amount >= in_nodes.max() * each * (1 - 1e-12)
    assert sums.spent(length).amount <= BUDGET.amount


def exact_loss(noise: DiscreteGaussian | DiscreteLaplace, moves: list[np.ndarray]) -> float:
    """The exact charge of releasing vectors that a neighbour moves by these integers: independent shifts add up."""
    shifts = np.abs(np.concatenate([move.ravel() for move in moves])).tolist()
    if isinstance(noise, DiscreteLaplace):
        return sum(shifts) / noise.scale
    reach = range(-40 * noise.sigma, 40 * noise.sigma)
    weight = {x: mpmath.exp(-mpmath.mpf(x * x) / (2 * noise.sigma**2)) for x in range(-60 * noise.sigma, 60 * noise.sigma)}
    total = mpmath.fsum(weight.values())
    losses = {0: mpmath.mpf(0)}
    for shift in set(shifts) - {0}:
        ratios = []
        for order in map(mpmath.mpf, (1.01, 2, 5)):
            moment = mpmath.fsum(weight[x] ** order * weight[x - shift] ** (1 - order) for x in reach if x - shift in weight) / total
            ratios.append(mpmath.log(moment) / (order - 1) / order)
        losses[shift] = max(ratios)
    return float(mpmath.fsum(losses[shift] for shift in shifts))


@pytest.mark.parametrize("refined", [False, True])
@pytest.mark.parametrize("noise", [DiscreteGaussian(4), DiscreteLaplace(6)])
@pytest.mark.parametrize("length", [1, 2, 3, 4, 5])
def test_tiny_trees_lose_no_more_than_their_charge(noise: DiscreteGaussian | DiscreteLaplace, refined: bool, length: int) -> None:
    """Everything released, for every person who might be replaced: the loss depends on the difference of the streams only."""
    sums = TreeSum(Stream(length, 1, 2, nonnegative=False), levels=1, noise=noise, sensitivity=2.0, refined=refined)
    losses = []
    for person, change in product(range(length), [1, 2]):
        moves = []
        for count in range(1, length + 1):
            height = (count & -count).bit_length() - 1
            for level in range(height + 1) if refined else [height]:
                moves.append(np.array([change * (count - 2**level <= person < count)]))
        losses.append(exact_loss(noise, moves))
    assert max(losses) <= sums.spent(length).amount * (1 + 1e-9)
    assert max(losses) >= sums.spent(length).amount * 0.98  # and the charge is tight


def encoded(sums: ToeplitzSum, people: np.ndarray) -> np.ndarray:
    """What the Toeplitz sum adds noise to, by the shipped kernel."""
    from discreet.release import kernels

    buffers = np.zeros((sums.fixed.decay.size, people.shape[1]), dtype=np.int64)
    out = np.empty_like(people)
    fixed = sums.fixed
    for index, person in enumerate(people):
        kernels.toeplitz_step(
            buffers, person, fixed.decay, fixed.decay_shift, fixed.weight, fixed.weight_shift, fixed.fraction,
            np.int64(fixed.output_fraction), out[index],
        )  # fmt: skip
    return out


@settings(max_examples=60)
@given(st.integers(1, 300), st.integers(1, 4), st.integers(0, 2**32), st.sampled_from([0.0, 0.5, 1.0]))
def test_a_neighbour_moves_the_encoded_stream_no_further_than_calibrated(length: int, dimension: int, seed: int, spread: float) -> None:
    """Fixed-point rounding included: the true distance of the integers, for the first person, who counts most."""
    sums = ToeplitzSum.calibrate(BUDGET, Stream(length, dimension, 2, nonnegative=False))
    generator = np.random.default_rng(seed)
    people = (generator.uniform(-1, 1, size=(length, dimension)) * spread * sums.levels / dimension**0.5).astype(np.int64)
    neighbour = people.copy()
    direction = generator.normal(size=dimension)
    step = (direction / np.linalg.norm(direction) * sums.levels).astype(np.int64)
    people[0], neighbour[0] = step, -step
    moved = (encoded(sums, people) - encoded(sums, neighbour)).astype(float)
    norm = np.sqrt(sums.fixed.used.norm_squared(length))
    allowed = 2 * sums.levels * norm + sums.rounding * np.sqrt(length * dimension)
    assert np.linalg.norm(moved) <= allowed
    assert sums.noise.charge(float(np.linalg.norm(moved))).amount <= sums.spent(length).amount <= BUDGET.amount


def test_the_toeplitz_kernel_is_the_matrix(crowd: np.random.Generator) -> None:
    """Against the plain matrix in floats: within what the roundings may add up to."""
    length = 400
    sums = ToeplitzSum.calibrate(BUDGET, Stream(length, 2, 2, nonnegative=False))
    used = sums.fixed.used
    ages = np.arange(length)
    column = np.where(ages == 0, 1.0, used.weight @ (1 - used.decay[:, None]) ** np.maximum(ages - 1, 0))
    matrix = np.where(ages[:, None] >= ages, column[np.abs(ages[:, None] - ages)], 0.0)
    people = crowd.integers(-sums.levels, sums.levels, size=(length, 2))
    assert np.abs(encoded(sums, people) - matrix @ people).max() <= sums.rounding


def test_the_toeplitz_factor_is_the_square_root_for_short_horizons() -> None:
    for horizon in range(1, 18):
        exact = factor(horizon)
        errors = exact.norm_squared(horizon) * exact.row_norm_squared(horizon)
        assert errors == pytest.approx(square_root_norm(horizon) ** 2, rel=1e-12)


@pytest.mark.parametrize("horizon", [18, 19, 20, 33, 50, 100, 500, 3000, 10**4, 10**5, 10**6, 10**7])
def test_the_toeplitz_factor_is_as_good_as_the_square_root(horizon: int) -> None:
    few = factor(horizon)
    assert few.weight.size <= 8
    assert (few.weight > 0).all()
    assert few.norm_squared(horizon) * few.row_norm_squared(horizon) <= square_root_norm(horizon) ** 2 * 1.0025


def test_the_norms_are_those_of_the_matrices() -> None:
    few, length = factor(200), 200
    ages = np.arange(length)
    column = np.where(ages == 0, 1.0, few.weight @ (1 - few.decay[:, None]) ** np.maximum(ages - 1, 0))
    matrix = np.where(ages[:, None] >= ages, column[np.abs(ages[:, None] - ages)], 0.0)
    rows = np.tril(np.ones((length, length))) @ np.linalg.inv(matrix)
    assert few.norm_squared(length) == pytest.approx(np.sum(column**2))
    for count in (1, 2, 77, 200):
        assert few.row_norm_squared(count) == pytest.approx(np.sum(rows[count - 1] ** 2))


@pytest.mark.parametrize("budget", [zcdp(1e-9), zcdp(0.02), zcdp(10.0), pure(1e-4), pure(1.0), pure(20.0)])
@pytest.mark.parametrize("norm", [1, 2, float("inf")])
@pytest.mark.parametrize("nonnegative", [False, True])
@pytest.mark.parametrize("releases", [1, 2, 3, 1000, 10**7])
def test_every_calibration_fits_its_budget_and_wastes_little(budget: Any, norm: float, nonnegative: bool, releases: int) -> None:
    for method in ["auto", *METHODS]:
        if method == "toeplitz" and (budget.measure == "pure" or budget.amount < 1e-6):
            with pytest.raises(ConfigError, match="honaker"):
                calibrate(method, pure(1.0), Stream(releases, 50, norm, nonnegative))
            continue
        sums = calibrate(method, budget, Stream(releases, 50, norm, nonnegative))
        assert 0.9 * budget.amount <= sums.spent(releases).amount <= budget.amount
        charges = sum(sums.charge(2**power - 1).amount for power in range(releases.bit_length()))
        assert charges == pytest.approx(sums.spent(releases).amount)


def test_auto_takes_the_least_noise() -> None:
    for releases in (1, 2, 3, 5, 100, 10**6):
        stream = Stream(releases, 10, 2, nonnegative=False)
        candidates = [calibrate(method, BUDGET, stream) for method in METHODS]
        full = 2 ** ((releases + 1).bit_length() - 1) - 1
        noisiest = [max(sums.variance(count) for count in {full, releases}) ** 0.5 / sums.levels for sums in candidates]
        chosen = calibrate("auto", BUDGET, stream)
        assert max(chosen.variance(count) for count in {full, releases}) ** 0.5 / chosen.levels == pytest.approx(min(noisiest), rel=1e-6)


@pytest.mark.parametrize(
    ("method", "privacy"),
    [*product(["tree", "honaker", "toeplitz", "auto"], [Privacy(1e4, 1e-6)]), *product(["tree", "honaker", "auto"], [Privacy(1e4)])],
)
def test_a_running_sum_with_hardly_any_noise_is_the_sum(method: str, privacy: Privacy, crowd: np.random.Generator) -> None:
    people = crowd.uniform(-0.5, 0.5, size=(20, 2))
    sums = RunningSum(2, 20, privacy, bound=1.0, method=method, seed=3)
    published = np.array([sums.add(person) for person in people])
    assert np.abs(published - people.cumsum(axis=0)).max() < 0.3


def test_blocks_release_less_often_and_with_less_noise() -> None:
    often, seldom = (RunningSum(1, 1000, Privacy(1.0, 1e-6), bound=1.0, block=block, seed=1) for block in (1, 100))
    for sums in (often, seldom):
        for _ in range(1000):
            sums.add([1.0])
    assert (often.guarantee.releases, seldom.guarantee.releases) == (1000, 10)
    assert seldom.standard_deviation < 0.8 * often.standard_deviation


def test_without_a_horizon_the_sum_goes_on_and_nobody_pays_twice() -> None:
    sums = RunningSum(1, None, Privacy(1e3, 1e-6), bound=1.0, seed=1)
    for _ in range(256 + 512 + 100):
        total = sums.add([1.0])
    assert total[0] == pytest.approx(868, abs=5)
    assert sums.guarantee.planned is None
    spent = sums.guarantee.spent.amount
    assert spent <= sums.config.privacy.budget.amount
    assert sums._turn.ledger.cohort == 2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"dimension": 0}, "dimension must be a whole number, at least 1, got 0"),
        ({"horizon": 0}, "horizon must be a whole number, at least 1, got 0"),
        ({"bound": -1.0}, "bound must be finite and greater than 0, got -1.0"),
        ({"bound": float("nan")}, "bound must be finite and greater than 0, got nan"),
        ({"norm": 3}, "norm must be 1, 2 or infinity, got 3"),
        ({"method": "magic"}, "method must be .* got 'magic'"),
        ({"block": 0}, "block must be a whole number, at least 1, got 0"),
        ({"method": "toeplitz", "privacy": Privacy(1.0)}, "delta > 0"),
    ],
)
def test_impossible_sums_are_refused_with_their_value(change: dict[str, Any], message: str) -> None:
    settings = {"dimension": 2, "horizon": 10, "privacy": Privacy(1.0, 1e-6), "bound": 1.0} | change
    with pytest.raises(ConfigError, match=message):
        RunningSum(**settings)
