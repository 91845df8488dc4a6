"""Scaled rows stay within the bound that learners clip to, and coefficients return in units."""

from math import inf

import numpy as np
import pytest

from discreet.records.array_table import ArrayTable
from discreet.records.columns import Columns

COLUMNS = Columns(
    features=("age", "region", "size", "plan"),
    target="spent",
    bounds={"age": (18, 100), "size": (0, 5), "spent": (0, 1000)},
    categories={"region": ("north", "south", "west"), "plan": ("a", "b")},
)


def table(rows: int) -> ArrayTable:
    generator = np.random.default_rng(0)
    cells = {
        "age": generator.choice([18.0, 100.0, -1e9, 1e300], rows),
        "size": generator.choice([0.0, 5.0, 2.5], rows),
        "region": generator.choice(["north", "south", "west"], rows),
        "plan": generator.choice(["a", "b"], rows),
    }
    return ArrayTable(cells)


@pytest.mark.parametrize("dual", [1.0, 1.5, 2.0, 4.0, inf])
def test_no_row_is_longer_than_the_bound_that_follows_from_the_columns(dual: float) -> None:
    rows = COLUMNS.encoded(table(200))
    longest = np.linalg.norm(rows, ord=dual, axis=1).max()
    assert longest == pytest.approx(COLUMNS.box.length(dual))


def test_coefficients_of_categories_are_differences_in_the_units_of_the_target() -> None:
    scaled = np.array([10.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    rows = COLUMNS.encoded(ArrayTable({"age": np.array([18.0, 100.0]), "size": np.array([5.0] * 2),
                                       "region": np.array(["west", "north"]),
                                       "plan": np.array(["a", "b"])}))  # fmt: skip
    units = COLUMNS.box.in_units(scaled, np.array(507.0))
    first = units.coefficients @ [18, 0, 0, 1, 5, 1, 0] + units.intercept
    second = units.coefficients @ [100, 1, 0, 0, 5, 0, 1] + units.intercept
    np.testing.assert_allclose([first, second], rows @ scaled + 7.0 + 500.0)


def test_categories_of_a_column_have_mean_0_and_predictions_stay() -> None:
    generator = np.random.default_rng(1)
    scaled = generator.normal(size=(2, 7))  # one row per class
    units = COLUMNS.box.in_units(scaled, np.array([1.0, 2.0]))
    np.testing.assert_allclose(units.coefficients[:, 1:4].sum(axis=1), 0, atol=1e-12)
    np.testing.assert_allclose(units.coefficients[:, 5:].sum(axis=1), 0, atol=1e-12)
    rows = COLUMNS.encoded(table(50))
    found = COLUMNS.box.decoded(rows) @ units.coefficients.T + units.intercept
    np.testing.assert_allclose(found, rows @ scaled.T + [1.0, 2.0])


def test_directions_are_the_map_to_the_units_of_the_table() -> None:
    scaled = np.random.default_rng(3).normal(size=8)
    units = COLUMNS.box.in_units(scaled[:-1], 1.5 * scaled[-1:][0])
    found = COLUMNS.box.directions(1.5) @ scaled
    np.testing.assert_allclose(found, [*units.coefficients, units.intercept])
