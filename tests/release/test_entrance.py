"""If these fail, one person can weigh more than the bound says."""

from math import inf

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from discreet.errors import ConfigError, OutOfBounds
from discreet.release.entrance import Entrance, as_row, as_rows, unit_sensitivity

anything = st.floats(allow_nan=True, allow_infinity=True, width=64)


@given(
    arrays(np.float64, st.tuples(st.just(1), st.integers(1, 12)), elements=anything),
    st.sampled_from([1, 2, inf]),
    st.integers(1, 2**24),
    st.floats(1e-6, 1e6),
    st.booleans(),
)
def test_no_person_exceeds_the_bound_in_integers(row: np.ndarray, norm: float, levels: int, bound: float, nonnegative: bool) -> None:
    entrance = Entrance(row.shape[1], bound, norm, levels, nonnegative)
    whole = [int(value) for value in entrance.add(row, np.zeros(row.shape[1], dtype=np.int64))]
    if norm == 1:
        assert sum(map(abs, whole)) <= levels
    elif norm == 2:
        assert sum(value**2 for value in whole) <= levels**2
    else:
        assert max(map(abs, whole)) <= levels
    if nonnegative:
        assert min(whole) >= 0
    if not np.isfinite(row).all():
        assert not any(whole)


@given(arrays(np.float64, (1, 4), elements=st.floats(-0.4, 0.4)))
def test_people_inside_the_bound_are_only_rounded(row: np.ndarray) -> None:
    entrance = Entrance(4, 1.0, 2, 2**20)
    assert np.array_equal(entrance.add(row, np.zeros(4, dtype=np.int64)), np.floor(row[0] * 2**20 + 0.5).astype(np.int64))


def test_people_outside_the_bound_keep_their_direction(crowd: np.random.Generator) -> None:
    row = crowd.normal(size=(1, 30)) * 1e200
    whole = Entrance(30, 5.0, 2, 2**20).add(row, np.zeros(30, dtype=np.int64))
    assert np.linalg.norm(whole) == pytest.approx(2**20, rel=1e-4)
    assert np.allclose(whole / np.linalg.norm(whole), row[0] / 1e200 / np.linalg.norm(row[0] / 1e200), atol=1e-4)


def test_the_order_of_people_does_not_matter(crowd: np.random.Generator) -> None:
    rows = crowd.normal(size=(500, 7))
    entrance = Entrance(7, 1.0, 2, 2**22)
    totals = [
        entrance.add(np.ascontiguousarray(rows[order]), np.zeros(7, dtype=np.int64)) for order in (slice(None), slice(None, None, -1))
    ]
    assert np.array_equal(*totals)


@given(st.integers(1, 6), st.sampled_from([1, 2, inf]), st.booleans(), st.sampled_from([1, 2]), st.integers(0, 2**32))
def test_sensitivity_bounds_every_pair_of_people(dimension: int, norm: float, nonnegative: bool, measured: int, seed: int) -> None:
    entrance = Entrance(dimension, 1.0, norm, 1000, nonnegative)
    generator = np.random.default_rng(seed)
    pair = generator.normal(size=(2, dimension)) * generator.choice([0, 1, 50], size=(2, dimension))
    people = [entrance.add(person.reshape(1, -1), np.zeros(dimension, dtype=np.int64)) for person in pair]
    assert np.linalg.norm(people[0] - people[1], measured) <= entrance.sensitivity(measured) * (1 + 1e-12)


@pytest.mark.parametrize(
    ("dimension", "norm", "nonnegative", "measured", "pair"),
    [
        (1, 2, True, 2, ([1.0], [0.0])),
        (1, 1, False, 1, ([1.0], [-1.0])),
        (2, 2, True, 2, ([1.0, 0.0], [0.0, 1.0])),
        (2, 2, False, 2, ([1.0, 0.0], [-1.0, 0.0])),
        (2, 1, True, 1, ([1.0, 0.0], [0.0, 1.0])),
        (4, inf, True, 2, ([1.0] * 4, [0.0] * 4)),
        (4, inf, False, 1, ([1.0] * 4, [-1.0] * 4)),
        (4, 2, False, 1, ([0.5] * 4, [-0.5] * 4)),
        (4, 2, True, 1, ([0.5**0.5] * 2 + [0.0] * 2, [0.0] * 2 + [0.5**0.5] * 2)),
    ],
)
def test_sensitivity_is_attained(
    dimension: int, norm: float, nonnegative: bool, measured: int, pair: tuple[list[float], list[float]]
) -> None:
    distance = np.linalg.norm(np.subtract(*pair), measured)
    assert unit_sensitivity(dimension, norm, nonnegative, measured) == pytest.approx(distance)


@pytest.mark.parametrize(
    "feedback", [[1.0], [1.0, 2.0, 3.0], [[1.0, 2.0]], "ab", None, ["x", "y"], [1.0, float("nan")], [float("inf"), 0.0]]
)
def test_a_wrong_row_is_refused_without_showing_it(feedback: object) -> None:
    with pytest.raises(OutOfBounds) as caught:
        as_row(feedback, 2)
    assert "3.0" not in str(caught.value)


def test_many_rows_are_checked_for_shape_only() -> None:
    assert as_rows([[1.0, float("nan")]], 2, 1).shape == (1, 2)
    assert as_rows([1.0, 2.0, 3.0], 1, 3).shape == (3, 1)
    with pytest.raises(OutOfBounds):
        as_rows([[1.0]], 2, 1)


@pytest.mark.parametrize(("bound", "norm", "levels"), [(0, 2, 10), (-1, 2, 10), (float("nan"), 2, 10), (1, 3, 10), (1, 2, 0)])
def test_impossible_entrances_are_refused(bound: float, norm: float, levels: int) -> None:
    with pytest.raises(ConfigError, match="got"):
        Entrance(2, bound, norm, levels)
