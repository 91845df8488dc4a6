"""If these fail, a site's log is misread, or one request's cells change the rows of others."""

import json
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars
import pytest

from discreet import ConfigError
from discreet.records import json_lines, positions, sources, text
from discreet.records.files import open_table
from discreet.records.layouts import laid_out, layout_of
from discreet.records.renamed import renamed
from discreet.records.sources import Source

Row = dict[str, Any]
POSITIONS = {"kind": "positions", "request": "id"}
EVENTS = {
    "kind": "events",
    "request": "id",
    "event": "event",
    "impression": "view",
    "click": "click",
    "time": "time",
    "wait": "30 minutes",
}


# --- logs in three formats ------------------------------------------------------------------------


def as_csv(folder: Path, rows: list[Row]) -> Path:
    """Cells are not escaped: a site's logger may forget that."""
    names = list(rows[0])
    lines = [",".join(names), *(",".join(_cell(row[name]) for name in names) for row in rows)]
    path = folder / "log.csv"
    path.write_bytes(b"".join(line.encode("latin-1") + b"\n" for line in lines))
    return path


def _cell(value: Any) -> str:
    return "" if value is None else str(value).encode().decode("latin-1")


def as_parquet(folder: Path, rows: list[Row]) -> Path:
    texts = {
        name: [None if row[name] is None else str(row[name]) for row in rows] for name in rows[0]
    }
    path = folder / "log.parquet"
    polars.DataFrame(texts, schema=dict.fromkeys(texts, polars.String)).write_parquet(path)
    return path


def as_json_lines(folder: Path, rows: list[Row]) -> Path:
    path = folder / "log.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


FORMATS: list[Callable[[Path, list[Row]], Path]] = [as_csv, as_parquet, as_json_lines]


@pytest.fixture(params=[2, 20_000])
def batch(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """Tables are read some rows at a time."""
    rows: int = request.param
    monkeypatch.setattr(sources, "ROWS", rows)
    monkeypatch.setattr(json_lines, "LINES", rows)
    monkeypatch.setattr(text, "BLOCK", 20 * rows)
    return rows


def slates_of(table: object, layout: Row, slots: int = 2, propensity: str | None = None) -> Source:
    return laid_out(open_table(table), layout_of(layout), slots=slots, propensity=propensity)


def rows_of(source: Source, names: list[str], first: int = 0) -> list[tuple[Any, ...]]:
    """Return the rows as they come in batches."""
    return [
        row
        for batch in source.batches(names, first)
        for row in zip(*(batch.values(name) for name in names), strict=True)
    ]


# --- one row per position -------------------------------------------------------------------------

READ = ["slate", "click", "p", "who"]


def positions_log() -> list[Row]:
    """Four requests of two places each; the last has three."""
    cells = [
        ("a", "tea", 1, 0, 0.25, "ann"),
        ("a", "milk", 2, 1, 0.5, "ann"),
        ("b", "soap", 9, 1, 0.5, "bob"),
        ("b", "tea", 3, 1, 0.125, "bob"),
        ("c", "rope", 0, 0, 0.5, "cid"),
        ("c", "green tea", 1, 0, 0.5, "cid"),
        ("d", "tea", 1.5, 1, 0.5, "dan"),
        ("d", "milk", -1, 0, 0.5, "dan"),
        ("d", "soap", 7, 0, 1, "dan"),
    ]
    return [
        dict(zip(("id", "item", "position", "click", "p", "who"), row, strict=True))
        for row in cells
    ]


EXPECTED = [
    ('["tea", "milk"]', "milk", "[0.25, 0.5]", "ann"),
    ('["tea", "soap"]', "tea", "[0.125, 0.5]", "bob"),
    ('["rope", "green tea"]', None, "[0.5, 0.5]", "cid"),
    ('["milk", "tea", "soap"]', "tea", "[0.5, 0.5, 1.0]", "dan"),
]


@pytest.mark.parametrize("written", FORMATS)
def test_rows_of_positions_are_slates_in_order_of_position(
    written: Callable[[Path, list[Row]], Path], batch: int, tmp_path: Path
) -> None:
    log = slates_of(written(tmp_path, positions_log()), POSITIONS, propensity="p")
    assert rows_of(log, READ) == EXPECTED
    assert log.count() is None


@pytest.mark.parametrize("written", FORMATS)
def test_a_run_can_go_on_from_any_row(
    written: Callable[[Path, list[Row]], Path], batch: int, tmp_path: Path
) -> None:
    log = slates_of(written(tmp_path, positions_log()), POSITIONS, propensity="p")
    for first in range(len(EXPECTED) + 1):
        assert rows_of(log, READ, first) == EXPECTED[first:]
    with pytest.raises(ConfigError, match="the log has 4 rows, but 5 were read before"):
        rows_of(log, READ, 5)


def test_a_request_may_begin_in_one_file_and_end_in_the_next(tmp_path: Path) -> None:
    for number, row in enumerate(positions_log()):
        folder = tmp_path / str(number)
        folder.mkdir()
        as_csv(folder, [row]).rename(tmp_path / f"part-{number}.csv")
    log = slates_of(str(tmp_path / "part-*.csv"), POSITIONS, propensity="p")
    assert rows_of(log, READ) == EXPECTED


def test_rewards_of_the_places_add_up(tmp_path: Path) -> None:
    rows = [
        {"id": name, "item": item, "position": place, "reward": reward}
        for name, item, place, reward in [
            ("a", "tea", 1, 0.25),
            ("a", "milk", 2, 0.5),
            ("b", "tea", 1, 0),
            ("b", "milk", 2, "much"),
        ]
    ]
    log = slates_of(as_csv(tmp_path, rows), POSITIONS)
    assert rows_of(log, ["slate", "reward"]) == [('["tea", "milk"]', 0.75), ("[]", None)]


def test_typed_columns_have_ids_clicks_and_persons_of_their_own_types() -> None:
    frame = polars.DataFrame(
        {
            "id": [7, 7, 8],
            "item": [101, 102, 103],
            "position": [1, 0, 0],
            "click": [False, True, None],
            "who": polars.Series([0.1, 0.1, 0.2], dtype=polars.Float32),
        }
    )
    (whole,) = slates_of(frame[:2], POSITIONS).batches(["slate", "click", "who"])
    assert whole.values("slate") == ["[" + '"102", "101"' + "]"]
    assert whole.values("click") == ["102"]
    assert [type(person).__name__ for person in whole.people("who")] == ["float32"]
    assert rows_of(slates_of(frame[2:], POSITIONS), ["slate", "click"]) == [('["103"]', None)]


@pytest.mark.parametrize("rows", [1, 3])
def test_without_a_request_every_row_is_a_slate_of_one_item(rows: int) -> None:
    frame = polars.DataFrame(positions_log())
    parts = (frame[start : start + rows] for start in range(0, 9, rows))
    log = slates_of(parts, {"kind": "positions"}, slots=1, propensity="p")
    read = rows_of(log, ["slate", "click", "p"])
    assert len(read) == 9
    assert read[:3] == [
        ('["tea"]', None, "[0.25]"),
        ('["milk"]', "milk", "[0.5]"),
        ('["soap"]', "soap", "[0.5]"),
    ]
    assert slates_of(frame, {"kind": "positions"}, slots=1).count() == 9


def test_a_row_without_an_id_is_a_blank_request_of_its_own(tmp_path: Path) -> None:
    rows = positions_log()
    for number in (2, 3):
        rows[number]["id"] = None
    log = slates_of(as_csv(tmp_path, rows), POSITIONS, propensity="p")
    blank = ("[]", None, "[]", "bob")
    assert rows_of(log, READ) == [EXPECTED[0], blank, blank, *EXPECTED[2:]]


HOSTILE: list[Any] = [
    *("", '"', '""', '"x', 'x"y', "a,b", ",", ",,,,,,,,", "\r", "a\rb", "\x00", "\ufeff", "é"),
    *("nan", "inf", "-1", "2", "1e999", "tea", "milk", "[", "None", "x" * 3000, "\u2028", "0"),
    *("2020-01-01", "true", "1"),
]
"""Texts that a person may bring, in any cell; in a CSV file they are not escaped."""
ODD_JSON: list[Any] = [None, [], [1], {"a": 1}, True, 7, 1e300, 10**4000, "\ud800", float("nan")]


def hostile_for(written: Callable[..., Path]) -> list[Any]:
    return HOSTILE + (ODD_JSON if written is as_json_lines else [])


@pytest.mark.parametrize("written", FORMATS)
@pytest.mark.parametrize("victim", ["a", pytest.param("d", marks=pytest.mark.night)])
def test_one_requests_cells_change_no_other_row_of_positions(
    victim: str,
    written: Callable[[Path, list[Row]], Path],
    batch: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(text, "LONGEST_LINE", 2000)
    monkeypatch.setattr(text, "LONGEST_CELL", 100)
    monkeypatch.setattr(json_lines, "LONGEST_LINE", 2000)
    place = "abcd".index(victim)
    others = [row for number, row in enumerate(EXPECTED) if number != place]
    mine = [number for number, row in enumerate(positions_log()) if row["id"] == victim]
    blanks = 0
    for hostile in hostile_for(written):
        for numbers in (mine[:1], mine):
            for name in ("item", "position", "click", "p", "who"):
                rows = positions_log()
                for number in numbers:
                    rows[number][name] = hostile
                log = slates_of(written(tmp_path, rows), POSITIONS, propensity="p")
                read = rows_of(log, READ)
                assert len(read) == len(EXPECTED), (name, hostile)
                own = read.pop(place)
                assert read == others, (name, hostile)
                assert own[0] != "[]" or own[1:3] == (None, "[]")
                blanks += own[0] == "[]"
    assert blanks > 100  # hostile cells are malformed, not guessed


def test_bytes_that_are_no_text_leave_a_line_its_request(tmp_path: Path) -> None:
    path = as_csv(tmp_path, positions_log())
    path.write_bytes(path.read_bytes().replace(b"soap,9", b"\xff\xfe,9"))
    read = rows_of(slates_of(path, POSITIONS, propensity="p"), READ)
    assert [row[0] for row in read] == [EXPECTED[0][0], "[]", EXPECTED[2][0], EXPECTED[3][0]]


@pytest.mark.parametrize("line", ['{"id": "b", "item": [[[', '{"id": "b"', '{"id": "b", "x": 1e'])
def test_a_line_that_is_no_json_keeps_its_request(line: str, tmp_path: Path) -> None:
    path = as_json_lines(tmp_path, positions_log())
    lines = path.read_text().splitlines()
    lines[2:4] = [line + ', "item": ' + "[" * 100_000] * 2
    path.write_text("\n".join(lines))
    read = rows_of(slates_of(path, POSITIONS, propensity="p"), READ)
    assert read == [EXPECTED[0], ("[]", None, "[]", None), *EXPECTED[2:]]


def test_two_items_in_one_position_make_that_request_blank(tmp_path: Path) -> None:
    rows = positions_log()
    rows[3]["position"] = 9
    read = rows_of(slates_of(as_csv(tmp_path, rows), POSITIONS, propensity="p"), READ)
    assert read == [EXPECTED[0], ("[]", None, "[]", "bob"), *EXPECTED[2:]]


def test_a_request_of_too_many_rows_is_blank_and_takes_no_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(positions, "MOST_PLACES", 3)

    def parts() -> Iterator[polars.DataFrame]:
        first = polars.DataFrame(positions_log()[:2]).cast(polars.String)
        yield first
        for begin in range(0, 60_000, 500):
            yield polars.DataFrame(
                {
                    "id": ["long"] * 500,
                    "item": [f"item {begin + number} {'x' * 100}" for number in range(500)],
                    "position": [str(begin + number) for number in range(500)],
                    "click": ["0"] * 500,
                    "p": ["0.5"] * 500,
                    "who": ["eve"] * 500,
                }
            )
        yield first.with_columns(polars.lit("z").alias("id"))

    log = slates_of(parts(), POSITIONS, propensity="p")
    tracemalloc.start()
    read = rows_of(log, READ)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert read == [EXPECTED[0], ("[]", None, "[]", "eve"), EXPECTED[0]]
    assert peak < 3e6  # all items of the long request together: 9 MB


# --- events ---------------------------------------------------------------------------------------


def event(name: str, kind: str, time: Any, slate: str | None = None, item: Any = None) -> Row:
    return {"id": name, "event": kind, "time": time, "slate": slate, "item": item, "who": name}


def event_log() -> list[Row]:
    """Views and clicks; the click of c comes before its view in the log."""
    return [
        event("c", "click", "2024-05-01T12:10:00+02:00", item="rope"),
        event("a", "view", "2024-05-01T10:00:00", "tea milk"),
        event("b", "view", "2024-05-01T10:00:00Z", '["soap", "green tea"]'),
        event("a", "scroll", "2024-05-01T10:00:01"),
        event("a", "click", "2024-05-01T10:30:00+00:00", item="milk"),
        event("c", "view", "2024-05-01T12:05:00+02:00", "rope tea"),
        event("b", "click", "2024-05-01T10:30:00.000001", item="soap"),
        event("d", "view", "2024-05-01T11:00:00", "tea soap"),
        event("a", "click", "2024-05-01T10:00:02", item="tea"),
    ]


SEEN = ["slate", "click", "who"]
JOINED = [
    ("tea milk", "milk", "a"),
    ('["soap", "green tea"]', None, "b"),
    ("rope tea", "rope", "c"),
    ("tea soap", None, "d"),
]


@pytest.mark.parametrize("written", [as_parquet, as_json_lines])
def test_clicks_join_the_impression_of_their_id_within_the_waiting_time(
    written: Callable[[Path, list[Row]], Path], batch: int, tmp_path: Path
) -> None:
    """The click of b is a microsecond late; the second one of a comes later in the log."""
    log = slates_of(written(tmp_path, event_log()), EVENTS)
    assert rows_of(log, SEEN) == JOINED
    for first in range(5):
        assert rows_of(log, SEEN, first) == JOINED[first:]


@pytest.mark.parametrize("late", [True, False])
def test_times_may_be_numbers_of_seconds_or_typed_stamps(late: bool) -> None:
    views = event_log()[1:3]
    numbers = polars.DataFrame(
        [views[0] | {"time": 100.5}, event("a", "click", 1900.5 + late / 10, item="tea")]
    )
    click = None if late else "tea"
    assert rows_of(slates_of(numbers, EVENTS), SEEN) == [("tea milk", click, "a")]
    stamps = numbers.with_columns(
        polars.from_epoch(polars.col("time") * 1e6, time_unit="us").dt.replace_time_zone("UTC")
    )
    assert rows_of(slates_of(stamps, EVENTS), SEEN) == [("tea milk", click, "a")]


@pytest.mark.parametrize(
    ("clicks", "counted"),
    [
        ([("soap", 5), ("tea", 5)], "tea"),  # soap was not shown
        ([("milk", 9), ("tea", 5)], "milk"),
        ([("milk", -1), ("tea", 5)], "tea"),  # before the impression
        ([("milk", 61), ("tea", 60)], "tea"),
        ([("milk", "soon"), ("tea", 0)], "tea"),
        ([("milk", None)], None),
        ([("milk", 61)], None),
        ([(None, 5)], None),
        ([("", 5), ("tea milk", 5)], None),
    ],
)
def test_the_first_click_that_qualifies_counts(
    clicks: list[tuple[Any, Any]], counted: str | None, tmp_path: Path
) -> None:
    rows = [event("a", "view", 0, "tea milk"), event("b", "view", 0, "tea milk")]
    rows += [event("a", "click", time, item=item) for item, time in clicks]
    log = slates_of(as_csv(tmp_path, rows), EVENTS | {"wait": "1 minute"})
    assert rows_of(log, SEEN) == [("tea milk", counted, "a"), ("tea milk", None, "b")]


@pytest.mark.parametrize("written", FORMATS)
@pytest.mark.parametrize("victim", [pytest.param("a", marks=pytest.mark.night), "c"])
def test_one_requests_cells_change_no_other_row_of_events(
    victim: str,
    written: Callable[[Path, list[Row]], Path],
    batch: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(text, "LONGEST_LINE", 2000)
    monkeypatch.setattr(json_lines, "LONGEST_LINE", 2000)

    def log_with(cells: Row) -> list[Row]:
        rows = event_log()
        rows[2]["slate"] = "soap tea"  # in a CSV file without quotes
        return [row | cells if row["id"] == victim else row for row in rows]

    honest = rows_of(slates_of(written(tmp_path, log_with({})), EVENTS), SEEN)
    place = "abcd".index(victim)
    for hostile in hostile_for(written):
        for name in ("time", "slate", "item", "who"):
            log = slates_of(written(tmp_path, log_with({name: hostile})), EVENTS)
            read = rows_of(log, SEEN)
            assert len(read) == len(honest), (name, hostile)
            assert read[:place] == honest[:place], (name, hostile)
            assert read[place + 1 :] == honest[place + 1 :], (name, hostile)


@pytest.mark.parametrize("time", [0, 50, "soon", None])
@pytest.mark.parametrize("slate", ["tea milk", "soap", "", None])
def test_the_clicks_of_two_impressions_with_one_id_are_those_of_the_first(
    time: Any, slate: str | None, batch: int, tmp_path: Path
) -> None:
    """Whatever the first impression holds, the second gets no click."""
    rows = [
        event("a", "view", time, slate),
        event("b", "view", 0, "tea"),
        event("a", "view", 40, "tea milk"),
        event("a", "click", 45, item="tea"),
    ]
    log = slates_of(as_csv(tmp_path, rows), EVENTS)
    first, *others = rows_of(log, SEEN)
    assert others == [("tea", None, "b"), ("", None, "a")]
    assert first[1] == ("tea" if (time, slate) == (0, "tea milk") else None)


@pytest.mark.parametrize(
    "cells", [{"time": "soon"}, {"time": None}, {"slate": None}, {"id": None}, {"id": " "}]
)
def test_an_impression_that_cannot_be_read_is_a_blank_row(cells: Row, tmp_path: Path) -> None:
    rows = [event("a", "view", 0, "tea") | cells, event("a", "click", 1, item="tea") | cells]
    rows.append(event("", "click", 1, item="tea"))
    assert rows_of(slates_of(as_csv(tmp_path, rows), EVENTS), SEEN)[0][:2] == ("", None)


def test_an_event_log_that_can_be_read_only_once_is_refused() -> None:
    frames = iter([polars.DataFrame(event_log())])
    with pytest.raises(ConfigError, match="is read twice, and this table can be read only once"):
        laid_out(
            renamed(open_table(frames), {"who": "person"}),
            layout_of(EVENTS),
            slots=2,
            propensity=None,
        )


def test_a_log_without_rows_has_no_slates(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text(",".join([*event_log()[0], "position", "click", "p"]) + "\n")
    assert rows_of(slates_of(tmp_path / "log.csv", EVENTS), SEEN) == []
    assert rows_of(slates_of(tmp_path / "log.csv", POSITIONS), SEEN) == []
    assert len(slates_of(tmp_path / "log.csv", POSITIONS).whole(SEEN)) == 0


# --- declarations ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("layout", "message"),
    [
        ("events", "layout: events lacks request, event, impression, click, time, wait"),
        ({}, "layout lacks its kind: it must be positions or events"),
        (
            {"kind": "postions"},
            "layout must be positions or events, got 'postions', did you mean positions?",
        ),
        ({"kind": 7}, "layout must be positions or events, got 7"),
        ({"kind": "positions", "requst": "id"}, "unknown key 'requst', did you mean request?"),
        ({"kind": "positions", "request": 7}, "layout: request must be a text or left out, got 7"),
        ({"kind": "events", "request": "id"}, "events lacks event, impression, click, time, wait"),
        (EVENTS | {"click": "view"}, "impression and click must be two kinds of events"),
        *(
            (
                EVENTS | {"wait": wait},
                'layout: wait must be a duration such as "30 minutes" (seconds, minutes, hours, '
                f"days), got '{wait}'",
            )
            for wait in ("soon", "-1 minutes", "30", "", "1 minute 2 seconds")
        ),
    ],
)
def test_a_wrong_declaration_is_refused_in_one_line(layout: Any, message: str) -> None:
    with pytest.raises(ConfigError) as refused:
        layout_of(layout)
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("layout", "slots", "dropped", "message"),
    [
        (POSITIONS, 2, ["item", "position"], "lacks the columns item, position; [rename] gives"),
        (POSITIONS, 2, ["id"], "lacks the columns id;"),
        (POSITIONS, 2, ["click"], "lacks the columns click;"),
        ({"kind": "positions"}, 3, [], "every row is a slate of one item, and a slate has 3: name"),
        (EVENTS, 2, [], "lacks the columns event, time, slate;"),
    ],
)
def test_a_log_that_lacks_columns_of_its_layout_is_refused_in_one_line(
    layout: Row, slots: int, dropped: list[str], message: str
) -> None:
    frame = polars.DataFrame(positions_log()).drop(dropped)
    with pytest.raises(ConfigError) as refused:
        slates_of(frame, layout, slots=slots)
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("layout", "order", "message"),
    [
        (
            POSITIONS,
            ["item", "id", "position", "click"],
            "has column good before id, so a malforme",
        ),
        (POSITIONS, ["item", "position", "click", "id"], "write id first, or a Parquet file"),
        (EVENTS, ["time", "id", "slate", "event", "item"], "has column slate before event"),
    ],
)
def test_a_text_file_with_peoples_cells_before_the_id_is_refused(
    layout: Row, order: list[str], message: str, tmp_path: Path
) -> None:
    """A quote in such a cell would hide the id, and change the number of requests."""
    cells = dict.fromkeys(order, "1")
    names = {"good": "item"}
    in_file = [{"item": "good"}.get(name, name) for name in order]
    (tmp_path / "log.csv").write_text(",".join(in_file) + "\n")
    polars.DataFrame(dict(zip(in_file, cells.values(), strict=True))).write_parquet(
        tmp_path / "log.parquet"
    )
    log = renamed(open_table(tmp_path / "log.csv"), names)
    with pytest.raises(ConfigError) as refused:
        laid_out(log, layout_of(layout), slots=2, propensity=None)
    assert message in str(refused.value)
    typed = renamed(open_table(tmp_path / "log.parquet"), names)
    laid_out(typed, layout_of(layout), slots=2, propensity=None)
