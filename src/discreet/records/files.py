"""Files of people's rows: Parquet, Arrow, CSV, TSV and JSON lines; by path, folder or glob."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import polars

from discreet.engine import logs
from discreet.errors import ConfigError
from discreet.records.json_lines import JsonLines
from discreet.records.paths import JSON_LINES, files_at
from discreet.records.sources import (
    BatchSource,
    LazySource,
    Source,
    check_present,
    in_memory,
    of_container,
    rows_at_once,
)
from discreet.records.text import TextFile

PARQUET = ".parquet"
ARROW = (".arrow", ".feather")
COMPRESSED = (".gz", ".zst", ".bz2", ".xz", ".zip")
GROUPS = 64
"""The largest number of groups in which the columns of a Parquet file are read."""


@dataclass(frozen=True, eq=False)
class ParquetSource(LazySource):
    """A Parquet file, read some rows and few columns at a time.

    A row group may hold millions of rows: reading all its columns at once would take memory in
    proportion to it.
    """

    def frames(self, names: Sequence[str]) -> Iterator[polars.DataFrame]:
        step = rows_at_once(len(names))
        width = -(-len(names) // GROUPS)
        groups = [names[start : start + width] for start in range(0, len(names), width)]
        for first in range(0, self.count(), step):
            rows = self.frame.slice(first, step)
            yield polars.concat(
                [self._collected(rows, group) for group in groups], how="horizontal"
            )

    def _collected(self, rows: polars.LazyFrame, names: Sequence[str]) -> polars.DataFrame:
        frame: polars.DataFrame = of_container(rows.select(names).collect, self.name)
        return frame


@dataclass(frozen=True, eq=False)
class TextSource(Source):
    """A CSV or TSV file; its cells are texts."""

    file: TextFile
    blank_row: ClassVar[str] = "line: not UTF-8, cannot be split, or all cells are empty"

    @property
    def name(self) -> str:  # type: ignore[override]
        return str(self.file.path)

    @property
    def columns(self) -> list[str]:
        return list(self.file.columns)

    def with_keys(self, keys: Sequence[str]) -> Source:
        header = self.columns
        last = max(keys, key=header.index)
        before = [name for name in header[: header.index(last)] if name not in keys]
        if before:
            raise ConfigError(
                f"{self.name} has column {before[0]} before {last}, so a malformed cell there "
                f"hides the request of its line: write {last} first, or a Parquet file"
            )
        return TextSource(replace(self.file, keys=tuple(keys)))

    def count(self) -> int:
        return self.file.count()

    def frames(self, names: Sequence[str]) -> Iterator[polars.DataFrame]:
        yield from self.file.batches(names)


@dataclass(frozen=True, eq=False)
class JsonSource(Source):
    """A file with one JSON object per line; its keys are the columns that the settings name."""

    file: JsonLines
    blank_row: ClassVar[str] = "line: no JSON object with these keys"

    @property
    def name(self) -> str:  # type: ignore[override]
        return str(self.file.path)

    @property
    def columns(self) -> list[str]:
        return self.file.columns

    def with_keys(self, keys: Sequence[str]) -> Source:
        return JsonSource(replace(self.file, keys=tuple(keys)))

    def count(self) -> int:
        return self.file.count()

    def frames(self, names: Sequence[str]) -> Iterator[polars.DataFrame]:
        yield from self.file.batches(names)


@dataclass(frozen=True, eq=False)
class ManyFiles(Source):
    """Several files, one after the other; their typed schemas agree."""

    files: tuple[Source, ...]
    name: str

    def __post_init__(self) -> None:
        first = self.files[0]
        for other in self.files[1:]:
            check_present(other.columns, first.columns, other.name)
            changed = [
                name for name, kind in first.types.items() if other.types.get(name, kind) != kind
            ]
            if changed:
                raise ConfigError(
                    f"{other.name} has another type of column {changed[0]} than {first.name}: "
                    "write all files with one schema"
                )

    @property
    def blank_row(self) -> str:  # type: ignore[override]
        return self.files[0].blank_row

    @property
    def columns(self) -> list[str]:
        return self.files[0].columns

    @property
    def types(self) -> dict[str, polars.DataType]:
        return self.files[0].types

    def with_keys(self, keys: Sequence[str]) -> Source:
        return ManyFiles(tuple(file.with_keys(keys) for file in self.files), self.name)

    def count(self) -> int | None:
        counts = [file.count() for file in self.files]
        return None if None in counts else sum(count or 0 for count in counts)

    def frames(self, names: Sequence[str]) -> Iterator[polars.DataFrame]:
        for file in self.files:
            yield from file.frames(names)


def open_files(path: str | Path) -> Source:
    """Return the source of a file, of all files in a folder, or of those that match a glob."""
    sources = tuple(_open_file(file) for file in files_at(path))
    return sources[0] if len(sources) == 1 else ManyFiles(sources, str(path))


def open_table(table: object) -> Source:
    """Return the source of any table: a frame, a path, a folder, a glob, an iterator of frames."""
    if isinstance(table, str | Path):
        return open_files(table)
    if isinstance(table, Source):
        return table
    if isinstance(table, Iterator) and not hasattr(type(table), "__arrow_c_stream__"):
        return BatchSource(table)
    return in_memory(table)


def _open_typed(path: Path) -> LazySource:
    if path.suffix.lower() == PARQUET:
        return ParquetSource(polars.scan_parquet(path), str(path))
    return LazySource(polars.scan_ipc(path), str(path))


def _open_file(path: Path) -> Source:
    if not path.exists():
        raise ConfigError(f"{path} does not exist")
    ending = path.suffix.lower()
    if ending in COMPRESSED:
        raise ConfigError(f"{path} is compressed: decompress it first")
    logs.record(logs.DEBUG, "%s: opened", path)
    try:
        if ending == PARQUET or ending in ARROW:
            source = _open_typed(path)
            source.columns  # noqa: B018  refuses a damaged file now
            return source
        if ending in JSON_LINES:
            return JsonSource(JsonLines.opened(path))
        return TextSource(TextFile.opened(path))
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}") from None
