"""If these fail, a person's feedback is shown in an error, or one malformed row decides for
others.
"""

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
    return Batch(np.arange(people), feedback, EMPTY_REQUEST, single)


WRONG = [
    [0.777], [0.777, 2.0, 3.0], [[0.777, 2.0]], "ab", None, ["0.777", "y"], [0.777, float("nan")],
    [float("inf"), 0.777], 0.777, {}, {"x": 0.777}, object(), b"ab", [0.777, 1j], [[0.777], [1.0, 2.0]],
    [10**400, 0.0], True, [0.777, None], [0.777] * 10**6, [[0.777] * 2] * 2, np.full(3, 0.777),
]  # fmt: skip


@pytest.mark.parametrize("feedback", WRONG, ids=lambda value: type(value).__name__)
def test_a_wrong_row_is_refused_without_showing_it(feedback: Any) -> None:
    with warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter("always")
        with pytest.raises(OutOfBounds) as caught:
            as_rows(batch(feedback, single=True), 2)
    assert "0.777" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert not shown


def test_among_many_whoever_is_malformed_adds_nothing_and_others_are_read() -> None:
    people = [[1.0, 2.0], *WRONG, np.array([3, 4]), (5.0, 6.0)]
    rows = as_rows(batch(people, len(people)), 2)
    assert rows.shape == (len(people), 2)
    assert rows[0].tolist() == [1.0, 2.0]
    assert rows[-2:].tolist() == [[3.0, 4.0], [5.0, 6.0]]
    assert not np.isfinite(rows[1:-2]).all(axis=1).any()


def test_a_matrix_is_taken_as_it_is_and_of_the_right_shape_only() -> None:
    assert as_rows(batch(np.ones((3, 2)), 3), 2).tolist() == [[1.0, 1.0]] * 3
    assert as_rows(batch(np.array([1, 2, 3]), 3), 1).tolist() == [[1.0], [2.0], [3.0]]
    assert as_rows(batch(np.ones((3, 2), dtype=np.float32)[::-1], 3), 2).flags.c_contiguous
    for wrong in (
        np.ones((3, 1)),
        np.ones((2, 2)),
        np.ones(3),
        np.ones((3, 2, 1)),
        np.zeros((3, 2), "M8[s]"),
    ):
        with pytest.raises(OutOfBounds, match="matrix"):
            as_rows(batch(wrong, 3), 2)


def test_one_entry_that_makes_an_array_text_or_complex_takes_nobody_else_along() -> None:
    for strange, wrong in (("n/a", 1), (2j, 1)):
        rows = as_rows(batch(np.array([[0.5, 1.0], [strange, 1.0], [0.25, 0.75]]), 3), 2)
        assert rows[[0, 2]].tolist() == [[0.5, 1.0], [0.25, 0.75]]
        assert np.isnan(rows[wrong, 0])


def test_numbers_of_any_plain_kind_are_numbers() -> None:
    plain = [1, 2.5, np.float32(3), np.int8(4), True, [5.0], np.array([6.0])]
    assert as_numbers(batch(plain, 7)).tolist() == [1.0, 2.5, 3.0, 4.0, 1.0, 5.0, 6.0]
    assert np.isnan(as_numbers(batch([None, "x", [1.0, 2.0], object()], 4))).all()
    assert as_floats([1.0, 2.0]).tolist() == [1.0, 2.0]  # type: ignore[union-attr]
    assert as_floats("12") == 12.0  # a column that one person made text
    assert as_floats("twelve") is None


def test_callables_are_taken_and_anything_else_is_nobody() -> None:
    found = as_callables(batch([len, 3, None, lambda chosen: 0.5], 4))
    assert [one is not None for one in found] == [True, False, False, True]
    assert isinstance(found[0], SetFunction)
    with pytest.raises(OutOfBounds, match="callable"):
        as_callables(batch(0.777, single=True))


def test_rows_of_a_family_are_in_its_range_and_single_ones_outside_are_refused() -> None:
    rows = as_people(batch([[0.5, 2.0], [np.nan, 0.1], "ab", [0.25, 0.75]], 4), ClickModel(), 2)
    assert rows.tolist() == [[0.5, 1.0], [0.0, 0.0], [0.0, 0.0], [0.25, 0.75]]
    with pytest.raises(OutOfBounds, match="range of GraphCut"):
        as_people(batch([-0.777], single=True), GraphCut(((0, 1),)), 2)


# --- one person's text makes everybody's numbers text ---------------------------------------------


@pytest.mark.parametrize(
    "column",
    [
        ["1", " 0.5", "x", "2"],
        [b"1", b"0.5", b"\xff", b"2"],
        [1 + 0j, 0.5, 1j, 2],
        [1, "0.5", {}, 2],
    ],
)
def test_numbers_that_one_entry_made_something_else_are_numbers_all_the_same(
    column: list[Any],
) -> None:
    wanted = [1.0, 0.5, np.nan, 2.0]
    objects = np.array([*column, None], dtype=object)[:-1]
    for people in (
        column,
        objects,
        objects[:, None],
        *([] if {} in column else [np.array(column)]),
    ):
        assert np.array_equal(as_numbers(batch(people, 4)), wanted, equal_nan=True)


@pytest.mark.parametrize("kind", ["U5", "S5", object])
def test_truths_that_one_entry_made_text_count_as_one_and_zero(kind: Any) -> None:
    rows = as_rows(
        batch(np.array([["True", "False"], ["x", "True"], ["TRUE", "false"]]).astype(kind), 3), 2
    )
    assert rows[[0, 2]].tolist() == [[1.0, 0.0], [1.0, 0.0]]
    assert not np.isfinite(rows[1]).all()


def test_a_row_that_is_too_long_is_not_converted(monkeypatch: pytest.MonkeyPatch) -> None:
    """One person with a billion entries must not fill the memory of everybody's machine."""
    monkeypatch.setattr(feedback_module, "as_floats", lambda values: pytest.fail("converted"))
    for long in ([0.5] * 3, (0.5,) * 3, np.full(3, 0.5), ["x"] * 3, []):
        assert np.isnan(as_rows(batch([long], 1), 2)).all()
