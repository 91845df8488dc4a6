"""What every gathering is: a way of adding people up in integers, and how far one of them can move the sum.

A gathering is stated in units of its bound, and lives on a grid of `levels` integer steps up to that bound.
Nothing gathered is zero, and zero is always allowed: a missing answer adds nothing. Integer sums do not
depend on the order of addition, so a block that is gathered on many machines and merged equals the block
gathered on one, bit for bit.

Guarantee   docs/guarantees/gathering.md
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
    from discreet.release import kernels, passes
else:
    kernels, passes = OnFirstUse("discreet.release.kernels"), OnFirstUse("discreet.release.passes")

__all__ = ["Gathered", "Gathering", "as_shape", "check_levels", "kernels", "passes"]

MOST_GRID = 2**30
"""Levels up to here keep every product of the kernels inside 64 bits."""


@dataclass(eq=False)
class Gathered:
    """Integers, together with the gathering that added them up.

    What they say about people is secret: they are never shown or logged.
    """

    gathering: "Gathering"
    values: np.ndarray
    additions: int = 0
    """How often something began to be added: who may have been counted must not be counted again."""

    def __repr__(self) -> str:
        return f"Gathered({self.gathering!r})"  # not the values: they are people's

    def part(self, index: int) -> "Gathered":
        """One row of a table. Replacing a person moves a part no farther than the whole."""
        return Gathered(self.gathering, self.values[index])


class Gathering(ABC):
    """Adds people up, and knows what one of them can change: the parent of all kinds."""

    shape: tuple[int, ...]
    """Of the integers that are added up; a whole number stands for one row of so many."""

    levels: int
    """How many integer steps the bound has."""

    is_by_slots: bool = False
    """Whether replacing a person moves one row of the table by the span, or two rows by half of it each."""

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
        """The most that replacing one person moves the sum, in the l₁ or l₂ norm, in units of the bound."""

    @property
    @abstractmethod
    def span(self) -> int:
        """The length of the interval in which all changes lie when one person is replaced, in steps."""

    @property
    def dtype(self) -> type[np.int64] | type[np.uint16]:
        """Of the integers."""
        return np.int64

    @property
    def grid(self) -> float:
        """What one integer step is worth."""
        return self.bound / self.levels

    def sensitivity(self, norm: int) -> float:
        """The most that replacing one person moves the sum, in the l₁ or l₂ norm, in integer steps."""
        return self.levels * self.unit_sensitivity(norm)

    def on_grid(self, levels: int) -> Self:
        """The same gathering with so many steps up to the bound."""
        return replace(self, levels=levels)  # type: ignore[type-var]

    def empty(self) -> Gathered:
        """Nobody so far."""
        return Gathered(self, np.zeros(self.shape, dtype=self.dtype))

    def holding(self, values: object) -> Gathered:
        """Integers that this gathering added up earlier, as they come back from a state."""
        if not isinstance(values, np.ndarray) or values.dtype != self.dtype or values.shape != self.shape:
            raise ConfigError(f"a state of {type(self).__name__} must be integers of shape {self.shape}")
        return Gathered(self, values)

    def check_own(self, gathered: Gathered) -> None:
        """Refuse what another gathering added up: it would be stated wrongly."""
        if gathered.gathering != self:
            raise ConfigError(f"this {type(self).__name__} takes what it gathered itself")

    def merge(self, one: Gathered, other: Gathered) -> Gathered:
        """The people of both; nobody may be in both.

        Integers are added, so it does not matter who was gathered where.
        """
        if one.gathering != self or other.gathering != self:
            raise ConfigError(f"only what the same {type(self).__name__} gathered can be merged")
        return Gathered(self, one.values + other.values)


def as_shape(shape: int | Iterable[int]) -> tuple[int, ...]:
    """A shape, or a whole number for one row of so many."""
    return (shape,) if isinstance(shape, int) else tuple(shape)


def check_levels(levels: int) -> None:
    """Refuse grids that the kernels cannot add up exactly."""
    if not 1 <= levels <= MOST_GRID:
        raise ConfigError(f"levels must be between 1 and 2^30, got {levels}")
