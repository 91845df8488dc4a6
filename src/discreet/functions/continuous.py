"""Continuous functions of the amount of each item: monotone, with diminishing returns.

A family computes the gradients of many people, one row per person, at a point x ∈ [0, 1]ⁿ:

    Multilinear(family)     E f(S), where item a is in S with probability x_a
    Gradient(function)      any callable gradient(x, row)

discreet/functions/allocations.py has functions of amounts. All are 0 at x = 0 and monotone.
`ContinuousFunctions` documents the methods that all families have.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from discreet.arrays import Floats, Mask
from discreet.engine.codec import check_fields
from discreet.errors import ConfigError
from discreet.functions.person import reading, result_or
from discreet.functions.sampled_sets import SampledSets
from discreet.functions.sets import ClickModel, FacilityLocation, WeightedCoverage, topics_covered


class ContinuousFunctions(Protocol):
    """The functions of many people at a common point, one row per person."""

    @property
    def is_concave(self) -> bool:
        """Whether the functions are concave: then the gradient at one point is sufficient."""

    def width(self, items: int) -> int:
        """Return how many numbers describe one person."""

    def admit(self, rows: Floats, items: int) -> tuple[Floats, Mask]:
        """Return the rows clipped to the family's range, and which rows were in it already."""

    def gradients(self, rows: Floats, point: Floats) -> Floats:
        """Return the gradient of each person's function at the point, one row per person."""


@dataclass(frozen=True)
class Multilinear:
    """The multilinear extension of a set function: F(x) = E f(S), item a in S with probability x_a.

    Gradients are exact. A row has the numbers, and the range, of the family. For any other set
    function `Multilinear(SampledSets(value, numbers))` estimates gradients by random sets.

    Parameters
    ----------
    family
        The set functions f.

    Examples
    --------
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
    """Return ∂F/∂x_a = p_a · ∏_{b≠a} (1 − p_b·x_b)."""
    unclicked = 1 - rows * point
    return rows * _product_of_others(unclicked)


def _of_topics(rows: Floats, covers: Floats, point: Floats) -> Floats:
    """Return ∂F/∂x_a: Σ over the topics of a of weight · P(no other item covers the topic)."""
    uncovered = _product_of_others(1 - covers.T * point)  # topics × items
    return topics_covered(rows, (covers.T * uncovered).T)


def _of_best_items(rows: Floats, point: Floats) -> Floats:
    """Return ∂F/∂x_a: E max(0, u_a − largest utility of the other items in the set).

    Items are sorted by falling utility, so only the items after a count.
    """
    order = np.argsort(-rows, axis=1, kind="stable")
    utilities = np.take_along_axis(rows, order, axis=1)
    shares = point[order]
    # none_before[i]: the probability that no item with a larger utility than i's is in the set.
    ones = np.ones((len(rows), 1))
    none_before = np.cumprod(np.concatenate([ones, 1 - shares], axis=1), axis=1)[:, :-1]
    # Expected utility of the items after i, on the event that no item before them is in the set.
    later = none_before * shares * utilities
    from_here = np.cumsum(later[:, ::-1], axis=1)[:, ::-1]
    after = np.concatenate([from_here[:, 1:], np.zeros((len(rows), 1))], axis=1)
    # Its conditional expectation, given that neither i nor an item before it is in the set.
    with np.errstate(all="ignore"):
        divided = after / np.maximum(none_before * (1 - shares), 1e-300)
        without = np.where(shares < 1, divided, 0.0)
    best_after = np.where(shares < 1, without, _best_after(shares, utilities))
    gains = none_before * utilities - none_before * best_after
    gradients = np.empty_like(rows)
    np.put_along_axis(gradients, order, np.maximum(gains, 0.0), axis=1)
    return gradients


def _best_after(shares: Floats, utilities: Floats) -> Floats:
    """Return the expected largest utility of the items after each one, from the last on."""
    best = np.zeros_like(utilities)
    for place in range(shares.shape[1] - 2, -1, -1):
        share = shares[:, place + 1]
        utility = utilities[:, place + 1]
        best[:, place] = share * utility + (1 - share) * best[:, place + 1]
    return best


def _product_of_others(factors: Floats) -> Floats:
    """Return the product of each row without each of its entries, also where some entries are 0."""
    ones = np.ones((len(factors), 1))
    before = np.cumprod(np.concatenate([ones, factors[:, :-1]], axis=1), axis=1)
    after = np.cumprod(np.concatenate([ones, factors[:, :0:-1]], axis=1), axis=1)[:, ::-1]
    return np.asarray(before * after, dtype=np.float64)


@dataclass(frozen=True)
class Gradient:
    """Any function, by a callable: `gradient(x, row)` returns one non-negative number per item.

    A row is any `numbers` finite numbers; a row that is not finite counts as zeros. A callable that
    raises an exception, or returns something else, counts as zero. Callables are not saved to
    files.

    Parameters
    ----------
    gradient
        Takes a point x and one person's row.
    numbers
        Number of numbers per row.
    concave
        Whether the functions are concave.

    Examples
    --------
    >>> linear = Gradient(lambda x, row: row, numbers=2, concave=True)
    >>> linear.gradients(np.array([[0.5, 0.25]]), np.array([1.0, 0.0]))
    array([[0.5 , 0.25]])
    """

    gradient: Callable[[Floats, Floats], ArrayLike]
    numbers: int
    """Number of numbers per row."""
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
        gradients = np.zeros((len(rows), len(point)))
        with reading():
            for place, row in enumerate(rows):
                gradients[place] = self._gradient_of(row, point)
        return gradients

    def _gradient_of(self, row: Floats, point: Floats) -> Floats:
        gradient = result_or(
            lambda: np.asarray(self.gradient(point.copy(), row.copy()), dtype=np.float64), None
        )
        if gradient is None or gradient.shape != point.shape:
            return np.zeros_like(point)
        return gradient if np.isfinite(gradient).all() else np.zeros_like(point)
