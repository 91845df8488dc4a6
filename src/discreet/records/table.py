"""Tables of logs and records: CSV and Parquet files, one row per person, logs in order of time.

Errors name columns and their types, never their contents.
"""

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import polars

from discreet.arrays import Floats
from discreet.errors import ConfigError
from discreet.feedback import as_floats
from discreet.records.text import TextFile


class LogTable:
    """Rows of a log in a Polars frame (a `discreet.learners.log_adapter.Table`)."""

    def __init__(self, frame: polars.DataFrame) -> None:
        self._frame = frame

    @property
    def columns(self) -> list[str]:
        """Names of all columns, in order."""
        return self._frame.columns

    def __len__(self) -> int:
        return len(self._frame)

    def __getitem__(self, part: slice) -> "LogTable":
        return LogTable(self._frame[part])

    def numbers(self, names: Sequence[str]) -> Floats:
        """Return a matrix with these columns; NaN where a cell is no number."""
        rows = np.empty((len(self), len(names)))
        for place, name in enumerate(names):
            rows[:, place] = self._column_of_numbers(name)
        return rows

    def texts(self, name: str) -> list[str]:
        """Return a column as texts, lists as JSON; "" for missing cells."""
        column = self._frame[name]
        values = column.to_list()
        if isinstance(column.dtype, polars.List | polars.Array):
            return ["" if value is None else json.dumps(value, default=str) for value in values]
        return ["" if value is None else str(value) for value in values]

    def values(self, name: str) -> list[object]:
        """Return a column unchanged; None for missing cells."""
        return self._frame[name].to_list()

    def people(self, name: str) -> list[object]:
        """Return the column that names the person of each row.

        Short floats stay short, because each of them stands for several numbers.
        """
        column = self._frame[name]
        return list(column.to_numpy()) if column.dtype == polars.Float32 else column.to_list()

    def _column_of_numbers(self, name: str) -> Floats:
        column = self._frame[name]
        kind = column.dtype
        if kind == polars.Object:  # one malformed cell turns a column into objects
            entries = [as_floats(value) for value in column.to_list()]
            scalars = [
                np.nan if entry is None or entry.shape else float(entry) for entry in entries
            ]
            return np.array(scalars, dtype=np.float64)
        if kind in (polars.String, polars.Categorical, polars.Enum, polars.Binary):
            column = column.cast(polars.String, strict=False).str.strip_chars()
        elif not (kind.is_numeric() or kind in (polars.Boolean, polars.Null)):
            # The base type only: the names of fields and categories may be people's data.
            holds = kind.base_type().__name__
            raise ConfigError(f"the log's column {name} must hold numbers, got {holds}")
        numbers = column.cast(polars.Float64, strict=False).fill_null(float("nan"))
        return np.asarray(numbers.to_numpy(), dtype=np.float64)


def read_log(path: Path) -> LogTable:
    """Return the log in a file."""
    return LogTable(_read(path, None))


def read_numbers(path: Path, choose: Callable[[list[str]], list[str]]) -> Floats:
    """Return a matrix with the columns that `choose` picks from the file's columns."""
    log = LogTable(_read(path, choose))
    return log.numbers(choose(log.columns))


def _read(path: Path, choose: Callable[[list[str]], list[str]] | None) -> polars.DataFrame:
    """Return the file as a data frame, with errors that name the file and not its contents."""
    try:
        str(path).encode()  # Polars requires a name that is valid text
        if path.suffix == ".parquet":
            columns = None if choose is None else choose(list(polars.read_parquet_schema(path)))
            return polars.read_parquet(path, columns=columns)
        file = TextFile.opened(path)
        columns = None if choose is None else choose(list(file.columns))
        return polars.concat([file.empty(columns), *file.batches(columns)])
    except FileNotFoundError:
        raise ConfigError(f"{path} does not exist") from None
    except UnicodeEncodeError:
        raise ConfigError(f"{path} cannot be read: its name is not valid text, rename it") from None
    except (OSError, polars.exceptions.PolarsError) as error:
        kind = path.suffix or "CSV"
        raise ConfigError(f"{path} cannot be read as {kind} ({type(error).__name__})") from None
