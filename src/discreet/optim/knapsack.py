"""Knapsacks: items have costs, and the costs of a set must fit one budget or several.

An item's share of a budget is its cost over that budget, so a set fits if the shares of its items
add up to at most 1 for every budget. An item that costs more than a budget is never affordable.

Runtime     extensions O(rows · (items + rank)), best O(items · log items + rank · items),
            vertex O(items · log items) for one row and a linear program for several
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
"""Bounds on budgets and costs, far inside the range of floats."""
NEVER = 2.0
"""The share of every item that costs more than a budget."""


@dataclass(frozen=True)
class Knapsack:
    """Sets whose costs fit the budgets: `{S : Σ_{a∈S} costs[r][a] ≤ budget[r] for every row r}`.

    Parameters
    ----------
    costs
        One cost per item, or several rows of costs.
    budget
        A number, or one number per row of costs.

    Examples
    --------
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
                f"budget must be one number per row of costs, {len(self._rows)}, got "
                f"{len(self._budgets)}"
            )
        for budget in self._budgets:
            require.number("budget", budget, SMALLEST, LARGEST)
        costs = np.array(self._rows)
        wrong = costs[~((costs >= 0) & (costs <= LARGEST))]
        if len(wrong):
            raise ConfigError(f"costs must be numbers between 0 and {LARGEST:g}, got {wrong[0]}")
        if not self.affordable.any():
            raise ConfigError(
                "nothing can be chosen: every item costs more than a budget, raise it"
            )

    @cached_property
    def _rows(self) -> tuple[tuple[float, ...], ...]:
        nested = tuple(row for row in self.costs if isinstance(row, tuple))
        plain = tuple(cost for cost in self.costs if not isinstance(cost, tuple))
        if nested and plain:
            raise ConfigError("costs must be numbers, or rows of numbers, not both")
        return nested or (plain,)

    @property
    def _budgets(self) -> tuple[float, ...]:
        return self.budget if isinstance(self.budget, tuple) else (self.budget,)

    @property
    def items(self) -> int:
        """Number of items."""
        return len(self._rows[0])

    @property
    def dimension(self) -> int:
        """Number of coordinates of a point: one per item."""
        return self.items

    @cached_property
    def shares(self) -> Floats:
        """Share of each budget (row) that each item (column) uses."""
        shares = np.array(self._rows) / np.array(self._budgets)[:, None]
        return np.where(shares > 1 + TOLERANCE, NEVER, shares)

    @cached_property
    def affordable(self) -> Mask:
        """Which items fit alone."""
        return np.asarray((self.shares < NEVER).all(axis=0))

    @cached_property
    def rank(self) -> int:
        """Largest number of items that fit; an upper bound if there are several budgets."""
        rows = np.vstack([self.shares, self.shares.mean(axis=0)])[:, self.affordable]
        fits = np.cumsum(np.sort(rows, axis=1), axis=1) <= 1 + TOLERANCE
        return int(fits.sum(axis=1).min())

    def factors(self, price: Price) -> Floats:
        """Return c₀ / max(c, c₀) per item of cost c, by which gains are multiplied.

        c is the sum of an item's shares. For "density" c₀ is the least positive cost, so gains are
        compared per cost; for "quartile" it is the lower quartile of the positive costs, so that an
        item does not win by being cheap alone.

        >>> Knapsack(costs=(1.0, 2.0, 4.0), budget=4.0).factors("density")
        array([1.  , 0.5 , 0.25])
        """
        require.one_of("price", price, ("density", "quartile"))
        costs = self._sums
        positive = costs[self.affordable & (costs > 0)]
        if not len(positive):
            return np.ones(self.items)
        reference = float(positive.min() if price == "density" else np.quantile(positive, 0.25))
        return np.asarray(reference / np.maximum(costs, reference), dtype=np.float64)

    @cached_property
    def _sums(self) -> Floats:
        return np.asarray(self.shares.sum(axis=0), dtype=np.float64)

    def extensions(self, chosen: Sequence[int]) -> Mask:
        """Return which items still fit, beside the chosen ones."""
        used = self.shares[:, list(chosen)].sum(axis=1, keepdims=True)
        allowed = np.asarray((used + self.shares <= 1 + TOLERANCE).all(axis=0))
        allowed[list(chosen)] = False
        return allowed

    def contains(self, chosen: Sequence[int]) -> bool:
        """Whether these are different items that fit together."""
        if not are_items(chosen, self.items):
            return False
        return bool((self.shares[:, list(chosen)].sum(axis=1) <= 1 + TOLERANCE).all())

    def best(self, weights: Floats) -> list[int]:
        """Return items by falling weight per cost, or a single item if that is worth more.

        The set is worth at least half of the best set for one budget, and 1/(2r) for r budgets: up
        to the first item that does not fit no set has more weight per cost, and these items use up
        one budget, if not all r.
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
        """Return the affordable items of positive weight, by falling weight per cost."""
        density = weights / np.maximum(self._sums, SMALLEST)
        order = np.argsort(-density, kind="stable")
        return order[(self.affordable & (weights > 0))[order]]

    def vertex(self, weights: Floats) -> Floats:
        """Return the point of largest weight with 0 ≤ x ≤ 1 that fits, 0 where not affordable."""
        weights = finite_weights(weights, self.items)
        if len(self.shares) > 1:
            return self._by_program(weights)
        order = self._by_density(weights)
        shares = self.shares[0, order]
        remaining = 1.0 - (np.cumsum(shares) - shares)
        point = np.zeros(self.items)
        point[order] = np.clip(remaining / np.maximum(shares, SMALLEST), 0.0, 1.0)
        return point

    def _by_program(self, weights: Floats) -> Floats:
        from scipy.optimize import linprog

        bounds = np.column_stack([np.zeros(self.items), self.affordable])
        budgets = np.ones(len(self.shares))
        solved = linprog(-weights, self.shares, budgets, bounds=bounds, method="highs")
        return np.asarray(np.clip(solved.x, 0.0, 1.0), dtype=np.float64)

    def is_inside(self, point: Floats) -> bool:
        """Whether the point has 0 ≤ x ≤ 1 and fits, up to rounding."""
        between = np.min(point) >= -TOLERANCE and (point <= self.affordable + TOLERANCE).all()
        return bool(between and (self.shares @ point <= 1 + TOLERANCE).all())

    def project(self, point: Floats) -> Floats:
        """Return the nearest point with 0 ≤ x ≤ 1 that fits, for one budget."""
        if len(self.shares) > 1:
            raise ConfigError("points are projected onto a knapsack with one budget only")
        return onto_budget(point, self.shares[0], 1.0, self.affordable.astype(np.float64))
