"""What every aggregator is: a way of adding people up in integers, and how far one of them can move
the sum.

An aggregator is stated in units of its bound, and lives on a grid of `levels` integer steps up to
that bound. Nothing aggregated is zero, and zero is always allowed: a missing answer adds nothing.
Integer sums do not depend on the order of addition, so a block that is aggregated on many machines
and merged equals the block aggregated on one, bit for bit.

Guarantee   docs/guarantees/aggregators.md
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, Self

import numpy as np

from discreet.compiled import OnFirstUse
from discreet.errors import ConfigError

if TYPE_CHECKING:
    from discreet.release import kernels as kernels
    from discreet.release import passes as passes
else:
    kernels, passes = OnFirstUse("discreet.release.kernels"), OnFirstUse("discreet.release.passes")


MOST_GRID = 2**30
"""Levels up to here keep every product of the kernels inside 64 bits."""


@dataclass(eq=False)
class Aggregate:
    """Integers, together with the aggregator that added them up.

    What they say about people is secret: they are never shown or logged.
    """

    aggregator: "Aggregator"
    values: np.ndarray
    additions: int = 0
    """How often something began to be added: who may have been counted must not be counted
    again.
    """

    def __repr__(self) -> str:
        return f"Gathered({self.aggregator!r})"  # not the values: they are people's

    def part(self, index: int) -> "Aggregate":
        """One row of a table. Replacing a person moves a part no farther than the whole."""
        return Aggregate(self.aggregator, self.values[index])


class Aggregator(ABC):
    """Adds people up, and knows what one of them can change: the parent of all kinds."""

    shape: tuple[int, ...]
    """Of the integers that are added up; a whole number stands for one row of so many."""

    levels: int
    """How many integer steps the bound has."""

    is_by_slots: bool = False
    """Whether replacing a person moves one row of the table by the span, or two rows by half of
    it each.
    """

    @cached_property
    def size(self) -> int:
        """How many integers there are."""
        return prod(self.shape)

    @property
    @abstractmethod
    def bound(self) -> float:
        """The most that one person may contribute; more is clipped."""

    @property
    @abstractmethod
    def cells(self) -> int:
        """How many of the integers can differ between neighbours."""

    @abstractmethod
    def unit_sensitivity(self, norm: int) -> float:
        """The most that replacing one person moves the sum, in the l₁ or l₂ norm, in units of
        the bound.
        """

    @property
    @abstractmethod
    def span(self) -> int:
        """The length of the interval in which all changes lie when one person is replaced, in
        steps.
        """

    @property
    def dtype(self) -> type[np.int64] | type[np.uint16]:
        """Of the integers."""
        return np.int64

    @property
    def grid(self) -> float:
        """What one integer step is worth."""
        return self.bound / self.levels

    def sensitivity(self, norm: int) -> float:
        """The most that replacing one person moves the sum, in the l₁ or l₂ norm, in integer
        steps.
        """
        return self.levels * self.unit_sensitivity(norm)

    def on_grid(self, levels: int) -> Self:
        """The same aggregator with so many steps up to the bound."""
        return replace(self, levels=levels)  # type: ignore[type-var]

    def empty(self) -> Aggregate:
        """Nobody so far."""
        return Aggregate(self, np.zeros(self.shape, dtype=self.dtype))

    def holding(self, values: object) -> Aggregate:
        """Integers that this aggregator added up earlier, as they come back from a state."""
        if (
            not isinstance(values, np.ndarray)
            or values.dtype != self.dtype
            or values.shape != self.shape
        ):
            raise ConfigError(
                f"a state of {type(self).__name__} must be integers of shape {self.shape}"
            )
        return Aggregate(self, values)

    def check_own(self, aggregate: Aggregate) -> None:
        """Refuse what another aggregator added up: it would be stated wrongly."""
        if aggregate.aggregator != self:
            raise ConfigError(f"this {type(self).__name__} takes what it gathered itself")

    def merge(self, one: Aggregate, other: Aggregate) -> Aggregate:
        """The people of both; nobody may be in both.

        Integers are added, so it does not matter who was aggregated where.
        """
        if one.aggregator != self or other.aggregator != self:
            raise ConfigError(f"only what the same {type(self).__name__} gathered can be merged")
        return Aggregate(self, one.values + other.values)


def as_shape(shape: int | Iterable[int]) -> tuple[int, ...]:
    """A shape, or a whole number for one row of so many."""
    return (shape,) if isinstance(shape, int) else tuple(shape)


def check_levels(levels: int) -> None:
    """Refuse grids that the kernels cannot add up exactly."""
    if not 1 <= levels <= MOST_GRID:
        raise ConfigError(f"levels must be between 1 and 2^30, got {levels}")
