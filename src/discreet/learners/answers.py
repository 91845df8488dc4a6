"""Answers by declaration: how feedback is read, and what a missing answer is.

    OneOf(options)     the number of one option      read as whole numbers, −1 for none
    Row(width)         one number per column         read as one row per person
    Entry(blank)       one entry of another kind     read by the phase, which knows its decisions

A mode declares its answer; one of another kind is a class beside its mode. One malformed answer
among many adds nothing; a single one is refused.
"""

from dataclasses import dataclass

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.engine.declarations import Answer
from discreet.engine.request import Batch
from discreet.errors import OutOfBounds
from discreet.feedback import as_numbers, as_rows


@dataclass(frozen=True)
class OneOf(Answer):
    """The number of one of a few options, as `OneChoice` adds it up."""

    options: int

    @property
    def blank(self) -> int:
        """The number of no option."""
        return -1

    def read(self, batch: Batch) -> Integers:
        """Return the number of each option; −1 for an answer that names none."""
        numbers = as_numbers(batch)
        is_valid = np.isin(numbers, np.arange(self.options))
        if batch.single and not is_valid.all():
            raise OutOfBounds(f"an answer must be a whole number below {self.options}")
        return np.where(is_valid, numbers, -1.0).astype(np.int64)


@dataclass(frozen=True)
class Row(Answer):
    """One number per column, as `Rows` clips and adds them up."""

    width: int

    @property
    def blank(self) -> Floats:
        """A row of zeros."""
        return np.zeros(self.width)

    def read(self, batch: Batch) -> Floats:
        """Return one row per person."""
        return as_rows(batch, self.width)


@dataclass(frozen=True)
class Entry(Answer):
    """One entry that a phase reads, given its decisions: the first click on a slate, say."""

    nothing: object

    @property
    def blank(self) -> object:
        """The entry of a person who brings nothing."""
        return self.nothing
