"""Answers by declaration: how feedback is read, and what a missing answer is.

    OneOf(options)     the number of one option      read as whole numbers, −1 for none
    Row(width)         one number per column         read as one row per person

A mode declares its `answer`; a mode whose answers are of another kind overrides `View.read` and
`Problem.blank`. One malformed answer among many adds nothing; a single one is refused.
"""

from dataclasses import dataclass

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.engine.request import Batch
from discreet.errors import OutOfBounds
from discreet.feedback import as_numbers, as_rows


@dataclass(frozen=True)
class OneOf:
    """The number of one of a few options, as `OneChoice` adds it up."""

    options: int

    blank = -1

    def read(self, batch: Batch) -> Integers:
        """Return the number of each option; −1 for an answer that names none."""
        numbers = as_numbers(batch)
        is_valid = np.isin(numbers, np.arange(self.options))
        if batch.single and not is_valid.all():
            raise OutOfBounds(f"an answer must be a whole number below {self.options}")
        return np.where(is_valid, numbers, -1.0).astype(np.int64)


@dataclass(frozen=True)
class Row:
    """One number per column, as `Rows` clips and adds them up."""

    width: int

    @property
    def blank(self) -> Floats:
        """A row of zeros."""
        return np.zeros(self.width)

    def read(self, batch: Batch) -> Floats:
        """Return one row per person."""
        return as_rows(batch, self.width)
