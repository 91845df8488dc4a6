"""How a person's record comes in: found among rows, frames, files or callables, clipped, quantised.

Everything here runs where the people are: on this machine, or on the worker that reads a partition.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np

from discreet.arrays import Floats, Integers, Mask
from discreet.engine.request import EMPTY_REQUEST, Batch
from discreet.errors import ConfigError
from discreet.feedback import as_rows
from discreet.functions.sets import SetFunctions
from discreet.learners.labels import Label
from discreet.learners.log_adapter import row_columns
from discreet.release.aggregators import HeldRows
from discreet.release.aggregators.partitions import HeldPart

CHUNK = 20_000
"""How many people are read at once."""
CHANGED = "it changed while people were being chosen for: a partition must be the same whenever it is read"


def admitted(batch: Batch, family: SetFunctions, items: int) -> tuple[Floats, Mask]:
    """One row a person, every number in its range, and whose could be read."""
    rows = as_rows(batch, family.width(items))
    clipped = family.admit(rows, items)[0]
    return clipped, np.asarray(np.isfinite(rows).all(axis=1) & np.isfinite(clipped).all(axis=1))


def marked(batch: Batch, family: SetFunctions, items: int) -> Floats:
    """The same rows with one more number in front: 1 if somebody is there. Nobody is all zeros."""
    rows, present = admitted(batch, family, items)
    whole = np.zeros((len(rows), rows.shape[1] + 1))
    whole[:, 0] = present
    np.copyto(whole[:, 1:], rows, where=present[:, None])
    return whole


@dataclass(frozen=True)
class RecordReader:
    """What a record means, and which columns it stands in: public."""

    family: SetFunctions
    items: int
    labels: tuple[Label, ...] | None = None
    columns: tuple[str, ...] | None = None

    @property
    def width(self) -> int:
        """How many numbers a record has."""
        return self.family.width(self.items)

    def rows(self, records: Any) -> Any:
        """Records as something with a length and slices, one entry a person."""
        if isinstance(records, str | Path):
            try:
                from discreet.records.table import read_numbers
            except ImportError:
                raise ConfigError(
                    "files of people need Polars: pip install 'discreet[service]'"
                ) from None
            return read_numbers(Path(records), self._chosen)
        header = getattr(records, "columns", None)
        if header is not None and hasattr(records, "to_numpy"):
            return self._frame(records, list(header))
        if self.columns is not None:
            raise ConfigError("columns are for frames and files: rows of numbers have no names")
        if hasattr(records, "to_numpy"):
            records = records.to_numpy()
        if isinstance(records, np.ndarray) and records.ndim == 1 and self.width == 1:
            return records[:, None]
        return records

    def _frame(self, frame: Any, header: list[Any]) -> Any:
        names = self._chosen([str(name) for name in header])
        if type(frame).__module__.startswith("polars"):
            from discreet.records.table import LogTable

            return LogTable(frame).numbers(names)
        places = {str(name): place for place, name in enumerate(header)}
        return frame.iloc[:, [places[name] for name in names]].to_numpy()

    def _chosen(self, header: list[str]) -> list[str]:
        """The columns of a record: those that are named, else the items' labels, else all of
        them.
        """
        names = None if self.columns is None else list(self.columns)
        if names is None and self.labels is not None and len(self.labels) == self.width:
            labels = [str(label) for label in self.labels]
            names = labels if set(labels) <= set(header) else None
        return row_columns(header, self.width, names)

    def quantised(self, chunk: Any) -> Integers:
        """Two bytes a number: what is held of these people, or read again at every step."""
        rows = marked(_batch(chunk, 0), self.family, self.items)
        held = HeldRows(rows.shape)
        people = held.empty()
        held.add(people, np.arange(len(rows)), rows)
        return people.values


class _Check:
    """A checksum of quantised rows: nobody can prepare two rows for which it is the same without
    its key.
    """

    def __init__(self, key: bytes) -> None:
        self._hash = blake2b(key=key, digest_size=7)

    def add(self, values: Integers) -> None:
        """Some more rows."""
        self._hash.update(values.tobytes())

    @property
    def number(self) -> int:
        """Of all rows so far; it fits into the integers that tasks answer with."""
        return int.from_bytes(self._hash.digest(), "big")


def _batch(chunk: Any, first: int) -> Batch:
    return Batch(np.arange(first, first + len(chunk)), chunk, EMPTY_REQUEST)


def batches(rows: Any) -> Iterator[Batch]:
    """Rows as they come in, some thousands at a time."""
    for first in range(0, len(rows), CHUNK):
        yield _batch(rows[first : first + CHUNK], first)


@dataclass(frozen=True)
class Source:
    """Where the people of one partition are: rows, a frame, a file, or a function that makes
    them.
    """

    records: Any = field(repr=False)
    name: str = ""
    make: Callable[[int], Any] | None = field(default=None, repr=False)

    def read(self, reader: RecordReader) -> Any:
        """One entry a person."""
        return reader.rows(self.records if self.make is None else self.make(self.records))


@dataclass(frozen=True)
class SourcePart:
    """A partition that stays where it is, and is read again whenever it is asked.

    `count` and `check` are what was found when it was first read: gains telescope only if everybody
    brings the same row at every step, so a partition that changed meanwhile is refused. Rows in
    memory are read once and have no `check`.
    """

    source: Source
    reader: RecordReader
    first: int
    count: int
    check: int | None = field(repr=False)
    key: bytes = field(default=b"", repr=False)
    """Of the checksum, new for every choice."""

    @property
    def name(self) -> str:
        """Of the file, if it is one."""
        return self.source.name

    def rows(self) -> Any:
        """All records."""
        rows = self.source.read(self.reader)
        if len(rows) != self.count:
            raise ConfigError(CHANGED)
        return rows

    def held(self) -> Iterator[HeldPart]:
        """Quantised rows, some thousands at a time."""
        check, first = _Check(self.key), self.first
        for batch in batches(self.rows()):
            values = self.reader.quantised(batch.feedback)
            check.add(values)
            yield HeldPart(values, first)
            first += len(values)
        if self.check is not None and check.number != self.check:
            raise ConfigError(CHANGED)

    def pieces(self) -> Iterator[tuple[int, Any]]:
        """Rows in [0, 1], quantised."""
        for part in self.held():
            yield from part.pieces()


@dataclass(frozen=True)
class PartitionCheck:
    """A task: how many people a source has, and a checksum of what they bring."""

    reader: RecordReader
    key: bytes = field(repr=False)

    def __call__(self, source: Source) -> Integers:
        rows = source.read(self.reader)
        check = _Check(self.key)
        for batch in batches(rows):
            check.add(self.reader.quantised(batch.feedback))
        return np.array([len(rows), check.number], dtype=np.int64)


def whole(part: SourcePart) -> Integers:
    """A task: all quantised rows of a part, where this machine holds them."""
    values = [held.values for held in part.held()]
    return (
        np.concatenate(values) if values else np.zeros((0, part.reader.width + 1), dtype=np.uint16)
    )
