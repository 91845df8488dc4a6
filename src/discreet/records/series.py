"""Dates and texts of one Polars column, none of which can end the reading of the others."""

from typing import Any

import numpy as np
import polars

from discreet.arrays import Floats
from discreet.entries import PER_SECOND

SECONDS_PER_DAY = 86_400.0


def seconds_in(column: polars.Series) -> Floats | None:
    """Return a column of dates in seconds since 1970, NaN for empty cells; None for other types."""
    kind = column.dtype
    if kind == polars.Date:
        return _floats(column) * SECONDS_PER_DAY
    if isinstance(kind, polars.Datetime):
        return _floats(column) / PER_SECOND[kind.time_unit]
    return None


def as_texts(column: polars.Series) -> polars.Series:
    """Return a column of bytes, or of lists of bytes, as texts; null where these are no UTF-8.

    >>> as_texts(polars.Series([b"tea", bytes([255])])).to_list()
    ['tea', None]
    """
    kind = _with_texts(column.dtype)
    try:
        return column.cast(kind)
    except polars.exceptions.ComputeError:
        return polars.Series(column.name, [text_in(cell) for cell in column.to_list()], dtype=kind)


def text_in(cell: bytes | list[Any] | None) -> Any:
    """Return bytes as a text, and a list of them as a list of texts."""
    if isinstance(cell, list):
        return [text_in(entry) for entry in cell]
    try:
        return None if cell is None else cell.decode()
    except UnicodeDecodeError:
        return None


def _with_texts(kind: polars.DataType) -> polars.DataType:
    """Return a type with texts in place of bytes."""
    if isinstance(kind, polars.List):
        assert isinstance(kind.inner, polars.DataType)
        return polars.List(_with_texts(kind.inner))
    if isinstance(kind, polars.Array):
        assert isinstance(kind.inner, polars.DataType)
        return polars.Array(_with_texts(kind.inner), kind.size)
    return polars.String()


def _floats(column: polars.Series) -> Floats:
    numbers = column.to_physical().cast(polars.Float64).fill_null(float("nan"))
    return np.asarray(numbers.to_numpy(), dtype=np.float64)
