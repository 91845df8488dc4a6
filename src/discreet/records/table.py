"""Some rows of a table in memory, read column by column, each cell alone.

Errors name columns and their types, never their contents.
"""

import json
from collections.abc import Sequence

import numpy as np
import polars

from discreet.arrays import Floats, Mask, stacked
from discreet.entries import cells_of
from discreet.errors import ConfigError
from discreet.feedback import TRUTHS, as_floats
from discreet.records.dates import DateRule, seconds_of
from discreet.records.log_cells import item_text
from discreet.records.series import as_texts, seconds_in

TEXTS = (polars.String, polars.Categorical, polars.Enum, polars.Binary)
"""Types of columns whose cells may spell numbers."""


def refuse_no_numbers(name: str, kind: polars.DataType, purpose: str = "hold numbers") -> None:
    """Raise `ConfigError` if no cell of a column of this type can be a number or a text."""
    if not (kind.is_numeric() or kind in (*TEXTS, polars.Boolean, polars.Null, polars.Object)):
        # The base type only: the names of fields and categories may be people's data.
        holds = kind.base_type().__name__
        raise ConfigError(f"the log's column {name} must {purpose}, got {holds}")


class LogTable:
    """Rows of a log in a Polars frame (a `discreet.learners.log_adapter.Table`)."""

    def __init__(self, frame: polars.DataFrame) -> None:
        self._frame = frame

    @property
    def columns(self) -> list[str]:
        """Names of all columns, in order."""
        return self._frame.columns

    @property
    def frame(self) -> polars.DataFrame:
        """The rows as a frame."""
        return self._frame

    def __len__(self) -> int:
        return len(self._frame)

    def __getitem__(self, part: slice) -> "LogTable":
        return LogTable(self._frame[part])

    def numbers(self, names: Sequence[str]) -> Floats:
        """Return a matrix with these columns; NaN where a cell is no number."""
        return stacked([self._column_of_numbers(name) for name in names], len(self))

    def is_missing(self, name: str) -> Mask:
        """Return which cells of a column are empty: null, NaN, or a text of blanks."""
        column = self._frame[name]
        missing = column.is_null().to_numpy()
        if column.dtype.is_float():
            missing = missing | column.is_nan().fill_null(True).to_numpy()
        elif column.dtype == polars.String:
            missing = missing | (column.str.strip_chars() == "").fill_null(True).to_numpy()
        elif column.dtype == polars.Object:
            missing = np.array([_is_empty(value) for value in column.to_list()], dtype=np.bool_)
        return np.asarray(missing, dtype=np.bool_)

    def days(self, name: str, rule: DateRule) -> Floats:
        """Return a column of dates as days since the rule's first day; NaN for no date."""
        column = self._frame[name]
        seconds = seconds_in(column)
        return rule.parsed(cells_of(column)) if seconds is None else rule.days(seconds)

    def seconds(self, name: str) -> Floats:
        """Return a column of stamps in seconds since 1970; NaN for no stamp."""
        column = self._frame[name]
        seconds = seconds_in(column)
        if seconds is None:
            seconds = np.array([seconds_of(cell) for cell in cells_of(column)], dtype=np.float64)
        return seconds

    def texts(self, name: str) -> list[str]:
        """Return a column as texts, lists as JSON; "" for missing cells."""
        column = self._frame[name]
        values = cells_of(column)
        if isinstance(column.dtype, polars.List | polars.Array):
            return ["" if value is None else json.dumps(value, default=str) for value in values]
        return ["" if value is None else item_text(value) for value in values]

    def values(self, name: str) -> list[object]:
        """Return a column unchanged; None for missing cells."""
        return cells_of(self._frame[name])

    def people(self, name: str) -> list[object]:
        """Return the column that names the person of each row.

        Short floats stay short, because each of them stands for several numbers.
        """
        column = self._frame[name]
        is_short = str(column.dtype) in ("Float16", "Float32")
        return list(column.to_numpy()) if is_short else cells_of(column)

    def _column_of_numbers(self, name: str) -> Floats:
        column = self._frame[name]
        kind = column.dtype
        if kind == polars.Object:  # one malformed cell turns a column into objects
            return np.array([_number_in(value) for value in column.to_list()], dtype=np.float64)
        refuse_no_numbers(name, kind)
        if kind in TEXTS:
            texts = as_texts(column) if kind == polars.Binary else column.cast(polars.String)
            return _numbers_in(texts.str.strip_chars())
        numbers = column.cast(polars.Float64, strict=False)
        if numbers.null_count():
            numbers = numbers.fill_null(float("nan"))
        return np.asarray(numbers.to_numpy(), dtype=np.float64)


def _numbers_in(texts: polars.Series) -> Floats:
    """Return the number of each text; 1 and 0 for the words true and false, NaN for others."""
    numbers = texts.cast(polars.Float64, strict=False)
    if numbers.null_count() > texts.null_count():
        words = texts.str.to_lowercase()
        truths = words.replace_strict(TRUTHS, default=None, return_dtype=polars.Float64)
        numbers = numbers.fill_null(truths)
    return np.asarray(numbers.fill_null(float("nan")).to_numpy(), dtype=np.float64)


def _number_in(value: object) -> float:
    """Return the number of one cell; NaN for a list, which may be large, and for no number."""
    is_array = isinstance(value, np.ndarray) and value.ndim > 0
    if is_array or isinstance(value, list | tuple | dict | set):
        return float("nan")
    number = as_floats(value)
    return float("nan") if number is None or number.shape else float(number)


def _is_empty(value: object) -> bool:
    """Whether one cell is None, NaN, or a text of blanks."""
    if isinstance(value, str):
        return not value.strip()
    return value is None or (isinstance(value, float) and value != value)
