"""Rows kept for one release, which adds them up again and again: gains on top of what was just
chosen.

What is held is each person's own row, quantised to two bytes a number: it is NOT private, no more
than the log it came from. Each `total` adds up a function of single rows through `Rows`, `Gram`,
`Moments` or `OneChoice`, which clip it; so one person moves every total by at most what these say.
Rows may also stay where they are, in parts of the people that are read again for every total
(discreet/release/aggregators/partitions.py): what is added up is the same.

Guarantee   docs/guarantees/aggregators.md, Lemmas 4 and 12
Runtime     O(numbers held) a total; memory two bytes a number
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.errors import ConfigError
from discreet.release.aggregators.base import Aggregate, Aggregator, as_shape, kernels
from discreet.release.aggregators.gram import Gram
from discreet.release.aggregators.moments import Moments
from discreet.release.aggregators.one_choice import OneChoice
from discreet.release.aggregators.partitions import FULL, Part, Runner, in_place, split
from discreet.release.aggregators.rows import Rows


@dataclass(eq=False, repr=False)
class Held(Aggregate):
    """Rows that are held, people who stay in their parts, and who asks those."""

    staying: tuple[Part, ...] = ()
    run: Runner = in_place


Onto = Rows | Gram | Moments | OneChoice
"""What rows may be added up by: each clips what a person brings, and states what it moves."""

Brought = np.ndarray | tuple[np.ndarray, ...]
"""What its `add` takes: rows or cells, or contexts, rewards and slots."""


@dataclass(frozen=True)
class _Total:
    """The sum of a function of the rows of one part, through what clips it."""

    of_rows: Callable[[Floats], Brought]
    onto: Onto

    def __call__(self, part: Part) -> Integers:
        sums = self.onto.empty()
        for _, rows in part.pieces():
            found = self.of_rows(rows)
            self.onto.add(sums, *(found if isinstance(found, tuple) else (found,)))
        return sums.values


@dataclass(frozen=True)
class HeldRows(Aggregator):
    """People's rows of numbers in [0, 1], each at a place that its round fixes.

    `shape` is (people, numbers in a row). With `elsewhere` nothing is held: people stay in their
    parts.

    >>> held = HeldRows((3, 2))
    >>> people = held.empty()
    >>> held.add(people, np.array([0, 2]), np.array([[0.5, 1.0], [0.0, 0.25]]))
    >>> held.total(people, lambda rows: rows, Rows(2, norm=1, nonnegative=True, levels=1000)).values
    array([333, 917])
    """

    shape: tuple[int, ...]
    levels: int = FULL
    elsewhere: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "shape", as_shape(self.shape))

    @property
    def bound(self) -> float:
        return 1.0

    @property
    def cells(self) -> int:
        return self.shape[-1]

    @property
    def dtype(self) -> type[np.uint16]:
        return np.uint16

    def unit_sensitivity(self, norm: int) -> float:
        raise ConfigError("held rows are not for release as they are: add them up with `total`")

    @property
    def span(self) -> int:
        raise ConfigError("held rows are not for release as they are: add them up with `total`")

    def empty(self) -> Held:
        people, width = self.shape
        return Held(self, np.zeros((0 if self.elsewhere else people, width), dtype=self.dtype))

    def stay(self, aggregate: Aggregate, parts: Sequence[Part], run: Runner) -> None:
        """Count the people of these parts, who stay where they are and are asked through `run`."""
        assert isinstance(aggregate, Held)
        aggregate.additions += 1
        aggregate.staying, aggregate.run = (*aggregate.staying, *parts), run

    def asked(self, aggregate: Aggregate, task: Callable[[Part], Integers]) -> list[Integers]:
        """What each part of the people answers."""
        held = split(aggregate.values)
        if not isinstance(aggregate, Held):
            return in_place(task, held)
        return aggregate.run(task, [*held, *aggregate.staying])

    def add(self, aggregate: Aggregate, places: Integers, rows: Floats) -> None:
        """Keep these rows at their places; places beyond the end are left out.

        What is not finite counts as zero.
        """
        rows = np.ascontiguousarray(rows, dtype=np.float64)
        aggregate.additions += 1
        kernels.hold_rows(
            rows, np.ascontiguousarray(places, dtype=np.int64), float(FULL), aggregate.values
        )

    def total(
        self, aggregate: Aggregate, of_rows: Callable[[Floats], Brought], onto: Onto
    ) -> Aggregate:
        """The sum over people of a function of their own row, clipped and quantised by `onto`.

        It gives what `onto.add` takes: rows or cells, or a tuple of contexts, rewards and slots.
        """
        sums = onto.empty()
        for values in self.asked(aggregate, _Total(of_rows, onto)):
            sums = onto.merge(sums, onto.holding(values))
        return sums
