"""Partitions of people: each part is read, clipped, quantised and added up where it is stored.

A part holds some of the people, and the number of the first of them among all. A task is a function
of one part alone, without noise, chance or memory; so it does not matter on which machine it runs,
or whether it runs again after a machine was lost. Its result is integers, which are added up.

Guarantee   docs/guarantees/aggregators.md, Lemma 12
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

import numpy as np

from discreet.arrays import Integers

CHUNK = 1024
"""The number of people whose rows are converted to floats at once."""
FULL = 2**16 - 1
"""The integer that represents 1 in a held row."""
PART_BYTES = 2**22
"""Approximate size of the parts that held rows are split into."""


class Part(Protocol):
    """Some of the people, on any machine. A part can be pickled and read repeatedly."""

    def pieces(self) -> Iterator[tuple[int, np.ndarray]]:
        """Yield rows of some people at a time, after the number of the first among all people."""


Kind = TypeVar("Kind")


class Runner(Protocol):
    """A way to run a task on every part: one result per part, even if a task ran twice."""

    def __call__(
        self, task: Callable[[Kind], Integers], parts: Sequence[Kind], /
    ) -> list[Integers]:
        """Return the result of the task, which can be pickled, for each part in order."""


def in_place(task: Callable[[Kind], Integers], parts: Sequence[Kind]) -> list[Integers]:
    """Run the task on one part after another, in this process."""
    return [task(part) for part in parts]


@dataclass(frozen=True, eq=False)
class HeldPart:
    """Quantised rows that are held in memory: two bytes per number."""

    values: Integers = field(repr=False)
    first: int = 0

    def pieces(self) -> Iterator[tuple[int, np.ndarray]]:
        """Yield rows in [0, 1], after the number of the first person."""
        for start in range(0, len(self.values), CHUNK):
            yield self.first + start, self.values[start : start + CHUNK].astype(np.float64) / FULL


def split(values: Integers, first: int = 0) -> list[HeldPart]:
    """Return held rows in parts of a few megabytes."""
    width = max(1, values.shape[1] * values.itemsize)
    length = max(1, PART_BYTES // (width * CHUNK)) * CHUNK
    return [
        HeldPart(values[start : start + length], first + start)
        for start in range(0, len(values), length)
    ]
