"""If these fail, an error quotes a person's feedback, or one malformed row decides for others."""

import warnings
from typing import Any

import numpy as np
import pytest

from discreet import feedback as feedback_module
from discreet.engine.request import EMPTY_REQUEST, Batch
from discreet.errors import OutOfBounds
from discreet.feedback import as_callables, as_floats, as_numbers, as_people, as_rows
from discreet.functions import ClickModel, GraphCut, SetFunction


def batch(feedback: Any, people: int = 1, *, single: bool = False) -> Batch:
    """Return the feedback of a batch of rounds without contexts or masks."""
    return Batch(np.arange(people), feedback, EMPTY_REQUEST, single)


MALFORMED: list[Any] = [
    [0.777], [0.777, 2.0, 3.0], [[0.777, 2.0]], "ab", None, ["0.777", "y"], [0.777, float("nan")],
    [float("inf"), 0.777], 0.777, {}, {"x": 0.777}, object(), b"ab", [0.777, 1j],
    [[0.777], [1.0, 2.0]], [10**400, 0.0], True, [0.777, None], [0.777] * 10**6,
    [[0.777] * 2] * 2, np.full(3, 0.777),
]  # fmt: skip
"""Feedback that is no row of two numbers."""


@pytest.mark.parametrize("feedback", MALFORMED, ids=lambda value: type(value).__name__)
def test_a_malformed_row_is_refused_without_quoting_it(feedback: Any) -> None:
    with warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter("always")
        with pytest.raises(OutOfBounds) as caught:
            as_rows(batch(feedback, single=True), 2)
    assert "0.777" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert not shown


def test_in_a_batch_malformed_rows_add_nothing_and_the_others_are_read() -> None:
    people = [[1.0, 2.0], *MALFORMED, np.array([3, 4]), (5.0, 6.0)]

    rows = as_rows(batch(people, len(people)), 2)

    assert rows.shape == (len(people), 2)
    assert rows[0].tolist() == [1.0, 2.0]
    assert rows[-2:].tolist() == [[3.0, 4.0], [5.0, 6.0]]
    assert not np.isfinite(rows[1:-2]).all(axis=1).any()


def test_a_matrix_is_read_unchanged_and_must_have_the_right_shape() -> None:
    assert as_rows(batch(np.ones((3, 2)), 3), 2).tolist() == [[1.0, 1.0]] * 3
    assert as_rows(batch(np.array([1, 2, 3]), 3), 1).tolist() == [[1.0], [2.0], [3.0]]
    assert as_rows(batch(np.ones((3, 2), dtype=np.float32)[::-1], 3), 2).flags.c_contiguous
    wrong: list[np.ndarray] = [
        np.ones((3, 1)),
        np.ones((2, 2)),
        np.ones(3),
        np.ones((3, 2, 1)),
        np.zeros((3, 2), "M8[s]"),
    ]
    for matrix in wrong:
        with pytest.raises(OutOfBounds, match="matrix"):
            as_rows(batch(matrix, 3), 2)


@pytest.mark.parametrize("odd", ["n/a", 2j])
def test_an_entry_that_turns_an_array_into_texts_or_complex_leaves_other_rows(odd: Any) -> None:
    matrix = np.array([[0.5, 1.0], [odd, 1.0], [0.25, 0.75]])

    rows = as_rows(batch(matrix, 3), 2)

    assert rows[[0, 2]].tolist() == [[0.5, 1.0], [0.25, 0.75]]
    assert np.isnan(rows[1, 0])


def test_numbers_of_any_plain_type_are_read() -> None:
    plain = [1, 2.5, np.float32(3), np.int8(4), True, [5.0], np.array([6.0])]
    assert as_numbers(batch(plain, 7)).tolist() == [1.0, 2.5, 3.0, 4.0, 1.0, 5.0, 6.0]
    assert np.isnan(as_numbers(batch([None, "x", [1.0, 2.0], object()], 4))).all()
    listed = as_floats([1.0, 2.0])
    assert listed is not None
    assert listed.tolist() == [1.0, 2.0]
    assert as_floats("12") == 12.0  # from a column that one person's text turned into texts
    assert as_floats("twelve") is None


def test_callables_are_read_and_anything_else_adds_nothing() -> None:
    functions = as_callables(batch([len, 3, None, lambda chosen: 0.5], 4))

    assert [function is not None for function in functions] == [True, False, False, True]
    assert isinstance(functions[0], SetFunction)
    with pytest.raises(OutOfBounds, match="callable"):
        as_callables(batch(0.777, single=True))


def test_rows_of_a_family_are_clipped_to_its_range_and_a_single_one_outside_is_refused() -> None:
    rows = as_people(batch([[0.5, 2.0], [np.nan, 0.1], "ab", [0.25, 0.75]], 4), ClickModel(), 2)
    assert rows.tolist() == [[0.5, 1.0], [0.0, 0.0], [0.0, 0.0], [0.25, 0.75]]
    with pytest.raises(OutOfBounds, match="range of GraphCut"):
        as_people(batch([-0.777], single=True), GraphCut(((0, 1),)), 2)


# --- one person's text turns a whole column into texts --------------------------------------------


@pytest.mark.parametrize(
    "column",
    [
        ["1", " 0.5", "x", "2"],
        [b"1", b"0.5", b"\xff", b"2"],
        [1 + 0j, 0.5, 1j, 2],
        [1, "0.5", {}, 2],
    ],
)
def test_numbers_in_a_column_that_one_entry_turned_into_another_type_are_recovered(
    column: list[Any],
) -> None:
    expected = [1.0, 0.5, np.nan, 2.0]
    objects = np.array([*column, None], dtype=object)[:-1]
    containers: list[Any] = [column, objects, objects[:, None]]
    if {} not in column:
        containers.append(np.array(column))

    for people in containers:
        assert np.array_equal(as_numbers(batch(people, 4)), expected, equal_nan=True)


@pytest.mark.parametrize("kind", ["U5", "S5", object])
def test_booleans_that_one_entry_turned_into_texts_count_as_one_and_zero(kind: Any) -> None:
    texts = np.array([["True", "False"], ["x", "True"], ["TRUE", "false"]])

    rows = as_rows(batch(texts.astype(kind), 3), 2)

    assert rows[[0, 2]].tolist() == [[1.0, 0.0], [1.0, 0.0]]
    assert not np.isfinite(rows[1]).all()


def test_a_row_that_is_too_long_is_not_converted(monkeypatch: pytest.MonkeyPatch) -> None:
    """One person's row of a billion entries must not fill the operator's memory."""
    monkeypatch.setattr(feedback_module, "as_floats", lambda values: pytest.fail("converted"))
    for long in ([0.5] * 3, (0.5,) * 3, np.full(3, 0.5), ["x"] * 3, []):
        assert np.isnan(as_rows(batch([long], 1), 2)).all()
