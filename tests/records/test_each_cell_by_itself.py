"""If these fail, one person's cell changes how the numbers of other people are read."""

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
from discreet.learners.streaming_learner.sample_answer import SampleAnswer
from discreet.losses import SquaredLoss
from discreet.records.contexts import as_contexts
from discreet.records.table import LogTable

ROWS_OF_OTHERS: dict[str, list[list[Any]]] = {
    "floats": [
        [0.1, 1 / 3],
        [5e-324, 1.7e308],
        [-0.0, 1e22],
        [np.nextafter(1.0, 2.0), 123456789.123456789],
    ],
    "whole": [[2**53 + 1, -(2**63)], [0, 7], [2**62 + 1, -3]],
    "large whole": [[2**63 + 1025, 2**64 - 1], [0, 7], [2**53 + 1, 1]],
    "huge": [[2**70 + 1, 3], [10**22 + 1, 0], [5, 1]],
    "booleans": [[True, False], [False, False], [True, True]],
    "mixed": [[1, 0.1], [True, 2**63 + 1025], [1 / 3, -(2**53) - 1]],
}
ODD_CELLS = [
    "x", "0.5", "", b"x", None, 1j, float("nan"), float("inf"), 10**400, 2**70, -1, 0.5, True, 3,
    np.float32(0.1), np.float16(0.1), np.longdouble("1e4000"), np.uint64(2**64 - 1),
    np.datetime64("2020"), {"a": 1}, object(),
]  # fmt: skip


def batch(people: Any) -> Batch:
    """Return the feedback of a batch of rounds without contexts or masks."""
    return Batch(np.arange(len(people)), people, EMPTY_REQUEST)


def samples(people: Any) -> np.ndarray:
    """Return the features that `StreamingLearner` reads."""
    learner = StreamingLearner(
        LpBall(2), SquaredLoss(), 100, Privacy(1.0, 1e-6), feature_bound=1.0, target_bound=1.0
    )
    answer = StreamingLearner.problem_for(learner.settings).answer
    assert isinstance(answer, SampleAnswer)
    targets = np.zeros(len(people))
    return np.asarray(answer.streamed(people, targets).features)


def one_column(people: Any) -> np.ndarray:
    """Return the first column, read entry by entry."""
    column = people[:, 0] if isinstance(people, np.ndarray) else [row[0] for row in people]
    numbers = each_number(column)
    assert numbers is not None
    return numbers[:, None]


READERS: dict[str, Callable[[Any], np.ndarray]] = {
    "feedback": lambda people: as_rows(batch(people), 2),
    "contexts": lambda people: as_contexts(people, 2, len(people), one=False),
    "samples": samples,
    "estimators": lambda people: np.asarray(as_features(people, 2)),
    "targets": one_column,
    "selector": lambda people: as_rows(batch(RecordReader(ClickModel(), 2).rows(people)), 2),
}


def as_array(rows: list[list[Any]]) -> Any:
    """Return the array that a caller makes of all rows without stating its type."""
    try:
        made = np.array(rows)
    except (ValueError, TypeError, OverflowError):
        pytest.skip("NumPy makes no array of it")
    if made.dtype.kind in "mMV":
        pytest.skip("no array of numbers")
    return made


def as_objects(rows: list[list[Any]]) -> Any:
    """Return an array of objects with these rows."""
    objects = np.empty((len(rows), 2), dtype=object)
    for place, (first, second) in enumerate(rows):
        objects[place, 0] = first
        objects[place, 1] = second
    return objects


@pytest.mark.parametrize(
    "container", [list, tuple, as_objects, as_array], ids=lambda make: make.__name__
)
@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("others", ROWS_OF_OTHERS)
def test_one_persons_cell_leaves_the_numbers_of_others_bit_for_bit(
    others: str, reader: str, container: Callable[[Any], Any]
) -> None:
    rows = ROWS_OF_OTHERS[others]
    expected = np.array([[float(number) for number in row] for row in rows])
    for odd in ODD_CELLS:
        for row in ([odd, 0.25], [0.25, odd]):
            try:
                people = container([*rows, row])
            except pytest.skip.Exception:
                continue
            numbers = READERS[reader](people)[:-1]
            assert numbers.tobytes() == expected[:, : numbers.shape[1]].tobytes(), type(odd)


def test_short_floats_are_read_alike_in_lists_objects_and_arrays_of_numbers() -> None:
    """An array of texts does not tell which floats were short: use one of the other containers."""
    rows: list[list[Any]] = [
        [np.float32(0.1), np.float32(1 / 3)],
        [np.float16(0.1), np.float16(7.7)],
    ]
    expected = np.array([[float(number) for number in row] for row in rows])
    odd_cells: list[Any] = [None, 0.5, 3, 2**70, 1j, "x", b"x"]
    for odd in odd_cells:
        containers: list[Callable[[Any], Any]] = [list, as_objects]
        if not isinstance(odd, str | bytes):
            containers.append(as_array)
        for container in containers:
            for name, read in READERS.items():
                numbers = read(container([*rows, [odd, 0.25]]))[:-1]
                assert numbers.tobytes() == expected[:, : numbers.shape[1]].tobytes(), name


@pytest.mark.parametrize("odd", ["x", None, 0.5, 10**400, [1]])
def test_a_column_of_a_frame_that_one_cell_turned_into_objects_has_its_numbers(odd: Any) -> None:
    numbers = [0.1, 1 / 3, 2**53 + 1, 123456789.123456789]
    frame = polars.DataFrame({"a": polars.Series([*numbers, odd], dtype=polars.Object)})
    read = LogTable(frame).numbers(["a"])[:-1, 0]
    assert read.tobytes() == np.array(numbers, dtype=np.float64).tobytes()
