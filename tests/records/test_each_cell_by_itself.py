"""If these fail, what one person brings changes how the numbers of others are read."""

from collections.abc import Callable
from typing import Any

import numpy as np
import polars
import pytest

from discreet import Privacy, StreamingLearner
from discreet.domains import LpBall
from discreet.engine.request import EMPTY_REQUEST, Batch
from discreet.estimators.checked import as_features
from discreet.feedback import as_rows, each_number
from discreet.functions import ClickModel
from discreet.learners.set_selector.records import RecordReader
from discreet.losses import SquaredLoss
from discreet.records.contexts import as_contexts
from discreet.records.table import LogTable

OTHERS: dict[str, list[list[Any]]] = {
    "floats": [
        [0.1, 1 / 3],
        [5e-324, 1.7e308],
        [-0.0, 1e22],
        [np.nextafter(1.0, 2.0), 123456789.123456789],
    ],
    "whole": [[2**53 + 1, -(2**63)], [0, 7], [2**62 + 1, -3]],
    "large whole": [[2**63 + 1025, 2**64 - 1], [0, 7], [2**53 + 1, 1]],
    "huge": [[2**70 + 1, 3], [10**22 + 1, 0], [5, 1]],
    "truths": [[True, False], [False, False], [True, True]],
    "mixed": [[1, 0.1], [True, 2**63 + 1025], [1 / 3, -(2**53) - 1]],
}
ODD = [
    "x", "0.5", "", b"x", None, 1j, float("nan"), float("inf"), 10**400, 2**70, -1, 0.5, True, 3,
    np.float32(0.1), np.float16(0.1), np.longdouble("1e4000"), np.uint64(2**64 - 1), np.datetime64("2020"),
    {"a": 1}, object(),
]  # fmt: skip


def learner() -> StreamingLearner:
    bounds = {"feature_bound": 1.0, "target_bound": 1.0}
    return StreamingLearner(LpBall(2), SquaredLoss(), 100, Privacy(1.0, 1e-6), **bounds)


def batch(people: Any) -> Batch:
    return Batch(np.arange(len(people)), people, EMPTY_REQUEST)


def samples(people: Any) -> np.ndarray:
    problem: Any = learner()._engine.problem
    targets = np.zeros(len(people))
    return np.asarray(problem.streamed(people, targets).features)


def one_column(people: Any) -> np.ndarray:
    column = people[:, 0] if isinstance(people, np.ndarray) else [row[0] for row in people]
    found = each_number(column)
    assert found is not None
    return found[:, None]


READERS: dict[str, Callable[[Any], np.ndarray]] = {
    "feedback": lambda people: as_rows(batch(people), 2),
    "contexts": lambda people: as_contexts(people, 2, len(people), one=False),
    "samples": samples,
    "estimators": lambda people: as_features(people, 2),
    "targets": one_column,
    "selector": lambda people: as_rows(batch(RecordReader(ClickModel(), 2).rows(people)), 2),
}


def as_array(rows: list[list[Any]]) -> Any:
    """The array that a caller makes of all rows without saying of what type."""
    try:
        made = np.array(rows)
    except (ValueError, TypeError, OverflowError):
        pytest.skip("NumPy makes no array of it")
    if made.dtype.kind in "mMV":
        pytest.skip("no array of numbers")
    return made


def as_objects(rows: list[list[Any]]) -> Any:
    made = np.empty((len(rows), 2), dtype=object)
    for place, row in enumerate(rows):
        made[place, 0], made[place, 1] = row
    return made


@pytest.mark.parametrize(
    "container", [list, tuple, as_objects, as_array], ids=lambda make: make.__name__
)
@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("others", OTHERS)
def test_what_one_person_brings_leaves_everybody_elses_numbers_bit_for_bit(
    others: str, reader: str, container: Callable[[Any], Any]
) -> None:
    rows = OTHERS[others]
    expected = np.array([[float(number) for number in row] for row in rows])
    for odd in ODD:
        for row in ([odd, 0.25], [0.25, odd]):
            try:
                people = container([*rows, row])
            except pytest.skip.Exception:
                continue
            found = READERS[reader](people)[:-1]
            assert found.tobytes() == expected[:, : found.shape[1]].tobytes(), type(odd)


def test_short_floats_are_read_alike_in_lists_objects_and_arrays_of_numbers() -> None:
    """An array that NumPy made of texts has lost which floats were short: hand in one of the
    others.
    """
    rows = [[np.float32(0.1), np.float32(1 / 3)], [np.float16(0.1), np.float16(7.7)]]
    expected = np.array([[float(number) for number in row] for row in rows])
    for odd in (None, 0.5, 3, 2**70, 1j, "x", b"x"):
        for container in (list, as_objects, *(() if isinstance(odd, str | bytes) else (as_array,))):
            for name, read in READERS.items():
                found = read(container([*rows, [odd, 0.25]]))[:-1]
                assert found.tobytes() == expected[:, : found.shape[1]].tobytes(), name


@pytest.mark.parametrize("odd", ["x", None, 0.5, 10**400, [1]])
def test_a_column_of_a_frame_that_one_cell_made_something_else_has_others_numbers(odd: Any) -> None:
    numbers = [0.1, 1 / 3, 2**53 + 1, 123456789.123456789]
    frame = polars.DataFrame({"a": polars.Series([*numbers, odd], dtype=polars.Object)})
    read = LogTable(frame).numbers(["a"])[:-1, 0]
    assert read.tobytes() == np.array(numbers, dtype=np.float64).tobytes()
