"""Cost functions: set functions that may fall as well as rise, what a set of items costs a person.

A family computes what every item adds along an order (`along`) for many people, one row per person,
in one pass over the rows. All families of discreet/functions/sets.py are cost functions too.
`CostFunctions` documents the methods that all families have.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from discreet import require
from discreet.arrays import Floats, Integers, Mask
from discreet.engine.codec import check_fields
from discreet.errors import ConfigError
from discreet.functions.sets import (
    ClickModel,
    ConcaveOverModular,
    FacilityLocation,
    WeightedCoverage,
)

LARGEST = 1e100
"""Bound on the numbers of a row, so that all sums stay finite."""


class CostFunctions(Protocol):
    """The cost functions of many people, one row per person; 0 for the empty set."""

    def width(self, items: int) -> int:
        """Return how many numbers describe one person."""

    def admit(self, rows: Floats, items: int) -> tuple[Floats, Mask]:
        """Return the rows clipped to the family's range, and which rows were in it already."""

    def along(self, rows: Floats, order: Integers) -> Floats:
        """Return what each item (column) adds per person (row), added in this order."""


@dataclass(frozen=True)
class GraphCut:
    """Pairs of items that belong together: f(S) = Σ of the weights of the edges that leave S.

    A row holds one weight per edge, each clipped to [0, 1e100].

    Runtime: O(edges) per person, compiled.

    Parameters
    ----------
    edges
        Public pairs of items.
    directed
        If true, an edge (a, b) leaves S only if a is in S and b is not.

    Examples
    --------
    The charger alone cuts both edges; the laptop and the plug then mend one edge each.

    >>> cables = GraphCut(((0, 1), (1, 2)))                       # laptop, charger, plug
    >>> person = np.array([[0.5, 0.2]])
    >>> cables.along(person, np.array([1, 0, 2]))
    array([[-0.5,  0.7, -0.2]])
    """

    edges: tuple[tuple[int, int], ...]
    directed: bool = False

    def __post_init__(self) -> None:
        check_fields(self)

    def width(self, items: int) -> int:
        ends = self._ends
        if ends.shape != (2, len(self.edges)) or ends.size == 0:
            raise ConfigError("edges must be pairs of items, at least one")
        if ends.min() < 0 or ends.max() >= items or (ends[0] == ends[1]).any():
            raise ConfigError(f"edges must join two different items between 0 and {items - 1}")
        return len(self.edges)

    @cached_property
    def _ends(self) -> Integers:
        return np.array([list(edge) for edge in self.edges], dtype=np.int64).T.copy()

    def admit(self, rows: Floats, items: int) -> tuple[Floats, Mask]:
        return _clip(rows, 0.0)

    def along(self, rows: Floats, order: Integers) -> Floats:
        from discreet.functions import kernels

        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        tails, heads = self._ends
        forward = rank[tails] < rank[heads]
        # Along the order an edge costs its weight from its first end on; its second end undoes it.
        first = np.where(forward, tails, heads)
        second = np.where(forward, heads, tails)
        counts = forward if self.directed else np.ones_like(forward)
        gains = np.zeros((len(rows), len(order)))
        kernels.add_cut_gains(rows, first, second, counts, gains)
        return gains


@dataclass(frozen=True)
class MinusModular:
    """A family minus the benefits of single items: g(S) = f(S) − Σ_{a∈S} p_a.

    A row holds the numbers of the family f, in its range, and then n numbers p_a of either sign,
    each clipped to [−1e100, 1e100]. `MinusModular(GraphCut(edges))` is a cut plus a modular term,
    `MinusModular(WeightedCoverage(covers))` is coverage minus prices, and
    `MinusModular(ConcaveOverModular("cap"))` is diminishing returns minus benefits.

    Parameters
    ----------
    family
        The family of f.

    Examples
    --------
    >>> bundle = MinusModular(GraphCut(((0, 1),)))
    >>> bundle.along(np.array([[0.5, 0.1, 0.9]]), np.array([1, 0])).round(2)
    array([[-0.6, -0.4]])
    """

    family: "GraphCut | ClickModel | FacilityLocation | ConcaveOverModular | WeightedCoverage"

    def __post_init__(self) -> None:
        is_family = hasattr(self.family, "along") and not isinstance(self.family, type)
        if not is_family or isinstance(self.family, MinusModular):
            raise ConfigError(
                f"MinusModular takes one family with rows, got {require.shown(self.family)}"
            )

    def width(self, items: int) -> int:
        return self.family.width(items) + items

    def admit(self, rows: Floats, items: int) -> tuple[Floats, Mask]:
        family_rows = rows[:, :-items]
        item_rows = rows[:, -items:]
        family, family_fine = self.family.admit(family_rows, items)
        modular, modular_fine = _clip(item_rows, -LARGEST)
        fine = family_fine & modular_fine
        if family is family_rows and modular is item_rows:  # no row was clipped: nothing to copy
            return rows, fine
        finite = np.asarray(np.isfinite(rows).all(axis=1))
        clipped = np.concatenate([family, modular], axis=1)
        return np.where(finite[:, None], clipped, 0.0), fine

    def along(self, rows: Floats, order: Integers) -> Floats:
        items = len(order)
        return np.asarray(
            self.family.along(rows[:, :-items], order) - rows[:, -items:], dtype=np.float64
        )


def _clip(rows: Floats, low: float) -> tuple[Floats, Mask]:
    """Return rows clipped to [low, LARGEST], and which were in it; not finite rows become 0."""
    fine = np.asarray(((rows >= low) & (rows <= LARGEST)).all(axis=1))
    if fine.all():
        return rows, fine
    with np.errstate(all="ignore"):  # a warning would reveal a person's data
        finite = np.asarray(np.isfinite(rows).all(axis=1))
        clipped = np.clip(np.nan_to_num(rows), low, LARGEST)
        return np.where(finite[:, None], clipped, 0.0), fine
