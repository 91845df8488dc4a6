"""Containers of several people's answers: none of the entries may decide how others are read.

Operators hand answers in as lists, arrays, or series of Polars, pandas and Arrow. What does not fit
into a typed container becomes a null there, or spoils the type of the whole array.
"""

from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np

Container = Callable[[list[object]], object]
"""Puts the answers of several people into what `close_many` takes."""

NOT_A_NUMBER: tuple[object, ...] = (float("nan"), 1j, b"x", "x")
"""Entries that turn an array of numbers into floats, complex numbers, bytes or texts."""
NO_TEXT = NOT_A_NUMBER[2:]
"""Those of them beside which whole numbers of any size keep all digits."""
EXACT = 2**53


def containers_for(answers: list[object]) -> tuple[Container, ...]:
    """Return the containers in which people with such ordinary answers may come."""
    containers: list[Container] = [list, tuple, as_objects]
    if find_spec("polars"):
        containers.append(_polars_objects)
    known = [answer for answer in answers if answer is not None]
    if all(type(answer) is int for answer in known):
        is_long = any(abs(answer) >= EXACT for answer in known if isinstance(answer, int))
        odd = NO_TEXT if is_long else NOT_A_NUMBER
        return (*containers, partial(_mixed, odd=odd), *_series_of(_whole, "Int64"))
    if all(type(answer) is float for answer in known):
        return (*containers, partial(_mixed, odd=NOT_A_NUMBER), *_series_of(_number, "Float64"))
    if all(isinstance(answer, np.ndarray) and answer.ndim == 1 for answer in known):
        width = len(known[0]) if isinstance(known[0], np.ndarray) else 0
        matrix = partial(_mixed_rows, width=width)
        return (*containers, matrix, *((_polars_rows,) if find_spec("polars") else ()))
    return tuple(containers)


def containers_of_masks() -> tuple[Container, ...]:
    """Return the containers in which the masks of several people may come."""
    containers: list[Container] = [list, as_objects, _mixed_masks]
    if find_spec("polars"):
        containers += [_polars_objects, _polars_masks]
    return tuple(containers)


def as_objects(people: list[object]) -> np.ndarray:
    """Return an array of one object per person."""
    array = np.empty(len(people), dtype=object)
    for place, person in enumerate(people):
        array[place] = person
    return array


def _series_of(cell: Callable[[object], object], kind: str) -> tuple[Container, ...]:
    """Return functions that make a typed series with nulls, one per installed library."""
    makers = {"polars": _polars_series, "pandas": _pandas_series, "pyarrow": _arrow_array}
    return tuple(
        partial(maker, cell=cell, kind=kind)
        for library, maker in makers.items()
        if find_spec(library)
    )


def _polars_series(people: list[object], cell: Callable[[object], object], kind: str) -> object:
    import polars

    return polars.Series(list(map(cell, people)), dtype=getattr(polars, kind))


def _pandas_series(people: list[object], cell: Callable[[object], object], kind: str) -> object:
    import pandas

    return pandas.Series(list(map(cell, people)), dtype=kind)


def _arrow_array(people: list[object], cell: Callable[[object], object], kind: str) -> object:
    import pyarrow

    return pyarrow.array(list(map(cell, people)), {"Int64": "int64", "Float64": "float64"}[kind])


def _polars_objects(people: list[object]) -> object:
    import polars

    return polars.Series(people, dtype=polars.Object)


def _polars_rows(people: list[object]) -> object:
    """Return a series of lists of numbers; null for a person without such a row."""
    import polars

    return polars.Series(list(map(_row, people)), dtype=polars.List(polars.Float64))


def _polars_masks(people: list[object]) -> object:
    """Return a series of lists of booleans; null for a person without such a list."""
    import polars

    return polars.Series(list(map(_mask, people)), dtype=polars.List(polars.Boolean))


def _mixed(people: list[object], odd: tuple[object, ...]) -> np.ndarray:
    """Return the array that NumPy makes of numbers, and of odd entries in place of others."""
    entries: list[Any] = []
    for place, person in enumerate(people):
        number = person if type(person) is float else _whole(person)
        entries.append(odd[place % len(odd)] if number is None else number)
    return np.array(entries)


def _mixed_rows(people: list[object], width: int) -> np.ndarray:
    """Return the matrix that NumPy makes of rows of numbers, and of odd rows in place of others."""
    rows: list[list[Any]] = []
    for place, person in enumerate(people):
        row = _row(person)
        fits = row is not None and len(row) == width
        odd = NOT_A_NUMBER[place % len(NOT_A_NUMBER)]
        rows.append(row if fits and row is not None else [odd] * width)
    return np.array(rows).reshape(len(people), width)


def _mixed_masks(people: list[object]) -> np.ndarray:
    """Return the matrix that NumPy makes of masks, and of odd rows in place of others."""
    masks = list(map(_mask, people))
    width = max(len(mask) for mask in masks if mask is not None)
    odd = (*NOT_A_NUMBER, 7)
    rows: list[list[Any]] = [
        [odd[place % len(odd)]] * width if mask is None else mask
        for place, mask in enumerate(masks)
    ]
    return np.array(rows)


def _whole(person: object) -> int | None:
    """Return a whole number that fits into 64 bits; None for anything else."""
    return person if type(person) is int and abs(person) < 2**63 else None


def _number(person: object) -> float | None:
    """Return a float; None for anything else."""
    return person if type(person) is float else None


def _mask(person: object) -> list[bool] | None:
    """Return one person's mask; None for anything else."""
    if isinstance(person, np.ndarray) and person.ndim == 1 and person.dtype == np.bool_:
        mask: list[bool] = person.tolist()
        return mask
    return None


def _row(person: object) -> list[float] | None:
    """Return one person's row of floats; None for anything else."""
    if isinstance(person, np.ndarray) and person.ndim == 1 and person.dtype == np.float64:
        row: list[float] = person.tolist()
        return row
    return None
