"""Sets under public constraints: the operations of matroids and knapsacks, one protocol per use.

    Constraint    which sets are feasible, what may be added, the best set for additive weights
    Polytope      mixtures of sets as points: the best one for linear weights, membership
    Priced        the cost of an item, as a factor on its gain

Constraints are public and never depend on a person's data. Feasible sets are closed downwards, so
an item that cannot be added to a set cannot be added to a larger one. The values of sets are
monotone (one more item never loses), so matroids return whole bases even for negative weights.

References  Schrijver (2003), "Combinatorial Optimization", part IV
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from discreet.arrays import Floats, Mask
from discreet.errors import ConfigError

Price = Literal["density", "quartile"]
"""How costs count: in full, or only above the lower quartile of the costs."""

TOLERANCE = 1e-9
"""Relative rounding error by which a sum of floats may exceed a budget or a quota."""


@runtime_checkable
class Constraint(Protocol):
    """A constraint on sets of items."""

    @property
    def items(self) -> int:
        """Number of items."""

    @property
    def rank(self) -> int:
        """Largest size of a feasible set, or an upper bound on it."""

    def extensions(self, chosen: Sequence[int]) -> Mask:
        """Return which items may be added to a feasible set."""

    def contains(self, chosen: Sequence[int]) -> bool:
        """Whether these are different items that may be chosen together."""

    def best(self, weights: Floats) -> list[int]:
        """Return the feasible set with the largest sum of weights, in ascending order.

        For a matroid this is the best basis, exactly; for a knapsack a set with a known share of
        the best sum.
        """


@runtime_checkable
class Polytope(Protocol):
    """The mixtures of feasible sets as points, one number per item; for a knapsack a relaxation."""

    @property
    def dimension(self) -> int:
        """Number of coordinates of a point: one per item."""

    def vertex(self, weights: Floats) -> Floats:
        """Return the point v of largest ⟨weights, v⟩; for a matroid this is the best basis."""

    def is_inside(self, point: Floats) -> bool:
        """Whether the point belongs to the polytope, up to rounding."""


@runtime_checkable
class Priced(Protocol):
    """A constraint under which some items use more of the budget than others."""

    def factors(self, price: Price) -> Floats:
        """Return one number in (0, 1] per item, by which greedy algorithms multiply gains."""


def are_items(chosen: Sequence[int], items: int) -> bool:
    """Whether these are different numbers from 0 to items − 1.

    >>> are_items([2, 0], 3), are_items([1, 1], 3), are_items([3], 3)
    (True, False, False)
    """
    return len(set(chosen)) == len(chosen) and all(0 <= item < items for item in chosen)


def indicator(chosen: Sequence[int], items: int) -> Floats:
    """Return the set as a point with a one for every chosen item.

    >>> indicator([2, 0], 4)
    array([1., 0., 1., 0.])
    """
    point = np.zeros(items)
    point[np.asarray(chosen, dtype=np.int64)] = 1.0
    return point


def finite_weights(weights: ArrayLike, items: int) -> Floats:
    """Return the weights as an array of one finite number per item, or raise `ConfigError`."""
    array = np.asarray(weights, dtype=np.float64)
    if array.shape == (items,) and np.isfinite(array).all():
        return array
    raise ConfigError(
        f"weights must be {items} finite numbers, one per item, got an array of shape {array.shape}"
    )


def onto_budget(point: Floats, costs: Floats, budget: float, tops: Floats) -> Floats:
    """Return the nearest point with 0 ≤ x ≤ tops and ⟨costs, x⟩ ≤ budget; O(n log n).

    The point is clip(point − λ·costs, 0, tops) with the least λ ≥ 0 that fits the budget. Its cost
    is piecewise linear in λ, with kinks where a coordinate reaches a bound: bisection over the
    kinks, then one linear interpolation.

    >>> onto_budget(np.array([0.9, 0.5, -1.0]), np.ones(3), 1.0, np.ones(3))
    array([0.7, 0.3, 0. ])
    """

    def at_price(price: float) -> Floats:
        return np.clip(point - price * costs, 0.0, tops)

    clipped = at_price(0.0)
    if costs @ clipped <= budget:
        return clipped
    priced = costs > 0
    kinks = np.concatenate([(point - tops)[priced], point[priced]]) / np.tile(costs[priced], 2)
    kinks = np.concatenate([[0.0], np.unique(kinks[kinks > 0])])
    over_at = 0
    fits_at = len(kinks) - 1  # at the last kink every item with a cost is at 0
    while fits_at - over_at > 1:
        middle = (over_at + fits_at) // 2
        if costs @ at_price(kinks[middle]) > budget:
            over_at = middle
        else:
            fits_at = middle
    over = float(costs @ at_price(kinks[over_at])) - budget
    under = budget - float(costs @ at_price(kinks[fits_at]))
    nearest = at_price(kinks[over_at] + (kinks[fits_at] - kinks[over_at]) * over / (over + under))
    cost = float(costs @ nearest)
    # Huge numbers lose digits, and may then be over the budget.
    return nearest * (budget / cost) if cost > budget else nearest


@dataclass(frozen=True, eq=False)
class Cover:
    """A mixture of bases that covers the largest multiple of a point."""

    scale: float
    """Largest s for which a mixture of bases covers s · point; at least 1 for points inside."""
    bases: list[list[int]]
    shares: list[float]
    """Weight of each basis in the mixture; the weights add up to 1."""
    tight: Mask
    """Items of a set S with s · point(S) = rank(S)."""


def largest_cover(matroid: Constraint, point: Floats, fixed: Sequence[int] = ()) -> Cover:
    """Return the cover of a non-negative point that is not 0.

    Column generation: linear programs over the bases found so far. The dual solution is a vector of
    weights; the best basis for these weights either proves that no other basis helps, or is added.
    An optimal dual solution is a mixture of tight sets, so the items of positive weight form a
    tight set.

    With `fixed` items, an independent set where the point is 0, all bases contain these items: sets
    and ranks are those of the matroid contracted by them.

    No mixture of bases has more than 1 of item 1, so the scale below is 1/0.8.

    >>> from discreet.optim.matroids import UniformMatroid
    >>> cover = largest_cover(UniformMatroid(3, 2), np.array([0.4, 0.8, 0.1]))
    >>> round(cover.scale, 9), cover.tight.tolist()
    (1.25, [False, True, False])
    """
    from scipy.optimize import linprog

    positive = np.flatnonzero(point > 0)
    forced = np.zeros(matroid.items)
    forced[list(fixed)] = 1.0

    def best(weights: Floats) -> list[int]:
        return matroid.best(weights + forced * (1 + 2 * float(weights.max())))

    bases = [best(point)]
    while True:
        # Largest s with s · point ≤ Σ share · basis and Σ share = 1; the shares come first.
        columns = np.array([indicator(basis, matroid.items)[positive] for basis in bases])
        table = np.column_stack([-columns.T, point[positive]])
        limits = np.zeros(len(positive))
        objective = np.append(np.zeros(len(bases)), -1.0)
        sum_of_shares = np.append(np.ones(len(bases)), 0.0)[None]
        solved = linprog(objective, table, limits, sum_of_shares, np.ones(1), method="highs")
        weights = np.zeros(matroid.items)
        weights[positive] = np.maximum(-solved.ineqlin.marginals, 0.0)
        candidate = best(weights)
        if indicator(candidate, matroid.items) @ weights <= -solved.fun + TOLERANCE / 10:
            shares = np.maximum(solved.x[:-1], 0.0)
            tight = weights > TOLERANCE * weights.max()
            return Cover(float(-solved.fun), bases, (shares / shares.sum()).tolist(), tight)
        bases.append(candidate)
