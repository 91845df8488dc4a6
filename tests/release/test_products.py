"""If these fail, products exceed their stated bound, or second moments are computed wrongly."""

from collections.abc import Callable, Iterable
from fractions import Fraction
from itertools import product
from math import inf, isqrt, nan, sqrt
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from discreet.budget.ledger import units_of
from discreet.budget.privacy import Privacy, pure, zcdp
from discreet.engine.schedule import ListedBlocks, growing_blocks
from discreet.engine.statistics import RunningTotal
from discreet.errors import ConfigError
from discreet.release.aggregators import Aggregate, Gram, Moments, Rows, Spread
from discreet.release.aggregators.gram import unpacked
from discreet.release.sums.prefix_sum import PrefixSum, Stream, calibrate

HOSTILE = [nan, inf, -inf, 1e308, -1e308, 1.4e154, -1e150, 1e-160, 5e-324, -0.0]
"""Numbers that a person may send to break a product; the square of 1.4e154 is not finite."""
ORDINARY = [0.0, 0.3, -0.5, sqrt(0.5), -sqrt(0.5), 1.0, -1.0, 1 - 2.0**-53, 1 + 2.0**-52, 40.0]

Product = Spread | Gram | Moments
MAKERS: dict[str, Callable[[int, int], Any]] = {
    "spread": Spread.of,
    "gram": Gram.of,
    "moments": lambda size, levels: Moments.of(2, size, levels),
}


def alone(
    aggregator: Product, person: Iterable[float], reward: float = 1.0, slot: int = 0
) -> np.ndarray:
    """The integers of one person."""
    sums = aggregator.empty()
    row = np.array([list(person)], dtype=np.float64)
    if isinstance(aggregator, Moments):
        aggregator.add(sums, row, np.array([reward]), np.array([slot]))
    else:
        aggregator.add(sums, row)
    return sums.values.reshape(-1)


def squared(one: np.ndarray, other: np.ndarray | int = 0) -> int:
    """The squared distance of two people's integers, exactly."""
    return sum(int(value) ** 2 for value in (one - other).tolist())


def allowed(aggregator: Product) -> int:
    """The square of the stated sensitivity, rounded down, exactly."""
    return int(Fraction(aggregator.sensitivity(2)) ** 2)


def share_of(aggregator: Product, most: int) -> float:
    """A squared distance as a share of the stated sensitivity."""
    return sqrt(most / allowed(aggregator))


class Farthest(NamedTuple):
    """The largest changes over all pairs of people."""

    squares: int
    length: int
    interval: int
    cells: int


def farthest(people: list[np.ndarray]) -> Farthest:
    """The largest changes over all pairs; one of a pair may be missing."""
    distinct = np.unique([np.zeros_like(people[0]), *people], axis=0)
    most = Farthest(0, 0, 0, 0)
    for one in distinct:
        changes = distinct - one
        interval = np.maximum(changes.max(axis=1), 0) - np.minimum(changes.min(axis=1), 0)
        most = Farthest(
            squares=max(most.squares, int((changes**2).sum(axis=1).max())),
            length=max(most.length, int(np.abs(changes).sum(axis=1).max())),
            interval=max(most.interval, int(interval.max())),
            cells=max(most.cells, int((changes != 0).sum(axis=1).max())),
        )
    return most


def assert_stated(aggregator: Product, people: list[np.ndarray]) -> float:
    """No pair is farther apart than stated; returns the share of the l₂ sensitivity in use."""
    most = farthest(people)
    assert most.squares <= allowed(aggregator)
    assert most.length <= aggregator.sensitivity(1)
    assert most.interval <= aggregator.span
    assert most.cells <= aggregator.cells
    return share_of(aggregator, most.squares)


def least_levels(kind: str, size: int) -> int:
    """The coarsest grid on which people can be added."""
    return next(levels for levels in range(1, 10**4) if _is_fine(MAKERS[kind](size, levels)))


def _is_fine(aggregator: Product) -> bool:
    """Whether the grid leaves room for rounding."""
    try:
        return aggregator.unit > 0
    except ConfigError:
        return False


# --- no two people are farther apart than stated


@pytest.mark.parametrize("kind", MAKERS)
@pytest.mark.parametrize("levels", [0, 1, 5, 2**16, 2**30])
def test_no_two_hostile_people_are_farther_apart_than_stated(kind: str, levels: int) -> None:
    """All pairs of people with two hostile numbers each, from the coarsest possible grid on."""
    aggregator = MAKERS[kind](2, levels if levels > 5 else least_levels(kind, 2) + levels)
    people = list(product(HOSTILE + ORDINARY, repeat=2))
    if kind == "moments":
        some = [person for person in people if nan not in person][::5]
        rewarded = product(some, [nan, -inf, 1e308, -1.0, 1.0, 0.7, 5e-324], [-1, 0, 1])
        sums = [alone(aggregator, *each) for each in rewarded]
    else:
        sums = [alone(aggregator, person) for person in people]
    share = assert_stated(aggregator, sums)
    assert share >= (0.9999 if levels > 5 else 0.5)


@pytest.mark.parametrize("kind", MAKERS)
def test_no_two_people_on_a_coarse_grid_are_farther_apart_than_stated(kind: str) -> None:
    """One number per person, all values in steps of 1/90: where rounding matters most."""
    values = np.linspace(-1.0, 1.0, 181)
    for levels in range(least_levels(kind, 1), 12):
        aggregator = MAKERS[kind](1, levels)
        if kind == "moments":
            people = [
                alone(aggregator, [z], u, s)
                for z in values[::4]
                for u in values[::15]
                for s in (0, 1)
            ]
        else:
            people = [alone(aggregator, [value]) for value in values]
        assert_stated(aggregator, people)


def climbed(aggregator: Product, size: int, generator: np.random.Generator, tries: int) -> int:
    """The largest squared distance that a random local search over pairs of people finds."""
    pair = generator.normal(size=(2, size + 2))
    pair[1] = pair[0] * generator.choice([-1.0, 1.0], size=size + 2)
    best = 0
    width = 1.0
    for _ in range(tries):
        touched = generator.random(pair.shape) < generator.choice([0.2, 1.0])
        other = pair + generator.normal(size=pair.shape) * width * touched
        one, two = (
            alone(aggregator, row[:size], row[size], int(row[size + 1] > 0)) for row in other
        )
        distance = squared(one, two)
        assert distance <= allowed(aggregator), other.tolist()
        if distance >= best:
            pair = other
            best = distance
            width = min(1.3 * width, 2.0)
        else:
            width = max(0.97 * width, 1e-9)
    return best


@pytest.mark.parametrize("kind", MAKERS)
def test_a_search_for_people_far_apart_stays_within_the_bound(
    kind: str, generator: np.random.Generator
) -> None:
    for size in (1, 2, 4):
        least = least_levels(kind, size)
        for levels in (least, least + 1, 3 * least, 1000, 2**24):
            climbed(MAKERS[kind](size, levels), size, generator, tries=250)


@pytest.mark.parametrize("levels", [2**16, 2**24, 2**30])
@pytest.mark.parametrize("size", [1, 2, 3, 7])
def test_the_stated_distances_are_attained(levels: int, size: int) -> None:
    """Otherwise the noise would be larger than needed, and the tests above would prove nothing."""
    unit = np.eye(size)[0]
    other = np.eye(size)[-1]
    spread, gram, moments = (make(size, levels) for make in MAKERS.values())
    apart = {
        "opposite vectors": (spread, squared(alone(spread, unit), alone(spread, -unit)), 1.0),
        "a vector and nobody": (spread, squared(alone(spread, unit)), 1.0),
        "a product and nobody": (gram, squared(alone(gram, unit)), 1.0),
        "opposite rewards": (
            moments,
            squared(alone(moments, unit), alone(moments, unit, -1.0)),
            1.0,
        ),
        "two arms": (
            moments,
            squared(alone(moments, unit), alone(moments, unit, 1.0, 1)),
            sqrt(3) / 2,
        ),
    }
    if size > 1:
        apart["orthogonal vectors"] = (gram, squared(alone(gram, unit), alone(gram, other)), 1.0)
    for case, (aggregator, distance, expected) in apart.items():
        assert distance <= allowed(aggregator), case
        assert share_of(aggregator, distance) == pytest.approx(expected, rel=1e-4), case


@pytest.mark.parametrize("levels", [2**24, 2**30])
def test_a_thousand_numbers_leave_room_for_floating_point(
    levels: int, generator: np.random.Generator
) -> None:
    """Rows with the largest errors of their squares: many equal numbers, lengths close to 1."""
    for kind, size in (("spread", 4000), ("gram", 70), ("moments", 70)):
        aggregator = MAKERS[kind](size, levels)
        equal = np.full(size, 1 / sqrt(size))
        rows = [equal * (1 + shift) for shift in (-1e-13, 0.0, 2e-16, 1e-13, 1.0, 1e100)]
        rows += list(generator.normal(size=(4, size)))
        sums = [alone(aggregator, row) for row in rows]
        sums += [alone(aggregator, -row) for row in rows]
        if kind == "moments":
            sums += [alone(aggregator, row, -1.0) for row in rows]
        most = max(squared(one, two) for one, two in product(sums[:10], sums))
        most = max(most, *(squared(one) for one in sums))
        assert most <= allowed(aggregator)
        assert share_of(aggregator, most) >= 0.9999


@pytest.mark.parametrize("kind", MAKERS)
@pytest.mark.parametrize("size", [1, 3, 50])
def test_a_grid_leaves_room_for_rounding_every_entry(kind: str, size: int) -> None:
    """Two people whose entries are rounded apart by a whole step each obey the stated bound."""
    for levels in (least_levels(kind, size), 1000, 2**30):
        aggregator = MAKERS[kind](size, levels)
        rounded = aggregator.unit * aggregator.distance + sqrt(aggregator.entries)
        assert rounded <= aggregator.sensitivity(2) - 0.99


@pytest.mark.parametrize("kind", MAKERS)
def test_a_grid_too_coarse_for_rounding_is_refused_before_any_data_is_read(kind: str) -> None:
    for size in (1, 20):
        coarse = MAKERS[kind](size, least_levels(kind, size) - 1)
        people = coarse.empty()
        more = (np.ones(1), np.zeros(1, dtype=np.int64)) if kind == "moments" else ()
        with pytest.raises(ConfigError, match="too many for this budget"):
            coarse.add(people, np.ones((1, size)), *more)
        assert people.additions == 0
        assert not people.values.any()


@pytest.mark.parametrize("levels", [0, 2**30 + 1])
def test_grids_too_fine_for_the_kernels_are_refused(levels: int) -> None:
    for make in MAKERS.values():
        with pytest.raises(ConfigError, match="levels"):
            make(2, levels)


# --- the sums follow the formula


def plain(aggregator: Product, row: np.ndarray, reward: float = 1.0) -> np.ndarray:
    """One person's vector in NumPy, in units of the bound."""
    if not np.isfinite(row).all() or not np.isfinite(reward):
        return np.zeros(aggregator.entries)
    length = max(1.0, float(np.linalg.norm(row)))
    row = row / length
    if isinstance(aggregator, Spread):
        return np.array([*row, sqrt(2) * (row @ row), 1.0])
    below = np.tril_indices(len(row))
    packed = (np.outer(row, row) * np.where(np.eye(len(row)), 1.0, sqrt(2)))[below]
    if isinstance(aggregator, Gram):
        return np.append(packed, 1.0)
    return np.concatenate([packed / sqrt(2), row * float(np.clip(reward, -1, 1)) / length])


@settings(max_examples=60)
@given(
    arrays(
        np.float64,
        st.tuples(st.just(1), st.integers(1, 6)),
        elements=st.floats(-3, 3) | st.just(nan),
    ),
    st.sampled_from(list(MAKERS)),
    st.sampled_from([64, 2**20]),
)
def test_contributions_equal_those_of_numpy(row: np.ndarray, kind: str, levels: int) -> None:
    aggregator = MAKERS[kind](row.shape[1], levels)
    expected = aggregator.unit * plain(aggregator, row[0])
    computed = alone(aggregator, row[0])[: aggregator.entries]
    assert np.abs(computed - expected).max() <= 0.5 + 1e-7


def test_rewards_are_clipped_and_scaled_with_their_contexts() -> None:
    """A long context must not bias a regression: z and u are scaled by the same factor."""
    moments = Moments.of(slots=1, size=2, levels=2**20)
    for length, reward in product([0.5, 1.0, 4.0, 1e150], [0.4, -1.0, 7.0, -1e308]):
        row = np.array([0.6, -0.8]) * length
        scaled = float(np.clip(reward, -1, 1)) / max(1.0, length)
        vector = np.array([0.6, -0.8]) * min(1.0, length)
        expected = moments.unit * plain(moments, vector, scaled)
        assert np.abs(alone(moments, row, reward) - expected).max() <= 0.5 + 1e-7


@pytest.mark.parametrize("kind", MAKERS)
def test_many_people_are_the_sum_of_single_ones(kind: str, generator: np.random.Generator) -> None:
    aggregator = MAKERS[kind](3, 2**20)
    rows = generator.normal(size=(40, 3)) * generator.choice(
        [1e-200, 0.1, 1.0, 1e200], size=(40, 1)
    )
    rows[generator.random((40, 3)) < 0.05] = nan
    rewards = generator.normal(size=40)
    slots = generator.integers(-2, 4, size=40)
    together = aggregator.empty()
    more = (rewards, slots) if kind == "moments" else ()
    aggregator.add(together, rows, *more)
    singles = [alone(aggregator, *each) for each in zip(rows, rewards, slots, strict=True)]
    assert np.array_equal(together.values.reshape(-1), np.sum(singles, axis=0))
    assert together.additions == 1


@pytest.mark.parametrize("kind", MAKERS)
def test_rows_that_are_not_finite_add_nothing(kind: str) -> None:
    aggregator = MAKERS[kind](3, 1000)
    for number in (nan, inf, -inf, 1.4e154, -1e308):
        assert not alone(aggregator, [0.5, number, 0.5]).any()
    if kind == "moments":
        for reward in (nan, inf, -inf):
            assert not alone(aggregator, [0.5, 0.5, 0.5], reward).any()


def test_people_without_a_slot_add_nothing_and_others_add_to_their_slot() -> None:
    moments = Moments.of(slots=3, size=1, levels=1000)
    for slot in (-1, 3, -(2**63), 2**63 - 1):
        assert not alone(moments, [1.0], 1.0, slot).any()
    people = moments.empty()
    moments.add(people, np.ones((4, 1)), np.array([1.0, 1.0, -1.0, 1.0]), np.array([2, 0, 2, -1]))
    _, sums = moments.parted(people.values * moments.grid)
    assert sums[:, 0] == pytest.approx([1.0, 0.0, 0.0], abs=0.01)


def test_every_person_has_one_context_one_reward_and_one_slot() -> None:
    moments = Moments.of(slots=2, size=2, levels=1000)
    for rows, rewards, slots in ((2, 1, 2), (2, 2, 1), (1, 2, 2)):
        with pytest.raises(ConfigError, match="one context, one reward and one slot"):
            moments.add(
                moments.empty(),
                np.ones((rows, 2)),
                np.ones(rewards),
                np.zeros(slots, dtype=np.int64),
            )


@pytest.mark.parametrize("kind", MAKERS)
def test_people_far_outside_the_bound_keep_their_direction(kind: str) -> None:
    aggregator = MAKERS[kind](2, 2**20)
    far, near = (alone(aggregator, np.array([0.6, -0.8]) * length) for length in (1e150, 1.0))
    if kind == "moments":  # the reward shrinks with the context
        far, near = far[:3], near[:3]
    assert np.abs(far - near).max() <= 1


@pytest.mark.parametrize("kind", MAKERS)
def test_people_on_many_machines_equal_people_on_one(
    kind: str, generator: np.random.Generator
) -> None:
    aggregator = MAKERS[kind](4, 777)
    rows = generator.normal(size=(30, 4))
    rewards = generator.normal(size=30)
    slots = generator.integers(0, 2, size=30)

    def of(some: np.ndarray) -> Aggregate:
        sums: Aggregate = aggregator.empty()
        more = (rewards[some], slots[some]) if kind == "moments" else ()
        aggregator.add(sums, rows[some], *more)
        return sums

    order = generator.permutation(30)
    merged = aggregator.merge(of(order[:11]), aggregator.merge(of(order[11:12]), of(order[12:])))
    assert np.array_equal(merged.values, of(np.arange(30)).values)
    with pytest.raises(ConfigError, match="only aggregates of the same"):
        aggregator.merge(merged, aggregator.on_grid(778).empty())


# --- totals are split into their parts


@settings(max_examples=40)
@given(st.integers(1, 7), st.integers(0, 10**6))
def test_packed_matrices_are_unpacked_exactly(size: int, seed: int) -> None:
    matrices = np.random.default_rng(seed).normal(size=(3, size, size))
    matrices = matrices + matrices.transpose(0, 2, 1)
    rows, columns = np.tril_indices(size)
    packed = matrices[:, rows, columns] * np.where(rows == columns, 1.0, sqrt(2))
    assert np.allclose(unpacked(packed), matrices, rtol=1e-14)
    assert np.allclose(unpacked(packed[0]), matrices[0], rtol=1e-14)
    assert np.allclose((packed**2).sum(axis=1), (matrices**2).sum(axis=(1, 2)))


def test_totals_split_into_the_sums_over_people(generator: np.random.Generator) -> None:
    rows = generator.normal(size=(50, 3)) / 4
    rewards = generator.uniform(-1, 1, size=50)
    slots = generator.integers(0, 2, size=50)
    rows /= np.maximum(1.0, np.linalg.norm(rows, axis=1))[:, None]
    spread, gram, moments = (make(3, 2**24) for make in MAKERS.values())
    totals = []
    for aggregator in (spread, gram, moments):
        sums = aggregator.empty()
        aggregator.add(sums, rows, *((rewards, slots) if aggregator is moments else ()))
        totals.append(sums.values * aggregator.grid)
    total, squares, count = spread.parted(totals[0])
    assert total == pytest.approx(rows.sum(axis=0), abs=1e-4)
    assert (squares, count) == pytest.approx(((rows**2).sum(), 50), abs=1e-4)
    matrix, count = gram.parted(totals[1])
    assert matrix == pytest.approx(rows.T @ rows, abs=1e-4)
    assert count == pytest.approx(50, abs=1e-4)
    matrices, vectors = moments.parted(totals[2])
    for slot in (0, 1):
        here = rows[slots == slot]
        assert matrices[slot] == pytest.approx(here.T @ here, abs=1e-4)
        assert vectors[slot] == pytest.approx(rewards[slots == slot] @ here, abs=1e-4)


@given(st.integers(1, 300), st.integers(1, 5))
def test_the_dimension_follows_from_the_shape(size: int, slots: int) -> None:
    """A wrong dimension would mix second moments with moments."""
    assert Moments.of(slots, size).width == size
    assert Moments.of(slots, size).shape == (slots, size * (size + 1) // 2 + size)
    assert (isqrt(8 * Gram.of(size).size - 7) - 1) // 2 == size
    assert Spread.of(size).size == size + 2


WRONG_SHAPES = {
    "a spread without vectors": lambda: Spread((1,), 100),
    "a table of spreads": lambda: Spread((2, 3), 100),
    "a table of products": lambda: Gram((2, 2), 100),
    "a row of moments": lambda: Moments((5,), 100),
}


@pytest.mark.parametrize("make", WRONG_SHAPES.values(), ids=WRONG_SHAPES)
def test_shapes_that_kernels_cannot_fill_are_refused(make: Callable[[], Any]) -> None:
    with pytest.raises(ConfigError):
        make()


# --- plans with these aggregators: shares of a budget, sums of charges, growing blocks

USUAL = Privacy(1.0, 1e-6)


@pytest.mark.parametrize("method", ["auto", "honaker", "toeplitz"])
@pytest.mark.parametrize("share", [0.5, 0.9])
def test_a_running_sum_spends_its_share_of_the_budget(method: str, share: float) -> None:
    stream = Stream(Moments.of(2, 3), releases=20, people=1000)
    part = calibrate(USUAL, stream, method, disjoint=False, share=share)
    whole = calibrate(USUAL, stream, method, disjoint=False)
    granted = share * USUAL.budget.amount
    assert not part.has_cohorts
    assert 0.98 * granted <= part.spent(20).amount <= granted

    def noise(sums: PrefixSum) -> float:
        return sums.variance(20) / sums.aggregator.levels**2

    assert noise(part) / noise(whole) == pytest.approx(1 / share, rel=0.05)


@pytest.mark.parametrize(
    "aggregator", [Rows((3,)), Rows((300,))], ids=["few numbers: pure", "many numbers: zCDP"]
)
def test_disjoint_releases_spend_their_share_in_their_own_measure(aggregator: Rows) -> None:
    stream = Stream(aggregator, releases=2)
    half, whole = (calibrate(USUAL, stream, "disjoint", share=share) for share in (0.5, 1.0))
    assert half.has_cohorts
    measure = half.charge(0).measure
    assert measure == whole.charge(0).measure == ("pure" if aggregator.size == 3 else "zcdp")
    budget = next(budget for budget in USUAL.budgets if budget.measure == measure)
    assert 0.49 * budget.amount <= half.spent(2).amount <= 0.5 * budget.amount
    assert (half.charge(0) + half.charge(0)).amount <= budget.amount


@pytest.mark.parametrize("share", [2.0, 0.0, -0.5, nan])
def test_shares_above_1_or_not_above_0_are_refused(share: float) -> None:
    with pytest.raises(ConfigError, match="share"):
        calibrate(USUAL, Stream(Rows((3,)), releases=5), disjoint=False, share=share)


def test_a_total_with_a_share_pays_no_more_than_that() -> None:
    lengths = growing_blocks(1000, 50, 1.2)
    total = RunningTotal(
        "moments",
        Moments.of(2, 3),
        ListedBlocks(1000, lengths),
        USUAL,
        max(lengths),
        disjoint=False,
        share=0.75,
    )
    assert total.spent.amount <= 0.75 * USUAL.budget.amount
    paid = sum((total.charge(index) for index in range(total.releases)), start=zcdp(0.0))
    assert paid.amount <= 0.75 * USUAL.budget.amount
    assert isinstance(total.aggregator, Moments)
    assert total.aggregator.unit > 0.99 * total.aggregator.levels


@given(st.lists(st.floats(0, 1e3), min_size=1, max_size=6))
def test_charges_added_up_are_no_less_than_their_sum(amounts: list[float]) -> None:
    total = sum((zcdp(amount) for amount in amounts), start=zcdp(0.0))
    assert Fraction(total.amount) >= sum(map(Fraction, amounts))
    assert total.amount <= sum(amounts) * (1 + 1e-14) + len(amounts) * 2**-94


def test_charges_in_two_measures_do_not_add_up() -> None:
    with pytest.raises(ConfigError, match="do not add up"):
        zcdp(0.1) + pure(0.1)


@given(st.lists(st.floats(2**-43, 1e3), min_size=1, max_size=6))
def test_a_charge_reserved_for_several_draws_pays_for_each(amounts: list[float]) -> None:
    """A door rounds each charge up to whole units; below 2⁻⁴³ a sum may be some units short."""
    total = sum((zcdp(amount) for amount in amounts), start=zcdp(0.0))
    assert sum(units_of(zcdp(amount)) for amount in amounts) <= units_of(total)


@settings(max_examples=50)
@given(st.integers(1, 2000), st.floats(0.1, 500), st.floats(1, 3))
def test_growing_blocks_end_before_the_last_round(rounds: int, first: float, growth: float) -> None:
    """A block that ended with the horizon would pay for a release that no decision uses."""
    lengths = growing_blocks(rounds, first, growth)
    assert sum(lengths) < rounds
    assert all(length >= 1 for length in lengths)
    assert list(lengths) == sorted(lengths)
    assert ListedBlocks(rounds, lengths).releases == len(lengths)
    following = max(1, int(first * growth ** len(lengths) * (1 + 1e-9)))
    assert sum(lengths) + following >= rounds


def test_growing_blocks_grow_by_the_factor() -> None:
    lengths = growing_blocks(10**6, 1000, 1.2)
    assert np.diff(np.log(lengths)) == pytest.approx(np.log(1.2), abs=2e-3)
    assert growing_blocks(100, 1000, 1.5) == growing_blocks(1, 1, 2.0) == ()
