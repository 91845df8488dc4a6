"""Columns of a table as numbers in a unit box, and released coefficients back in their units.

    number      (2v − low − high) / (high − low), clipped to [−1, 1], for a column with bounds
    date        a number of days or years, which then has bounds
    category    one column of 0 and √½ per category of a public list
    target      less the middle of its bounds, for losses that an intercept can shift

All rules are public settings: none is found in the data. A cell that cannot be read blanks its row,
which then adds nothing; an empty cell is filled if the settings say by what.

Different categories are at distance 1, half the distance of a column's bounds: numbers seldom fill
their bounds, and categories of length 1 would take most of a row's norm.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import inf, isfinite, sqrt
from typing import NamedTuple, Protocol

import numpy as np

from discreet import require
from discreet.arrays import BLOCK, Floats, Mask, stacked
from discreet.engine.codec import check_fields
from discreet.errors import ConfigError
from discreet.losses import Samples
from discreet.records.dates import DateRule
from discreet.records.log_cells import item_text

CATEGORY = sqrt(0.5)
"""The value of a category's scaled feature in a row of that category; it is 0 in others."""


class Cells(Protocol):
    """Some rows of a table, column by column."""

    @property
    def columns(self) -> list[str]:
        """The names of all columns, in order."""

    def __len__(self) -> int:
        """Return the number of rows."""

    def numbers(self, names: Sequence[str]) -> Floats:
        """Return a matrix with these columns; NaN for a cell that is not a number."""

    def values(self, name: str) -> list[object]:
        """Return a column unchanged; None for a missing cell."""

    def days(self, name: str, rule: DateRule) -> Floats:
        """Return a column of dates as numbers."""

    def is_missing(self, name: str) -> Mask:
        """Return which cells of a column are empty."""


NO_NUMBER = "no number"
"""Rule of checks for cells where a number is expected."""


def unread_numbers(rows: Cells, names: Sequence[str]) -> dict[str, Mask]:
    """Return which cells of these columns are no finite numbers, by the name of the rule."""
    found: dict[str, Mask] = {}
    for name in names:
        unread = ~np.isfinite(rows.numbers([name])[:, 0])
        found |= by_emptiness(rows, name, unread, NO_NUMBER)
    return found


def by_emptiness(rows: Cells, name: str, unread: Mask, rule: str) -> dict[str, Mask]:
    """Return the unread cells of a column under two rules: those that are empty, and the others."""
    empty = unread & rows.is_missing(name) if unread.any() else unread
    return {f"{name}: empty": empty, f"{name}: {rule}": unread & ~empty}


class InUnits(NamedTuple):
    """Coefficients and intercept in the units of the table; one row per class if there are many."""

    coefficients: Floats
    intercept: Floats


@dataclass(frozen=True)
class Columns:
    """How a regression or a classification reads the columns of a table.

    Parameters
    ----------
    features
        The names of the columns that predict.
    target
        The name of the column that is predicted.
    bounds
        The least and the largest value of each number or date, for all of them or for none. Values
        outside are clipped. With bounds, features are scaled to [−1, 1] inside, and coefficients
        come back in the table's own units.
    categories
        The categories of each column that holds categories. A column of 0 and 1 is made of each. A
        target with categories is a class.
    dates
        A rule per column of dates: "days since 2020-01-01", or "years since 2020-01-01 as
        %d/%m/%Y" for texts that are not ISO 8601.
    fill
        The value of empty cells, per column. Without one, an empty cell blanks its row.
    other
        The category that stands for all values that are not listed, per column. Without one, such
        a value blanks its row.

    Examples
    --------
    >>> columns = Columns(
    ...     features=["carat", "cut"], target="price",
    ...     bounds={"carat": (0, 5), "price": (0, 20_000)},
    ...     categories={"cut": ["Fair", "Good", "Ideal"]},
    ... )
    >>> columns.names
    ['carat', 'cut=Fair', 'cut=Good', 'cut=Ideal']
    """

    features: Sequence[str]
    target: str
    bounds: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    categories: Mapping[str, Sequence[str | int]] = field(default_factory=dict)
    dates: Mapping[str, str] = field(default_factory=dict)
    fill: Mapping[str, float | str] = field(default_factory=dict)
    other: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_fields(self)
        read = (*self.features, self.target)
        if not self.features or len(set(read)) != len(read):
            raise ConfigError(
                f"features and target must be different columns, got {require.shown(read)}"
            )
        for setting in ("bounds", "categories", "dates", "fill", "other"):
            unread = [name for name in getattr(self, setting) if name not in read]
            if unread:
                raise ConfigError(
                    f"{setting} is for features and the target: {unread[0]} is none of them"
                )
        self._check_categories()
        self._check_bounds()
        for name, rule in self.dates.items():
            DateRule.of(name, rule)
            if name in self.categories:
                raise ConfigError(f"{name} holds dates or categories, not both")
        for name in self.fill:
            self._check_fill(name)

    def _check_categories(self) -> None:
        for name, categories in self.categories.items():
            texts = [item_text(category) for category in categories]
            if len(texts) < 2:
                raise ConfigError(f"categories of {name} must be two or more")
            twice = next((text for text in texts if texts.count(text) > 1), None)
            if twice is not None:
                raise ConfigError(f"categories of {name} list {require.shown(twice)} twice")
        for name, category in self.other.items():
            if category not in self._texts(name):
                raise ConfigError(
                    f"other of {name} must be one of its categories, got {require.shown(category)}"
                )

    def _check_bounds(self) -> None:
        for name, (low, high) in self.bounds.items():
            if name in self.categories:
                raise ConfigError(f"{name} has categories: leave out its bounds, they are 0 and 1")
            if not (isfinite(low) and isfinite(high) and low < high):
                raise ConfigError(
                    f"bounds of {name} must be two numbers, the lower one first, got {low:g} and "
                    f"{high:g}"
                )
        read = [name for name in (*self.features, self.target) if name not in self.categories]
        lacking = [name for name in read if name not in self.bounds]
        if (self.bounds or self.categories) and lacking:
            raise ConfigError(
                f"bounds lack {', '.join(lacking)}: give the least and the largest value, public "
                "numbers that are not read from the data"
            )

    def _check_fill(self, name: str) -> None:
        value = self.fill[name]
        if name in self.categories:
            is_known = item_text(value) in self._texts(name)
        elif name in self.dates:
            is_known = isinstance(value, str) and isfinite(self._date(name).parsed([value])[0])
        else:
            is_known = isinstance(value, float) and isfinite(value)
        if not is_known:
            raise ConfigError(
                f"fill of {name} must be a value of that column, got {require.shown(value)}"
            )

    # --- what is read -----------------------------------------------------------------------------

    @property
    def read(self) -> list[str]:
        """The columns of the table that are read: features, then the target."""
        return [*self.features, self.target]

    @property
    def is_scaled(self) -> bool:
        """Whether features are scaled to the unit box."""
        return bool(self.bounds or self.categories)

    @cached_property
    def names(self) -> list[str]:
        """The name of each coefficient: a column, or a column and one of its categories."""
        names: list[str] = []
        for name in self.features:
            if name in self.categories:
                names += [f"{name}={category}" for category in self._texts(name)]
            else:
                names.append(name)
        return names

    def length(self, dual: float) -> float:
        """Return the largest l_q norm of a scaled row: each column of the table has a largest size.

        >>> Columns(["a"], "b", {"a": (0, 1), "b": (0, 1)}).length(2.0)
        1.0
        """
        sizes = [CATEGORY if name in self.categories else 1.0 for name in self.features]
        return max(sizes) if dual == inf else float(sum(size**dual for size in sizes)) ** (1 / dual)

    @property
    def classes(self) -> int | None:
        """The number of classes of the target; None if it is a number."""
        return len(self.categories[self.target]) if self.target in self.categories else None

    def samples(self, rows: Cells, *, shifts: bool) -> Samples:
        """Return rows as samples; NaN in a row that is blank.

        `shifts` says that targets are taken less the middle of their bounds.
        """
        features = self.encoded(rows)
        targets = _finite(self._values(rows, self.target))
        return Samples(features, targets - self.middle if shifts else targets)

    @property
    def middle(self) -> float:
        """The middle of the target's bounds; 0 without bounds."""
        low, high = self.bounds.get(self.target, (0.0, 0.0))
        return (low + high) / 2

    def target_bound(self, *, shifts: bool) -> float:
        """Return the largest absolute value of a target."""
        if self.target not in self.bounds:
            return 1.0
        low, high = self.bounds[self.target]
        return (high - low) / 2 if shifts else max(abs(low), abs(high))

    def encoded(self, rows: Cells) -> Floats:
        """Return the features as numbers, one column per coefficient; NaN for a blank cell."""
        plain = [name for name in self.features if self._is_plain(name)]
        numbers = rows.numbers(plain)
        if len(plain) < len(self.features):
            numbers = self._with_rules(rows, dict(zip(plain, numbers.T, strict=True)))
        if self.is_scaled:
            self._scale(numbers)
        return numbers

    def unreadable(self, rows: Cells) -> dict[str, Mask]:
        """Return which rows cannot be read, by the name of the rule; not private.

        A row can be read if no rule names it: then all numbers of its sample are finite.
        """
        found: dict[str, Mask] = {}
        for name in self.read:
            unread = ~np.isfinite(self._values(rows, name))
            found |= by_emptiness(rows, name, unread, self._rule(name))
        return found

    def _rule(self, name: str) -> str:
        """Return the name of the rule for cells of a column that are not empty."""
        if name in self.categories:
            return "none of the listed categories"
        return "no date" if name in self.dates else NO_NUMBER

    def _is_plain(self, name: str) -> bool:
        """Whether a column holds numbers as they are, without rules for cells."""
        return not (name in self.categories or name in self.dates or name in self.fill)

    def _values(self, rows: Cells, name: str) -> Floats:
        """Return a column as numbers, dates, or numbers of categories."""
        is_category = name in self.categories
        return self._numbers_of_categories(rows, name) if is_category else self._numbers(rows, name)

    def _with_rules(self, rows: Cells, plain: dict[str, Floats]) -> Floats:
        """Return plain columns with those beside them that are read by rules, in order."""
        columns: list[Floats] = []
        for name in self.features:
            if name in plain:
                columns.append(plain[name])
            elif name in self.categories:
                chosen = self._numbers_of_categories(rows, name)
                blank = np.where(np.isnan(chosen), np.nan, 0.0)
                columns += [blank + (chosen == place) for place in range(len(self._texts(name)))]
            else:
                columns.append(self._numbers(rows, name))
        return stacked(columns, len(rows))

    def _scale(self, numbers: Floats) -> None:
        """Scale features to the unit box, in place; infinite numbers become NaN."""
        with np.errstate(all="ignore"):  # a warning would reveal a person's data
            for first in range(0, len(numbers), BLOCK):
                block = numbers[first : first + BLOCK]
                blank = block - block  # 0 for finite numbers, NaN for others
                block *= self._slopes
                block += self._offsets
                np.clip(block, -1.0, 1.0, out=block)
                block += blank

    def _numbers(self, rows: Cells, name: str) -> Floats:
        """Return a column of numbers or dates, with empty cells filled."""
        is_date = name in self.dates
        values = rows.days(name, self._date(name)) if is_date else rows.numbers([name])[:, 0]
        if name not in self.fill:
            return values
        value = self.fill[name]
        filled = self._date(name).parsed([value])[0] if is_date else value
        return np.where(rows.is_missing(name), filled, values)

    def _numbers_of_categories(self, rows: Cells, name: str) -> Floats:
        """Return the number of each row's category; NaN for an unknown one."""
        places = {text: float(place) for place, text in enumerate(self._texts(name))}
        unknown = places[self.other[name]] if name in self.other else float("nan")
        empty = places[item_text(self.fill[name])] if name in self.fill else float("nan")
        texts = rows.values(name)
        numbers = [
            empty if value is None else places.get(item_text(value), unknown) for value in texts
        ]
        chosen = np.array(numbers, dtype=np.float64)
        return np.where(rows.is_missing(name), empty, chosen)

    def _texts(self, name: str) -> list[str]:
        return [item_text(category) for category in self.categories.get(name, ())]

    def _date(self, name: str) -> DateRule:
        return DateRule.of(name, self.dates[name])

    # --- released values, in the table's units ----------------------------------------------------

    @cached_property
    def _slopes(self) -> Floats:
        """The change of each scaled feature per unit of its column."""
        return np.array([2 / (high - low) for low, high in self._ranges])

    @cached_property
    def _offsets(self) -> Floats:
        """The value of each scaled feature where its column is 0."""
        return np.array([-(low + high) / (high - low) for low, high in self._ranges])

    @property
    def _ranges(self) -> list[tuple[float, float]]:
        """The values of each column at which its scaled feature is −1 and 1."""
        ranges: list[tuple[float, float]] = []
        for name in self.features:
            if name in self.categories:
                ranges += [(-1 / CATEGORY, 1 / CATEGORY)] * len(self.categories[name])
            else:
                ranges.append(self.bounds.get(name, (-1.0, 1.0)))
        return ranges

    def in_units(self, coefficients: Floats, intercept: Floats, *, shifts: bool) -> InUnits:
        """Return released coefficients and intercept in the units of the table."""
        shifted = intercept + coefficients @ self._offsets
        return InUnits(coefficients * self._slopes, shifted + (self.middle if shifts else 0.0))

    def decoded(self, features: Floats) -> Floats:
        """Return scaled features in the units of the table: clipped numbers, and 0 or 1."""
        return (features - self._offsets) / self._slopes

    @property
    def centre(self) -> Floats:
        """The middle of all bounds, and equal shares of the categories, in units of the table."""
        shares = [
            CATEGORY / len(self.categories[name]) if name in self.categories else 0.0
            for name in self.features
            for _ in self.categories.get(name, (name,))
        ]
        return self.decoded(np.array(shares))

    def errors_in_units(self, errors: Floats, of_intercept: Floats) -> InUnits:
        """Return standard errors in the units of the table.

        The error of the intercept is an upper bound: the errors of all terms add up.
        """
        at_zero = of_intercept + errors @ np.abs(self._offsets)
        return InUnits(errors * self._slopes, at_zero)


def _finite(values: Floats) -> Floats:
    """Return numbers with NaN for an infinite one, which no list of numbers admits either."""
    return np.where(np.isfinite(values), values, np.nan)
