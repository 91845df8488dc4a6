"""A number times a row that is public before it comes: how a reward goes with each item of a slate.

The row's weights are non-negative and add up to at most `length`; they become whole numbers of at
most 2¹⁰ in all, the number a whole number of steps, and what is added are exact products.
Neighbours have the same rows, so only the number differs.

Guarantee   docs/guarantees/aggregators.md, Lemma 13
Runtime     O(weights of a person)
"""

from dataclasses import dataclass
from math import isfinite

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.errors import ConfigError
from discreet.release.aggregators.base import Aggregate, Aggregator, as_shape, check_levels
from discreet.release.aggregators.public_cells import check_range, steps_within

WEIGHT = 2**10
"""The whole number that stands for weights of `length` in all."""


@dataclass(frozen=True)
class PublicRows(Aggregator):
    """A number between `low` and `high` times a public row of weights, which add up to at most
    `length`.

    >>> rows = PublicRows(3, length=2.0, levels=2**20)
    >>> people = rows.empty()
    >>> rows.add(people, np.array([[0, 2]]), np.array([[1.0, 0.5]]), np.array([0.5]))
    >>> (people.values * rows.grid).round(2), rows.sensitivity(1)
    (array([0.5 , 0.  , 0.25]), 1048576.0)
    """

    shape: tuple[int, ...]
    length: float
    low: float = 0.0
    high: float = 1.0
    levels: int = WEIGHT

    def __post_init__(self) -> None:
        object.__setattr__(self, "shape", as_shape(self.shape))
        check_range(self.low, self.high)
        check_levels(self.levels)
        if not (isfinite(self.length) and self.length > 0):
            raise ConfigError(f"length must be finite and greater than 0, got {self.length}")

    @property
    def bound(self) -> float:
        return self.length * self._largest

    @property
    def _largest(self) -> float:
        return max(abs(self.low), abs(self.high))

    @property
    def _steps(self) -> int:
        """How many steps the number has."""
        if self.levels < WEIGHT:
            raise ConfigError(f"rows of weights need at least {WEIGHT} levels: raise epsilon")
        return self.levels // WEIGHT

    @property
    def grid(self) -> float:
        return self.bound / (WEIGHT * self._steps)

    @property
    def cells(self) -> int:
        return self.size

    def unit_sensitivity(self, norm: int) -> float:
        # Weights are not negative and add up to at most the length, so l₂ is no more than l₁.
        return (max(self.high, 0.0) - min(self.low, 0.0)) / self._largest

    @property
    def span(self) -> int:
        return int(np.ceil(self.unit_sensitivity(1) * self.levels))

    def add(self, aggregate: Aggregate, cells: Integers, weights: Floats, numbers: Floats) -> None:
        """Add one number a person, times the weights in a row of cells (−1 for none).

        Rows that weigh more than `length` are scaled down to it.
        """
        if cells.shape != weights.shape or cells.ndim != 2 or len(cells) != len(numbers):
            raise ConfigError("a person has one row of cells, a weight for each, and one number")
        whole = self.whole_weights(np.where(cells >= 0, weights, 0.0))
        steps = steps_within(numbers, self.low, self.high, self._steps)
        there = (cells >= 0) & (cells < self.size)
        aggregate.additions += 1
        np.add.at(aggregate.values.reshape(-1), cells[there], (whole * steps[:, None])[there])

    def whole_weights(self, weights: Floats) -> Integers:
        """Weights as whole numbers that add up to at most 2¹⁰, rounded down."""
        weights = np.where(np.isfinite(weights), np.maximum(weights, 0.0), 0.0)
        total = np.maximum(weights.sum(axis=1, keepdims=True), self.length)
        # Shares first: they are at most 1, however small the length is.
        whole = np.floor(weights / total * (WEIGHT * (1 - 2**-40))).astype(np.int64)
        return np.asarray(whole)
