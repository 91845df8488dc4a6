"""Columns of a log under the names that learners know: `[rename]` of a run's TOML."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import polars

from discreet import require
from discreet.errors import ConfigError
from discreet.records.json_lines import AnyName
from discreet.records.sources import Source, check_present


@dataclass(frozen=True, eq=False)
class Renamed(Source):
    """A table some of whose columns have other names."""

    source: Source
    names: dict[str, str]
    """The present name of each column that is renamed, by its name in the table."""

    def __post_init__(self) -> None:
        header = self.source.columns
        check_present(header, list(self.names), f"rename: {self.source.name}")
        renamed = [self.names.get(name, name) for name in header]
        twice = next((name for name in renamed if renamed.count(name) > 1), None)
        if twice is not None or len(set(self.names.values())) != len(self.names):
            shown = require.shown(twice or list(self.names.values()))
            raise ConfigError(f"rename gives two columns the same name: {shown}")

    @property
    def name(self) -> str:  # type: ignore[override]
        return self.source.name

    @property
    def blank_row(self) -> str:  # type: ignore[override]
        return self.source.blank_row

    @property
    def columns(self) -> list[str]:
        header = self.source.columns
        if isinstance(header, AnyName):
            return header
        return [self.names.get(name, name) for name in header]

    @property
    def types(self) -> dict[str, polars.DataType]:
        return {self.names.get(name, name): kind for name, kind in self.source.types.items()}

    @property
    def is_rereadable(self) -> bool:
        return self.source.is_rereadable

    def with_keys(self, keys: Sequence[str]) -> Source:
        kept = self.source.with_keys(self._original(keys))
        return Renamed(kept, self.names)

    def count(self) -> int | None:
        return self.source.count()

    def _original(self, names: Sequence[str]) -> list[str]:
        """Return the names of these columns in the table."""
        original = {present: name for name, present in self.names.items()}
        return [original.get(name, name) for name in names]

    def frames(self, names: Sequence[str]) -> Iterator[polars.DataFrame]:
        for frame in self.source.frames(self._original(names)):
            yield frame.rename({name: self.names.get(name, name) for name in frame.columns})


def renamed(source: Source, names: object) -> Source:
    """Return a table with other names of columns; unchanged if `names` is None."""
    return source if names is None else Renamed(source, checked_names(names))


def checked_names(names: object) -> dict[str, str]:
    """Return the table `rename` of the settings: names that are read, by names in the file."""
    is_fine = isinstance(names, dict) and all(isinstance(name, str) for name in names.values())
    if not is_fine:
        raise ConfigError(
            f"rename must be a table of the log's names and ours, got {require.shown(names)}"
        )
    assert isinstance(names, dict)
    return names
