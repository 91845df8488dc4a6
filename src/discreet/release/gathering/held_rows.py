"""Rows kept for one release, which adds them up again and again: gains on top of what was just chosen.

What is held is each person's own row, quantised to two bytes a number: it is NOT private, no more than the
log it came from. Each `total` adds up a function of single rows through `Rows`, `Gram`, `Moments` or
`OneChoice`, which clip it; so one person moves every total by at most what these say.

Guarantee   docs/guarantees/gathering.md, Lemma 4
Runtime     O(numbers held) a total; memory two bytes a number
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.errors import ConfigError
from discreet.release.gathering.base import Gathered, Gathering, as_shape, kernels
from discreet.release.gathering.gram import Gram
from discreet.release.gathering.moments import Moments
from discreet.release.gathering.one_choice import OneChoice
from discreet.release.gathering.rows import Rows

__all__ = ["HeldRows"]

CHUNK = 1024
"""How many people's rows are floats at once."""
FULL = 2**16 - 1
"""The integer that stands for 1."""


Onto = Rows | Gram | Moments | OneChoice
"""What rows may be added up by: each clips what a person brings, and states what it moves."""


@dataclass(frozen=True)
class HeldRows(Gathering):
    """People's rows of numbers in [0, 1], each at a place that its round fixes.

    `shape` is (people, numbers in a row).

    >>> held = HeldRows((3, 2))
    >>> people = held.empty()
    >>> held.add(people, np.array([0, 2]), np.array([[0.5, 1.0], [0.0, 0.25]]))
    >>> held.total(people, lambda rows: rows, Rows(2, norm=1, nonnegative=True, levels=1000)).values
    array([333, 917])
    """

    shape: tuple[int, ...]
    levels: int = FULL

    def __post_init__(self) -> None:
        object.__setattr__(self, "shape", as_shape(self.shape))

    @property
    def bound(self) -> float:
        return 1.0

    @property
    def cells(self) -> int:
        return self.shape[-1]

    @property
    def dtype(self) -> Any:
        return np.uint16

    def unit_sensitivity(self, norm: int) -> float:
        raise ConfigError("held rows are not for release as they are: add them up with `total`")

    @property
    def span(self) -> int:
        raise ConfigError("held rows are not for release as they are: add them up with `total`")

    def add(self, gathered: Gathered, places: Integers, rows: Floats) -> None:
        """Keep these rows at their places; places beyond the end are left out.

        What is not finite counts as zero.
        """
        rows = np.ascontiguousarray(rows, dtype=np.float64)
        gathered.additions += 1
        kernels().hold_rows(rows, np.ascontiguousarray(places, dtype=np.int64), float(FULL), gathered.values)

    def total(self, gathered: Gathered, of_rows: Callable[[Floats], Any], onto: Onto) -> Gathered:
        """The sum over people of a function of their own row, clipped and quantised by `onto`.

        It gives what `onto.add` takes: rows or cells, or a tuple of contexts, rewards and slots.
        """
        sums = onto.empty()
        for first in range(0, self.shape[0], CHUNK):
            rows = gathered.values[first : first + CHUNK].astype(np.float64) / FULL
            found = of_rows(rows)
            onto.add(sums, *(found if isinstance(found, tuple) else (found,)))
        return sums
