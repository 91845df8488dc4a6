"""Files of people's rows: Parquet, Arrow, CSV, TSV and JSON lines; by path, folder or glob."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import polars

from discreet.errors import ConfigError
from discreet.records.json_lines import JsonLines
from discreet.records.paths import JSON_LINES, files_at
from discreet.records.sources import BatchSource, LazySource, Source, check_present, in_memory
from discreet.records.text import TextFile

TYPED: dict[str, Callable[[Path], polars.LazyFrame]] = {
    ".parquet": polars.scan_parquet,
    ".arrow": polars.scan_ipc,
    ".feather": polars.scan_ipc,
}


@dataclass(frozen=True, eq=False)
class TextSource(Source):
    """A CSV or TSV file; its cells are texts."""

    file: TextFile
    blank_row: ClassVar[str] = "line: cannot be split, or all cells are empty"

    @property
    def name(self) -> str:  # type: ignore[override]
        return str(self.file.path)

    @property
    def columns(self) -> list[str]:
        return list(self.file.columns)

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


def _open_file(path: Path) -> Source:
    if not path.exists():
        raise ConfigError(f"{path} does not exist")
    ending = path.suffix.lower()
    try:
        if ending in TYPED:
            source = LazySource(TYPED[ending](path), str(path))
            source.columns  # noqa: B018  refuses a damaged file now
            return source
        if ending in JSON_LINES:
            return JsonSource(JsonLines.opened(path))
        return TextSource(TextFile.opened(path))
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}") from None
