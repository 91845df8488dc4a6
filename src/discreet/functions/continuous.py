"""Continuous functions of how much of each item is chosen: monotone, with diminishing returns.

A family turns many people, one row each, into gradients at a point x ∈ [0, 1]ⁿ at once:

    Multilinear(family)     E f(S) where item a is in S with probability x_a: what a random set is worth
    Gradient(function)      any callable gradient(x, row)

and functions of amounts in functions/allocations.py. All are 0 at x = 0 and monotone.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from discreet.arrays import Floats, Mask
from discreet.engine.codec import check_fields
from discreet.errors import ConfigError
from discreet.functions.person import asked_of, reading
from discreet.functions.sampled_sets import SampledSets
from discreet.functions.sets import ClickModel, FacilityLocation, WeightedCoverage, topics_covered


class ContinuousFunctions(Protocol):
    """Many people's functions of the same point."""

    @property
    def is_concave(self) -> bool:
        """Whether they are concave: then the gradient at the point itself is all that is needed."""

    def width(self, items: int) -> int:
        """How many numbers describe one person."""

    def admit(self, rows: Floats, items: int) -> tuple[Floats, Mask]:
        """The rows with every number in its range, and which of them were in range to begin
        with.
        """

    def gradients(self, rows: Floats, point: Floats) -> Floats:
        """The gradient of every person's function at the point, one row each."""


@dataclass(frozen=True)
class Multilinear:
    """The multilinear extension of a family of set functions, with exact gradients.

    Of any other set function, `Multilinear(SampledSets(value, numbers))` estimates them by random
    sets.

    >>> Multilinear(ClickModel()).gradients(np.array([[0.5, 0.4]]), np.array([1.0, 0.0]))
    array([[0.5, 0.2]])
    """

    family: ClickModel | FacilityLocation | WeightedCoverage | SampledSets = ClickModel()

    is_concave = False

    def __post_init__(self) -> None:
        check_fields(self)

    def width(self, items: int) -> int:
        return self.family.width(items)

    def admit(self, rows: Floats, items: int) -> tuple[Floats, Mask]:
        return self.family.admit(rows, items)

    def gradients(self, rows: Floats, point: Floats) -> Floats:
        if isinstance(self.family, SampledSets):
            return self.family.gradients(rows, point)
        if isinstance(self.family, ClickModel):
            return _of_clicks(rows, point)
        if isinstance(self.family, FacilityLocation):
            return _of_best_items(rows, point)
        return _of_topics(rows, np.array(self.family.covers, dtype=np.float64), point)


def _of_clicks(rows: Floats, point: Floats) -> Floats:
    """p_a · ∏ over the others of (1 − p_b·x_b)."""
    left = 1 - rows * point
    return rows * _product_of_others(left)


def _of_topics(rows: Floats, covers: Floats, point: Floats) -> Floats:
    """Σ over the topics of a of the weight, times the chance that no other item covers the
    topic.
    """
    uncovered = _product_of_others(1 - covers.T * point)  # topics × items
    return topics_covered(rows, (covers.T * uncovered).T)


def _of_best_items(rows: Floats, point: Floats) -> Floats:
    """u_a minus the expected best of the others, where that is less: by falling utilities."""
    order = np.argsort(-rows, axis=1, kind="stable")
    utilities = np.take_along_axis(rows, order, axis=1)
    shares = point[order]
    # none_before[i]: no item with a larger utility is in the set. Below item i its own share plays
    # no role.
    none_before = np.cumprod(np.concatenate([np.ones((len(rows), 1)), 1 - shares], axis=1), axis=1)[
        :, :-1
    ]
    later = none_before * shares * utilities
    # What the items after i would bring, given that none before i is there and i is not.
    rest = np.concatenate(
        [np.cumsum(later[:, ::-1], axis=1)[:, ::-1][:, 1:], np.zeros((len(rows), 1))], axis=1
    )
    with np.errstate(all="ignore"):
        without = np.where(shares < 1, rest / np.maximum(none_before * (1 - shares), 1e-300), 0.0)
    gains = none_before * utilities - none_before * np.where(
        shares < 1, without, _beyond(shares, utilities)
    )
    found = np.empty_like(rows)
    np.put_along_axis(found, order, np.maximum(gains, 0.0), axis=1)
    return found


def _beyond(shares: Floats, utilities: Floats) -> Floats:
    """What the items after each one would bring if it were not there, item by item from the
    last.
    """
    found = np.zeros_like(utilities)
    for place in range(shares.shape[1] - 2, -1, -1):
        share, utility = shares[:, place + 1], utilities[:, place + 1]
        found[:, place] = share * utility + (1 - share) * found[:, place + 1]
    return found


def _product_of_others(factors: Floats) -> Floats:
    """The product of a row without each of its entries, also where some are 0."""
    ones = np.ones((len(factors), 1))
    before = np.cumprod(np.concatenate([ones, factors[:, :-1]], axis=1), axis=1)
    after = np.cumprod(np.concatenate([ones, factors[:, :0:-1]], axis=1), axis=1)[:, ::-1]
    return np.asarray(before * after, dtype=np.float64)


@dataclass(frozen=True)
class Gradient:
    """Any function: `gradient(x, row)` gives one non-negative number an item. Not kept in files.

    A callable that fails, or gives something else, counts as zero.
    """

    gradient: Callable[[Floats, Floats], ArrayLike]
    numbers: int
    """How many numbers a row has."""
    concave: bool = False

    @property
    def is_concave(self) -> bool:
        return self.concave

    def width(self, items: int) -> int:
        return self.numbers

    def admit(self, rows: Floats, items: int) -> tuple[Floats, Mask]:
        fine = np.asarray(np.isfinite(rows).all(axis=1))
        return np.where(fine[:, None], rows, 0.0), fine

    def gradients(self, rows: Floats, point: Floats) -> Floats:
        if not callable(self.gradient):
            raise ConfigError("gradient must be a callable")
        found = np.zeros((len(rows), len(point)))
        with reading():
            for place, row in enumerate(rows):
                found[place] = self._asked(row, point)
        return found

    def _asked(self, row: Floats, point: Floats) -> Floats:
        made = asked_of(
            lambda: np.asarray(self.gradient(point.copy(), row.copy()), dtype=np.float64), None
        )
        fits = made is not None and made.shape == point.shape and bool(np.isfinite(made).all())
        return made if fits and made is not None else np.zeros_like(point)
