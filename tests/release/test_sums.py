"""If these fail, a running sum is wrong, or reveals more about a person than it charges for."""

from dataclasses import replace
from itertools import product

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from discreet.budget.privacy import Privacy
from discreet.errors import ConfigError
from discreet.release.aggregators import Aggregator, OneChoice, PublicCells, Rows
from discreet.release.noise import CalibratedNoise, DiscreteGaussian, DiscreteLaplace, Noise
from discreet.release.randomness import seeded_bits
from discreet.release.sums.disjoint import DisjointSum
from discreet.release.sums.factorisation import Exponentials, factor, square_root_norm
from discreet.release.sums.prefix_sum import METHODS, Noised, PrefixSum, Stream, calibrate
from discreet.release.sums.toeplitz import ToeplitzSum
from discreet.release.sums.tree import TreeSum

ALPHA = 1e-6
USUAL = Privacy(1.0, 1e-6)
BUDGET = USUAL.budget
LENGTHS = [*range(1, 36), 63, 64, 65, 127, 128, 129, 255, 256, 257]


def silent(noise: Noise, exact: np.ndarray) -> np.ndarray:
    """Add no noise."""
    return exact.copy()


def noisy(seed: int, index: int) -> Noised:
    """Return a function that adds seeded noise."""
    bits = seeded_bits(seed, index)
    return lambda noise, exact: exact + noise.draw(exact.size, bits)


def prefixes(sums: PrefixSum, people: np.ndarray, noised: Noised) -> np.ndarray:
    """All prefixes of a stream with one person per release."""
    public, hidden = sums.start()
    released = []
    for person in people:
        public, hidden = sums.step(public, hidden, person, noised)
        released.append(public["prefix"])
    assert hidden["steps"] == len(people)
    return np.array(released)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("length", LENGTHS)
def test_without_noise_every_prefix_is_right(
    method: str, length: int, generator: np.random.Generator
) -> None:
    sums = calibrate(USUAL, Stream(Rows((3,)), length), method)
    levels = sums.aggregator.levels
    people = generator.integers(-levels, levels, size=(length, 3)) // 2
    # A Toeplitz sum may round each vector by one step.
    tolerance = 3.0 * length if method == "toeplitz" else 0.0
    assert np.abs(prefixes(sums, people, silent) - people.cumsum(axis=0)).max() <= tolerance


def test_long_sums_stay_right(generator: np.random.Generator) -> None:
    sums = calibrate(USUAL, Stream(Rows((2,)), 5000), "toeplitz")
    people = generator.integers(0, sums.aggregator.levels, size=(5000, 2))
    off = prefixes(sums, people, silent) - people.cumsum(axis=0)
    assert np.abs(off).max() < 0.01 * sums.variance(5000) ** 0.5


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("length", [1, 2, 3, 4, 7, 8, 9, 16])
def test_every_prefix_carries_noise_and_the_last_one_too(method: str, length: int) -> None:
    sums = calibrate(USUAL, Stream(Rows((4,)), length), method)
    released = prefixes(sums, np.zeros((length, 4), dtype=np.int64), noisy(1, length))
    assert (np.abs(released) > 0).all()


@pytest.mark.statistical
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("length", [1, 2, 3, 8, 21, 64])
def test_the_noise_is_as_large_as_stated(method: str, length: int) -> None:
    """20,000 coordinates are independent copies; the variance of each prefix is tested at α."""
    sums = calibrate(USUAL, Stream(OneChoice((20_000,)), length), method)
    released = prefixes(sums, np.zeros((length, 20_000), dtype=np.int64), noisy(2, length))
    # Laplace noise has heavier tails: its square varies 2.5 times as much as that of a Gaussian.
    spread = 1.6 if sums.charge(0).measure == "pure" else 1.0
    below, above = (stats.chi2.ppf(tail, 20_000) - 20_000 for tail in (ALPHA / 2, 1 - ALPHA / 2))
    for count in range(1, length + 1):
        off = np.sum(released[count - 1] ** 2) / sums.variance(count) - 20_000
        assert spread * below < off < spread * above
        before = released[count - 2] if count > 1 else 0.0
        step = np.sum((released[count - 1] - before) ** 2) / sums.step_variance(count) - 20_000
        assert step < spread * above
        assert method == "honaker" or step > spread * below  # for a tree it is an upper bound


@pytest.mark.statistical
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("length", [1, 2, 3, 21, 40])
def test_prefixes_vary_together_as_stated(method: str, length: int) -> None:
    """20,000 coordinates are independent copies; each product's mean is tested at about α."""
    sums = calibrate(USUAL, Stream(OneChoice((20_000,)), length), method)
    released = prefixes(sums, np.zeros((length, 20_000), dtype=np.int64), noisy(3, length))
    counts = np.arange(1, length + 1)
    stated = sums.covariance(counts)
    assert np.allclose(np.diag(stated), [sums.variance(count) for count in counts.tolist()])
    assert np.array_equal(sums.covariance(counts[::3]), stated[::3, ::3])
    # A product of normal numbers varies by at most √2 of their variances, of Laplace numbers by √5.
    scale = np.sqrt(np.multiply.outer(np.diag(stated), np.diag(stated)))
    measured = released @ released.T / 20_000
    assert (np.abs(measured - stated) < 6 * np.sqrt(5 / 20_000) * scale).all()


@pytest.mark.parametrize("length", range(1, 40))
def test_nobody_lies_in_more_nodes_than_the_ledger_counts(length: int) -> None:
    """A direct count, for each person, of the nodes released up to each time."""
    sums = TreeSum.calibrate(BUDGET, Stream(Rows((1,)), length))
    in_nodes = np.zeros(length, dtype=int)
    each = sums.noise.charge(sums.aggregator.sensitivity(sums.noise.norm)).amount
    for count in range(1, length + 1):
        height = (count & -count).bit_length() - 1
        for level in range(height + 1):
            in_nodes[count - 2**level : count] += 1
        assert sums.spent(count).amount >= in_nodes.max() * each * (1 - 1e-12)
    assert sums.spent(length).amount <= BUDGET.amount


def exact_loss(noise: DiscreteGaussian | DiscreteLaplace, shifts: list[int]) -> float:
    """The exact loss of releasing numbers that a neighbour moves by these integers."""
    if isinstance(noise, DiscreteLaplace):
        return sum(map(abs, shifts)) / noise.scale
    reach = range(-40 * noise.sigma, 40 * noise.sigma)
    wider = range(-60 * noise.sigma, 60 * noise.sigma)
    weight = {x: mpmath.exp(-mpmath.mpf(x * x) / (2 * noise.sigma**2)) for x in wider}
    total = mpmath.fsum(weight.values())
    losses = {0: mpmath.mpf(0)}
    for shift in set(map(abs, shifts)) - {0}:
        ratios = []
        for order in map(mpmath.mpf, (1.01, 2, 5)):
            moments = (
                weight[x] ** order * weight[x - shift] ** (1 - order)
                for x in reach
                if x - shift in weight
            )
            ratios.append(mpmath.log(mpmath.fsum(moments) / total) / (order - 1) / order)
        losses[shift] = max(ratios)
    return float(mpmath.fsum(losses[abs(shift)] for shift in shifts))


def shifts_of(sums: PrefixSum, length: int, person: int, change: int) -> list[int]:
    """The changes, by replacing one person, of all numbers that get noise in the shipped steps."""

    def exact_numbers(value: int) -> list[int]:
        seen: list[int] = []

        def noised(noise: Noise, exact: np.ndarray) -> np.ndarray:
            seen.extend(exact.tolist())
            return np.zeros_like(exact)  # the same result for both neighbours

        people = np.zeros((length, 1), dtype=np.int64)
        people[person] = value
        prefixes(sums, people, noised)
        return seen

    return [one - two for one, two in zip(exact_numbers(change), exact_numbers(0), strict=True)]


@pytest.mark.parametrize("noise", [DiscreteGaussian(4), DiscreteLaplace(6)])
@pytest.mark.parametrize("length", [1, 2, 3, 4, 5])
def test_tiny_trees_lose_no_more_than_their_charge(
    noise: DiscreteGaussian | DiscreteLaplace, length: int
) -> None:
    """The loss of all releases together, for every person who might be replaced."""
    sums = TreeSum(Rows((1,)), noise, height=4)
    every = product(range(length), [1, 2])
    losses = [
        exact_loss(noise, shifts_of(sums, length, person, change)) for person, change in every
    ]
    assert max(losses) <= sums.spent(length).amount * (1 + 1e-9)
    assert max(losses) >= sums.spent(length).amount * 0.98  # and the charge is tight


@pytest.mark.parametrize("noise", [DiscreteGaussian(4), DiscreteLaplace(6)])
@pytest.mark.parametrize("length", [1, 2, 5])
def test_tiny_disjoint_sums_lose_the_charge_of_one_release(
    noise: DiscreteGaussian | DiscreteLaplace, length: int
) -> None:
    """Each person moves the numbers of one release only."""
    sums = DisjointSum(CalibratedNoise(Rows((1,)), noise))
    for person, change in product(range(length), [1, 2]):
        shifts = shifts_of(sums, length, person, change)
        assert [shift != 0 for shift in shifts] == [place == person for place in range(length)]
        loss = exact_loss(noise, shifts)
        assert loss <= sums.charge(person).amount * (1 + 1e-9)
        assert change < 2 or loss >= sums.charge(person).amount * 0.98
    assert sums.spent(length) == sums.charge(0)
    assert sums.spent(0).amount == 0


@pytest.mark.parametrize("privacy", [USUAL, Privacy(1.0), Privacy(1.0, 1e-6, contributions=2)])
@pytest.mark.parametrize(
    "aggregator",
    [Rows((5,)), Rows((200,)), OneChoice((50,)), PublicCells((9,), copies=2)],
    ids=repr,
)
def test_every_release_of_a_disjoint_sum_spends_the_whole_budget(
    privacy: Privacy, aggregator: Aggregator
) -> None:
    sums = DisjointSum.calibrate(privacy, Stream(aggregator, 7))
    allowed = {budget.measure: budget.amount for budget in privacy.budgets}
    assert sums.has_cohorts
    for index in range(7):
        assert 0.99 * allowed[sums.charge(index).measure] <= sums.charge(index).amount
        assert sums.charge(index).amount <= allowed[sums.charge(index).measure]
        assert sums.variance(index + 1) == pytest.approx(
            (index + 1) * sums.calibrated.noise.variance
        )
        assert sums.step_variance(index + 1) == sums.calibrated.noise.variance


def encoded(sums: ToeplitzSum, people: np.ndarray) -> np.ndarray:
    """The integers to which the Toeplitz sum adds noise, by the shipped steps."""
    seen: list[np.ndarray] = []

    def noised(noise: Noise, exact: np.ndarray) -> np.ndarray:
        seen.append(exact.copy())
        return np.zeros_like(exact)

    prefixes(sums, people, noised)
    return np.array(seen)


@settings(max_examples=60)
@given(
    st.integers(1, 300), st.integers(1, 4), st.integers(0, 2**32), st.sampled_from([0.0, 0.5, 1.0])
)
def test_a_neighbour_moves_the_encoded_stream_no_farther_than_calibrated(
    length: int, dimension: int, seed: int, spread: float
) -> None:
    """Fixed-point rounding included: the true distance of the integers, for the first person."""
    sums = ToeplitzSum.calibrate(BUDGET, Stream(Rows((dimension,)), length))
    generator = np.random.default_rng(seed)
    levels = sums.aggregator.levels
    people = generator.uniform(-1, 1, size=(length, dimension)) * spread * levels / dimension**0.5
    people = people.astype(np.int64)
    neighbour = people.copy()
    direction = generator.normal(size=dimension)
    step = (direction / np.linalg.norm(direction) * levels).astype(np.int64)
    people[0] = step
    neighbour[0] = -step
    moved = float(np.linalg.norm((encoded(sums, people) - encoded(sums, neighbour)).astype(float)))
    norm = np.sqrt(sums.fixed.used.norm_squared(length))
    assert moved <= 2 * levels * norm + sums.rounding * np.sqrt(length * dimension)
    assert sums.noise.charge(moved).amount <= sums.spent(length).amount <= BUDGET.amount


def test_the_toeplitz_kernel_is_the_matrix(generator: np.random.Generator) -> None:
    """The kernel equals the matrix in floats, up to the bound on rounding errors."""
    length = 400
    sums = ToeplitzSum.calibrate(BUDGET, Stream(Rows((2,)), length))
    matrix = toeplitz_matrix(sums.fixed.used, length)
    people = generator.integers(-sums.aggregator.levels, sums.aggregator.levels, size=(length, 2))
    assert np.abs(encoded(sums, people) - matrix @ people).max() <= sums.rounding


def toeplitz_matrix(used: Exponentials, length: int) -> np.ndarray:
    """The factor C as a matrix."""
    ages = np.arange(length)
    column = np.where(
        ages == 0, 1.0, used.weight @ (1 - used.decay[:, None]) ** np.maximum(ages - 1, 0)
    )
    return np.where(ages[:, None] >= ages, column[np.abs(ages[:, None] - ages)], 0.0)


def test_the_toeplitz_factor_is_the_square_root_for_short_horizons() -> None:
    for horizon in range(1, 18):
        exact = factor(horizon)
        errors = exact.norm_squared(horizon) * exact.row_norm_squared(horizon)
        assert errors == pytest.approx(square_root_norm(horizon) ** 2, rel=1e-12)


@pytest.mark.parametrize(
    "horizon", [18, 19, 20, 33, 50, 100, 500, 3000, 10**4, 10**5, 10**6, 10**7]
)
def test_the_toeplitz_factor_is_as_good_as_the_square_root(horizon: int) -> None:
    few = factor(horizon)
    assert few.weight.size <= 8
    assert (few.weight > 0).all()
    errors = few.norm_squared(horizon) * few.row_norm_squared(horizon)
    assert errors <= square_root_norm(horizon) ** 2 * 1.0025


def test_the_norms_are_those_of_the_matrices() -> None:
    length = 200
    few = factor(length)
    matrix = toeplitz_matrix(few, length)
    inverse = np.linalg.inv(matrix)
    rows = np.tril(np.ones((length, length))) @ inverse
    assert few.norm_squared(length) == pytest.approx(np.sum(matrix[:, 0] ** 2))
    for count in (1, 2, 77, 200):
        assert few.row_norm_squared(count) == pytest.approx(np.sum(rows[count - 1] ** 2))
        assert few.inverse_norm_squared(count) == pytest.approx(np.sum(inverse[count - 1] ** 2))


TINY = Privacy(1e-4, 1e-6)
BUDGETS = [
    TINY,
    Privacy(0.01, 1e-6),
    USUAL,
    Privacy(50.0, 1e-3),
    Privacy(1e-4),
    Privacy(1.0),
    Privacy(20.0),
]


@pytest.mark.parametrize("privacy", BUDGETS)
@pytest.mark.parametrize("norm", [1, 2, float("inf")])
@pytest.mark.parametrize("nonnegative", [False, True])
@pytest.mark.parametrize("releases", [1, 2, 3, 1000, 10**7])
def test_every_calibration_fits_its_budget_and_wastes_little(
    privacy: Privacy, norm: float, nonnegative: bool, releases: int
) -> None:
    stream = Stream(Rows((50,), norm=norm, nonnegative=nonnegative), releases)
    for method in ["auto", *METHODS]:
        if method == "toeplitz" and (privacy.pure or (privacy is TINY and releases == 10**7)):
            with pytest.raises(ConfigError, match=r"delta > 0|fewer releases"):
                calibrate(privacy, stream, method)
            continue
        sums = calibrate(privacy, stream, method)
        spent = sums.spent(releases)
        allowed = {budget.measure: budget.amount for budget in privacy.budgets}[spent.measure]
        assert 0.9 * allowed <= spent.amount <= allowed
        if sums.has_cohorts:
            assert sums.charge(0) == sums.charge(releases - 1) == spent
        else:
            charges = sum(
                sums.charge(2**power - 1).amount for power in range(releases.bit_length())
            )
            assert charges == pytest.approx(spent.amount)


@pytest.mark.parametrize("releases", [1, 2, 3, 5, 100, 10**6])
@pytest.mark.parametrize(
    "aggregator",
    [Rows((10,)), OneChoice((100,)), PublicCells((100,)), Rows((300,), norm=1)],
    ids=repr,
)
@pytest.mark.parametrize("privacy", [USUAL, Privacy(1.0)])
def test_auto_takes_the_least_noise_of_all_methods(
    releases: int, aggregator: Aggregator, privacy: Privacy
) -> None:
    full = 2 ** ((releases + 1).bit_length() - 1) - 1

    def noisiest(sums: PrefixSum) -> float:
        variance = max(sums.variance(count) for count in {full, releases})
        return float(variance**0.5 / sums.aggregator.levels)

    stream = Stream(aggregator, releases)
    methods = [method for method in METHODS if method != "toeplitz" or not privacy.pure]
    least = min(noisiest(calibrate(privacy, stream, method)) for method in methods)
    assert noisiest(calibrate(privacy, stream)) == pytest.approx(least, rel=1e-6)


def test_auto_takes_disjoint_sums_for_few_releases_and_toeplitz_sums_for_many() -> None:
    kinds = [
        type(calibrate(USUAL, Stream(PublicCells((100,)), releases))) for releases in (1, 10, 1000)
    ]
    assert kinds == [DisjointSum, DisjointSum, ToeplitzSum]


def test_noisy_sums_of_all_people_fit_64_bits() -> None:
    for releases, people in ((1, 1), (10**6, 10**6), (2**40, 1)):
        stream = Stream(Rows((3,)), releases, people)
        sums = calibrate(USUAL, stream, "honaker")
        assert sums.aggregator.levels * releases * people <= 2**60
    with pytest.raises(ConfigError, match="method must be"):
        calibrate(USUAL, stream, "magic")


def test_the_exact_check_detects_half_the_noise() -> None:
    """The check of tiny trees above can fail."""
    noise = DiscreteGaussian(4)
    sums = TreeSum(Rows((1,)), noise, height=4)
    weak_noise = DiscreteGaussian(2)
    weak = replace(sums, noise=weak_noise)
    losses = [exact_loss(weak_noise, shifts_of(weak, 4, person, 2)) for person in range(4)]
    assert max(losses) > 3 * sums.spent(4).amount
