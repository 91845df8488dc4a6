"""Rows of a table by column, and which of their cells cannot be read."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from discreet.arrays import Floats, Mask
from discreet.records.dates import DateRule


class Cells(Protocol):
    """Some rows of a table, column by column."""

    @property
    def columns(self) -> list[str]:
        """The names of all columns, in order."""

    def __len__(self) -> int:
        """Return the number of rows."""

    def numbers(self, names: Sequence[str]) -> Floats:
        """Return a matrix with these columns; NaN for a cell that is not a number."""

    def values(self, name: str) -> list[object]:
        """Return a column unchanged; None for a missing cell."""

    def days(self, name: str, rule: DateRule) -> Floats:
        """Return a column of dates as numbers."""

    def is_missing(self, name: str) -> Mask:
        """Return which cells of a column are empty."""


NO_NUMBER = "no number"
"""Rule of checks for cells where a number is expected."""


def unread_numbers(rows: Cells, names: Sequence[str]) -> dict[str, Mask]:
    """Return which cells of these columns are no finite numbers, by the name of the rule."""
    found: dict[str, Mask] = {}
    for name in names:
        unread = ~np.isfinite(rows.numbers([name])[:, 0])
        found |= by_emptiness(rows, name, unread, NO_NUMBER)
    return found


def by_emptiness(rows: Cells, name: str, unread: Mask, rule: str) -> dict[str, Mask]:
    """Return the unread cells of a column under two rules: those that are empty, and the others."""
    empty = unread & rows.is_missing(name) if unread.any() else unread
    return {f"{name}: empty": empty, f"{name}: {rule}": unread & ~empty}
