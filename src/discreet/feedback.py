"""Conversion of feedback into rows of floats that an aggregator can add up.

The feedback of one person (`batch.single`) is refused with `OutOfBounds` if it is malformed, and
the round stays open. In a batch of many people a malformed row adds nothing: one person's row must
not decide whether others are counted.
"""

from collections.abc import Sequence
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from functools import partial
from math import isfinite

import numpy as np

from discreet.arrays import Floats
from discreet.engine.request import Batch
from discreet.entries import entries_of
from discreet.errors import OutOfBounds
from discreet.functions.costs import CostFunctions
from discreet.functions.person import reading, result_or
from discreet.functions.sets import SetFunction, SetFunctions

PLAIN = frozenset((float, int, bool, np.float64))
"""Types of numbers from which NumPy makes an array without an error or a warning."""


def as_floats(values: object) -> Floats | None:
    """Return one person's numbers as an array of floats; None if they are no numbers.

    No warning is shown: its text may quote a person's data.
    """
    if _are_plain(values):
        values = np.array(values)
    if type(values) is np.ndarray and values.dtype.kind in "biuf":
        if values.dtype == np.float64:
            return values
        with np.errstate(all="ignore"):
            return values.astype(np.float64)
    with reading():
        return result_or(partial(_converted, values), None)


def _are_plain(values: object) -> bool:
    """Whether these are a plain number, or a list of plain numbers."""
    if type(values) is list or type(values) is tuple:
        return PLAIN.issuperset(map(type, values))
    return type(values) in PLAIN


def _converted(values: object) -> Floats | None:
    """Return numbers of any type as floats, also those in an array of objects or texts.

    A column of a data frame is such an array as soon as one cell is a text. An entry that is no
    number raises an error.
    """
    array = np.asarray(values)
    if array.dtype.kind in "biuf":
        return array.astype(np.float64)
    if array.dtype.kind not in "OUSc":
        return None
    numbers = [_number(entry) for entry in array.reshape(-1).tolist()]
    return np.array(numbers, dtype=np.float64).reshape(array.shape)


def row_of(values: object, width: int) -> Floats | None:
    """Return one person's row of `width` numbers; None for anything else.

    The length of a row is checked before its entries are converted.
    """
    if type(values) is np.ndarray and values.shape == (width,) and values.dtype == np.float64:
        return values  # the usual case of a single answer, without conversion
    if isinstance(values, list | tuple) and len(values) != width:
        return None
    if isinstance(values, np.ndarray) and values.size != width:
        return None
    row = as_floats(values)
    if row is None or (row.shape != (width,) and not (width == 1 and row.shape == ())):
        return None
    return row.reshape(width)


TRUTHS = {"true": 1.0, "false": 0.0}
"""The words that are numbers, in any case."""


def _number(entry: object) -> float:
    """Return the number that an entry stands for; raise an error if it is no number.

    The text of one person turns a whole column into texts; the numbers of the others are parsed
    back.
    """
    if isinstance(entry, str | bytes):
        text = (entry.decode() if isinstance(entry, bytes) else entry).strip().lower()
        return TRUTHS[text] if text in TRUTHS else float(text)
    if isinstance(entry, complex | np.complexfloating) and entry.imag == 0:
        return float(entry.real)
    if not isinstance(
        entry, int | float | Decimal | Fraction | np.integer | np.floating | np.bool_
    ):
        raise TypeError
    return float(entry)


def _entry(entry: object) -> float:
    """Return one entry as a float; texts and complex numbers by `_number`, others by their type."""
    of_numbers = isinstance(entry, str | bytes | complex | np.complexfloating)
    return _number(entry) if of_numbers else float(entry)  # type: ignore[arg-type]


def as_rows(batch: Batch, width: int) -> Floats:
    """Return one row of `width` numbers per person; in a batch a malformed row is NaN."""
    feedback = batch.feedback
    if batch.single:
        return one_row(feedback, width)
    if isinstance(feedback, np.ndarray) and feedback.dtype.kind != "O":
        is_numeric = feedback.dtype.kind in "biuf"
        rows = as_floats(feedback) if is_numeric else from_text_or_complex(feedback)
        if width == 1 and rows is not None and rows.ndim == 1:
            rows = rows.reshape(-1, 1)
        if rows is None or rows.shape != (len(batch), width):
            raise OutOfBounds(
                f"feedback must be a matrix with {width} numbers per row, one row per round"
            )
        return np.ascontiguousarray(rows)
    if len(feedback) != len(batch):
        raise OutOfBounds(f"feedback must be one row of {width} numbers per round")
    return row_by_row(feedback, width)


def from_text_or_complex(matrix: np.ndarray) -> Floats | None:
    """Return the numbers of an array that one entry turned into texts or complex numbers.

    Other people's numbers are recovered bit for bit, except for short floats (float16, float32): a
    text has their printed digits, and no longer tells their type. Lists and arrays of objects
    preserve it.
    """
    if matrix.dtype.kind == "c":
        with np.errstate(all="ignore"):
            return np.where(matrix.imag == 0, matrix.real, np.nan).astype(np.float64)
    if matrix.dtype.kind not in "US":
        return None
    numbers = np.full(matrix.shape, np.nan)
    for place, entry in np.ndenumerate(matrix):
        with suppress(ValueError):  # no number, or bytes that are no text
            numbers[place] = _number(entry)
    return numbers


def as_separate_entries(values: object) -> np.ndarray | None:
    """Return values as an array; the entries of a list or a series stay separate objects.

    In an array that NumPy makes of a list, one text would turn all entries into texts.
    """
    with reading():
        values = result_or(lambda: entries_of(values), None)
    if isinstance(values, list | tuple):
        entries = np.empty(len(values), dtype=object)
        for place, entry in enumerate(values):
            entries[place] = entry
        return entries
    with reading():
        return result_or(lambda: np.asarray(values), None)


def each_number(values: object) -> Floats | None:
    """Return one float per entry, NaN where it is no finite number; None if there are no entries.

    >>> each_number([1, "2.5", "two", None, 10**400, float("inf")])
    array([1. , 2.5, nan, nan, nan, nan])
    """
    entries = as_separate_entries(values)
    if entries is None:
        return None
    numbers: Floats | None
    if entries.dtype.kind == "O":
        listed = entries.reshape(-1).tolist()
        with reading():
            floats = [result_or(partial(_entry, entry), np.nan) for entry in listed]
        numbers = np.array(floats, dtype=np.float64).reshape(entries.shape)
    elif entries.dtype.kind in "biuf":
        with np.errstate(all="ignore"):
            numbers = entries.astype(np.float64)
    else:
        numbers = from_text_or_complex(entries)
    return None if numbers is None else np.where(np.isfinite(numbers), numbers, np.nan)


def one_row(feedback: object, width: int) -> Floats:
    """Return one person's numbers as a matrix of one row.

    Raises
    ------
    OutOfBounds
        If they are not `width` finite numbers.
    """
    row = row_of(feedback, width)
    if row is None:
        raise OutOfBounds(f"feedback must be {width} numbers")
    if not np.isfinite(row).all():
        raise OutOfBounds(
            "feedback must be finite: replace NaN and infinite entries before you pass them on"
        )
    return row.reshape(1, width)


def row_by_row(people: Sequence[object], width: int) -> Floats:
    """Return one row of `width` numbers per entry of a list; NaN for a malformed entry."""
    rows = np.full((len(people), width), np.nan)
    for place, person in enumerate(people):
        row = row_of(person, width)
        if row is not None:
            rows[place] = row
    return rows


def as_numbers(batch: Batch) -> Floats:
    """Return one number per person; in a batch NaN for a malformed one."""
    if batch.single and type(batch.feedback) is float and isfinite(batch.feedback):
        return np.array([batch.feedback])  # the usual case of a single answer
    return as_rows(batch, 1)[:, 0]


def as_callables(batch: Batch) -> list[SetFunction | None]:
    """Return one callable per person; in a batch None for anything else."""
    if batch.single:
        return [SetFunction(batch.feedback)]
    return [SetFunction(person) if callable(person) else None for person in batch.feedback]


def as_people(batch: Batch, functions: SetFunctions | CostFunctions, items: int) -> Floats:
    """Return one row per person for a family of set functions, clipped to the family's range.

    Raises
    ------
    OutOfBounds
        If the feedback of a single person is out of range.
    """
    width = functions.width(items)
    rows, fine = functions.admit(as_rows(batch, width), items)
    if batch.single and not fine.all():
        raise OutOfBounds(
            f"feedback must be {width} numbers in the range of {type(functions).__name__}: its "
            "docstring states the range"
        )
    return np.asarray(rows, dtype=np.float64)
