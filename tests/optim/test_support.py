"""If these fail, arms have features that were not selected for them, or wrong weights."""

from math import sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.optim.ridge import fit_ridges
from discreet.optim.support import Supports

COUNT, MOST = 6, 4


def random_supports(generator: np.random.Generator, arms: int = 3) -> Supports:
    """Return supports of different sizes, also empty and full ones."""
    features = np.full((arms, MOST), -1)
    coefficients = np.zeros((arms, MOST + 1))
    for arm in range(arms):
        size = generator.integers(0, MOST + 1)
        features[arm, :size] = generator.permutation(COUNT)[:size]
        coefficients[arm, : size + 1] = generator.normal(size=size + 1)
    return Supports(features, coefficients)


def by_feature(supports: Supports) -> list[dict[int, float]]:
    """Return the coefficient of every feature per arm, with −1 for the constant."""
    arms = []
    for features, row in zip(supports.features, supports.coefficients, strict=True):
        coefficients = {-1: float(row[0])}
        for feature, value in zip(features, row[1:], strict=True):
            if feature >= 0:
                coefficients[int(feature)] = float(value)
        arms.append(coefficients)
    return arms


SEEDS = given(st.integers(0, 10**6))


def test_empty_supports_score_zero() -> None:
    empty = Supports.empty(3, MOST)
    assert empty.sizes.tolist() == [0, 0, 0]
    assert not empty.among(COUNT).any()
    weights, offsets = empty.folded(COUNT, np.ones(COUNT), 0.5)
    assert not weights.any()
    assert not offsets.any()


@settings(max_examples=30)
@SEEDS
def test_each_arm_has_its_own_features(seed: int) -> None:
    supports = random_supports(np.random.default_rng(seed))
    table = supports.among(COUNT)
    assert table.shape == (3, COUNT)
    expected = [set(coefficients) - {-1} for coefficients in by_feature(supports)]
    assert [set(np.flatnonzero(row)) for row in table] == expected
    assert supports.sizes.tolist() == table.sum(axis=1).tolist()


@settings(max_examples=30)
@SEEDS
def test_a_row_is_read_on_the_features_of_its_arm(seed: int) -> None:
    generator = np.random.default_rng(seed)
    supports = random_supports(generator)
    rows = generator.normal(size=(5, COUNT))
    arms = generator.integers(0, 3, size=5)
    read = supports.of_rows(rows, arms)
    for row, arm, numbers in zip(rows, arms, read, strict=True):
        features = supports.features[arm]
        assert numbers.tolist() == [row[name] if name >= 0 else 0.0 for name in features]


def test_numbers_that_no_arm_reads_may_be_infinite() -> None:
    supports = Supports(np.array([[1, -1]]), np.zeros((1, 3)))
    read = supports.of_rows(np.array([[np.nan, 0.5, np.inf]]), np.array([0]))
    assert read.tolist() == [[0.5, 0.0]]


@settings(max_examples=30)
@SEEDS
def test_folded_weights_score_contexts_like_the_small_regressions(seed: int) -> None:
    generator = np.random.default_rng(seed)
    supports = random_supports(generator)
    centre = generator.normal(size=COUNT)
    weights, offsets = supports.folded(COUNT, centre, constant=0.7)
    rows = generator.normal(size=(5, COUNT))
    for arm, coefficients in enumerate(by_feature(supports)):
        features = set(coefficients) - {-1}
        for row in rows:
            linear = sum(coefficients[name] * (row[name] - centre[name]) for name in features)
            score = offsets[arm] + row @ weights[:, arm]
            assert score == pytest.approx(coefficients[-1] * 0.7 + linear)
        assert set(np.flatnonzero(weights[:, arm])) <= features


@settings(max_examples=30)
@SEEDS
def test_refitting_adds_each_arms_own_ridge(seed: int) -> None:
    """Rows and columns of features that an arm does not have are noise, and must not be used."""
    generator = np.random.default_rng(seed)
    supports = random_supports(generator)
    before = generator.normal(size=(3, MOST + 1))
    contexts = generator.normal(size=(3, 50, MOST + 1))
    grams = np.einsum("kpi,kpj->kij", contexts, contexts)
    moments = generator.normal(size=(3, MOST + 1)) * 10

    refitted, covariances = supports.refitted(grams, moments, before, noise=0.3)

    assert refitted.features is supports.features
    for arm, size in enumerate(supports.sizes + 1):
        ridge = fit_ridges(
            grams[arm, :size, :size][None],
            moments[arm, :size][None],
            gram_noise=0.3 * sqrt(2),
            moment_noise=0.3,
        )
        expected = before[arm, :size] + ridge.coefficients[0]
        assert np.allclose(refitted.coefficients[arm, :size], expected)
        assert np.array_equal(refitted.coefficients[arm, size:], before[arm, size:])
        assert np.allclose(covariances[arm, :size, :size], ridge.covariances[0])
        assert not covariances[arm, size:].any()
        assert not covariances[arm, :, size:].any()


@settings(max_examples=40)
@given(st.integers(0, 10**6), st.integers(0, MOST), st.sampled_from([0.0, 1.0, 3.0]))
def test_pruning_retains_the_most_significant_features_with_their_coefficients(
    seed: int, most: int, least: float
) -> None:
    generator = np.random.default_rng(seed)
    supports = random_supports(generator)
    deviations = generator.uniform(0.1, 1.0, size=(3, MOST + 1))

    pruned = supports.pruned(deviations, most, least)

    pairs = zip(by_feature(supports), by_feature(pruned), strict=True)
    for arm, (before, after) in enumerate(pairs):
        ratios = {
            int(name): abs(before[int(name)]) / deviations[arm, 1 + place]
            for place, name in enumerate(supports.features[arm])
            if name >= 0
        }
        significant = [name for name in ratios if ratios[name] > least]
        best = sorted(significant, key=ratios.__getitem__, reverse=True)[:most]
        assert set(after) == {-1, *best}
        assert all(after[name] == before[name] for name in after)


def test_a_coefficient_without_noise_is_retained() -> None:
    supports = Supports(np.array([[2, 5]]), np.array([[0.1, 0.3, 0.0]]))
    pruned = supports.pruned(np.zeros((1, 3)), most=2, least=1.0)
    assert pruned.features.tolist() == [[2, -1]]
    assert pruned.coefficients.tolist() == [[0.1, 0.3, 0.0]]


@settings(max_examples=30)
@SEEDS
def test_new_features_with_an_estimate_are_added_after_the_old_ones(seed: int) -> None:
    generator = np.random.default_rng(seed)
    supports = random_supports(generator)
    outside = [np.flatnonzero(~row) for row in supports.among(COUNT)]
    picks = np.array([generator.permutation(names)[:2] for names in outside])
    estimates = generator.normal(size=(3, 2)) * generator.integers(0, 2, size=(3, 2))

    extended = supports.with_more(picks, estimates)

    before = by_feature(supports)
    after = by_feature(extended)
    for arm in range(3):
        room = MOST - supports.sizes[arm]
        added = [
            (int(name), float(value))
            for name, value in zip(picks[arm], estimates[arm], strict=True)
            if value
        ]
        assert after[arm] == before[arm] | dict(added[:room])


def test_newcomers_begin_with_the_commonest_features_of_the_others() -> None:
    supports = Supports(np.array([[3, 1, -1], [1, 0, 3], [1, -1, -1], [5, 2, -1]]), np.ones((4, 4)))
    newcomers = np.array([False, False, False, True])
    shared = supports.shared_with(newcomers)
    assert shared.features.tolist() == [[3, 1, -1], [1, 0, 3], [1, -1, -1], [1, 3, 0]]
    assert not shared.coefficients[3].any()
    assert shared.coefficients[:3].all()
    assert supports.features[3].tolist() == [5, 2, -1]  # the old table is unchanged
    all_new = supports.shared_with(np.ones(4, dtype=np.bool_))
    assert (all_new.features == -1).all()
    none_new = supports.shared_with(np.zeros(4, dtype=np.bool_))
    assert np.array_equal(none_new.features, supports.features)
