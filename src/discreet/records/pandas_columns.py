"""Columns of pandas as columns of Polars, each by its own type."""

from typing import Any

import numpy as np
import polars

from discreet.entries import dtype_of
from discreet.records.series import text_in

NOT_A_TIME = np.iinfo(np.int64).min
MISSING = ("NAType", "NaTType")
"""Names of the types of pandas' missing values."""
PER_UNIT = {"s": (1000, "ms"), "ms": (1, "ms"), "us": (1, "us"), "ns": (1, "ns")}
"""The factor and the unit by which Polars holds stamps of each unit of pandas."""

BYTES = {"string": "binary", "large_string": "large_binary", "string_view": "binary_view"}
"""The type of bytes with the layout of each type of Arrow texts."""


def from_pandas(name: str, column: Any) -> polars.Series:
    """Return a column with its own type; as separate objects if it has none."""
    kind = dtype_of(column)
    if isinstance(kind, np.dtype) and kind.kind in "biufc":
        return polars.Series(name, _numbers(np.asarray(column, dtype=kind)))
    if getattr(kind, "kind", "") == "f" and hasattr(kind, "numpy_dtype"):
        return polars.Series(name, column.to_numpy(dtype=kind.numpy_dtype, na_value=np.nan))
    if _holds_arrow_texts(kind):
        # pandas fails on texts that are no UTF-8, and its error quotes them.
        texts = column.array.__arrow_array__()
        cells = texts.cast(BYTES[str(texts.type)]).to_pylist()
        return polars.Series(name, [text_in(cell) for cell in cells], dtype=polars.Object)
    if hasattr(column.array, "asi8") and kind.kind == "M":
        return _stamps(name, column.array.asi8, column.array.unit)
    if hasattr(kind, "pyarrow_dtype") and kind.kind in "MO" and _is_date(kind):
        return polars.Series(name, column.array.__arrow_array__())
    if hasattr(kind, "pyarrow_dtype") and kind.kind == "O":
        cells = [_of_arrow(cell) for cell in column.array.__arrow_array__()]
    else:
        cells = [_cell(cell) for cell in column.astype(object).to_list()]
    return polars.Series(name, cells, dtype=polars.Object)


def _numbers(numbers: np.ndarray) -> np.ndarray:
    """Return the real numbers of a column that one cell may have made complex; NaN for others."""
    if numbers.dtype.kind == "f" and numbers.dtype.itemsize > 8:
        return numbers.astype(np.float64)
    if numbers.dtype.kind != "c":
        return numbers
    with np.errstate(all="ignore"):  # a warning would reveal a person's data
        return np.where(numbers.imag == 0, numbers.real, np.nan).astype(np.float64)


def _of_arrow(cell: Any) -> object:
    """Return a cell of Arrow, such as a list of texts; None if one of them is no UTF-8."""
    try:
        return cell.as_py()
    except Exception:  # its text may quote the cell
        return None


def _stamps(name: str, numbers: np.ndarray, unit: str) -> polars.Series:
    """Return stamps, in UTC if they have a zone; they are never Python's dates on the way."""
    factor, of_polars = PER_UNIT[unit]
    with np.errstate(all="ignore"):
        stamps = polars.Series(name, numbers * factor)
    known = polars.Series(numbers != NOT_A_TIME)
    masked = polars.select(polars.when(known).then(stamps).alias(name)).to_series()
    return masked.cast(polars.Datetime(of_polars))  # type: ignore[arg-type]


def _holds_arrow_texts(kind: Any) -> bool:
    if hasattr(kind, "pyarrow_dtype"):
        return str(kind.pyarrow_dtype) in BYTES
    return getattr(kind, "storage", "") == "pyarrow"


def _is_date(kind: Any) -> bool:
    return str(kind.pyarrow_dtype).startswith(("timestamp", "date"))


def _cell(cell: object) -> object:
    """Return a cell; None for a missing one. Nothing is asked of objects of other types."""
    return None if type(cell).__name__ in MISSING else cell
