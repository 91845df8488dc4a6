"""If these fail, one person's line in a text file decides how another person's is read."""

import csv
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet import ConfigError
from discreet.records import text
from discreet.records.text import TextFile

Row = tuple[str | None, ...]

HOSTILE = (
    *(b",", b",", b",", b"\n", b"\n", b'"', b'""', b"\r", b"\r\n", b" ", b"\t", b"#", b"'"),
    *(b"a", b"1", b".5", b"\x00", b"\xff", b"\xc3\xa9", b"\xef\xbb\xbf", b"\xe2\x80\xa8"),
)
"""Pieces that lines are made of: separators, quotes, ends of lines, and bytes that are no text."""

lines = st.lists(st.sampled_from(HOSTILE), max_size=40).map(b"".join)


def written(folder: Path, body: bytes, width: int) -> Path:
    path = folder / "rows.csv"
    path.write_bytes(",".join(f"c{place}" for place in range(width)).encode() + b"\n" + body)
    return path


def rows_of(path: Path) -> list[Row]:
    return [row for batch in TextFile.opened(path).batches() for row in batch.rows()]


def read_alone(line: bytes, width: int) -> Row:
    """The cells of one line, by the rules and without the library."""
    blank = (None,) * width
    try:
        decoded = line.decode().removesuffix("\r")
    except UnicodeDecodeError:
        return blank
    if '"' not in decoded:
        cells = decoded.split(",")
    else:
        try:
            cells = next(csv.reader([decoded], strict=True), [])
        except csv.Error:
            return blank
    return tuple(cell or None for cell in cells) if len(cells) == width else blank


@pytest.mark.parametrize("block", [1, 7, 2**22])
@pytest.mark.parametrize("width", [1, 3])
def test_every_line_is_read_as_if_it_were_alone(
    block: int, width: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text, "BLOCK", block)

    @given(body=lines)
    def check(body: bytes) -> None:
        alone = body.split(b"\n")
        if not alone[-1]:
            alone.pop()
        expected = [read_alone(line, width) for line in alone]
        assert rows_of(written(tmp_path, body, width)) == expected

    check()


@pytest.mark.parametrize(
    "line",
    [b'"', b'a,"b', b"\xff,1", b"1", b"1,2,3,4", b"", b"x" * 3000, b'""",,', b"1,\r2"],
    ids=repr,
)
def test_a_line_that_cannot_be_read_is_a_blank_row_and_leaves_all_others(
    line: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text, "LONGEST_LINE", 2000)
    before, after = b"1,2\n3,4\n", b'5,"6"\n7,8\n'
    found = rows_of(written(tmp_path, before + line + b"\n" + after, 2))
    assert found[:2] == [("1", "2"), ("3", "4")]
    assert found[3:] == [("5", "6"), ("7", "8")]
    assert found[2] in {(None, None), ("1", "\r2")}


@pytest.mark.parametrize("before", range(0, 200, 7))
def test_what_a_line_says_does_not_depend_on_where_in_the_file_it_stands(
    before: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Other people's lines decide where blocks begin, so that must not matter."""
    monkeypatch.setattr(text, "BLOCK", 128)
    monkeypatch.setattr(text, "LONGEST_LINE", 60)
    monkeypatch.setattr(text, "LONGEST_CELL", 1)
    lead = b"1" * (before % 50) + b",2\n"
    fill = lead * (1 + before // 50)
    mark = b"\xef\xbb\xbf7,8\n"
    too_long = b"5," + b"6" * 70 + b"\n"
    long_enough = b"5," + b"6" * 50 + b"\n"
    rows = rows_of(written(tmp_path, fill + too_long + fill + mark + fill + long_enough, 2))
    count = 1 + before // 50
    assert rows[count] == (None, None)
    assert rows[2 * count + 1] == ("\ufeff7", "8")
    assert rows[3 * count + 2] == ("5", "6" * 50)


def test_wide_tables_may_have_long_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text, "LONGEST_LINE", 100)
    cells = ["0.1234567890123456789"] * 60
    (row,) = rows_of(written(tmp_path, ",".join(cells).encode() + b"\n", 60))
    assert row == tuple(cells)


def test_a_line_longer_than_memory_allows_is_skipped_in_pieces(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text, "BLOCK", 64)
    monkeypatch.setattr(text, "LONGEST_LINE", 100)
    body = b"1,2\n" + b"9" * 100_000 + b"\n3,4\n" + b"8" * 5_000
    assert rows_of(written(tmp_path, body, 2)) == [
        ("1", "2"),
        (None, None),
        ("3", "4"),
        (None, None),
    ]


def test_chosen_columns_come_in_the_order_that_was_asked_for(tmp_path: Path) -> None:
    file = TextFile.opened(written(tmp_path, b"1,2,3\n", 3))
    (batch,) = file.batches(["c2", "c0"])
    assert batch.to_dict(as_series=False) == {"c2": ["3"], "c0": ["1"]}


def test_a_file_of_tabs_is_known_by_its_ending(tmp_path: Path) -> None:
    path = tmp_path / "rows.tsv"
    path.write_bytes(b"tea\tmilk\n1,5\t2\n")
    assert rows_of(path) == [("1,5", "2")]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty: its first line must have the names of the columns"),
        (b"\n1,2\n", "is empty: its first line must have the names of the columns"),
        (
            b"caf\xe9,price\n1,2\n",
            "is not UTF-8: convert the file, for instance with iconv -f latin1 -t utf-8",
        ),
        (b"tea,tea\n1,2\n", "has two columns of the same name: rename one of them"),
    ],
)
def test_a_header_that_cannot_be_read_is_refused_in_one_line(
    content: bytes, message: str, tmp_path: Path
) -> None:
    path = tmp_path / "rows.csv"
    path.write_bytes(content)
    with pytest.raises(ConfigError, match=message):
        TextFile.opened(path)


def test_a_byte_order_mark_belongs_to_no_name(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_bytes(b"\xef\xbb\xbftea,milk\r\n1,2\r\n")
    assert TextFile.opened(path).columns == ("tea", "milk")
    assert rows_of(path) == [("1", "2")]
