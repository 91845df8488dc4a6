"""Feedback as it comes in, made into numbers that an aggregator can take.

One person's feedback (`batch.single`) is refused with `OutOfBounds` if it is wrong, and the round
stays open. Among many, whoever is malformed adds nothing: one person's row must not decide whether
others are counted.
"""

from collections.abc import Sequence
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from functools import partial
from math import isfinite
from typing import Any

import numpy as np

from discreet.arrays import Floats
from discreet.engine.request import Batch
from discreet.errors import OutOfBounds
from discreet.functions.costs import CostFunctions
from discreet.functions.person import asked_of, reading
from discreet.functions.sets import SetFunction, SetFunctions

PLAIN = frozenset((float, int, bool, np.float64))
"""Kinds of numbers of which NumPy makes an array without an error or a warning."""


def as_floats(values: Any) -> Floats | None:
    """One person's numbers as an array of floats; None if they are no numbers.

    Nothing warns: a warning would tell about a person.
    """
    kind = type(values)
    if kind in PLAIN or (kind in (list, tuple) and PLAIN.issuperset(map(type, values))):
        values = np.array(values)
    if type(values) is np.ndarray and values.dtype.kind in "biuf":
        if values.dtype == np.float64:
            return values
        with np.errstate(all="ignore"):
            return values.astype(np.float64)
    with reading():
        return asked_of(partial(_converted, values), None)


def _converted(values: object) -> Floats | None:
    """Numbers of any kind, and those in an array of anything, as a frame has them once one cell is
    a text.

    An error if one entry is no number.
    """
    found = np.asarray(values)
    if found.dtype.kind in "biuf":
        return found.astype(np.float64)
    if found.dtype.kind not in "OUSc":
        return None
    each = [_number(entry) for entry in found.reshape(-1).tolist()]
    return np.array(each, dtype=np.float64).reshape(found.shape)


def row_of(values: object, width: int) -> Floats | None:
    """One person's row of `width` numbers; None for anything else.

    The length of a row is checked before its entries are read.
    """
    if type(values) is np.ndarray and values.shape == (width,) and values.dtype == np.float64:
        return values  # what one visitor waits for
    if isinstance(values, list | tuple) and len(values) != width:
        return None
    if isinstance(values, np.ndarray) and values.size != width:
        return None
    row = as_floats(values)
    if row is None or (row.shape != (width,) and not (width == 1 and row.shape == ())):
        return None
    return row.reshape(width)


_TRUTHS = {"true": 1.0, "false": 0.0}


def _number(entry: object) -> float:
    """What an entry stands for; an error if it is no number.

    One person's text makes a whole column text: what others' numbers were written as is read back.
    """
    if isinstance(entry, str | bytes):
        text = (entry.decode() if isinstance(entry, bytes) else entry).strip().lower()
        return _TRUTHS[text] if text in _TRUTHS else float(text)
    if isinstance(entry, complex | np.complexfloating) and entry.imag == 0:
        return float(entry.real)
    if not isinstance(
        entry, int | float | Decimal | Fraction | np.integer | np.floating | np.bool_
    ):
        raise TypeError
    return float(entry)


def as_rows(batch: Batch, width: int) -> Floats:
    """So many numbers a person, one row each; rows that are malformed among many are NaN."""
    feedback, people = batch.feedback, len(batch)
    if batch.single:
        return one_row(feedback, width)
    if isinstance(feedback, np.ndarray) and feedback.dtype.kind != "O":
        rows = as_floats(feedback) if feedback.dtype.kind in "biuf" else as_numbers_anyway(feedback)
        if width == 1 and rows is not None and rows.ndim == 1:
            rows = rows.reshape(-1, 1)
        if rows is None or rows.shape != (people, width):
            raise OutOfBounds(
                f"feedback must be a matrix with {width} numbers a row, one row a round"
            )
        return np.ascontiguousarray(rows)
    if len(feedback) != people:
        raise OutOfBounds(f"feedback must be one row of {width} numbers a round")
    return row_by_row(feedback, width)


def as_numbers_anyway(matrix: np.ndarray) -> Floats | None:
    """An array that one entry made text or complex: everybody else's numbers are numbers all the
    same.

    Bit for bit, but for short floats (float16, float32): as texts they are what they print as, and
    nothing tells them from float64 any more. Lists and arrays of objects keep them.
    """
    found = np.full(matrix.shape, np.nan)
    if matrix.dtype.kind == "c":
        with np.errstate(all="ignore"):
            return np.where(matrix.imag == 0, matrix.real, np.nan).astype(np.float64)
    if matrix.dtype.kind not in "US":
        return None
    for place, entry in np.ndenumerate(matrix):
        with suppress(ValueError):  # also of bytes that are no text
            found[place] = _number(entry)
    return found


def each_apart(values: object) -> np.ndarray | None:
    """Values as an array; those of a list each for itself, as one text among them would make all
    texts.
    """
    if isinstance(values, list | tuple):
        apart = np.empty(len(values), dtype=object)
        for place, entry in enumerate(values):
            apart[place] = entry
        return apart
    with reading():
        return asked_of(lambda: np.asarray(values), None)


def each_number(values: object) -> Floats | None:
    """One float an entry, NaN for what is no finite number; None if these are no values at all.

    >>> each_number([1, "2.5", "two", None, 10**400, float("inf")])
    array([1. , 2.5, nan, nan, nan, nan])
    """
    found = each_apart(values)
    if found is None:
        return None
    numbers: Floats | None
    if found.dtype.kind == "O":
        with reading():
            each = [asked_of(partial(float, entry), np.nan) for entry in found.reshape(-1).tolist()]
        numbers = np.array(each, dtype=np.float64).reshape(found.shape)
    elif found.dtype.kind in "biuf":
        with np.errstate(all="ignore"):
            numbers = found.astype(np.float64)
    else:
        numbers = as_numbers_anyway(found)
    return None if numbers is None else np.where(np.isfinite(numbers), numbers, np.nan)


def one_row(feedback: object, width: int) -> Floats:
    """One person's numbers as a matrix of one row; `OutOfBounds` if they are not so many, or not
    finite.
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
    """One row of `width` numbers per entry of a list; a row of NaN for an entry that is anything
    else.
    """
    rows = np.full((len(people), width), np.nan)
    for place, person in enumerate(people):
        row = row_of(person, width)
        if row is not None:
            rows[place] = row
    return rows


def as_numbers(batch: Batch) -> Floats:
    """One number a person; NaN for whoever is malformed among many."""
    if batch.single and type(batch.feedback) is float and isfinite(batch.feedback):
        return np.array([batch.feedback])  # what one visitor waits for
    return as_rows(batch, 1)[:, 0]


def as_callables(batch: Batch) -> list[SetFunction | None]:
    """One callable a person; None for whoever brought something else among many."""
    if batch.single:
        return [SetFunction(batch.feedback)]
    return [SetFunction(person) if callable(person) else None for person in batch.feedback]


def as_people(batch: Batch, functions: SetFunctions | CostFunctions, items: int) -> Floats:
    """One row a person for a family of set functions, every number in its range."""
    width = functions.width(items)
    rows, fine = functions.admit(as_rows(batch, width), items)
    if batch.single and not fine.all():
        raise OutOfBounds(
            f"feedback must be {width} numbers in the range of {type(functions).__name__}: see "
            "its docstring"
        )
    return np.asarray(rows, dtype=np.float64)
