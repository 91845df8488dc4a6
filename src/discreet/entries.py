"""Entries of a series or an array, one per person, none of which decides how another is read.

A conversion of a whole series lets one entry change the others: a single null turns 64-bit whole
numbers into floats, and those from 2⁵³ on lose their last digits. So a series is left entry by
entry, except for floats, where a null becomes NaN and all other numbers stay as they are. What a
series is follows from its type and its dtype, which the operator chooses.

An array has been converted before it is read here. Which of its numbers are still exact follows
from its dtype (`EXACT`); those that are not stand for several whole numbers, so they name nothing.

Guarantee   docs/guarantees/threats.md
"""

import re
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta, tzinfo
from decimal import Decimal
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import polars

Entries = Sequence[object] | np.ndarray
"""One entry or row per person."""

EXACT: dict[type, int] = {
    np.float16: 2**11,
    np.float32: 2**24,
    float: 2**53,
    np.complex64: 2**24,
    complex: 2**53,
    np.longdouble: 2 ** (np.finfo(np.longdouble).nmant + 1),
    np.clongdouble: 2 ** (np.finfo(np.longdouble).nmant + 1),
}
"""Floats from here on stand for several whole numbers, by their type."""
WHOLE = re.compile(r"[+-]?[0-9]+")
"""A whole number as a text."""
MOST_DIGITS = 600
"""Whole numbers with more digits are not read."""

MISSING = ("NAType", "NaTType")
"""Names of the types of pandas' missing values."""

FLOATS = ("Float16", "Float32", "Float64", "halffloat", "float", "double")
"""Names of the types of floats in Polars and Arrow."""
WHOLE_NUMBERS = tuple(f"{kind}{bits}" for kind in ("Int", "UInt") for bits in (8, 16, 32, 64))
WHOLE_NUMBERS = (*WHOLE_NUMBERS, *map(str.lower, WHOLE_NUMBERS), "Boolean", "bool")
"""Names of the types of which an array holds each entry unchanged, if none is missing."""

# --- series ---------------------------------------------------------------------------------------


def entries_of(values: Any, *, with_nulls: bool = False) -> Any:
    """Return a series as a list or an array, each entry by itself; other values unchanged.

    A null among floats is NaN; with `with_nulls` it is None, as it is among entries of other types.

    >>> import polars
    >>> entries_of(polars.Series([2**60 + 1, None]))
    [1152921504606846977, None]
    >>> entries_of(polars.Series([0.5, None]))
    array([0.5, nan])
    """
    if isinstance(values, np.ndarray):
        # A duration that one person brought turned whole numbers into durations.
        return values.astype(np.int64) if values.dtype.kind == "m" else values
    if isinstance(values, list | tuple) or not hasattr(values, "to_numpy"):
        return values
    if with_nulls and (entries := entries_of(values)) is not values:
        return _with_nulls(values, entries)
    library = type(values).__module__.partition(".")[0]
    kind = type(values).__name__
    if library == "polars" and kind == "Series":
        return _of_polars(values)
    if library == "pandas" and hasattr(values, "dtype"):
        return _of_pandas(values)
    if library == "pyarrow" and hasattr(values, "type"):
        return _of_arrow(values)
    return values.to_numpy()


def _with_nulls(series: Any, entries: Any) -> Any:
    """Return the entries of a series with None for its nulls, where these are not NaN anyway."""
    is_array = isinstance(entries, np.ndarray) and entries.ndim == 1 and entries.dtype.kind == "f"
    nulls = getattr(series, "is_null", None)
    if not is_array or nulls is None:
        return entries
    pairs = zip(np.asarray(nulls()).tolist(), entries, strict=True)
    return [None if is_null else entry for is_null, entry in pairs]


def _of_polars(series: "polars.Series") -> Entries:
    """Return the entries of a Polars series."""
    kind = str(series.dtype)
    is_whole = kind in WHOLE_NUMBERS and not series.null_count()
    return series.to_numpy() if is_whole or kind in FLOATS else cells_of(series)


def _of_pandas(series: Any) -> Entries:
    """Return the entries of a pandas series, index or array."""
    kind = dtype_of(series)
    if isinstance(kind, np.dtype):
        # Beside a duration, pandas leaves whole numbers as they are: these are all durations.
        return list(series) if kind.kind == "m" else np.asarray(series, dtype=kind)
    array = getattr(series, "array", series)
    if hasattr(kind, "pyarrow_dtype") or getattr(kind, "storage", "") == "pyarrow":
        return _of_arrow(array.__arrow_array__())
    letter = getattr(kind, "kind", "") if hasattr(kind, "numpy_dtype") else ""
    if letter == "f":
        return np.asarray(series.to_numpy(dtype=kind.numpy_dtype, na_value=np.nan))
    if letter in tuple("biu") and not series.isna().any():
        return np.asarray(series.to_numpy(dtype=kind.numpy_dtype))
    if hasattr(kind, "categories"):  # their missing entries are NaN
        missing = series.isna()
        return [None if gone else entry for gone, entry in zip(missing, array, strict=True)]
    return [None if type(entry).__name__ in MISSING else entry for entry in array]


def dtype_of(column: Any) -> Any:
    """Return the dtype of a series of pandas; that of its categories if they are inexact.

    One person's float turns all categories into floats, as it does with the entries of an array.

    >>> import pandas
    >>> dtype_of(pandas.Series([7, 0.5], dtype="category"))
    dtype('float64')
    """
    kind = column.dtype
    if hasattr(kind, "categories"):
        inner = kind.categories.dtype
        return inner if isinstance(inner, np.dtype) and inner.kind in "fc" else kind
    # The dtype of an array that pandas keeps in NumPy
    return kind.numpy_dtype if type(kind).__name__ == "NumpyEADtype" else kind


def _of_arrow(array: Any) -> Entries:
    """Return the entries of an Arrow array; None for one that Python cannot hold."""
    kind = str(array.type)
    is_whole = kind in WHOLE_NUMBERS and not array.null_count
    if is_whole or kind in FLOATS:
        options = {} if hasattr(array, "chunks") else {"zero_copy_only": False}
        return np.asarray(array.to_numpy(**options))
    try:
        listed: list[object] = array.to_pylist()
    except Exception:  # one entry, such as a text that is no UTF-8; its error may quote it
        return [_cell(entry) for entry in array]
    return listed


def _cell(entry: Any) -> object:
    with suppress(Exception):
        cell: object = entry.as_py()
        return cell
    return None


PER_SECOND = {"ms": 10**3, "us": 10**6, "ns": 10**9}
EPOCH = datetime(1970, 1, 1)
FIRST_DAY = EPOCH.toordinal()


def cells_of(column: "polars.Series") -> list[object]:
    """Return the cells of a Polars column; None for an empty one, or a date beyond Python's.

    Python's dates reach from year 1 to 9999; Polars' go farther, and fail or panic on the way out.
    So dates leave Polars as integers: no person's stamp decides whether others are read.

    >>> import polars
    >>> cells_of(polars.Series([0, 10**9], dtype=polars.Date))
    [datetime.date(1970, 1, 1), None]
    """
    import polars

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


def _is_plain(kind: "polars.DataType") -> bool:
    """Whether cells of a nested type can leave Polars: no dates are inside."""
    import polars

    if isinstance(kind, polars.List | polars.Array):
        inner = kind.inner
        return isinstance(inner, polars.DataType) and _is_plain(inner)
    return not kind.is_nested() and not kind.is_temporal()


# --- entries --------------------------------------------------------------------------------------


def listed(array: np.ndarray) -> list[object]:
    """Return the entries of an array; those whose type decides what they stand for keep it."""
    keeps = array.dtype.type in EXACT or array.dtype.kind == "M"
    return list(array) if keeps else list(array.tolist())


def exact_below(kind: np.dtype) -> float:
    """Return the number below which an array of this dtype tells all whole numbers apart.

    >>> exact_below(np.dtype("float32")), exact_below(np.dtype("int64"))
    (16777216, inf)
    """
    if kind.kind not in "fc":
        return inf
    return EXACT.get(kind.type, EXACT[float])


def plain_entry(entry: object) -> object:
    """Return an entry as a text, a whole number or a float, if it stands for one exactly.

    In an array, one entry may have turned the others into floats, complex numbers, texts or bytes,
    and in a series into decimals. A float that stands for several whole numbers is NaN.

    >>> plain_entry(7.0), plain_entry(7 + 0j), plain_entry(b"tea"), plain_entry(2.0**60)
    (7, 7, 'tea', nan)
    """
    kind = type(entry)
    if isinstance(entry, np.generic):
        if isinstance(entry, np.datetime64 | np.timedelta64):
            return float("nan")
        is_long = isinstance(entry, np.longdouble | np.clongdouble)
        entry = _of_long(entry) if is_long else entry.item()
    if isinstance(entry, bytes):
        try:
            return entry.decode()
        except UnicodeDecodeError:
            return float("nan")
    if isinstance(entry, Decimal):
        entry = _of_decimal(entry)
    if type(entry) is complex:
        entry = entry.real if entry.imag == 0 else float("nan")
    if type(entry) is float and entry.is_integer():
        return int(entry) if abs(entry) < EXACT.get(kind, EXACT[float]) else float("nan")
    return entry


def _of_long(entry: Any) -> object:
    """Return a long float, which `item` leaves as it is, as a whole number or a float."""
    real = entry.real
    if entry.imag == 0 and real.is_integer() and abs(real) < EXACT[np.longdouble]:
        return int(real)
    return complex(entry)


def _of_decimal(entry: Decimal) -> object:
    """Return a decimal number as a whole number or a float; NaN for one of too many digits."""
    if not entry.is_finite() or entry.adjusted() >= MOST_DIGITS:
        return float("nan")
    return int(entry) if entry == entry.to_integral_value() else float(entry)


def whole_in(text: str) -> int | None:
    """Return the whole number that a text consists of, with all its digits; None for another text.

    >>> whole_in(" 1152921504606846977"), whole_in("1e3"), whole_in("tea")
    (1152921504606846977, None, None)
    """
    digits = text.strip()
    if len(digits) > MOST_DIGITS or not WHOLE.fullmatch(digits):
        return None
    return int(digits)
