"""Entropic leaders: the point of a polytope with the largest ⟨scores, x⟩ − Σ x_i ln x_i.

Without constraints x_i = e^(score − 1). A set of items that would exceed its quota gets a price,
which lowers the scores of its items until the quota holds with equality.

Quotas on groups and one budget   one price per group, by bisection
Nested quotas                     one price per set, from the narrowest set on
Any matroid                       the fullest sets in turn, by linear programs over bases

Runtime     O(60·n) per point under quotas and one budget; at most n linear programs for other
            matroids
References  Agarwal, Singh (2017), "The Price of Differential Privacy for Online Learning";
            Groenevelt (1991), "Two algorithms for maximizing a separable concave function over a
            polymatroid feasible region"
"""

from math import inf, log

import numpy as np

from discreet.arrays import Floats
from discreet.errors import ConfigError
from discreet.optim.constraints import largest_cover
from discreet.optim.knapsack import Knapsack
from discreet.optim.matroids import LaminarMatroid, PartitionMatroid, UniformMatroid
from discreet.optim.rounding import Matroid

Domain = Matroid | Knapsack
BISECTIONS = 60
SMALL = 1e-12
"""Coordinates below this share of the largest one count as 0 in a linear program."""


def entropic_leaders(domain: Domain, scores: Floats) -> Floats:
    """Return the points x of P with the largest ⟨scores, x⟩ − Σ x_i ln x_i, one per row of scores.

    >>> entropic_leaders(UniformMatroid(2, 1), np.array([[1.0, 1.0], [-9.0, -9.0]])).round(4)
    array([[0.5, 0.5],
           [0. , 0. ]])
    """
    points = np.zeros_like(scores)
    if isinstance(domain, Knapsack):
        if len(domain.shares) > 1:
            raise ConfigError(
                f"the entropic leader needs a knapsack with one budget, got {len(domain.shares)}"
            )
        fits = domain.affordable
        points[:, fits] = _within_budget(scores[:, fits], domain.shares[0, fits], 1.0)
        return points
    if isinstance(domain, LaminarMatroid):
        return _within_nests(domain, scores)
    if not isinstance(domain, UniformMatroid | PartitionMatroid):
        return np.array([_within_ranks(domain, row) for row in scores])
    for items, quota in domain.parts:
        points[:, items] = _within_budget(scores[:, items], np.ones(len(items)), float(quota))
    return points


def _within_nests(matroid: LaminarMatroid, scores: Floats) -> Floats:
    """Leaders e^(score − 1 − price) under nested quotas: prices rise from the narrowest set on.

    In each set the least price is raised until the set fits. The result is optimal because the
    price of an item is then a sum over the sets that contain it, of which only full sets count.
    """
    prices = np.maximum(scores - 1, 0.0)  # no item above 1
    for nest in matroid.nests.values():
        values = scores[:, nest.members] - 1
        own = prices[:, nest.members]
        fits = np.exp(values - own).sum(axis=1) <= nest.quota
        if not nest.quota:
            prices[:, nest.members] = inf
        elif not fits.all():
            low = np.zeros(len(scores))
            high = np.maximum(0.0, values.max(axis=1) + log(len(nest.members) / nest.quota))
            for _ in range(BISECTIONS):
                middle = (low + high) / 2
                over = np.exp(values - np.maximum(own, middle[:, None])).sum(axis=1) > nest.quota
                low = np.where(over, middle, low)
                high = np.where(over, high, middle)
            raised = np.maximum(own, np.where(fits, 0.0, high)[:, None])
            prices[:, nest.members] = raised
    return np.asarray(np.exp(scores - 1 - prices))


def _within_ranks(matroid: Matroid, scores: Floats) -> Floats:
    """Leader under any matroid: the fullest set gets its price and is contracted, then the rest.

    For one price p the point e^(score − 1 − p) is feasible if no set S exceeds its rank. At the
    least such p some set is full; the items that it spans get this price and are contracted.
    """
    result = np.zeros(matroid.items)
    left = matroid.extensions([])
    settled: list[int] = []
    while left.any():
        values = np.where(left, scores - 1, -inf)
        largest = float(values.max())
        point = np.exp(values - largest)
        cover = largest_cover(matroid, np.where(point > SMALL, point, 0.0), settled)
        price = largest - log(cover.scale)
        if price <= 0:
            return np.asarray(np.where(left, np.exp(values), result))
        full = cover.tight.astype(np.float64)
        full[settled] = 2.0
        settled = [item for item in matroid.best(full) if full[item] > 0]
        spanned = left & ~matroid.extensions(settled)
        result[spanned] = np.exp(values[spanned] - price)
        left = left & ~spanned
    return result


def _within_budget(scores: Floats, costs: Floats, budget: float) -> Floats:
    """Leaders min(1, e^(score − 1 − λ·cost)) with the least feasible λ ≥ 0, by bisection."""

    def lowered(price: Floats) -> Floats:
        return np.asarray(np.exp(np.minimum(scores - 1 - price[:, None] * costs, 0.0)))

    low = np.zeros(len(scores))
    fits = lowered(low) @ costs <= budget
    if fits.all():
        return lowered(low)
    # With λ = high every item with a positive cost takes at most budget/n.
    least = costs[costs > 0].min()
    high = np.maximum(0.0, (scores.max(axis=1) + log(max(2.0, costs.sum() / budget))) / least)
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        over = lowered(middle) @ costs > budget
        low = np.where(over, middle, low)
        high = np.where(over, high, middle)
    return lowered(np.where(fits, 0.0, high))
