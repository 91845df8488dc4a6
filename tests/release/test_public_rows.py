"""If these fail, one reward moves the sums of a screening by more than was paid for."""

from itertools import product
from math import inf, nan

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet import ConfigError
from discreet.release.aggregators import PublicRows

weights = st.lists(
    st.floats(0, 3) | st.sampled_from([nan, inf, -1.0, 1e300]), min_size=4, max_size=4
)


@settings(max_examples=120)
@given(
    weights,
    st.floats(0.1, 3) | st.sampled_from([1e-310, 1e-307, 1e-280, 1e280]),
    st.sampled_from([1024, 1300, 2**20]),
    st.booleans(),
)
def test_one_number_moves_the_sums_by_no_more_than_stated(
    row: list[float], length: float, levels: int, signed: bool
) -> None:
    """Every pair of answers, with whatever row of weights."""
    rows = PublicRows((5,), length=length, low=-1.0 if signed else 0.0, levels=levels)
    found = []
    for answer in (0.0, 0.3, 1.0, -1.0, 7.0, nan, inf, -inf, 1e308):
        people = rows.empty()
        rows.add(people, np.array([[0, 3, 4, -1]]), np.array([row]), np.array([answer]))
        assert people.values[1] == people.values[2] == 0
        found.append(people.values.astype(float))
    for norm in (1, 2):
        moved = max(float(np.linalg.norm(one - two, norm)) for one, two in product(found, repeat=2))
        assert moved <= rows.sensitivity(norm)


def test_the_worst_row_is_as_bad_as_it_is_paid_for() -> None:
    rows = PublicRows((2,), length=1.5, low=-1.0, levels=2**20)
    one, two = rows.empty(), rows.empty()
    for people, answer in ((one, 1.0), (two, -1.0)):
        rows.add(people, np.array([[0, 1]]), np.array([[1.5, 0.0]]), np.array([answer]))
    assert np.abs(one.values - two.values).sum() == pytest.approx(rows.sensitivity(1), rel=0.005)


def test_sums_are_numbers_times_weights(crowd: np.random.Generator) -> None:
    rows = PublicRows((6,), length=2.0, levels=2**20)
    people, weighed = rows.empty(), crowd.uniform(0, 1, size=(500, 2))
    cells = np.array([crowd.permutation(6)[:2] for _ in range(500)])
    numbers = crowd.uniform(0, 1, size=500)
    rows.add(people, cells, weighed, numbers)
    expected = np.zeros(6)
    np.add.at(expected, cells, weighed * numbers[:, None])
    assert np.abs(people.values * rows.grid - expected).max() <= 500 * 3 / 1024


def test_impossible_rows_are_refused() -> None:
    for wrong in ({"length": 0.0}, {"length": nan}, {"length": 1.0, "high": nan}):
        with pytest.raises(ConfigError):
            PublicRows((3,), **wrong)
    coarse, fine = PublicRows((3,), length=1.0, levels=10), PublicRows((3,), length=1.0)
    with pytest.raises(ConfigError, match="levels"):
        coarse.add(coarse.empty(), np.array([[0]]), np.array([[1.0]]), np.array([1.0]))
    with pytest.raises(ConfigError, match="one row of cells"):
        fine.add(fine.empty(), np.array([[0]]), np.array([[1.0, 2.0]]), np.array([1.0]))
