"""JSON lines: one object per line, each line parsed alone.

The file has no header, and the keys of a line are a person's. So the columns are those that the
settings name: a line without such a key has an empty cell there, and a line that is no JSON object
is a blank row. Keys that hold ids of the operator's logger (`keys`) are read there too, if they
come first in the line.
"""

import json
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars

from discreet.records.text import LONGEST_LINE, blocks, count_lines

LINES = 20_000
"""The number of lines that become one frame."""


PAIR = re.compile(
    r'\s*("[^"\\]*(?:\\.[^"\\]*)*")\s*:\s*'
    r'("[^"\\]*(?:\\.[^"\\]*)*"|-?[0-9][0-9.eE+-]{0,40}|true|false|null)\s*[,}]'
)
"""A key and its text, number or word, up to the next key."""


class AnyName(list[str]):
    """The header of a table without one: every name may be a column, except those in `without`."""

    def __init__(self, without: Collection[str] = ()) -> None:
        super().__init__()
        self.without = frozenset(without)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name not in self.without


@dataclass(frozen=True)
class JsonLines:
    """A file with one JSON object per line."""

    path: Path
    keys: tuple[str, ...] = ()
    """Keys that are read in a line that is no JSON object, too."""

    @property
    def columns(self) -> list[str]:
        """A header that has every name."""
        return AnyName()

    @classmethod
    def opened(cls, path: Path) -> "JsonLines":
        """Return the file; an `OSError` if it cannot be opened."""
        with path.open("rb"):
            return cls(path)

    def count(self) -> int:
        """Return the number of lines."""
        with self.path.open("rb") as file:
            return count_lines(file)

    def batches(self, names: Sequence[str]) -> Iterator[polars.DataFrame]:
        """Yield the rows, some at a time, with these columns."""
        with self.path.open("rb") as file:
            for block in blocks(file, LONGEST_LINE):
                lines = block.split(b"\n")[:-1]
                for start in range(0, len(lines), LINES):
                    rows = [self._object_in(line) for line in lines[start : start + LINES]]
                    yield polars.DataFrame([_column(name, rows) for name in names])

    def _object_in(self, line: bytes) -> dict[str, object]:
        """Return the object of a line; if it has none, one with its keys only."""
        if len(line) <= LONGEST_LINE:
            try:
                content = json.loads(line)
            except (ValueError, RecursionError):
                content = None
            if isinstance(content, dict):
                return content
        return _leading_pairs(line, self.keys) if self.keys else {}


def _leading_pairs(line: bytes, keys: Collection[str]) -> dict[str, object]:
    """Return these keys of an object that cannot be read, up to its first malformed value.

    >>> _leading_pairs(b'{"id": 7, "kind": "view", "slate": ["tea', ["id", "slate"])
    {'id': 7}
    """
    text = line[:LONGEST_LINE].decode(errors="replace").lstrip()
    pairs: dict[str, object] = {}
    place = 1
    while text.startswith("{") and (found := PAIR.match(text, place)):
        try:
            key, value = map(json.loads, found.groups())
        except ValueError:
            break
        if key in keys:
            pairs[key] = value
        place = found.end()
    return pairs


def _column(name: str, rows: list[dict[str, object]]) -> polars.Series:
    """Return the cells of one key: floats only, or each cell a separate object.

    A column of texts would be a third kind, with rules of its own for texts that are no numbers, so
    that a number of one person would change how the texts of others are read.
    """
    cells = [_cell(row.get(name)) for row in rows]
    only_floats = set(map(type, cells)) <= {float, type(None)}
    return polars.Series(name, cells, dtype=polars.Float64 if only_floats else polars.Object)


def _cell(value: object) -> object:
    """Return a value; lists and objects as JSON texts, None if they are nested too deeply."""
    if not isinstance(value, list | dict):
        return value
    try:
        return json.dumps(value)
    except RecursionError:
        return None
