"""Text files of people's rows: cut into lines first, each line decoded and parsed alone.

One person's line never decides how another's is read. A quote that is never closed, a byte that is
no UTF-8, a separator too many or a line of a gigabyte makes that line a blank row, and nothing
else. So a newline ends a row wherever it stands, also inside quotes. Only public facts refuse a
file: it does not exist, it has no header, or its header cannot be read.

Lines without quotes that have the right number of separators are split by Polars, many at a time:
they cannot reach into each other. Lines with quotes, with a carriage return that does not end them,
or that may begin with a byte order mark are split one at a time. Which way a line goes depends on
that line alone, not on its place in the file.

Columns named as `keys` hold ids of the operator's logger. In a line that cannot be read they are
read from its beginning, as far as its cells are well formed: nothing to their right matters.

Guarantee   docs/guarantees/threats.md: what one person brings never decides how another is read
"""

import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np
import polars

from discreet.arrays import Integers, Mask
from discreet.errors import ConfigError

BLOCK = 2**22
"""Bytes that are read at once."""
LONGEST_LINE, LONGEST_CELL = 2**20, 100
"""Bytes of a line, or of a cell on average if that allows more; longer lines are blank rows, so
that memory stays bounded.
"""
LONGEST_HEADER = 2**26
"""Bytes of the line with the names of the columns."""
NEWLINE, RETURN, QUOTE = 10, 13, 34
FIRST_OF_MANY_BYTES = 128
"""The least byte of a character that takes several, in UTF-8."""
SEPARATORS = {".tsv": "\t"}
"""By the ending of a file; others have commas."""
BYTE_ORDER_MARK = "\ufeff"
FIRST_OF_MARK = 0xEF
"""The first byte of a byte order mark, in UTF-8."""


@dataclass(frozen=True)
class TextFile:
    """A CSV or TSV file whose first line has the names of the columns."""

    path: Path
    columns: tuple[str, ...]
    keys: tuple[str, ...] = ()
    """Columns whose cells are kept in a line that cannot be read."""

    @classmethod
    def opened(cls, path: Path) -> "TextFile":
        """Read the header; `ConfigError` if there is none."""
        with path.open("rb") as file:
            line = file.readline(LONGEST_HEADER)
        try:
            text = line.decode().removeprefix(BYTE_ORDER_MARK)
        except UnicodeDecodeError:
            raise ConfigError(
                f"the first line of {path} is not UTF-8: convert the file, for instance with "
                "iconv -f latin1 -t utf-8"
            ) from None
        names = _split_alone(text.rstrip("\r\n"), _separator_of(path))
        if not names or not any(names):
            raise ConfigError(f"{path} is empty: its first line must have the names of the columns")
        if len(set(names)) != len(names):
            # Not quoted: in a file without a header, this line is a person's.
            raise ConfigError(f"{path} has two columns of the same name: rename one of them")
        return cls(path, tuple(names))

    def empty(self, names: Sequence[str] | None = None) -> polars.DataFrame:
        """Return a frame without rows that has the columns of these names; by default all."""
        wanted = self.columns if names is None else names
        return polars.DataFrame(schema=dict.fromkeys(wanted, polars.String))

    def batches(self, names: Sequence[str] | None = None) -> Iterator[polars.DataFrame]:
        """Yield the rows, some at a time, as texts; null for an empty cell and for a blank row.

        Only the columns of these names are held, in this order; by default all.
        """
        wanted = list(self.columns if names is None else names)
        separator = _separator_of(self.path)
        with self.path.open("rb") as file:
            file.readline(LONGEST_HEADER)
            for block in blocks(file, _longest(len(self.columns))):
                yield _parsed(block, self.columns, separator, self.keys).select(wanted)

    def count(self) -> int:
        """Return the number of rows: the lines after the header."""
        with self.path.open("rb") as file:
            file.readline(LONGEST_HEADER)
            return count_lines(file)


def _separator_of(path: Path) -> str:
    return SEPARATORS.get(path.suffix.lower(), ",")


# --- lines ----------------------------------------------------------------------------------------


def blocks(file: BinaryIO, longest: int) -> Iterator[bytes]:
    """Yield whole lines, some megabytes at a time; a line that is too long is cut, but too long."""
    rest = b""
    while piece := file.read(BLOCK):
        end = piece.rfind(b"\n") + 1
        if end:
            yield rest + piece[:end]
            rest = piece[end:]
        else:
            rest += piece
        if len(rest) > longest:
            yield rest[: longest + 1] + b"\n"
            rest = b""
            _skip_line(file)
    if rest:
        yield rest + b"\n"


def count_lines(file: BinaryIO) -> int:
    """Return the number of lines from here to the end of the file."""
    count = 0
    last = b""
    while piece := file.read(BLOCK):
        count += piece.count(b"\n")
        last = piece
    return count + (last[-1:] not in (b"", b"\n"))


def _longest(width: int) -> int:
    """Return the most bytes of a line with `width` cells."""
    return max(LONGEST_LINE, LONGEST_CELL * width)


def _skip_line(file: BinaryIO) -> None:
    """Go to the end of the line that the file stands in."""
    while piece := file.readline(BLOCK):
        if piece.endswith(b"\n"):
            return


def _blank(width: int, separator: str) -> bytes:
    """Return the line of a row whose cells are all empty."""
    return separator.encode() * (width - 1)


# --- cells ----------------------------------------------------------------------------------------


def _parsed(
    block: bytes, columns: Sequence[str], separator: str, keys: Sequence[str] = ()
) -> polars.DataFrame:
    """Return the cells of some whole lines, one row per line."""
    bytes_of_block = np.frombuffer(block, dtype=np.uint8)
    ends = np.flatnonzero(bytes_of_block == NEWLINE)
    starts = np.concatenate([[0], ends[:-1] + 1])
    alone = _lines_with((bytes_of_block == QUOTE) | _stray_returns(bytes_of_block), ends)
    # Polars removes a byte order mark, but only where a block begins.
    alone |= bytes_of_block[starts] == FIRST_OF_MARK
    # Also where the whole line is in this block: its place in the file must not matter.
    too_long = ends - starts > _longest(len(columns))
    alone &= ~too_long
    unreadable = too_long | _unreadable(block, bytes_of_block, ends, len(columns), separator)
    replaced = np.flatnonzero(alone | unreadable)
    plain = _with_blanks(block, ends, replaced, _blank(len(columns), separator))
    frame = polars.read_csv(
        plain,
        has_header=False,
        schema=dict.fromkeys(columns, polars.String),
        separator=separator,
        quote_char=None,
    )
    assert frame.height == len(ends), "a line is a row"
    places, rows = _split_rows(block, ends, np.flatnonzero(alone), len(columns), separator)
    frame = _with_rows(frame, places, rows)
    if not keys:
        return frame
    lost = alone | unreadable
    lost[places] = False
    return _with_keys(frame, block, ends, np.flatnonzero(lost), separator, keys)


def _stray_returns(bytes_of_block: np.ndarray) -> Mask:
    """Return the carriage returns that do not end a line together with its newline."""
    returns = np.asarray(bytes_of_block == RETURN)
    returns[:-1] &= bytes_of_block[1:] != NEWLINE
    return returns


def _lines_with(found: Mask, ends: Integers) -> Mask:
    """Return which lines hold one of these bytes."""
    lines = np.zeros(len(ends), dtype=np.bool_)
    lines[np.searchsorted(ends, np.flatnonzero(found))] = True
    return lines


def _unreadable(
    block: bytes, bytes_of_block: np.ndarray, ends: Integers, width: int, separator: str
) -> Mask:
    """Return which lines without quotes have too few or too many cells, or are no UTF-8."""
    separators = np.flatnonzero(bytes_of_block == ord(separator))
    counts = np.diff(np.searchsorted(separators, ends), prepend=0)
    unreadable = np.asarray(counts != width - 1)
    starts = np.concatenate([[0], ends[:-1] + 1])
    for line in np.flatnonzero(_lines_with(bytes_of_block >= FIRST_OF_MANY_BYTES, ends)):
        unreadable[line] |= _decoded(block[starts[line] : ends[line]]) is None
    return unreadable


def _decoded(line: bytes) -> str | None:
    try:
        return line.decode()
    except UnicodeDecodeError:
        return None


def _with_blanks(block: bytes, ends: Integers, lines: Integers, blank: bytes) -> bytes:
    """Return the block with blank rows in place of these lines."""
    if not len(lines):
        return block
    pieces: list[bytes] = []
    cursor = 0
    for line in lines:
        start = ends[line - 1] + 1 if line else 0
        pieces += [block[cursor:start], blank]
        cursor = ends[line]
    return b"".join([*pieces, block[cursor:]])


def _split_rows(
    block: bytes, ends: Integers, lines: Integers, width: int, separator: str
) -> tuple[list[int], list[list[str | None]]]:
    """Return those of these lines that can be read one at a time, and the cells of each."""
    places: list[int] = []
    rows: list[list[str | None]] = []
    for line in lines:
        start = ends[line - 1] + 1 if line else 0
        text = _decoded(block[start : ends[line]])
        cells = [] if text is None else _split_alone(text.removesuffix("\r"), separator)
        if len(cells) == width:
            places.append(int(line))
            rows.append([cell or None for cell in cells])
    return places, rows


def _split_alone(text: str, separator: str) -> list[str]:
    """Return the cells of one line that may have quotes; none if it cannot be split."""
    if '"' not in text:
        return text.split(separator)
    try:
        return next(csv.reader([text], delimiter=separator, strict=True), [])
    except csv.Error:
        return []


def _with_rows(
    frame: polars.DataFrame, places: list[int], rows: list[list[str | None]]
) -> polars.DataFrame:
    """Return the frame with these rows in these places."""
    if not places:
        return frame
    changed = []
    for column, cells in zip(frame.columns, zip(*rows, strict=True), strict=True):
        series = polars.Series(cells, dtype=polars.String)
        changed.append(frame[column].scatter(places, series))
    return polars.DataFrame(changed)


def _with_keys(
    frame: polars.DataFrame,
    block: bytes,
    ends: Integers,
    lines: Integers,
    separator: str,
    keys: Sequence[str],
) -> polars.DataFrame:
    """Return the frame with the keys of these lines, which are blank rows otherwise."""
    if not len(lines):
        return frame
    places = [frame.columns.index(key) for key in keys]
    longest = _longest(len(frame.columns))
    found: list[list[str | None]] = []
    for line in lines:
        start = ends[line - 1] + 1 if line else 0
        text = block[start : min(ends[line], start + longest)].decode(errors="replace")
        cells = _leading_cells(text, separator, max(places) + 1)
        found.append([cells[place] if place < len(cells) else None for place in places])
    series = [
        frame[key].scatter(lines, polars.Series(cells, dtype=polars.String))
        for key, cells in zip(keys, zip(*found, strict=True), strict=True)
    ]
    return frame.with_columns(series)


def _leading_cells(text: str, separator: str, count: int) -> list[str | None]:
    """Return the first cells of a line, at most `count`, up to one that is malformed.

    >>> _leading_cells('7,"a, b",c"d,"e', ",", 4)
    ['7', 'a, b', 'c"d']
    """
    end = re.escape(separator)
    cell = re.compile(rf'(?:"([^"]*(?:""[^"]*)*)"|((?!")[^{end}]*))(?:{end}|\r?$)')
    cells: list[str | None] = []
    place = 0
    while len(cells) < count and (found := cell.match(text, place)):
        quoted, plain = found.groups()
        cells.append((plain if quoted is None else quoted.replace('""', '"')) or None)
        place = found.end()
        if text[place - 1 : place] != separator:
            break
    return cells
