"""People of finitely many public types: points on a map, rows of a public table.

What an item is worth to a person follows from a public cell that many people share, so one released
histogram of cells is all that a choice needs.

    Nearby    a person is a point in a public box; a site is worth max(0, 1 − distance/reach)
    Types     a person is a row of a public table of utilities

Both are facility location: a person uses the best item of the set. They are families of set
functions like those in discreet/functions/sets.py, and have public cells besides.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from math import ceil, prod

import numpy as np

from discreet.arrays import Floats, Integers, Mask
from discreet.engine.codec import check_fields
from discreet.errors import ConfigError
from discreet.functions.sets import FacilityLocation


@dataclass(frozen=True, eq=False)
class Cells:
    """Public cells: what every item is worth to the people of each cell, cells × items."""

    worths: Floats
    grid: tuple[int, ...] = ()

    def __len__(self) -> int:
        return len(self.worths)


class _BestItem(ABC):
    """A family in which a person uses the best item of the set: f(S) = max_{a∈S} worth(a)."""

    @abstractmethod
    def worths(self, rows: Floats) -> Floats:
        """Return what each item alone is worth to each person, people × items."""

    @abstractmethod
    def worth(self, rows: Floats, item: int) -> Floats:
        """Return what this item alone is worth to each person."""

    def begin(self, rows: Floats) -> Floats:
        """Return the best worth so far: 0 for the empty set."""
        return np.zeros(len(rows))

    def gains(self, rows: Floats, covered: Floats) -> Floats:
        """Return what each further item adds to the best worth so far, people × items."""
        return np.maximum(self.worths(rows) - covered[:, None], 0.0)

    def gain(self, rows: Floats, covered: Floats, item: int) -> Floats:
        """Return what this item adds to the best worth so far, per person."""
        return np.maximum(self.worth(rows, item) - covered, 0.0)

    def add(self, rows: Floats, covered: Floats, item: int) -> Floats:
        """Return the best worth after one more item, per person."""
        return np.maximum(covered, self.worth(rows, item))

    def along(self, rows: Floats, order: Integers) -> Floats:
        """Return what each item (column) adds per person (row), added in this order."""
        return FacilityLocation().along(self.worths(rows), order)


@dataclass(frozen=True)
class Nearby(_BestItem):
    """A person is a point, an item is a site: f(S) = max_{s∈S} max(0, 1 − distance(s)/reach).

    A row holds the coordinates of a point. A point outside the box moves to its border; a point
    that is not finite has the value 0 for every set.

    Parameters
    ----------
    sites
        Public points, one per item; for `discreet select` also the path of a file of points.
    reach
        Distance from which on a site is worth nothing.
    box
        Public ranges of the coordinates: one pair (low, high) per coordinate.

    Examples
    --------
    >>> city = Nearby(sites=((0.2, 0.5), (0.9, 0.5)), reach=0.5, box=((0.0, 1.0), (0.0, 1.0)))
    >>> rows, fine = city.admit(np.array([[0.2, 0.4], [0.9, 0.5]]), 2)
    >>> city.worths(rows).round(2)
    array([[0.8, 0. ],
           [0. , 1. ]])
    """

    sites: tuple[tuple[float, ...], ...]
    reach: float
    box: tuple[tuple[float, float], ...]

    def __post_init__(self) -> None:
        check_fields(self)
        widths = {len(site) for site in self.sites}
        if len(widths) != 1:
            raise ConfigError("sites must be points, all with the same number of coordinates")
        if widths != {len(self.box)}:
            raise ConfigError(
                f"the box must have a pair (low, high) for each of the {widths.pop()} coordinates "
                f"of a site, got {len(self.box)}"
            )
        if not (np.isfinite(self._sites).all() and np.isfinite(self._low + self._size).all()):
            raise ConfigError("sites and box must be finite")
        if not (self._size > 0).all():
            raise ConfigError(f"the box must have low < high in every direction, got {self.box}")
        if not (np.isfinite(self.reach) and self.reach > 0):
            raise ConfigError(f"reach must be finite and greater than 0, got {self.reach}")
        outside = np.maximum(self._low - self._sites, self._sites - self._low - self._size)
        if (np.linalg.norm(np.maximum(outside, 0.0), axis=1) >= self.reach).all():
            raise ConfigError(
                "no site reaches the box: its pairs must be in the order of the coordinates"
            )

    @cached_property
    def _sites(self) -> Floats:
        return np.array(self.sites, dtype=np.float64)

    @cached_property
    def _low(self) -> Floats:
        return np.array([low for low, _ in self.box], dtype=np.float64)

    @cached_property
    def _size(self) -> Floats:
        return np.array([high - low for low, high in self.box], dtype=np.float64)

    def width(self, items: int) -> int:
        """Return the number of coordinates of a point."""
        if items != len(self.sites):
            raise ConfigError(
                f"there are {len(self.sites)} sites, but the domain has {items} items"
            )
        return len(self.box)

    def admit(self, rows: Floats, items: int) -> tuple[Floats, Mask]:
        """Return points in units of the box, moved to its border; NaN where they are not finite."""
        with np.errstate(all="ignore"):  # a warning would reveal a person's data
            scaled = (rows - self._low) / self._size
            fine = np.asarray(np.isfinite(rows).all(axis=1))
            inside = np.clip(scaled, 0.0, 1.0)
        return np.where(fine[:, None], inside, np.nan), fine

    def worths(self, rows: Floats) -> Floats:
        return self._near(rows, self._sites)

    def worth(self, rows: Floats, item: int) -> Floats:
        return self._near(rows, self._sites[item : item + 1])[:, 0]

    def _near(self, rows: Floats, sites: Floats) -> Floats:
        points = rows * self._size + self._low
        squares = np.zeros((len(rows), len(sites)))
        for axis in range(len(self.box)):
            squares += (points[:, axis, None] - sites[:, axis]) ** 2
        worths = np.maximum(0.0, 1 - np.sqrt(squares) / self.reach)
        return np.asarray(np.where(np.isfinite(worths), worths, 0.0))

    def cells(self, wanted: int) -> Cells:
        """Return a grid of about `wanted` equal cells, none wider than the reach.

        All people of a cell count as standing in its middle.
        """
        widest = min(self.reach, float(self._size.max()))
        fewest = ceil(float(np.prod(self._size / widest)))
        wanted = max(wanted, fewest)
        per_unit = (max(1, wanted) / float(np.prod(self._size))) ** (1 / len(self.box))
        grid = tuple(int(np.clip(round(per_unit * size), 1, 2**16)) for size in self._size)
        while prod(grid) * len(self.sites) > 2**26:
            grid = tuple(max(1, count // 2) for count in grid)
        return Cells(self.worths(self.middles(grid)), grid)

    def middles(self, grid: tuple[int, ...]) -> Floats:
        """Return the middle of every cell of a grid as an admitted point, in units of the box."""
        middles = [(np.arange(count) + 0.5) / count for count in grid]
        return np.stack(np.meshgrid(*middles, indexing="ij"), axis=-1).reshape(-1, len(grid))

    def cell_of(self, rows: Floats, cells: Cells) -> Integers:
        """Return the cell of each admitted point, −1 where the point is not finite."""
        counts = np.array(cells.grid)
        with np.errstate(all="ignore"):
            places = np.minimum(np.nan_to_num(rows) * counts, counts - 1).astype(np.int64)
        numbers = np.zeros(len(rows), dtype=np.int64)
        for axis, count in enumerate(cells.grid):
            numbers = numbers * count + places[:, axis]
        return np.where(np.isfinite(rows).all(axis=1), numbers, -1)


@dataclass(frozen=True)
class Types(_BestItem):
    """A person is a type, a row t of a public table of utilities: `f(S) = max_{a∈S} table[t][a]`.

    A row holds one number, the number of the type, counted from 0. A row that names no type has the
    value 0 for every set.

    Parameters
    ----------
    table
        Public utilities in [0, 1]: one row per type, one column per item.

    Examples
    --------
    >>> Types(((1.0, 0.0), (0.2, 0.9))).cells(100).worths
    array([[1. , 0. ],
           [0.2, 0.9]])
    """

    table: tuple[tuple[float, ...], ...]

    def __post_init__(self) -> None:
        check_fields(self)
        if not self.table or len({len(row) for row in self.table}) != 1 or not self.table[0]:
            raise ConfigError(
                "the table must have a row of utilities for every type, all of the same length"
            )
        if not ((self._table >= 0) & (self._table <= 1)).all():
            raise ConfigError("utilities must lie between 0 and 1")

    @cached_property
    def _table(self) -> Floats:
        return np.array(self.table, dtype=np.float64)

    def width(self, items: int) -> int:
        """Return 1: a person is the number of a type."""
        if items != self._table.shape[1]:
            raise ConfigError(
                f"the table has {self._table.shape[1]} columns, but the domain has {items} items"
            )
        return 1

    def admit(self, rows: Floats, items: int) -> tuple[Floats, Mask]:
        """Return the type's number as a fraction of all types; NaN if there is no such type."""
        numbers = rows[:, 0]
        count = len(self.table)
        with np.errstate(all="ignore"):
            fine = np.asarray((numbers >= 0) & (numbers < count) & (numbers == np.floor(numbers)))
        fractions = (np.where(fine, numbers, 0.0) + 0.5) / count
        return np.where(fine, fractions, np.nan)[:, None], fine

    def _numbers(self, rows: Floats) -> Integers:
        count = len(self.table)
        numbers = np.minimum(np.nan_to_num(rows[:, 0]) * count, count - 1).astype(np.int64)
        return np.where(np.isfinite(rows[:, 0]), numbers, -1)

    def worths(self, rows: Floats) -> Floats:
        numbers = self._numbers(rows)
        return np.asarray(
            np.where((numbers >= 0)[:, None], self._table[np.maximum(numbers, 0)], 0.0)
        )

    def worth(self, rows: Floats, item: int) -> Floats:
        numbers = self._numbers(rows)
        return np.asarray(np.where(numbers >= 0, self._table[np.maximum(numbers, 0), item], 0.0))

    def cells(self, wanted: int) -> Cells:
        """Return one cell per row of the table."""
        return Cells(self._table)

    def cell_of(self, rows: Floats, cells: Cells) -> Integers:
        """Return the type of each person, −1 for none."""
        return self._numbers(rows)
