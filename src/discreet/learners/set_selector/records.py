"""Reading of records: from rows, frames or files, clipped and quantised.

This code runs where the people are: on this machine, or on the worker that reads a partition.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from discreet.arrays import Floats, Integers, Mask
from discreet.engine.request import EMPTY_REQUEST, Batch
from discreet.entries import entries_of
from discreet.errors import ConfigError
from discreet.feedback import as_rows
from discreet.functions.sets import SetFunctions
from discreet.learners.labels import Label
from discreet.learners.log_adapter import names_of_row, row_columns
from discreet.progress import bar
from discreet.records.array_table import ArrayTable
from discreet.records.cells import unread_numbers
from discreet.records.check import Check, checked, checked_rows
from discreet.records.kinds import is_table
from discreet.records.samples import opened
from discreet.release.aggregators import HeldRows
from discreet.release.aggregators.partitions import HeldPart

CHUNK = 20_000
"""The number of people that are read at once."""
CHANGED = (
    "it changed during the selection: a partition must give the same records whenever it is read"
)


class Admitted(NamedTuple):
    """Clipped rows, one per person, and the mask of those whose record is valid."""

    rows: Floats
    is_valid: Mask


def admitted(batch: Batch, family: SetFunctions, items: int) -> Admitted:
    """Return one row per person, clipped to the range of the family, and who has a valid record."""
    rows = as_rows(batch, family.width(items))
    clipped = family.admit(rows, items)[0]
    is_valid = np.isfinite(rows).all(axis=1) & np.isfinite(clipped).all(axis=1)
    return Admitted(clipped, np.asarray(is_valid))


def marked(batch: Batch, family: SetFunctions, items: int) -> Floats:
    """Return clipped rows with a 1 in front; a row of zeros for an invalid record."""
    rows, is_valid = admitted(batch, family, items)
    with_marks = np.zeros((len(rows), rows.shape[1] + 1))
    with_marks[:, 0] = is_valid
    np.copyto(with_marks[:, 1:], rows, where=is_valid[:, None])
    return with_marks


@dataclass(frozen=True)
class RecordReader:
    """The public meaning of a record, and the columns that contain it."""

    family: SetFunctions
    items: int
    labels: tuple[Label, ...] | None = None
    columns: tuple[str, ...] | None = None

    @property
    def width(self) -> int:
        """The number of numbers per record."""
        return self.family.width(self.items)

    def chunks(self, records: Any) -> Iterator[Any]:
        """Yield records, at most some thousands at a time; only tables are read piece by piece."""
        if isinstance(records, str | Path | Iterator) or is_table(records):
            source = opened(records)
            names = self._chosen(source.columns)
            for batch in source.batches(names):
                yield batch.numbers(names)
            return
        rows = self.rows(records)
        for first in range(0, len(rows), CHUNK):
            yield rows[first : first + CHUNK]

    def rows(self, records: Any) -> Any:
        """Return records as a sequence with a length and slices, one entry per person."""
        if isinstance(records, str | Path | Iterator) or is_table(records):
            return np.concatenate([np.empty((0, self.width)), *self.chunks(records)])
        if self.columns is not None:
            raise ConfigError("columns are for frames and files, rows have no names: leave it out")
        records = entries_of(records)
        if isinstance(records, np.ndarray) and records.ndim == 1 and self.width == 1:
            return records[:, None]
        return records

    def check(self, records: Any) -> Check:
        """Return how many records of a table, an array or a list cannot be read; NOT private."""
        if isinstance(records, str | Path | Iterator) or is_table(records):
            source = opened(records)
            names = self._chosen(source.columns)
            batches = source.batches([*source.columns] or names)
            return checked(batches, lambda rows: unread_numbers(rows, names), source.blank_row)
        cells = ArrayTable.of_rows(records, names_of_row(self.width, self.labels))
        return checked_rows(cells, unread_numbers(cells, cells.columns))

    def _chosen(self, header: list[str]) -> list[str]:
        """Return the columns of a record: `columns`, else those of the labels, else all."""
        names = None if self.columns is None else list(self.columns)
        if names is None and self.labels is not None and len(self.labels) == self.width:
            labels = [str(label) for label in self.labels]
            names = labels if set(labels) <= set(header) else None
        return row_columns(header, self.width, names)

    def quantised(self, chunk: Any) -> Integers:
        """Return quantised rows, two bytes per number, as they are held or read at every step."""
        rows = marked(_batch(chunk, 0), self.family, self.items)
        held = HeldRows(rows.shape)
        people = held.empty()
        held.add(people, np.arange(len(rows)), rows)
        return people.values


class _Check:
    """A keyed checksum of quantised rows; without the key, collisions cannot be prepared."""

    def __init__(self, key: bytes) -> None:
        self._hash = blake2b(key=key, digest_size=7)

    def add(self, values: Integers) -> None:
        """Add rows to the checksum."""
        self._hash.update(values.tobytes())

    @property
    def number(self) -> int:
        """The checksum of all rows so far; it fits into a 64-bit integer."""
        return int.from_bytes(self._hash.digest(), "big")


def _batch(chunk: Any, first: int) -> Batch:
    """Return a batch of records; `first` is the number of the first one."""
    return Batch(np.arange(first, first + len(chunk)), chunk, EMPTY_REQUEST)


def batches(rows: Any) -> Iterator[Batch]:
    """Split rows into batches of some thousands."""
    for first in range(0, len(rows), CHUNK):
        yield _batch(rows[first : first + CHUNK], first)


@dataclass(frozen=True)
class Source:
    """The location of the people of one partition: rows, a frame, a file, or a function."""

    records: Any = field(repr=False)
    name: str = ""
    make: Callable[[int], Any] | None = field(default=None, repr=False)

    def batches(self, reader: RecordReader) -> Iterator[Batch]:
        """Yield the records, some thousands at a time; those of files and tables piece by piece."""
        first = 0
        for chunk in reader.chunks(self.records if self.make is None else self.make(self.records)):
            yield _batch(chunk, first)
            first += len(chunk)


@dataclass(frozen=True)
class SourcePart:
    """A partition that stays where it is, and is read again at every step.

    `count` and `check` are those of the first reading. Gains telescope only if each person has the
    same row at every step, so a partition that changed is refused. Rows in memory are read once and
    have no `check`.
    """

    source: Source
    reader: RecordReader
    first: int
    count: int
    check: int | None = field(repr=False)
    key: bytes = field(default=b"", repr=False)
    """The key of the checksum, drawn anew for every selection."""

    @property
    def name(self) -> str:
        """The name of the file, or an empty text."""
        return self.source.name

    def batches(self) -> Iterator[Batch]:
        """Yield all records, some thousands at a time; refuse a partition of another length."""
        count = 0
        with bar("people", self.count) as report:
            for batch in self.source.batches(self.reader):
                count += len(batch)
                if count > self.count:
                    break
                yield batch
                report(len(batch))
        if count != self.count:
            raise ConfigError(CHANGED)

    def held(self) -> Iterator[HeldPart]:
        """Return quantised rows, some thousands at a time."""
        check = _Check(self.key)
        first = self.first
        for batch in self.batches():
            values = self.reader.quantised(batch.feedback)
            check.add(values)
            yield HeldPart(values, first)
            first += len(values)
        if self.check is not None and check.number != self.check:
            raise ConfigError(CHANGED)

    def pieces(self) -> Iterator[tuple[int, Any]]:
        """Return quantised rows in [0, 1], some thousands at a time."""
        for part in self.held():
            yield from part.pieces()


@dataclass(frozen=True)
class PartitionCheck:
    """Task that returns the number of people of a source, and a checksum of their rows."""

    reader: RecordReader
    key: bytes = field(repr=False)

    def __call__(self, source: Source) -> Integers:
        count = 0
        check = _Check(self.key)
        with bar("people", None) as report:
            for batch in source.batches(self.reader):
                check.add(self.reader.quantised(batch.feedback))
                count += len(batch)
                report(len(batch))
        return np.array([count, check.number], dtype=np.int64)


def whole(part: SourcePart) -> Integers:
    """Return all quantised rows of a partition, for this machine to hold."""
    values = [held.values for held in part.held()]
    if not values:
        return np.zeros((0, part.reader.width + 1), dtype=np.uint16)
    return np.concatenate(values)
