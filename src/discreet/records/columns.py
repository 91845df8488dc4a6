"""How a regression or a classification reads the columns of a table.

    number      as it is; with bounds, scaled to the unit box (unit_box.py) and clipped
    date        a number of days or years, which then has bounds
    category    one column of 0 and 1 per category of a public list
    target      less the middle of its bounds, for losses that an intercept can shift

All rules are public settings: none is found in the data. A cell that cannot be read blanks its row,
which then adds nothing; an empty cell is filled if the settings say by what.

Guarantee   docs/guarantees/streaming.md, Lemma 0
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import inf, isfinite

import numpy as np

from discreet import require
from discreet.arrays import Floats, Mask, stacked
from discreet.engine.codec import check_fields
from discreet.errors import ConfigError
from discreet.feedback import each_number
from discreet.losses import Samples
from discreet.records.cells import NO_NUMBER, Cells, by_emptiness
from discreet.records.dates import DateRule
from discreet.records.log_cells import item_text
from discreet.records.unit_box import UnitBox


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
    rename
        Names of columns in the table, each with the name that is used here.

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
    rename: Mapping[str, str] = field(default_factory=dict)

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
                near = require.nearest(unread[0], read)
                raise ConfigError(
                    f"{setting} is for features and the target: {unread[0]} is none of them{near}"
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
                    f"{require.nearest(category, self._texts(name))}"
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
        kind = "one of its categories" if name in self.categories else "a number"
        if not is_known:
            kind = "a text with a date" if name in self.dates else kind
            near = require.nearest(value, self._texts(name))
            raise ConfigError(f"fill of {name} must be {kind}, got {require.shown(value)}{near}")
        low, high = self.bounds.get(name, (-inf, inf))
        if name not in self.categories and not low <= self._filled(name) <= high:
            raise ConfigError(
                f"fill of {name} must lie within its bounds, {low:g} to {high:g}, got "
                f"{require.shown(value)}"
            )

    def _filled(self, name: str) -> float:
        """Return the number that replaces an empty cell of a column of numbers or dates."""
        value = self.fill[name]
        return float(self._date(name).parsed([value])[0]) if name in self.dates else float(value)

    # --- what is read -----------------------------------------------------------------------------

    @property
    def read(self) -> list[str]:
        """The columns of the table that are read: features, then the target."""
        return [*self.features, self.target]

    @property
    def numeric(self) -> list[str]:
        """The columns that hold numbers."""
        return [name for name in self.read if name not in (*self.categories, *self.dates)]

    def check_numeric(self, matrix: object) -> None:
        """Refuse a matrix of numbers if columns hold dates or texts: every row would be blank."""
        if not isinstance(matrix, np.ndarray) or matrix.dtype.kind not in "biuf":
            return
        texts = [
            name
            for name in self.features
            if name in self.dates or (name in self.categories and not self._has_numbers(name))
        ]
        if texts:
            raise ConfigError(
                f"an array of numbers has no {', '.join(texts)}: give a frame with the columns"
            )

    def _has_numbers(self, name: str) -> bool:
        """Whether a number can be one of the categories of a column, such as a postcode."""
        numbers = each_number(self._texts(name))
        return numbers is not None and bool(np.isfinite(numbers).any())

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

    @cached_property
    def box(self) -> UnitBox:
        """How the features lie in the unit box."""
        return UnitBox(
            [
                len(self.categories[name]) if name in self.categories else self._bounds_of(name)
                for name in self.features
            ]
        )

    def _bounds_of(self, name: str) -> tuple[float, float]:
        """Return the bounds of a column; without any, those that change nothing."""
        return self.bounds.get(name, (-1.0, 1.0))

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
            self.box.scale(numbers)
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
        return self._date(name).refusal if name in self.dates else NO_NUMBER

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

    def _numbers(self, rows: Cells, name: str) -> Floats:
        """Return a column of numbers or dates, with empty cells filled."""
        is_date = name in self.dates
        values = rows.days(name, self._date(name)) if is_date else rows.numbers([name])[:, 0]
        if name not in self.fill:
            return values
        return np.where(rows.is_missing(name), self._filled(name), values)

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


def _finite(values: Floats) -> Floats:
    """Return numbers with NaN for an infinite one, which no list of numbers admits either."""
    return np.where(np.isfinite(values), values, np.nan)
