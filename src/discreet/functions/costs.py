"""Set functions that may fall as well as rise: what a set of items costs a person.

A family turns many people, one row each, into what every item adds along an order (`along`), in one
pass over the rows. All families of discreet/functions/sets.py are cost functions too.
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
"""Larger numbers in a row count as this one: everything stays finite."""


class CostFunctions(Protocol):
    """Many people's set functions over the same items, zero for the empty set."""

    def width(self, items: int) -> int:
        """How many numbers describe one person."""

    def admit(self, rows: Floats, items: int) -> tuple[Floats, Mask]:
        """The rows with every number in its range, and which of them were in range to begin
        with.
        """

    def along(self, rows: Floats, order: Integers) -> Floats:
        """What each item (column) adds for each person (row) when items are added in this order."""


@dataclass(frozen=True)
class GraphCut:
    """Pairs of items that belong together: f(S) = Σ of the weights of edges that leave S.

    `edges` are public pairs of items. A row holds a person's weight for each edge, not negative.
    `directed`: an edge (a, b) costs only if a is in S and b is not.

    Runtime: O(edges) a person, compiled.

    >>> cables = GraphCut(((0, 1), (1, 2)))                       # laptop, charger, plug
    >>> person = np.array([[0.5, 0.2]])
    >>> cables.along(person, np.array([1, 0, 2]))     # the charger alone cuts both, then each mends one
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
        return _within(rows, 0.0)

    def along(self, rows: Floats, order: Integers) -> Floats:
        from discreet.functions import kernels

        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        tails, heads = self._ends
        forward = rank[tails] < rank[heads]
        # Along the order an edge costs its weight when its first end joins; the second gives it
        # back.
        first = np.where(forward, tails, heads)
        second = np.where(forward, heads, tails)
        counts = forward if self.directed else np.ones_like(forward)
        steps = np.zeros((len(rows), len(order)))
        kernels.add_cut_steps(rows, first, second, counts, steps)
        return steps


@dataclass(frozen=True)
class MinusModular:
    """Any family, less what single items bring: f(S) − Σ p_a over a in S, with p of either sign.

    A row holds the family's numbers, then n more: p. `MinusModular(GraphCut(edges))` are cuts plus
    a modular term, `MinusModular(WeightedCoverage(covers))` coverage minus price,
    `MinusModular(ConcaveOverModular("cap"))` diminishing returns minus benefits.

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
        of_family, of_items = rows[:, :-items], rows[:, -items:]
        family, family_fine = self.family.admit(of_family, items)
        modular, modular_fine = _within(of_items, -LARGEST)
        fine = family_fine & modular_fine
        if (
            family is of_family and modular is of_items
        ):  # nobody's numbers were touched: nothing to copy
            return rows, fine
        finite = np.asarray(np.isfinite(rows).all(axis=1))
        return np.where(finite[:, None], np.concatenate([family, modular], axis=1), 0.0), fine

    def along(self, rows: Floats, order: Integers) -> Floats:
        items = len(order)
        return np.asarray(
            self.family.along(rows[:, :-items], order) - rows[:, -items:], dtype=np.float64
        )


def _within(rows: Floats, low: float) -> tuple[Floats, Mask]:
    """Rows within [low, LARGEST], rows that are not finite as zeros; and which needed neither."""
    fine = np.asarray(((rows >= low) & (rows <= LARGEST)).all(axis=1))
    if fine.all():
        return rows, fine
    with np.errstate(all="ignore"):  # a warning would tell about a person
        finite = np.asarray(np.isfinite(rows).all(axis=1))
        return np.where(finite[:, None], np.clip(np.nan_to_num(rows), low, LARGEST), 0.0), fine
