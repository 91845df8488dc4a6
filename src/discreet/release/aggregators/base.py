"""Base class of all aggregators, and the aggregate: integers with the aggregator that made them.

An aggregator is stated in units of its bound, and counts in integer steps of bound/levels. Zero is
always a valid contribution: a missing answer adds nothing. Integer sums do not depend on the order
of addition, so a block that is aggregated on many machines and merged equals the block aggregated
on one machine, bit for bit.

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
    from discreet.release import products as products
else:
    kernels = OnFirstUse("discreet.release.kernels")
    passes = OnFirstUse("discreet.release.passes")
    products = OnFirstUse("discreet.release.products")


MOST_GRID = 2**30
"""The largest number of levels for which every product in the kernels fits 64 bits."""


@dataclass(eq=False)
class Aggregate:
    """Secret integers, with the aggregator that added them up; they are never shown or logged."""

    aggregator: "Aggregator"
    values: np.ndarray
    additions: int = 0
    """The number of additions begun; an interrupted one must not be repeated, to count once."""

    def __repr__(self) -> str:
        return f"Aggregate({self.aggregator!r})"  # without the values: they are personal data

    def part(self, index: int) -> "Aggregate":
        """Return one row of a table; replacing a person moves it no farther than the table."""
        return Aggregate(self.aggregator, self.values[index])


class Aggregator(ABC):
    """Base class of aggregators: adds people up in integers and states the sensitivity of the sum.

    Neighbours differ by the replacement of one person.
    """

    shape: tuple[int, ...]
    """Shape of the sums; constructors accept a whole number n for (n,)."""

    levels: int
    """The number of integer steps up to the bound."""

    is_by_slots: bool = False
    """Whether replacing a person moves one row by the span, or two rows by half of it each."""

    @cached_property
    def size(self) -> int:
        """The number of integers in a sum."""
        return prod(self.shape)

    @property
    @abstractmethod
    def bound(self) -> float:
        """The largest contribution of one person; larger ones are clipped."""

    @property
    @abstractmethod
    def cells(self) -> int:
        """The largest number of integers that differ between neighbours."""

    @abstractmethod
    def unit_sensitivity(self, norm: int) -> float:
        """The sensitivity of the sum in the l₁ or l₂ norm, in units of the bound."""

    @property
    @abstractmethod
    def span(self) -> int:
        """Length of the interval that holds all changes by one replacement, in integer steps."""

    @property
    def dtype(self) -> type[np.int64] | type[np.uint16]:
        """Type of the integers."""
        return np.int64

    @property
    def grid(self) -> float:
        """The value of one integer step."""
        return self.bound / self.levels

    def sensitivity(self, norm: int) -> float:
        """The sensitivity of the sum in the l₁ or l₂ norm, in integer steps."""
        return self.levels * self.unit_sensitivity(norm)

    def on_grid(self, levels: int) -> Self:
        """Return this aggregator with `levels` integer steps up to the bound."""
        return replace(self, levels=levels)  # type: ignore[type-var]

    def empty(self) -> Aggregate:
        """Return an aggregate of nobody."""
        return Aggregate(self, np.zeros(self.shape, dtype=self.dtype))

    def holding(self, values: object) -> Aggregate:
        """Return these integers from a saved state as an aggregate, after checking their shape."""
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
        """Raise if another aggregator made this aggregate: its sensitivity would be misstated."""
        if aggregate.aggregator != self:
            raise ConfigError(f"this {type(self).__name__} takes its own aggregates only")

    def merge(self, one: Aggregate, other: Aggregate) -> Aggregate:
        """Return the aggregate of the people of both; nobody may be in both.

        Integers are added, so it does not matter where each person was aggregated.
        """
        if one.aggregator != self or other.aggregator != self:
            raise ConfigError(f"only aggregates of the same {type(self).__name__} can be merged")
        return Aggregate(self, one.values + other.values)


def as_shape(shape: int | Iterable[int]) -> tuple[int, ...]:
    """Return a shape as a tuple; a whole number n stands for (n,)."""
    return (shape,) if isinstance(shape, int) else tuple(shape)


def check_levels(levels: int) -> None:
    """Raise if the kernels cannot add up exactly on a grid with this number of levels."""
    if not 1 <= levels <= MOST_GRID:
        raise ConfigError(f"levels must be between 1 and 2^30, got {levels}")
