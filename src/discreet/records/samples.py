"""Samples of a table, batch by batch."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from discreet import require
from discreet.errors import ConfigError
from discreet.losses import Samples
from discreet.records.columns import Columns

if TYPE_CHECKING:
    from discreet.records.sources import Source


class TableReader:
    """Reads the samples of any table, by the rules of `columns`.

    Parameters
    ----------
    table
        A frame, a stream, a path, a folder, a glob, or an iterator of frames.
    columns
        How cells are read.
    persons
        The column that names the person of each row; None without one.
    shifts
        Whether targets are taken less the middle of their bounds.
    """

    def __init__(self, table: object, columns: Columns, persons: object, *, shifts: bool) -> None:
        if persons is not None and not isinstance(persons, str):
            raise ConfigError(
                f"persons of a table must be a column, got {require.shown(type(persons).__name__)}"
            )
        self._source = opened(table, columns)
        self._columns = columns
        self._person = persons
        self._source.check_numbers(columns.numeric)
        if persons is not None:
            self._source.check_people(persons)
        self._shifts = shifts
        self.count = self._source.count()

    def batches(self) -> Iterator[tuple[Samples, list[object] | None]]:
        """Yield samples, and whose they are, some thousands at a time."""
        names = self._columns.read
        extra = [] if self._person is None or self._person in names else [self._person]
        for rows in self._source.batches([*names, *extra]):
            people = None if self._person is None else rows.people(self._person)
            yield self._columns.samples(rows, shifts=self._shifts), people


def opened(table: object, columns: Columns | None = None) -> "Source":
    """Return the source of a table, with the names of `columns`.

    Raises
    ------
    ConfigError
        If the table cannot be opened, or without Polars, which reads it.
    """
    try:
        from discreet.records.files import open_table
        from discreet.records.renamed import renamed
    except ImportError:
        raise ConfigError("tables need Polars: pip install 'discreet[tables]'") from None
    source = open_table(table)
    names = {} if columns is None else columns.rename
    # A table to predict for has no target, so names that are missing are no error here.
    found = {name: ours for name, ours in names.items() if name in source.columns}
    return renamed(source, found or None)


def cells_in(table: object, names: Sequence[str]) -> np.ndarray:
    """Return the cells of these columns as a matrix of objects, each of them unread."""
    rows = opened(table).whole(names)
    cells = np.empty((len(rows), len(names)), dtype=object)
    for place, name in enumerate(names):
        cells[:, place] = rows.values(name)
    return cells
