"""If these fail, one person's cell ends the reading of a table, or changes that of others."""

from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import polars
import pyarrow
import pyarrow.feather
import pytest

from discreet import Columns, ConfigError, OutOfBounds, Privacy, StreamingLearner
from discreet.domains import LpBall
from discreet.learners.streaming_learner.sample_answer import SampleAnswer
from discreet.losses import SquaredLoss
from discreet.records import sources
from discreet.records.dates import DateRule
from discreet.records.files import open_table
from discreet.records.layouts import Events, Positions
from discreet.records.table import LogTable

RULE = DateRule.of("a", "days since 2020-01-01")
FAR = 2**62
LAST = datetime(9999, 12, 31, 23, 59, 59)


def read_all(table: Any) -> list[Any]:
    """Return every reading of the column `a`."""
    rows = open_table(table).whole(["a"])
    readings = [rows.texts("a"), rows.values("a"), rows.people("a"), rows.days("a", RULE).tolist()]
    return [*readings, rows.is_missing("a").tolist()]


def without(place: int, readings: list[Any]) -> str:
    return repr([[cell for at, cell in enumerate(column) if at != place] for column in readings])


STAMPS = polars.Series("a", [0, 86_400_000_000, 1], dtype=polars.Int64)


@pytest.mark.parametrize(
    "kind",
    [
        polars.Datetime("us"),
        polars.Datetime("us", "Europe/Berlin"),
        polars.Datetime("ms", "America/New_York"),
        polars.Datetime("ns"),
    ],
    ids=str,
)
@pytest.mark.parametrize("odd", [FAR, -FAR, None, -62_135_596_800_000_000, 253_402_300_799_999_999])
def test_a_stamp_beyond_pythons_dates_is_its_own_blank(kind: Any, odd: int | None) -> None:
    fine = polars.DataFrame(STAMPS.cast(kind))
    changed = polars.Series("a", [0, odd, 1], dtype=polars.Int64).cast(kind)
    assert without(1, read_all(polars.DataFrame(changed))) == without(1, read_all(fine))


@pytest.mark.parametrize("odd", [200_000_000, -(2**31), None])
def test_a_date_beyond_pythons_is_its_own_blank(odd: int | None) -> None:
    def dates(days: int | None) -> polars.DataFrame:
        whole = polars.Series("a", [0, days, 1], dtype=polars.Int32).cast(polars.Date)
        return polars.DataFrame(whole)

    assert without(1, read_all(dates(odd))) == without(1, read_all(dates(5)))


@pytest.mark.parametrize("zone", ["Europe/Berlin", "America/New_York"])
def test_stamps_of_pandas_near_the_ends_of_time_are_read(zone: str) -> None:
    def stamps(odd: datetime) -> pandas.DataFrame:
        usual = datetime(2021, 1, 1)
        column = np.array([usual, odd, usual], dtype="datetime64[us]")
        return pandas.DataFrame({"a": pandas.Series(column).dt.tz_localize("UTC")})

    fine = stamps(datetime(2022, 1, 1))
    for odd in (LAST, datetime(1, 1, 1)):
        frame = stamps(odd)
        frame["a"] = frame["a"].astype(f"datetime64[us, {zone}]")
        assert without(1, read_all(frame)) == without(1, read_all(fine))


def test_a_date_of_pandas_is_read_in_every_type() -> None:
    day = date(2020, 1, 11)
    for column in (
        pandas.Series([day, None], dtype=object),
        pandas.Series([np.datetime64(day), None], dtype="datetime64[s]"),
        pandas.Series([day, None], dtype=pandas.ArrowDtype(pyarrow.date32())),
        pandas.Series(
            [pandas.Timestamp(day), None], dtype=pandas.ArrowDtype(pyarrow.timestamp("us"))
        ),
        pandas.Series([pandas.Timestamp(day, tz="UTC"), pandas.NaT]),
    ):
        rows = open_table(pandas.DataFrame({"a": column})).whole(["a"])
        np.testing.assert_array_equal(rows.days("a", RULE), [10, np.nan])
        assert rows.is_missing("a").tolist() == [False, True]


ODD_OBJECTS: list[object] = [Decimal("sNaN"), 10**5000, [[1]] * 3, np.zeros(3), b"\xff", 1j, {}]


@pytest.mark.parametrize("odd", ODD_OBJECTS, ids=lambda odd: type(odd).__name__)
def test_an_odd_object_of_pandas_is_its_own_blank(odd: object) -> None:
    columns = [pandas.Series([101, cell, "7"], dtype=object) for cell in ("x", odd)]
    fine, changed = (pandas.DataFrame({"a": column}) for column in columns)
    assert without(1, read_all(changed)) == without(1, read_all(fine))
    numbers = open_table(changed).whole(["a"]).numbers(["a"])
    np.testing.assert_array_equal(numbers[[0, 2], 0], [101, 7])


def test_a_missing_cell_of_pandas_leaves_whole_numbers_as_they_are() -> None:
    frame = pandas.DataFrame({"a": [101, None, 103]})  # pandas makes these floats
    assert open_table(frame).whole(["a"]).texts("a")[::2] == ["101", "103"]


def test_bytes_that_are_no_text_are_their_own_blank() -> None:
    frame = polars.DataFrame({"a": [b"1.5", b"\xff", b"2"]})
    numbers = LogTable(frame).numbers(["a"])[:, 0]
    np.testing.assert_array_equal(numbers, [1.5, np.nan, 2])


def arrow_texts(kind: Any, cell: bytes) -> Any:
    """Return a column of texts in Arrow, of which one need not be UTF-8."""
    plain = pyarrow.array([b"2020-01-02", cell, b"7"]).cast(kind)
    return plain.view(TEXTS_OF_BYTES[str(kind)])


TEXTS_OF_BYTES = {
    "binary": pyarrow.string(),
    "large_binary": pyarrow.large_string(),
    "binary_view": pyarrow.string_view(),
}
ARROW_CONTAINERS: dict[str, Any] = {
    "pyarrow": lambda column: pyarrow.table({"a": column}),
    "dictionary": lambda column: pyarrow.table(
        {"a": pyarrow.DictionaryArray.from_arrays(pyarrow.array([0, 1, 2]), column)}
    ),
    "lists": lambda column: pyarrow.table(
        {"a": pyarrow.ListArray.from_arrays(pyarrow.array([0, 1, 2, 3], pyarrow.int32()), column)}
    ),
    "lists of one length": lambda column: pyarrow.table(
        {"a": pyarrow.FixedSizeListArray.from_arrays(column, 1)}
    ),
    "stream": lambda column: pyarrow.table({"a": column}).to_reader(),
    "pandas of Arrow": lambda column: pyarrow.table({"a": column}).to_pandas(
        types_mapper=pandas.ArrowDtype
    ),
    "pandas of Arrow lists": lambda column: pyarrow.table(
        {"a": pyarrow.ListArray.from_arrays(pyarrow.array([0, 1, 2, 3], pyarrow.int32()), column)}
    ).to_pandas(types_mapper=pandas.ArrowDtype),
    "pandas of Arrow dictionaries": lambda column: pyarrow.table(
        {"a": pyarrow.DictionaryArray.from_arrays(pyarrow.array([0, 1, 2]), column)}
    ).to_pandas(types_mapper=pandas.ArrowDtype),
    "pandas texts": lambda column: pandas.DataFrame(
        {"a": pandas.array(column, dtype=pandas.StringDtype("pyarrow"))}
    ),
}


@pytest.mark.parametrize("container", ARROW_CONTAINERS)
@pytest.mark.parametrize("kind", [pyarrow.binary(), pyarrow.large_binary()], ids=str)
def test_an_arrow_text_that_is_no_utf_8_is_its_own_blank(kind: Any, container: str) -> None:
    make = ARROW_CONTAINERS[container]
    fine = read_all(make(arrow_texts(kind, b"rope")))
    changed = read_all(make(arrow_texts(kind, b"\xff\xfe\xfd\xfc")))
    assert without(1, changed) == without(1, fine)
    assert fine[0][1] in ("rope", '["rope"]', "['rope']")
    assert changed[0][1] in ("", "[null]")


def test_a_text_of_a_named_arrow_type_that_is_no_utf_8_is_its_own_blank() -> None:
    """Libraries name their types of texts, such as JSON, in Arrow's extension types."""

    def named(cell: bytes) -> Any:
        column = arrow_texts(pyarrow.binary(), cell)
        return pyarrow.table({"a": pyarrow.ExtensionArray.from_storage(pyarrow.json_(), column)})

    fine, changed = read_all(named(b"rope")), read_all(named(b"\xff\xfe"))
    assert without(1, changed) == without(1, fine)
    assert (fine[0][1], changed[0][1]) == ("rope", "")


@pytest.mark.parametrize("container", ["pyarrow", "pandas of Arrow"])
def test_an_arrow_view_that_is_no_utf_8_is_its_own_blank(container: str) -> None:
    make, kind = ARROW_CONTAINERS[container], pyarrow.binary_view()
    fine = read_all(make(arrow_texts(kind, b"rope")))
    assert without(1, read_all(make(arrow_texts(kind, b"\xff")))) == without(1, fine)
    assert fine[0][1] == "rope"


def test_json_of_any_depth_is_one_blank_cell(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    for depth in range(900, 1100):
        file.write_text('{"a": 1}\n{"a": ' + "[" * depth + "]" * depth + '}\n{"a": 2}\n')
        numbers = open_table(file).whole(["a"]).numbers(["a"])[:, 0]
        np.testing.assert_array_equal(numbers, [1, np.nan, 2])


COLUMNS = Columns(["x", "kind"], "y", {"x": (-1, 1), "y": (-1, 1)}, {"kind": [101, 102]})


def model(**more: Any) -> StreamingLearner:
    return StreamingLearner(
        LpBall, SquaredLoss, 20, Privacy(1.0, 1e-6, **more), columns=COLUMNS, seed=1
    )


@pytest.mark.parametrize("odd", [[0.1, "zz"], [0.1, 1j], [0.1], None, [np.array(0.5), 101]])
def test_an_odd_row_of_a_list_leaves_the_categories_of_others(odd: Any) -> None:
    answer = StreamingLearner.problem_for(model().settings).answer
    assert isinstance(answer, SampleAnswer)
    rows = answer.streamed([[0.0, 101], odd, [0.5, 102]], [0.1, 0.2, 0.3]).features
    assert np.isfinite(rows[[0, 2]]).all()
    assert rows[0, 1] > 0
    assert rows[2, 2] > 0
    assert answer.rows([(np.array(0.5), 0.5), ([0.0, 101], 0.1)]).features.shape == (2, 3)


@pytest.mark.parametrize("odd", [Decimal(3), b"ann", (1, 2), pandas.Timestamp(0), None])
def test_an_odd_name_does_not_end_the_reading(odd: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "ROWS", 2)
    frame = polars.DataFrame({"x": [0.1] * 3, "kind": [101] * 3, "y": [0.1] * 3})
    names = polars.Series("who", ["ann", "bob", odd], dtype=polars.Object)
    learner = model(contributions=2, keyed=True)
    learner.observe_stream(frame.with_columns(names), persons="who")
    assert learner.clock == 3


def test_a_column_of_dates_cannot_name_people() -> None:
    frame = polars.DataFrame({"x": [0.1], "kind": [101], "y": [0.1], "who": [date(2020, 1, 1)]})
    learner = model(contributions=2, keyed=True)
    with pytest.raises(ConfigError, match="who must name people"):
        learner.observe_stream(frame, persons="who")
    assert learner.clock == 0


@pytest.mark.parametrize("header", ["agent,request,event,time", "request,age,event,time"])
def test_cells_before_the_ids_of_a_text_file_are_refused(header: str, tmp_path: Path) -> None:
    file = tmp_path / "log.csv"
    file.write_text(f"{header},slate,item\n")
    events = Events("request", "event", "view", "click", "time", "1 hours")
    with pytest.raises(ConfigError, match=r"has column (agent|age) before time"):
        events.opened(open_table(file), 2, None)
    (tmp_path / "places.csv").write_text("age,request,item,position,click\n")
    with pytest.raises(ConfigError, match="has column age before request"):
        Positions("request").opened(open_table(tmp_path / "places.csv"), 2, None)


def test_a_file_that_ends_early_is_refused(tmp_path: Path) -> None:
    views = pyarrow.table({"a": pyarrow.array(["x", "y", "z"], pyarrow.string_view())})
    pyarrow.feather.write_feather(views, tmp_path / "a.feather", compression="lz4")
    with pytest.raises(ConfigError, match=r"a\.feather cannot be read"):
        open_table(tmp_path / "a.feather").whole(["a"])


def test_a_list_of_another_length_than_its_targets_is_refused() -> None:
    with pytest.raises(OutOfBounds, match="one target per row"):
        model().observe_stream([[0.0, 101]], [0.1, 0.2])
