"""If these fail, one number times public weights moves the sums farther than stated."""

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
    """Every pair of numbers, with hostile rows of weights."""
    rows = PublicRows((5,), length=length, low=-1.0 if signed else 0.0, levels=levels)
    sums = []
    for number in (0.0, 0.3, 1.0, -1.0, 7.0, nan, inf, -inf, 1e308):
        person = rows.empty()
        rows.add(person, np.array([[0, 3, 4, -1]]), np.array([row]), np.array([number]))
        assert person.values[1] == person.values[2] == 0
        sums.append(person.values.astype(float))
    for norm in (1, 2):
        moved = max(float(np.linalg.norm(one - two, norm)) for one, two in product(sums, repeat=2))
        assert moved <= rows.sensitivity(norm)


def test_the_stated_sensitivity_is_attained() -> None:
    rows = PublicRows((2,), length=1.5, low=-1.0, levels=2**20)
    one = rows.empty()
    two = rows.empty()
    for person, number in ((one, 1.0), (two, -1.0)):
        rows.add(person, np.array([[0, 1]]), np.array([[1.5, 0.0]]), np.array([number]))
    assert np.abs(one.values - two.values).sum() == pytest.approx(rows.sensitivity(1), rel=0.005)


def test_sums_are_numbers_times_weights(generator: np.random.Generator) -> None:
    rows = PublicRows((6,), length=2.0, levels=2**20)
    people = rows.empty()
    weights_of_people = generator.uniform(0, 1, size=(500, 2))
    cells = np.array([generator.permutation(6)[:2] for _ in range(500)])
    numbers = generator.uniform(0, 1, size=500)
    rows.add(people, cells, weights_of_people, numbers)
    expected = np.zeros(6)
    np.add.at(expected, cells, weights_of_people * numbers[:, None])
    assert np.abs(people.values * rows.grid - expected).max() <= 500 * 3 / 1024


def test_impossible_rows_are_refused() -> None:
    for length, high in ((0.0, 1.0), (nan, 1.0), (1.0, nan)):
        with pytest.raises(ConfigError):
            PublicRows((3,), length=length, high=high)
    coarse = PublicRows((3,), length=1.0, levels=10)
    fine = PublicRows((3,), length=1.0)
    with pytest.raises(ConfigError, match="levels"):
        coarse.add(coarse.empty(), np.array([[0]]), np.array([[1.0]]), np.array([1.0]))
    with pytest.raises(ConfigError, match="one weight per cell"):
        fine.add(fine.empty(), np.array([[0]]), np.array([[1.0, 2.0]]), np.array([1.0]))
