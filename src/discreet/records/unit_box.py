"""Features in a unit box, and coefficients back in the units of the table.

    number      (2v − low − high) / (high − low), clipped to [−1, 1]
    category    √½ in a row of that category, 0 in others

Different categories are at distance 1, half the distance of a column's bounds: numbers seldom fill
their bounds, and categories of length 1 would take most of a row's norm.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf, sqrt
from typing import NamedTuple

import numpy as np

from discreet.arrays import BLOCK, Floats

CATEGORY = sqrt(0.5)
"""The value of a category's scaled feature in a row of that category; it is 0 in others."""

Range = tuple[float, float]


class InUnits(NamedTuple):
    """Coefficients and intercept in the units of the table; one row per class if there are many."""

    coefficients: Floats
    intercept: Floats


@dataclass(frozen=True)
class UnitBox:
    """How the columns of a table lie in the unit box.

    Parameters
    ----------
    columns
        Per column of the table its bounds, or the number of its categories.

    Examples
    --------
    >>> box = UnitBox([(0.0, 4.0), 2])
    >>> numbers = np.array([[3.0, 1.0, 0.0], [np.inf, 0.0, 1.0]])
    >>> box.scale(numbers)
    >>> numbers.round(2)
    array([[0.5 , 0.71, 0.  ],
           [ nan, 0.  , 0.71]])
    >>> box.in_units(np.array([1.0, 4.0, 2.0]), np.array(0.0)).coefficients.round(2)
    array([ 0.5 ,  0.71, -0.71])
    """

    columns: Sequence[Range | int]

    def length(self, dual: float) -> float:
        """Return the largest l_q norm of a scaled row.

        >>> UnitBox([(0.0, 4.0), (1.0, 2.0)]).length(2.0) == sqrt(2)
        True
        """
        sizes = [CATEGORY if isinstance(column, int) else 1.0 for column in self.columns]
        return max(sizes) if dual == inf else float(sum(size**dual for size in sizes)) ** (1 / dual)

    def scale(self, numbers: Floats) -> None:
        """Scale features to the unit box, in place; infinite numbers become NaN."""
        with np.errstate(all="ignore"):  # a warning would reveal a person's data
            for first in range(0, len(numbers), BLOCK):
                block = numbers[first : first + BLOCK]
                blank = block - block  # 0 for finite numbers, NaN for others
                block *= self._slopes
                block += self._offsets
                np.clip(block, -1.0, 1.0, out=block)
                block += blank

    def decoded(self, features: Floats) -> Floats:
        """Return scaled features in the units of the table: clipped numbers, and 0 or 1."""
        return (features - self._offsets) / self._slopes

    @property
    def centre(self) -> Floats:
        """The middle of all bounds, and equal shares of the categories, in units of the table."""
        shares: list[float] = []
        for column in self.columns:
            shares += [CATEGORY / column] * column if isinstance(column, int) else [0.0]
        return self.decoded(np.array(shares))

    # --- released values --------------------------------------------------------------------------

    def in_units(self, coefficients: Floats, intercept: Floats) -> InUnits:
        """Return released coefficients and intercept in the units of the table.

        The coefficients of a column's categories have mean 0: a row has one of the categories, so
        the intercept takes their mean, and predictions stay.
        """
        at_zero = intercept + coefficients @ self._offsets
        in_units = coefficients * self._slopes
        for group in self._categories:
            mean = in_units[..., group].mean(axis=-1)
            in_units[..., group] -= mean[..., None]
            at_zero = at_zero + mean
        return InUnits(in_units, at_zero)

    def directions(self, constant: float) -> Floats:
        """Return `in_units` as a matrix, for coefficients that end with that of the constant.

        >>> UnitBox([(0.0, 4.0)]).directions(2.0)      # slope, and value at 0
        array([[ 0.5,  0. ],
               [-1. ,  2. ]])
        """
        units = np.eye(len(self._ranges) + 1)
        found = self.in_units(units[:, :-1], constant * units[:, -1])
        return np.column_stack([found.coefficients, found.intercept]).T

    @cached_property
    def _slopes(self) -> Floats:
        """The change of each scaled feature per unit of its column."""
        return np.array([2 / (high - low) for low, high in self._ranges])

    @cached_property
    def _offsets(self) -> Floats:
        """The value of each scaled feature where its column is 0."""
        return np.array([-(low + high) / (high - low) for low, high in self._ranges])

    @property
    def _ranges(self) -> list[Range]:
        """The values of each column at which its scaled feature is −1 and 1."""
        ranges: list[Range] = []
        for column in self.columns:
            if isinstance(column, int):
                ranges += [(-1 / CATEGORY, 1 / CATEGORY)] * column
            else:
                ranges.append(column)
        return ranges

    @cached_property
    def _categories(self) -> list[slice]:
        """The features of each column of categories."""
        groups: list[slice] = []
        first = 0
        for column in self.columns:
            width = column if isinstance(column, int) else 1
            if isinstance(column, int):
                groups.append(slice(first, first + width))
            first += width
        return groups
