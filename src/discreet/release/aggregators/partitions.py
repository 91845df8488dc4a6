"""People in parts: each part is read, clipped, quantised and added up where it lies.

A part is some of the people, with the number of the first of them among all. What is asked of a
part is a function of the part alone, without noise, chance or memory; so it does not matter on
which machine it runs, or whether a machine was lost and it runs again. What comes back is integers,
which are added up.

Guarantee   docs/guarantees/aggregators.md, Lemma 12
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

import numpy as np

from discreet.arrays import Integers

CHUNK = 1024
"""How many people's rows are floats at once."""
FULL = 2**16 - 1
"""The integer that stands for 1 in a row that is held."""
PART_BYTES = 2**22
"""Held rows are handed out in parts of about this size."""


class Part(Protocol):
    """Some of the people, wherever they are. It can be pickled, and reading it twice gives the
    same.
    """

    def pieces(self) -> Iterator[tuple[int, np.ndarray]]:
        """The rows of some people at a time, and the number of the first of them among all
        people.
        """


Kind = TypeVar("Kind")


class Runner(Protocol):
    """Asks every part, and gives the answers in their order: one per part, even if it was asked
    twice.
    """

    def __call__(
        self, task: Callable[[Kind], Integers], parts: Sequence[Kind], /
    ) -> list[Integers]:
        """What each part answers to the task, which can be pickled."""


def in_place(task: Callable[[Kind], Integers], parts: Sequence[Kind]) -> list[Integers]:
    """Ask one part after another, here."""
    return [task(part) for part in parts]


@dataclass(frozen=True, eq=False)
class HeldPart:
    """Quantised rows that are held in memory: two bytes a number."""

    values: Integers = field(repr=False)
    first: int = 0

    def pieces(self) -> Iterator[tuple[int, np.ndarray]]:
        """Rows in [0, 1]."""
        for start in range(0, len(self.values), CHUNK):
            yield self.first + start, self.values[start : start + CHUNK].astype(np.float64) / FULL


def split(values: Integers, first: int = 0) -> list[HeldPart]:
    """Held rows in parts of a few megabytes."""
    width = max(1, values.shape[1] * values.itemsize)
    length = max(1, PART_BYTES // (width * CHUNK)) * CHUNK
    return [
        HeldPart(values[start : start + length], first + start)
        for start in range(0, len(values), length)
    ]
