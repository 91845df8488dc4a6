"""People who are one of few public kinds: points on a map, rows of a public table.

For both, what an item is worth to a person follows from a cell that many people share; so one
histogram of cells, released once, is all that a choice needs.

    Nearby    a person is a point in a public box; a chosen site is worth 1 − distance/reach, at least 0
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
    """Public cells: what every item is worth to the people of each, cells × items."""

    worths: Floats
    grid: tuple[int, ...] = ()

    def __len__(self) -> int:
        return len(self.worths)


class _BestItem(ABC):
    """A family in which a person uses the best item of the set, by its worths."""

    @abstractmethod
    def worths(self, rows: Floats) -> Floats:
        """What each item alone is worth to each person."""

    @abstractmethod
    def worth(self, rows: Floats, item: int) -> Floats:
        """The same for one item."""

    def begin(self, rows: Floats) -> Floats:
        """Nothing is reached by the empty set."""
        return np.zeros(len(rows))

    def gains(self, rows: Floats, covered: Floats) -> Floats:
        """What one more item adds to the best so far."""
        return np.maximum(self.worths(rows) - covered[:, None], 0.0)

    def gain(self, rows: Floats, covered: Floats, item: int) -> Floats:
        """What this item adds to the best so far."""
        return np.maximum(self.worth(rows, item) - covered, 0.0)

    def add(self, rows: Floats, covered: Floats, item: int) -> Floats:
        """The best after one more item."""
        return np.maximum(covered, self.worth(rows, item))

    def along(self, rows: Floats, order: Integers) -> Floats:
        """What each item adds when items are added in this order."""
        return FacilityLocation().along(self.worths(rows), order)


@dataclass(frozen=True)
class Nearby(_BestItem):
    """Points in a public box, and sites: worth max(0, 1 − distance/reach) to the nearest chosen
    site.

    Points outside move to the border; a point that is not finite is worth nothing to anyone.

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
        if not self.sites or widths != {len(self.box)}:
            raise ConfigError(f"sites must be points with {len(self.box)} numbers, as the box has")
        if not (np.isfinite(self._sites).all() and np.isfinite(self._low + self._size).all()):
            raise ConfigError("sites and box must be finite")
        if not (self._size > 0).all():
            raise ConfigError(f"the box must have low < high in every direction, got {self.box}")
        if not (np.isfinite(self.reach) and self.reach > 0):
            raise ConfigError(f"reach must be finite and greater than 0, got {self.reach}")

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
        """A point's numbers, in units of the box."""
        if items != len(self.sites):
            raise ConfigError(
                f"there are {len(self.sites)} sites, but the domain has {items} items"
            )
        return len(self.box)

    def admit(self, rows: Floats, items: int) -> tuple[Floats, Mask]:
        """Points in units of the box, moved to its border; NaN where they are not finite."""
        with np.errstate(all="ignore"):  # a warning would tell about a person
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
        found = np.maximum(0.0, 1 - np.sqrt(squares) / self.reach)
        return np.asarray(np.where(np.isfinite(found), found, 0.0))

    def cells(self, wanted: int) -> Cells:
        """A grid of about so many equal cells, none larger than the reach; people count as in
        the middle.
        """
        wanted = max(
            wanted, ceil(float(np.prod(self._size / min(self.reach, float(self._size.max())))))
        )
        side = (max(1, wanted) / float(np.prod(self._size))) ** (1 / len(self.box))
        grid = tuple(int(np.clip(round(side * size), 1, 2**16)) for size in self._size)
        while prod(grid) * len(self.sites) > 2**26:
            grid = tuple(max(1, count // 2) for count in grid)
        middles = [(np.arange(count) + 0.5) / count for count in grid]
        rows = np.stack(np.meshgrid(*middles, indexing="ij"), axis=-1).reshape(-1, len(grid))
        return Cells(self.worths(rows), grid)

    def cell_of(self, rows: Floats, cells: Cells) -> Integers:
        """The cell of each admitted point, −1 where it is not finite."""
        counts = np.array(cells.grid)
        with np.errstate(all="ignore"):
            places = np.minimum(np.nan_to_num(rows) * counts, counts - 1).astype(np.int64)
        found = np.zeros(len(rows), dtype=np.int64)
        for axis, count in enumerate(cells.grid):
            found = found * count + places[:, axis]
        return np.where(np.isfinite(rows).all(axis=1), found, -1)


@dataclass(frozen=True)
class Types(_BestItem):
    """A person is the number of a row of a public table: what every item is worth to that type, in
    [0, 1].

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
        """One number: which row."""
        if items != self._table.shape[1]:
            raise ConfigError(
                f"the table has {self._table.shape[1]} columns, but the domain {items} items"
            )
        return 1

    def admit(self, rows: Floats, items: int) -> tuple[Floats, Mask]:
        """The number of the row as a fraction of all; NaN if there is no such row."""
        numbers, count = rows[:, 0], len(self.table)
        with np.errstate(all="ignore"):
            fine = np.asarray((numbers >= 0) & (numbers < count) & (numbers == np.floor(numbers)))
        return np.where(fine, (np.where(fine, numbers, 0.0) + 0.5) / count, np.nan)[:, None], fine

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
        """All rows of the table."""
        return Cells(self._table)

    def cell_of(self, rows: Floats, cells: Cells) -> Integers:
        """The row of each person, −1 for none."""
        return self._numbers(rows)
