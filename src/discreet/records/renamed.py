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

    def count(self) -> int | None:
        return self.source.count()

    def frames(self, names: Sequence[str]) -> Iterator[polars.DataFrame]:
        original = {present: name for name, present in self.names.items()}
        for frame in self.source.frames([original.get(name, name) for name in names]):
            yield frame.rename({name: self.names.get(name, name) for name in frame.columns})


def renamed(source: Source, names: object) -> Source:
    """Return a table with other names of columns; unchanged if `names` is None."""
    if names is None:
        return source
    is_fine = isinstance(names, dict) and all(isinstance(name, str) for name in names.values())
    if not is_fine:
        raise ConfigError(
            f"rename must be a table of the log's names and ours, got {require.shown(names)}"
        )
    assert isinstance(names, dict)
    return Renamed(source, names)
