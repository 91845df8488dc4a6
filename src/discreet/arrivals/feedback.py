"""Feedback as it comes in, made into what a learner can read; or `OutOfBounds` if it is of the wrong kind.

One person's feedback (`batch.single`) is refused if it is wrong. Among many, whoever is wrong counts as nothing.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from discreet.arrivals.cost_functions import CostFunctions
from discreet.arrivals.set_functions import SetFunction, SetFunctions
from discreet.errors import OutOfBounds
from discreet.release.arrays import Floats
from discreet.release.entrance import as_row, as_rows
from discreet.release.turn import Batch

__all__ = ["as_callables", "as_numbers", "as_people"]


def as_numbers(batch: Batch, low: float, high: float) -> Floats:
    """One number a person, clipped; what is not finite counts as 0 if it comes with many."""
    rows = as_row(batch.feedback, 1) if batch.single else as_rows(batch.feedback, 1, len(batch.rounds))
    return np.asarray(np.clip(np.nan_to_num(rows[:, 0], nan=0.0, posinf=0.0, neginf=0.0), low, high), dtype=np.float64)


def as_callables(batch: Batch, blank: Callable[..., float]) -> list[SetFunction]:
    """One callable a person."""
    if batch.single:
        return [SetFunction(batch.feedback)]
    people = list(batch.feedback)
    if len(people) != len(batch.rounds):
        raise OutOfBounds("feedback must be one callable a round")
    return [SetFunction(person if callable(person) else blank) for person in people]


def as_people(batch: Batch, functions: SetFunctions | CostFunctions, items: int) -> Floats:
    """One row a person for a family of set functions, every number in its range."""
    width = functions.width(items)
    rows: Any = as_row(batch.feedback, width) if batch.single else as_rows(batch.feedback, width, len(batch.rounds))
    rows, fine = functions.admit(rows, items)
    if batch.single and not fine.all():
        raise OutOfBounds(f"feedback must be {width} numbers in the range of {type(functions).__name__}: see its docstring")
    return np.asarray(rows, dtype=np.float64)
