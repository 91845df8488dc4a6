"""If these fail, arms keep features that were not found for them, or weights land on the wrong
features.
"""

from math import sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.optim.ridge import fit_ridges
from discreet.optim.support import Supports

COUNT, MOST = 6, 4


def drawn(generator: np.random.Generator, arms: int = 3) -> Supports:
    """Supports of different sizes, empty and full ones too."""
    features, coefficients = np.full((arms, MOST), -1), np.zeros((arms, MOST + 1))
    for arm in range(arms):
        size = generator.integers(0, MOST + 1)
        features[arm, :size] = generator.permutation(COUNT)[:size]
        coefficients[arm, : size + 1] = generator.normal(size=size + 1)
    return Supports(features, coefficients)


def as_sets(supports: Supports) -> list[dict[int, float]]:
    """What each arm knows: the coefficient of every feature, −1 for the constant."""
    return [
        {-1: float(row[0])}
        | {int(name): float(value) for name, value in zip(names, row[1:]) if name >= 0}  # noqa: B905
        for names, row in zip(supports.features, supports.coefficients, strict=True)
    ]


SEEDS = given(st.integers(0, 10**6))


def test_nothing_is_known_at_first() -> None:
    nothing = Supports.empty(3, MOST)
    assert nothing.sizes.tolist() == [0, 0, 0]
    assert not nothing.among(COUNT).any()
    weights, offsets = nothing.folded(COUNT, np.ones(COUNT), 0.5)
    assert not weights.any()
    assert not offsets.any()


@settings(max_examples=30)
@SEEDS
def test_each_arm_has_its_own_features(seed: int) -> None:
    supports = drawn(np.random.default_rng(seed))
    table = supports.among(COUNT)
    assert table.shape == (3, COUNT)
    assert [set(np.flatnonzero(row)) for row in table] == [
        set(known) - {-1} for known in as_sets(supports)
    ]
    assert supports.sizes.tolist() == table.sum(axis=1).tolist()


@settings(max_examples=30)
@SEEDS
def test_people_bring_the_numbers_of_their_own_arms_features(seed: int) -> None:
    generator = np.random.default_rng(seed)
    supports, rows, arms = (
        drawn(generator),
        generator.normal(size=(5, COUNT)),
        generator.integers(0, 3, size=5),
    )
    found = supports.of_rows(rows, arms)
    for row, arm, numbers in zip(rows, arms, found, strict=True):
        names = supports.features[arm]
        assert numbers.tolist() == [row[name] if name >= 0 else 0.0 for name in names]


def test_a_number_that_no_arm_reads_does_no_harm() -> None:
    supports = Supports(np.array([[1, -1]]), np.zeros((1, 3)))
    found = supports.of_rows(np.array([[np.nan, 0.5, np.inf]]), np.array([0]))
    assert found.tolist() == [[0.5, 0.0]]


@settings(max_examples=30)
@SEEDS
def test_folded_weights_score_contexts_like_the_small_regressions(seed: int) -> None:
    generator = np.random.default_rng(seed)
    supports, centre = drawn(generator), generator.normal(size=COUNT)
    weights, offsets = supports.folded(COUNT, centre, constant=0.7)
    rows = generator.normal(size=(5, COUNT))
    for arm, known in enumerate(as_sets(supports)):
        for row in rows:
            beyond = sum(
                value * (row[name] - centre[name]) for name, value in known.items() if name >= 0
            )
            assert offsets[arm] + row @ weights[:, arm] == pytest.approx(known[-1] * 0.7 + beyond)
        assert set(np.flatnonzero(weights[:, arm])) <= set(known)


@settings(max_examples=30)
@SEEDS
def test_refitting_adds_each_arms_own_ridge(seed: int) -> None:
    """Rows and columns of features that an arm does not have are noise, and must not enter."""
    generator = np.random.default_rng(seed)
    supports, before = drawn(generator), generator.normal(size=(3, MOST + 1))
    contexts = generator.normal(size=(3, 50, MOST + 1))
    grams = np.einsum("kpi,kpj->kij", contexts, contexts)
    moments = generator.normal(size=(3, MOST + 1)) * 10
    found, covariances = supports.refitted(grams, moments, before, noise=0.3)
    assert found.features is supports.features
    for arm, size in enumerate(supports.sizes + 1):
        one = fit_ridges(
            grams[arm, :size, :size][None],
            moments[arm, :size][None],
            gram_noise=0.3 * sqrt(2),
            moment_noise=0.3,
        )
        assert np.allclose(found.coefficients[arm, :size], before[arm, :size] + one.coefficients[0])
        assert np.array_equal(found.coefficients[arm, size:], before[arm, size:])
        assert np.allclose(covariances[arm, :size, :size], one.covariances[0])
        assert not covariances[arm, size:].any()
        assert not covariances[arm, :, size:].any()


@settings(max_examples=40)
@given(st.integers(0, 10**6), st.integers(0, MOST), st.sampled_from([0.0, 1.0, 3.0]))
def test_pruning_keeps_the_surest_features_with_their_coefficients(
    seed: int, most: int, least: float
) -> None:
    generator = np.random.default_rng(seed)
    supports, deviations = drawn(generator), generator.uniform(0.1, 1.0, size=(3, MOST + 1))
    before, after = as_sets(supports), as_sets(supports.pruned(deviations, most, least))
    for arm, (known, kept) in enumerate(zip(before, after, strict=True)):
        places = {
            int(name): place for place, name in enumerate(supports.features[arm]) if name >= 0
        }
        sure = {
            name: abs(known[name]) / deviations[arm, 1 + place] for name, place in places.items()
        }
        good = sorted((name for name in sure if sure[name] > least), key=lambda name: -sure[name])[
            :most
        ]
        assert set(kept) == {-1, *good}
        assert all(kept[name] == known[name] for name in kept)


def test_a_coefficient_without_any_noise_is_kept() -> None:
    supports = Supports(np.array([[2, 5]]), np.array([[0.1, 0.3, 0.0]]))
    kept = supports.pruned(np.zeros((1, 3)), most=2, least=1.0)
    assert kept.features.tolist() == [[2, -1]]
    assert kept.coefficients.tolist() == [[0.1, 0.3, 0.0]]


@settings(max_examples=30)
@SEEDS
def test_new_features_come_after_the_old_ones_if_anything_was_found_for_them(seed: int) -> None:
    generator = np.random.default_rng(seed)
    supports = drawn(generator)
    outside = [np.flatnonzero(~row) for row in supports.among(COUNT)]
    picks = np.array([generator.permutation(names)[:2] for names in outside])
    estimates = generator.normal(size=(3, 2)) * generator.integers(0, 2, size=(3, 2))
    before, after = as_sets(supports), as_sets(supports.with_more(picks, estimates))
    for arm in range(3):
        room = MOST - supports.sizes[arm]
        found = [
            (int(name), float(value))
            for name, value in zip(picks[arm], estimates[arm], strict=True)
            if value
        ]
        assert after[arm] == before[arm] | dict(found[:room])


def test_newcomers_begin_with_what_the_others_have_in_common() -> None:
    supports = Supports(np.array([[3, 1, -1], [1, 0, 3], [1, -1, -1], [5, 2, -1]]), np.ones((4, 4)))
    newcomers = np.array([False, False, False, True])
    shared = supports.shared_with(newcomers)
    assert shared.features.tolist() == [[3, 1, -1], [1, 0, 3], [1, -1, -1], [1, 3, 0]]
    assert not shared.coefficients[3].any()
    assert shared.coefficients[:3].all()
    assert supports.features[3].tolist() == [5, 2, -1]  # the old table stays as it was
    everyone = supports.shared_with(np.ones(4, dtype=bool))
    assert (everyone.features == -1).all()
    nobody = supports.shared_with(np.zeros(4, dtype=bool))
    assert np.array_equal(nobody.features, supports.features)
