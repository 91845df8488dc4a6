"""Tables of any kind for the estimators: read by the rules of `Columns`, with or without `y`."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from discreet.arrays import Floats
from discreet.errors import ConfigError
from discreet.feedback import as_separate_entries
from discreet.losses import Samples
from discreet.records.array_table import ArrayTable
from discreet.records.cells import Cells
from discreet.records.columns import Columns
from discreet.records.samples import opened

if TYPE_CHECKING:
    import polars

    from discreet.records.sources import Source


def table_of(columns: Columns, X: object, y: ArrayLike | None) -> "Source":
    """Return the source of a table, with `y` as its target if that is given."""
    if isinstance(X, np.ndarray) and y is None:
        raise ConfigError("an array needs y; without y, give a table that has the target")
    source = opened(X, columns)
    if y is None:
        return source
    frame = source.whole(columns.features).frame
    return opened(frame.with_columns(_target(columns.target, y, frame.height)))


def counted(source: "Source", names: Sequence[str]) -> "tuple[Source, int]":
    """Return a table and its number of rows, which must not be 0.

    A stream that does not state its length is read into memory.
    """
    count = source.count()
    if count is None:
        frame = source.whole(names).frame
        source, count = opened(frame), frame.height
    if not count:
        raise ConfigError("the table has no rows")
    return source, count


def samples_of(columns: Columns, X: object, y: ArrayLike | None) -> Samples:
    """Return all rows of a table or an array as samples; targets are not shifted."""
    rows: Cells
    if isinstance(X, np.ndarray) and y is not None:
        columns.check_numeric(X)
        rows = ArrayTable.of_matrix(X, y, columns.read)
    else:
        rows = table_of(columns, X, y).whole(columns.read)
    return columns.samples(rows, shifts=False)


def features_of(columns: Columns, X: object) -> Floats:
    """Return the features of a table or an array in its units; NaN in a row that is blank."""
    if isinstance(X, np.ndarray):
        columns.check_numeric(X)
        parts = [columns.encoded(ArrayTable.of_matrix(X, np.zeros(len(X)), columns.read))]
    else:
        parts = [columns.encoded(rows) for rows in opened(X, columns).batches(columns.features)]
    rows = np.vstack([np.empty((0, len(columns.names))), *parts])
    rows[~np.isfinite(rows).all(axis=1)] = np.nan
    return columns.box.decoded(rows)


def _target(name: str, y: ArrayLike, rows: int) -> "polars.Series":
    """Return targets as a column; entries of mixed types stay separate objects."""
    import polars

    entries = as_separate_entries(y)
    if entries is None or entries.shape != (rows,):
        raise ConfigError(f"y must have one entry per row of the table, which has {rows}")
    if entries.dtype.kind in "biu" or entries.dtype == np.float64:
        return polars.Series(name, entries)
    return polars.Series(name, entries.tolist(), dtype=polars.Object)
