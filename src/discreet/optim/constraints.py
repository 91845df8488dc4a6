"""Sets under public constraints: what a matroid or a knapsack can be asked, one protocol a need.

    Constraint    which sets are feasible, what may still be added, the best set for additive weights
    Polytope      points between sets: the best one for linear weights, and whether a point is one of them
    Priced        what choosing an item costs, as a factor on its gain

Everything here is public: a constraint never sees a person. Feasible sets are closed downwards, so
an item that cannot be added to a set cannot be added to a larger one. The values that sets have are
monotone (one more item never loses), so matroids answer with whole bases even where weights are
negative.

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
"""How strongly costs count: in full, or only above the lower quartile of costs."""

TOLERANCE = 1e-9
"""How far, relative to a budget or a quota, sums of floats may be over it."""


@runtime_checkable
class Constraint(Protocol):
    """Which sets of items are feasible."""

    @property
    def items(self) -> int:
        """How many items there are."""

    @property
    def rank(self) -> int:
        """The most items that a feasible set can have, or a bound on it."""

    def extensions(self, chosen: Sequence[int]) -> Mask:
        """Which items may be added to a feasible set."""

    def contains(self, chosen: Sequence[int]) -> bool:
        """Whether these are different items that may be chosen together."""

    def best(self, weights: Floats) -> list[int]:
        """The feasible set with the largest sum of weights, in ascending order.

        Of matroids it is the best basis, exactly; of knapsacks a set that is worth a known part of
        the best.
        """


@runtime_checkable
class Polytope(Protocol):
    """All mixtures of feasible sets, as points with one number an item; of knapsacks a
    relaxation.
    """

    @property
    def dimension(self) -> int:
        """How many numbers a point has: one an item."""

    def vertex(self, weights: Floats) -> Floats:
        """The point v of largest ⟨weights, v⟩; of a matroid it is the best basis as zeros and
        ones.
        """

    def is_inside(self, point: Floats) -> bool:
        """Whether the point belongs to the polytope, up to rounding."""


@runtime_checkable
class Priced(Protocol):
    """A constraint under which some items use up more than others."""

    def factors(self, price: Price) -> Floats:
        """A number in (0, 1] an item: greedy algorithms compare gains times it."""


def are_items(chosen: Sequence[int], items: int) -> bool:
    """Whether these are different numbers from 0 to items − 1.

    >>> are_items([2, 0], 3), are_items([1, 1], 3), are_items([3], 3)
    (True, False, False)
    """
    return len(set(chosen)) == len(chosen) and all(0 <= item < items for item in chosen)


def indicator(chosen: Sequence[int], items: int) -> Floats:
    """The set as a point: ones for what is chosen.

    >>> indicator([2, 0], 4)
    array([1., 0., 1., 0.])
    """
    point = np.zeros(items)
    point[np.asarray(chosen, dtype=np.int64)] = 1.0
    return point


def finite_weights(weights: ArrayLike, items: int) -> Floats:
    """One finite number an item, or `ConfigError`."""
    found = np.asarray(weights, dtype=np.float64)
    if found.shape == (items,) and np.isfinite(found).all():
        return found
    raise ConfigError(
        f"weights must be {items} finite numbers, one an item, got an array of {found.shape}"
    )


def onto_budget(point: Floats, costs: Floats, budget: float, tops: Floats) -> Floats:
    """The nearest point with 0 ≤ x ≤ tops and ⟨costs, x⟩ ≤ budget; O(n log n).

    That is clip(point − λ·costs, 0, tops) with the least λ ≥ 0 for which it fits. Its cost is
    linear in λ between the kinks where a coordinate reaches a bound: bisection over these, then one
    division.

    >>> onto_budget(np.array([0.9, 0.5, -1.0]), np.ones(3), 1.0, np.ones(3))
    array([0.7, 0.3, 0. ])
    """

    def lowered(price: float) -> Floats:
        return np.clip(point - price * costs, 0.0, tops)

    nearest = lowered(0.0)
    if costs @ nearest <= budget:
        return nearest
    priced = costs > 0
    kinks = np.concatenate([(point - tops)[priced], point[priced]]) / np.tile(costs[priced], 2)
    kinks = np.concatenate([[0.0], np.unique(kinks[kinks > 0])])
    dear, fits = 0, len(kinks) - 1  # at the last kink all that costs is down at 0
    while fits - dear > 1:
        middle = (dear + fits) // 2
        if costs @ lowered(kinks[middle]) > budget:
            dear = middle
        else:
            fits = middle
    over = float(costs @ lowered(kinks[dear])) - budget
    under = budget - float(costs @ lowered(kinks[fits]))
    found = lowered(kinks[dear] + (kinks[fits] - kinks[dear]) * over / (over + under))
    cost = float(costs @ found)
    return (
        found * (budget / cost) if cost > budget else found
    )  # where huge numbers lost their digits


@dataclass(frozen=True, eq=False)
class Cover:
    """The mixture of bases that lies over the largest multiple of a point."""

    scale: float
    """The largest s for which some mixture of bases lies over s · point: 1 or more if the point
    is inside.
    """
    bases: list[list[int]]
    shares: list[float]
    """How much of each basis is in the mixture; they add up to 1."""
    tight: Mask
    """Items of a set S with s · point(S) = rank(S)."""


def largest_cover(matroid: Constraint, point: Floats, fixed: Sequence[int] = ()) -> Cover:
    """Cover a point that is not negative and has something above 0.

    Linear programs over the bases found so far. Their dual is a vector of weights, of which the
    best basis either proves that no other basis helps, or is the next one. An optimal dual is a
    mixture of tight sets, so the items that it weighs are a tight set.

    With `fixed` items, an independent set where the point is 0, all bases hold these: sets and
    ranks are those of the matroid contracted by them.

    >>> from discreet.optim.matroids import UniformMatroid
    >>> cover = largest_cover(UniformMatroid(3, 2), np.array([0.4, 0.8, 0.1]))
    >>> round(cover.scale, 9), cover.tight.tolist()             # item 1 is all of every basis first
    (1.25, [False, True, False])
    """
    from scipy.optimize import linprog

    wanted = np.flatnonzero(point > 0)
    first = np.zeros(matroid.items)
    first[list(fixed)] = 1.0

    def best(weights: Floats) -> list[int]:
        return matroid.best(weights + first * (1 + 2 * float(weights.max())))

    bases = [best(point)]
    while True:
        # Largest s with s · point ≤ Σ share · basis and Σ share = 1; the shares come first.
        columns = np.array([indicator(basis, matroid.items)[wanted] for basis in bases])
        table = np.column_stack([-columns.T, point[wanted]])
        objective = np.append(np.zeros(len(bases)), -1.0)
        mixed = np.append(np.ones(len(bases)), 0.0)[None]
        found = linprog(objective, table, np.zeros(len(wanted)), mixed, np.ones(1), method="highs")
        weights = np.zeros(matroid.items)
        weights[wanted] = np.maximum(-found.ineqlin.marginals, 0.0)
        following = best(weights)
        if indicator(following, matroid.items) @ weights <= -found.fun + TOLERANCE / 10:
            shares = np.maximum(found.x[:-1], 0.0)
            tight = weights > TOLERANCE * weights.max()
            return Cover(float(-found.fun), bases, (shares / shares.sum()).tolist(), tight)
        bases.append(following)
