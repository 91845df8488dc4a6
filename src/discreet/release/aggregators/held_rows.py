"""Rows held for one release, which adds functions of them up repeatedly.

A greedy selection, for example, adds up the gains over the items that it has just chosen. An
aggregate holds each person's own row, quantised to two bytes per number; it is NOT private, no more
than the log that it came from. Each `total` adds up a function of single rows through `Rows`,
`Gram`, `Moments` or `OneChoice`, which clip it and state its sensitivity. Rows may stay where they
are, in partitions that are read again for every total (discreet/release/aggregators/partitions.py);
the totals are the same.

Guarantee   docs/guarantees/aggregators.md, Lemmas 4 and 12
Runtime     O(numbers held) per total; two bytes of memory per number
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
    """Rows held in memory, partitions whose rows stay elsewhere, and how those are read."""

    staying: tuple[Part, ...] = ()
    run: Runner = in_place


Onto = Rows | Gram | Moments | OneChoice
"""The aggregators that rows may be added up by."""

Contributions = np.ndarray | tuple[np.ndarray, ...]
"""The arguments of their `add`: rows or cells, or contexts, rewards and slots."""


@dataclass(frozen=True)
class _Total:
    """A task for one part: the sum of a function of its rows, clipped by an aggregator."""

    of_rows: Callable[[Floats], Contributions]
    onto: Onto

    def __call__(self, part: Part) -> Integers:
        sums = self.onto.empty()
        for _, rows in part.pieces():
            added = self.of_rows(rows)
            arguments = added if isinstance(added, tuple) else (added,)
            self.onto.add(sums, *arguments)
        return sums.values


@dataclass(frozen=True)
class HeldRows(Aggregator):
    """Rows of numbers in [0, 1], each at a place that its round fixes.

    Parameters
    ----------
    shape
        (people, numbers per row).
    levels
        The number of integer steps up to 1.
    elsewhere
        Whether no rows are held in memory, because all stay in their partitions.

    Examples
    --------
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
        """Raise: rows have no sensitivity, their totals have one (Lemma 4)."""
        raise ConfigError("held rows cannot be released as they are: add them up with `total`")

    @property
    def span(self) -> int:
        """Raise: rows have no span, their totals have one (Lemma 4)."""
        raise ConfigError("held rows cannot be released as they are: add them up with `total`")

    def empty(self) -> Held:
        people, width = self.shape
        return Held(self, np.zeros((0 if self.elsewhere else people, width), dtype=self.dtype))

    def stay(self, aggregate: Aggregate, parts: Sequence[Part], run: Runner) -> None:
        """Add the people of these parts, whose rows stay where they are and are read by `run`."""
        assert isinstance(aggregate, Held)
        aggregate.additions += 1
        aggregate.staying = (*aggregate.staying, *parts)
        aggregate.run = run

    def per_part(self, aggregate: Aggregate, task: Callable[[Part], Integers]) -> list[Integers]:
        """Return the result of the task for each part of the people."""
        held = split(aggregate.values)
        if not isinstance(aggregate, Held):
            return in_place(task, held)
        return aggregate.run(task, [*held, *aggregate.staying])

    def add(self, aggregate: Aggregate, places: Integers, rows: Floats) -> None:
        """Quantise these rows and hold them at their places; places out of range are left out.

        Numbers that are not finite count as zero.
        """
        rows = np.ascontiguousarray(rows, dtype=np.float64)
        aggregate.additions += 1
        places = np.ascontiguousarray(places, dtype=np.int64)
        kernels.hold_rows(rows, places, float(FULL), aggregate.values)

    def total(
        self, aggregate: Aggregate, of_rows: Callable[[Floats], Contributions], onto: Onto
    ) -> Aggregate:
        """Return the sum over people of a function of their own row, clipped by `onto`.

        `of_rows` returns the arguments of `onto.add`: rows or cells, or a tuple of contexts,
        rewards and slots.
        """
        sums = onto.empty()
        for values in self.per_part(aggregate, _Total(of_rows, onto)):
            sums = onto.merge(sums, onto.holding(values))
        return sums
