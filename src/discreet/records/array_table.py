"""Rows in arrays and lists as a table, so that the rules of `Columns` hold for them, too."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.arrays import Floats, Mask, stacked
from discreet.entries import entries_of
from discreet.errors import OutOfBounds
from discreet.feedback import as_separate_entries, each_number
from discreet.functions.person import reading, result_or
from discreet.records.dates import DateRule


@dataclass(frozen=True, eq=False)
class ArrayTable:
    """One array per column; each cell is read alone."""

    cells: dict[str, np.ndarray]

    @classmethod
    def of_matrix(cls, features: Any, targets: Any, names: Sequence[str]) -> "ArrayTable":
        """Return a matrix of features and a list of targets, in the order of the columns."""
        column = as_separate_entries(targets)
        if isinstance(features, list | tuple) and column is not None and column.ndim == 1:
            # Row by row: one odd entry would turn all of them into texts.
            if len(features) == len(column):
                return cls.of_people(list(zip(features, column, strict=True)), names)
            features = None
        with reading():
            matrix = result_or(lambda: np.asarray(features), None)
        if (
            matrix is None
            or column is None
            or column.ndim != 1
            or matrix.shape != (len(column), len(names) - 1)
        ):
            raise OutOfBounds(
                f"feedback must be a pair (features, targets) with {len(names) - 1} columns of "
                "features, and one target per row"
            )
        return cls(dict(zip(names, [*matrix.T, column], strict=True)))

    @classmethod
    def of_people(cls, people: Sequence[Any], names: Sequence[str]) -> "ArrayTable":
        """Return one row per person: a dictionary by column, or a pair (features, target).

        Anything else is a row of empty cells.
        """
        cells = np.full((len(people), len(names)), None, dtype=object)
        for place, person in enumerate(people):
            for column, cell in enumerate(_cells_of(person, names)):
                cells[place, column] = cell
        return cls(dict(zip(names, cells.T, strict=True)))

    @classmethod
    def of_rows(cls, rows: Any, names: Sequence[str]) -> "ArrayTable":
        """Return one row of numbers per person, or one entry each if there is one name.

        The entry of a list that is anything else is a row of empty cells.
        """
        rows = one_per_person(rows)
        if isinstance(rows, np.ndarray) and rows.dtype != object:
            matrix = rows.reshape(-1, 1) if rows.ndim == 1 and len(names) == 1 else rows
            if matrix.ndim != 2 or matrix.shape[1] != len(names):
                raise OutOfBounds(f"rows must be a matrix with {len(names)} numbers per row")
            return cls(dict(zip(names, matrix.T, strict=True)))
        cells = np.full((len(rows), len(names)), None, dtype=object)
        for place, row in enumerate(rows):
            is_row = isinstance(row, list | tuple | np.ndarray)
            entries = list(row) if is_row else [row]
            if len(entries) == len(names):
                for column, entry in enumerate(entries):
                    cells[place, column] = entry
        return cls(dict(zip(names, cells.T, strict=True)))

    @property
    def columns(self) -> list[str]:
        """The names of all columns, in order."""
        return list(self.cells)

    def __len__(self) -> int:
        return len(next(iter(self.cells.values())))

    def numbers(self, names: Sequence[str]) -> Floats:
        """Return a matrix with these columns; NaN for a cell that is not a number."""
        return stacked([self._column_of_numbers(name) for name in names], len(self))

    def _column_of_numbers(self, name: str) -> np.ndarray:
        cells = self.cells[name]
        if cells.dtype.kind in "biuf":
            return cells
        numbers = each_number(cells)
        return np.full(len(self), np.nan) if numbers is None else numbers

    def values(self, name: str) -> list[object]:
        """Return a column unchanged."""
        return list(self.cells[name].tolist())

    def texts(self, name: str) -> list[str]:
        """Return a column as texts; "" for a missing cell."""
        return ["" if _is_empty(cell) else str(cell) for cell in self.values(name)]

    def days(self, name: str, rule: DateRule) -> Floats:
        """Return a column of dates as numbers."""
        column = self.cells[name]
        if column.dtype.kind == "M":
            seconds = column.astype("datetime64[us]").astype(np.float64) / 1e6
            return rule.days(np.where(np.isnat(column), np.nan, seconds))
        return rule.parsed(column.tolist())

    def is_missing(self, name: str) -> Mask:
        """Return which cells of a column are empty: None, NaN, or a text of blanks."""
        return np.array([_is_empty(cell) for cell in self.values(name)], dtype=np.bool_)


def one_per_person(rows: Any) -> Any:
    """Return a list, a tuple or an array with one entry or row per person; `OutOfBounds` if none.

    A series becomes an array, and anything else that has a length a list.
    """
    rows = entries_of(rows)
    if isinstance(rows, list | tuple) or (isinstance(rows, np.ndarray) and rows.ndim):
        return rows
    if hasattr(type(rows), "__len__") and not isinstance(rows, str | bytes):
        with reading():
            listed = result_or(lambda: list(rows), None)
        if listed is not None:
            return listed
    raise OutOfBounds("rows must be one entry or row per person: a table, an array or a list")


def _cells_of(person: Any, names: Sequence[str]) -> list[object]:
    """Return the cells of one person in the order of the columns; none if they are malformed."""
    if isinstance(person, Mapping):
        return [person.get(name) for name in names]
    if type(person) in (tuple, list) and len(person) == 2:
        features, target = person
        is_row = isinstance(features, list | tuple) or (
            isinstance(features, np.ndarray) and features.ndim == 1
        )
        if is_row and len(features) == len(names) - 1:
            return [*features, target]
    return []


def _is_empty(cell: object) -> bool:
    if isinstance(cell, str):
        return not cell.strip()
    return cell is None or (isinstance(cell, float) and cell != cell)
