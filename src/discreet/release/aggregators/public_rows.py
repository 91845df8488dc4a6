"""One number per person, times a row of weights that is public before the number arrives.

A slate's reward, for example, times a weight per shown item. Weights are non-negative and add up to
at most `length`. They are rounded to whole numbers that add up to at most 2¹⁰, and the number to
whole steps; the products that are added are exact. Neighbours have the same rows of weights and
differ in the number only.

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
"""The whole number that represents weights with the sum `length`."""


@dataclass(frozen=True)
class PublicRows(Aggregator):
    """Sums of one number per person times public weights.

    Parameters
    ----------
    shape
        Shape of the cells, or their number.
    length
        The largest sum of a person's weights.
    low, high
        The range to which numbers are clipped.
    levels
        The number of integer steps up to the bound; at least 2¹⁰ for `add`.

    Examples
    --------
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
        """The largest size of the person's number."""
        return max(abs(self.low), abs(self.high))

    @property
    def _steps(self) -> int:
        """The number of integer steps of the person's number."""
        if self.levels < WEIGHT:
            raise ConfigError(f"public weights need at least {WEIGHT} levels: raise epsilon")
        return self.levels // WEIGHT

    @property
    def grid(self) -> float:
        return self.bound / (WEIGHT * self._steps)

    @property
    def cells(self) -> int:
        return self.size

    def unit_sensitivity(self, norm: int) -> float:
        """The width of the range, in both norms (Lemma 13)."""
        # Weights are non-negative and add up to at most the length, so l₂ is at most l₁.
        return (max(self.high, 0.0) - min(self.low, 0.0)) / self._largest

    @property
    def span(self) -> int:
        """The l₁ sensitivity, because all changes have one sign (Lemma 13)."""
        return int(np.ceil(self.unit_sensitivity(1) * self.levels))

    def add(self, aggregate: Aggregate, cells: Integers, weights: Floats, numbers: Floats) -> None:
        """Add one number per person, times the weights of a row of cells (−1 for none).

        Weights that add up to more than `length` are scaled down to it.
        """
        if cells.shape != weights.shape or cells.ndim != 2 or len(cells) != len(numbers):
            raise ConfigError("every person must have one weight per cell, and one number")
        whole = self.whole_weights(np.where(cells >= 0, weights, 0.0))
        steps = steps_within(numbers, self.low, self.high, self._steps)
        there = (cells >= 0) & (cells < self.size)
        aggregate.additions += 1
        products = whole * steps[:, None]
        np.add.at(aggregate.values.reshape(-1), cells[there], products[there])

    def whole_weights(self, weights: Floats) -> Integers:
        """Return weights rounded down to whole numbers that add up to at most 2¹⁰ per person."""
        weights = np.where(np.isfinite(weights), np.maximum(weights, 0.0), 0.0)
        total = np.maximum(weights.sum(axis=1, keepdims=True), self.length)
        # The division comes first: its results are at most 1, however small the length is.
        whole = np.floor(weights / total * (WEIGHT * (1 - 2**-40))).astype(np.int64)
        return np.asarray(whole)
