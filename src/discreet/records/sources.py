"""Tables of any kind, read some thousand rows at a time in bounded memory.

    source = open_table(table)           # ConfigError if nothing that is known can be read there
    source.columns                       # the names of all columns, in order
    for rows in source.batches(names):   # LogTables with these columns

    frames in memory     Polars, pandas, and whatever has `__arrow_c_stream__` (pyarrow, DuckDB, …)
    lazy frames          Polars, collected in batches
    files                Parquet, Arrow, CSV, TSV and JSON lines: a path, a folder or a glob
    iterators            of frames in memory

The types of columns come from a typed schema or from the settings, never from values. Text files
are cut into lines, each parsed alone (text.py, json_lines.py). Only public facts refuse a table:
a container that cannot be opened, columns that are missing, and typed schemas that differ.

Guarantee   docs/guarantees/threats.md: what one person brings never decides how another is read
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar

import numpy as np
import polars

from discreet.engine import logs
from discreet.entries import cells_of, exact_below
from discreet.errors import ConfigError
from discreet.records.kinds import is_pandas
from discreet.records.pandas_columns import from_pandas
from discreet.records.table import TEXTS, LogTable, refuse_no_numbers

ROWS = 20_000
"""The largest number of rows of a batch."""
NUMBERS = 2**21
"""The largest number of cells of a batch, so that wide tables fit into memory, too."""


class Source(ABC):
    """A table that is read in batches, in order."""

    name: str = "the table"
    """How errors call this table: the name of a file, which is public."""
    blank_row: ClassVar[str] = "row: all cells are empty"
    """The rule of checks for rows without any cell."""

    @property
    @abstractmethod
    def columns(self) -> list[str]:
        """The names of all columns, in order."""

    @property
    def types(self) -> dict[str, polars.DataType]:
        """The types of the columns, where a typed schema states them; empty for text files."""
        return {}

    @property
    def is_rereadable(self) -> bool:
        """Whether the table can be read more than once."""
        return True

    def with_keys(self, keys: Sequence[str]) -> "Source":
        """Return this table with the keys kept in rows that cannot be read.

        A malformed cell of a person makes a line of a text file a blank row, but must not change
        the request of that row.

        Parameters
        ----------
        keys
            Columns that the operator's logger writes, such as an id. In a text file with a header
            they come first: any other cell before them could hide them.
        """
        return self

    def check_numbers(self, names: Sequence[str]) -> None:
        """Raise `ConfigError` if a typed schema says that one of these columns has no numbers."""
        for name, kind in self._typed(names).items():
            refuse_no_numbers(name, kind)

    def check_people(self, name: str) -> None:
        """Raise `ConfigError` if a typed schema says that a column cannot name people."""
        for kind in self._typed([name]).values():
            refuse_no_numbers(name, kind, "name people by texts or whole numbers")

    def check_items(self, names: Sequence[str], items: Sequence[object]) -> None:
        """Raise `ConfigError` if these columns, by their types, cannot name all these items.

        One missing cell may have turned the whole numbers of a column into floats. To read those
        would drop everybody's clicks inside a release, or take them for clicks on other items.
        """
        largest = max((abs(item) for item in items if isinstance(item, int)), default=0)
        for name, kind in self._typed(names).items():
            if kind.is_float() and largest >= exact_below(np.dtype(str(kind).lower())):
                raise ConfigError(
                    f"the log's column {name} holds {kind}, which does not tell the whole numbers "
                    "of these items apart: give the column whole numbers or texts"
                )

    def texts_among(self, names: Sequence[str]) -> list[str]:
        """Return which of these columns a typed schema calls texts."""
        return [name for name, kind in self._typed(names).items() if kind in TEXTS]

    def _typed(self, names: Sequence[str]) -> dict[str, polars.DataType]:
        types = self.types
        return {name: types[name] for name in names if name in types}

    @abstractmethod
    def count(self) -> int | None:
        """Return the number of rows; None if only a full reading would tell."""

    @abstractmethod
    def frames(self, names: Sequence[str]) -> Iterator[polars.DataFrame]:
        """Yield frames with these columns, of any number of rows."""

    def batches(self, names: Sequence[str] | None = None, first: int = 0) -> Iterator[LogTable]:
        """Yield rows from number `first` on, at most ROWS at a time, with these columns.

        Raises
        ------
        ConfigError
            If columns are missing, or if there are fewer than `first` rows.
        """
        wanted = self.columns if names is None else list(names)
        check_present(self.columns, wanted, self.name)
        rows = min(ROWS, rows_at_once(len(wanted)))
        skip = read = first
        for frame in self.frames(wanted):
            start = min(skip, frame.height)
            skip -= start
            while start < frame.height:
                if not read % rows:
                    # Not where a frame ends: in a text file, that follows from people's texts.
                    logs.record(logs.DEBUG, "%s: rows from %d on", self.name, read)
                batch = frame[start : start + rows - read % rows]
                start += batch.height
                read += batch.height
                yield LogTable(batch)
        if skip:
            raise ConfigError(
                f"the log has {first - skip} rows, but {first} were read before: "
                "it must begin with those"
            )

    def whole(self, names: Sequence[str] | None = None, most: int | None = None) -> LogTable:
        """Return all rows at once, or the first `most`."""
        wanted = self.columns if names is None else list(names)
        check_present(self.columns, wanted, self.name)
        frames: list[polars.DataFrame] = []
        left = most
        for frame in self.frames(wanted):
            frames.append(frame if left is None else frame[: min(left, frame.height)])
            if left is not None:
                left -= frames[-1].height
                if not left:
                    break
        if not frames:
            return LogTable(polars.DataFrame(schema=dict.fromkeys(wanted, polars.String)))
        return LogTable(polars.concat(_of_one_type(frames)))


def rows_at_once(columns: int) -> int:
    """Return the number of rows of this many columns that fit into memory together."""
    return max(1, NUMBERS // max(1, columns))


def _of_one_type(frames: list[polars.DataFrame]) -> list[polars.DataFrame]:
    """Return frames whose columns have the same types: as objects where they differ."""
    kinds = {name: {frame.schema[name] for frame in frames} for name in frames[0].columns}
    mixed = [name for name, found in kinds.items() if len(found) > 1]
    return [
        frame.with_columns(
            polars.Series(name, cells_of(frame[name]), dtype=polars.Object) for name in mixed
        )
        for frame in frames
    ]


def check_present(header: Sequence[str], names: Sequence[str], table: str) -> None:
    """Raise `ConfigError` with the names that a table lacks."""
    missing = [name for name in names if name not in header]
    if missing:
        hint = ": it has one column only; in a CSV file commas separate cells, not semicolons"
        raise ConfigError(
            f"{table} lacks the columns {', '.join(missing)}{hint if len(header) == 1 else ''}"
        )


@dataclass(frozen=True, eq=False)
class FrameSource(Source):
    """A Polars frame in memory."""

    frame: polars.DataFrame = field(repr=False)

    @property
    def columns(self) -> list[str]:
        return self.frame.columns

    @property
    def types(self) -> dict[str, polars.DataType]:
        return dict(self.frame.schema)

    def count(self) -> int:
        return self.frame.height

    def frames(self, names: Sequence[str]) -> Iterator[polars.DataFrame]:
        yield self.frame.select(names)


@dataclass(frozen=True, eq=False)
class LazySource(Source):
    """A lazy Polars frame, which is collected in batches; also the scan of an Arrow file."""

    frame: polars.LazyFrame = field(repr=False)
    name: str = "the table"

    @property
    def types(self) -> dict[str, polars.DataType]:
        return dict(of_container(self.frame.collect_schema, self.name))

    @property
    def columns(self) -> list[str]:
        return list(self.types)

    def count(self) -> int:
        counted = of_container(lambda: self.frame.select(polars.len()).collect(), self.name)
        return int(counted.item())

    def frames(self, names: Sequence[str]) -> Iterator[polars.DataFrame]:
        chosen = self.frame.select(names)
        batches = of_container(
            lambda: chosen.collect_batches(chunk_size=ROWS, maintain_order=True), self.name
        )
        read = 0
        while True:
            batch = of_container(lambda: next(batches, None), self.name)
            if batch is None:
                break
            read += batch.height
            yield batch
        is_file = self.name != Source.name
        if is_file and read != self.count():  # some end early, without an error
            raise ConfigError(f"{self.name} cannot be read as a whole: write it as Parquet")


@dataclass(frozen=True, eq=False)
class PandasSource(Source):
    """A pandas frame, converted column by column.

    A column of objects is read cell by cell: one odd cell must not decide how others are read.
    """

    frame: Any = field(repr=False)

    @property
    def columns(self) -> list[str]:
        names = [str(name) for name in self.frame.columns]
        if len(set(names)) != len(names):
            raise _same_name()
        return names

    @property
    def types(self) -> dict[str, polars.DataType]:
        """The types of columns of floats: other types decide nothing before cells are read."""
        empty = [
            from_pandas(name, self.frame.iloc[:0, place]) for place, name in enumerate(self.columns)
        ]
        return {column.name: column.dtype for column in empty if column.dtype.is_float()}

    def count(self) -> int:
        return len(self.frame)

    def frames(self, names: Sequence[str]) -> Iterator[polars.DataFrame]:
        places = {name: place for place, name in enumerate(self.columns)}
        for start in range(0, len(self.frame), ROWS):
            part = self.frame.iloc[start : start + ROWS]
            yield polars.DataFrame(
                [from_pandas(name, part.iloc[:, places[name]]) for name in names]
            )


@dataclass(eq=False)
class ArrowSource(Source):
    """Whatever has `__arrow_c_stream__`, read batch by batch; many such streams are read once."""

    stream: Any = field(repr=False)

    def __post_init__(self) -> None:
        nanoarrow = _nanoarrow()
        self._arrow = of_container(lambda: nanoarrow.ArrayStream(self.stream), self.name)
        schema = self._arrow.schema
        names = [field.name for field in schema.fields]
        if len(set(names)) != len(names):
            raise _same_name()
        views = (nanoarrow.Type.STRING_VIEW, nanoarrow.Type.BINARY_VIEW)
        kinds = of_container(lambda: [field.type for field in schema.fields], self.name)
        viewed = next(
            (name for name, kind in zip(names, kinds, strict=True) if kind in views), None
        )
        if viewed is not None:  # such streams end the process
            raise ConfigError(f"column {viewed} is an Arrow view: cast it to string or binary")
        empty = of_container(lambda: polars.DataFrame(nanoarrow.Array([], schema)), self.name)
        self._types = dict(empty.schema)

    @property
    def types(self) -> dict[str, polars.DataType]:
        return self._types

    @property
    def is_rereadable(self) -> bool:
        return False

    @property
    def columns(self) -> list[str]:
        return list(self._types)

    def count(self) -> int | None:
        return None

    def frames(self, names: Sequence[str]) -> Iterator[polars.DataFrame]:
        from discreet.records.arrow_texts import ArrowFrames

        frames = ArrowFrames(self._arrow.schema)
        chunks = iter(self._arrow.iter_chunks())
        while True:
            chunk = of_container(lambda: next(chunks, None), self.name)
            if chunk is None:
                return
            yield of_container(partial(frames.frame, chunk), self.name).select(names)


@dataclass(eq=False)
class BatchSource(Source):
    """An iterator of frames in memory, all with the columns of the first."""

    iterator: Iterator[object] = field(repr=False)

    def __post_init__(self) -> None:
        self._first = self._next()
        self._columns = [] if self._first is None else self._first.columns
        self._naming: tuple[Sequence[str], Sequence[object]] = (), ()
        """Columns that name items, and these items: each frame has types of its own."""

    @property
    def columns(self) -> list[str]:
        return self._columns

    @property
    def types(self) -> dict[str, polars.DataType]:
        return {} if self._first is None else self._first.types

    @property
    def is_rereadable(self) -> bool:
        return False

    def check_items(self, names: Sequence[str], items: Sequence[object]) -> None:
        super().check_items(names, items)
        self._naming = names, items

    def count(self) -> int | None:
        return None

    def _next(self) -> Source | None:
        missing = object()
        batch = next(self.iterator, missing)
        return None if batch is missing else in_memory(batch)

    def frames(self, names: Sequence[str]) -> Iterator[polars.DataFrame]:
        batch, self._first = self._first, None
        while batch is not None:
            check_present(batch.columns, names, "a later batch")
            batch.check_items(*self._naming)
            yield from batch.frames(names)
            batch = self._next()


def _same_name() -> ConfigError:
    return ConfigError("the table has two columns of the same name: rename one of them")


def in_memory(table: Any) -> Source:
    """Return the source of a frame in memory; `ConfigError` for anything else."""
    if isinstance(table, polars.DataFrame):
        return FrameSource(table)
    if isinstance(table, polars.LazyFrame):
        return LazySource(table)
    if is_pandas(table):
        return PandasSource(table)
    if type(table).__module__.startswith("pyarrow") and hasattr(table, "to_batches"):
        # In memory already; views of texts end the process on the way through a stream.
        if len(set(table.schema.names)) != len(table.schema.names):
            raise _same_name()
        return FrameSource(of_container(lambda: _of_pyarrow(table), Source.name))
    if hasattr(type(table), "__arrow_c_stream__"):
        return ArrowSource(table)
    raise ConfigError(
        "a table must be a frame of Polars or pandas, an Arrow stream, the path of a file, or an "
        f"iterator of frames, got {type(table).__name__}"
    )


def _of_pyarrow(table: Any) -> polars.DataFrame:
    """Return a table of pyarrow as a frame; a cell with a malformed text is empty."""
    from discreet.records.arrow_texts import ArrowFrames

    schema = _nanoarrow().Schema(table.schema)
    frames = ArrowFrames(schema)
    parts = [frames.frame(batch) for batch in table.to_batches()]
    return polars.concat(parts) if parts else polars.DataFrame(table)


def _nanoarrow() -> Any:
    try:
        import nanoarrow
    except ImportError:
        raise ConfigError(
            "tables of other libraries need nanoarrow: pip install 'discreet[tables]'"
        ) from None
    return nanoarrow


def of_container(read: Any, name: str) -> Any:
    """Return the result of a reading; an error names the table, never its contents."""
    try:
        return read()
    except FileNotFoundError:
        raise ConfigError(f"{name} does not exist") from None
    except (KeyboardInterrupt, ConfigError):
        raise
    except BaseException as error:  # Polars panics on some damaged files
        kind = type(error).__name__
    remedy = "repair the table or the query" if name == Source.name else "make the file again"
    raise ConfigError(f"{name} cannot be read ({kind}): {remedy}")
