"""Cells of one Polars column, none of which can end the reading of the others.

Python's dates reach from year 1 to 9999; Polars' go farther, and fail or panic on the way out. So
dates leave Polars as integers: no person's stamp decides whether others are read.
"""

from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import Any

import numpy as np
import polars

from discreet.arrays import Floats

PER_SECOND = {"ms": 10**3, "us": 10**6, "ns": 10**9}
EPOCH = datetime(1970, 1, 1)
FIRST_DAY = EPOCH.toordinal()
SECONDS_PER_DAY = 86_400.0


def cells_of(column: polars.Series) -> list[object]:
    """Return the cells of a column; None for an empty one, and for a date beyond Python's.

    >>> cells_of(polars.Series([0, 10**9], dtype=polars.Date))
    [datetime.date(1970, 1, 1), None]
    """
    kind = column.dtype
    if kind == polars.Date:
        return [None if days is None else _date(days) for days in column.to_physical().to_list()]
    if isinstance(kind, polars.Datetime):
        zone = None if kind.time_zone is None else UTC
        stamps = column.to_physical().to_list()
        unit = PER_SECOND[kind.time_unit]
        return [None if stamp is None else _stamp(stamp, unit, zone) for stamp in stamps]
    if kind.is_temporal():  # durations and times of day name nothing that is read
        return list(column.to_physical().to_list())
    if kind.is_nested() and not _is_plain(kind):
        return [None] * len(column)
    return column.to_list()


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


def _date(days: int) -> date | None:
    try:
        return date.fromordinal(FIRST_DAY + days)
    except (ValueError, OverflowError):
        return None


def _stamp(stamp: int, per_second: int, zone: tzinfo | None) -> datetime | None:
    try:
        moment = EPOCH + timedelta(microseconds=stamp * 10**6 // per_second)
    except (ValueError, OverflowError):
        return None
    return moment.replace(tzinfo=zone)


def _is_plain(kind: polars.DataType) -> bool:
    """Whether cells of a nested type can leave Polars: no dates are inside."""
    if isinstance(kind, polars.List | polars.Array):
        inner = kind.inner
        return isinstance(inner, polars.DataType) and _is_plain(inner)
    return not kind.is_nested() and not kind.is_temporal()
