"""Knapsacks: items have costs, and what is chosen together must fit one budget or several.

An item's share of a budget is its cost over that budget, so a set fits if the shares of its items
add up to at most 1 in every row. An item dearer than a budget is never affordable.

Runtime     extensions O(rows · (items + rank)), best O(items · log items + rank · items), the linear oracle
            O(items · log items) for one row and a linear program for several
References  Dantzig (1957), "Discrete-variable extremum problems"
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from discreet import require
from discreet.arrays import Floats, Integers, Mask
from discreet.engine.codec import check_fields
from discreet.errors import ConfigError
from discreet.limits import MOST_CANDIDATES
from discreet.optim.constraints import TOLERANCE, Price, are_items, finite_weights, onto_budget

SMALLEST, LARGEST = 1e-150, 1e150
"""Of budgets and costs: far inside what floats can hold."""
NEVER = 2.0
"""The share of an item that is dearer than a budget, however dear it is."""


@dataclass(frozen=True)
class Knapsack:
    """Sets whose costs add up to at most the budget: one row of costs and a number, or several of
    both.

    >>> bag = Knapsack(costs=(3.0, 2.0, 2.0, 9.0), budget=4.0)
    >>> bag.rank, bag.best(np.array([4.0, 3.0, 3.0, 90.0])), bag.extensions([1])
    (2, [1, 2], array([False, False,  True, False]))
    >>> bag.vertex(np.array([6.0, 3.0, 2.0, 90.0]))
    array([1. , 0.5, 0. , 0. ])
    >>> Knapsack(costs=((1.0, 2.0), (2.0, 1.0)), budget=(2.0, 2.0)).contains([0, 1])
    False
    """

    costs: tuple[float | tuple[float, ...], ...]
    budget: float | tuple[float, ...]

    def __post_init__(self) -> None:
        check_fields(self)
        lengths = {len(row) for row in self._rows}
        if len(lengths) != 1:
            raise ConfigError(
                f"costs must be one row or rows of equal length, got lengths {sorted(lengths)}"
            )
        require.whole("items", self.items, 1, MOST_CANDIDATES)
        if len(self._budgets) != len(self._rows):
            raise ConfigError(
                f"budget must be one number a row of costs, {len(self._rows)}, got "
                f"{len(self._budgets)}"
            )
        for budget in self._budgets:
            require.number("budget", budget, SMALLEST, LARGEST)
        costs = np.array(self._rows)
        wrong = costs[~((costs >= 0) & (costs <= LARGEST))]
        if len(wrong):
            raise ConfigError(f"costs must be numbers between 0 and {LARGEST:g}, got {wrong[0]}")
        if not self.affordable.any():
            raise ConfigError("nothing can be chosen: every item is dearer than a budget")

    @cached_property
    def _rows(self) -> tuple[tuple[float, ...], ...]:
        nested = tuple(row for row in self.costs if isinstance(row, tuple))
        plain = tuple(cost for cost in self.costs if not isinstance(cost, tuple))
        if nested and plain:
            raise ConfigError("costs must be numbers, or rows of numbers, not some of each")
        return nested or (plain,)

    @property
    def _budgets(self) -> tuple[float, ...]:
        return self.budget if isinstance(self.budget, tuple) else (self.budget,)

    @property
    def items(self) -> int:
        """How many items there are."""
        return len(self._rows[0])

    @property
    def dimension(self) -> int:
        """How many numbers a point has: one an item."""
        return self.items

    @cached_property
    def shares(self) -> Floats:
        """Each item's part of each budget, one row a budget."""
        shares = np.array(self._rows) / np.array(self._budgets)[:, None]
        return np.where(shares > 1 + TOLERANCE, NEVER, shares)

    @cached_property
    def affordable(self) -> Mask:
        """Which items fit alone."""
        return np.asarray((self.shares < NEVER).all(axis=0))

    @cached_property
    def rank(self) -> int:
        """The most items that fit; of several rows a bound, from each of them and from their
        mean.
        """
        rows = np.vstack([self.shares, self.shares.mean(axis=0)])[:, self.affordable]
        fits = np.cumsum(np.sort(rows, axis=1), axis=1) <= 1 + TOLERANCE
        return int(fits.sum(axis=1).min())

    def factors(self, price: Price) -> Floats:
        """c₀ / max(c, c₀) for every item with cost c: what its gain is multiplied with to compare
        items.

        c is the sum of an item's shares. For "density" c₀ is the least cost of any item that is not
        free, so gains are compared by cost; for "quartile" it is the lower quartile of these costs,
        so that an item does not win by being cheap alone.

        >>> Knapsack(costs=(1.0, 2.0, 4.0), budget=4.0).factors("density")
        array([1.  , 0.5 , 0.25])
        """
        require.one_of("price", price, ("density", "quartile"))
        costs = self._sums
        charged = costs[self.affordable & (costs > 0)]
        if not len(charged):
            return np.ones(self.items)
        usual = float(charged.min() if price == "density" else np.quantile(charged, 0.25))
        return np.asarray(usual / np.maximum(costs, usual), dtype=np.float64)

    @cached_property
    def _sums(self) -> Floats:
        return np.asarray(self.shares.sum(axis=0), dtype=np.float64)

    def extensions(self, chosen: Sequence[int]) -> Mask:
        used = self.shares[:, list(chosen)].sum(axis=1, keepdims=True)
        allowed = np.asarray((used + self.shares <= 1 + TOLERANCE).all(axis=0))
        allowed[list(chosen)] = False
        return allowed

    def contains(self, chosen: Sequence[int]) -> bool:
        if not are_items(chosen, self.items):
            return False
        return bool((self.shares[:, list(chosen)].sum(axis=1) <= 1 + TOLERANCE).all())

    def best(self, weights: Floats) -> list[int]:
        """By falling weight for the cost, or one item if that is worth more.

        Worth at least half of the best set for one budget, 1/(2r) for r of them: up to the first
        item that does not fit nothing has more weight for its cost, and these use up one budget, if
        not all r.
        """
        weights = finite_weights(weights, self.items)
        single = int(np.argmax(np.where(self.affordable, weights, -np.inf)))
        if weights[single] <= 0:
            return []
        chosen: list[int] = []
        used = np.zeros((len(self.shares), 1))
        order = self._by_density(weights)
        while len(order):
            fits = (used + np.cumsum(self.shares[:, order], axis=1) <= 1 + TOLERANCE).all(axis=0)
            count = len(order) if fits.all() else int(np.argmin(fits))
            chosen += order[:count].tolist()
            used += self.shares[:, order[:count]].sum(axis=1, keepdims=True)
            order = order[count + 1 :]
            order = order[(used + self.shares[:, order] <= 1 + TOLERANCE).all(axis=0)]
        return sorted(chosen) if weights[chosen].sum() >= weights[single] else [single]

    def _by_density(self, weights: Floats) -> Integers:
        """What is affordable and has some weight, from the most weight for its cost to the
        least.
        """
        density = weights / np.maximum(self._sums, SMALLEST)
        order = np.argsort(-density, kind="stable")
        return order[(self.affordable & (weights > 0))[order]]

    def vertex(self, weights: Floats) -> Floats:
        """The point of largest weight with 0 ≤ x ≤ 1 that fits; what is not affordable stays at
        0.
        """
        weights = finite_weights(weights, self.items)
        if len(self.shares) > 1:
            return self._by_program(weights)
        order = self._by_density(weights)
        shares = self.shares[0, order]
        left = 1.0 - (np.cumsum(shares) - shares)
        point = np.zeros(self.items)
        point[order] = np.clip(left / np.maximum(shares, SMALLEST), 0.0, 1.0)
        return point

    def _by_program(self, weights: Floats) -> Floats:
        from scipy.optimize import linprog

        bounds = np.column_stack([np.zeros(self.items), self.affordable])
        found = linprog(
            -weights, self.shares, np.ones(len(self.shares)), bounds=bounds, method="highs"
        )
        return np.asarray(np.clip(found.x, 0.0, 1.0), dtype=np.float64)

    def is_inside(self, point: Floats) -> bool:
        between = np.min(point) >= -TOLERANCE and (point <= self.affordable + TOLERANCE).all()
        return bool(between and (self.shares @ point <= 1 + TOLERANCE).all())

    def project(self, point: Floats) -> Floats:
        """The nearest point with 0 ≤ x ≤ 1 that fits, for one budget."""
        if len(self.shares) > 1:
            raise ConfigError("points are projected onto a knapsack with one budget only")
        return onto_budget(point, self.shares[0], 1.0, self.affordable.astype(np.float64))
