"""Dates as numbers: days since a public day, by a rule that the settings state.

    days since 2020-01-01                       ISO 8601: 2021-03-04, 2021-03-04T05:06:07+02:00
    days since 2020-01-01 as %d/%m/%Y           texts in another form
    years since 2020-01-01                      in years of 365.25 days

A stamp with a time zone counts as that moment in UTC; a stamp without one counts as UTC.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime

import numpy as np

from discreet import require
from discreet.arrays import Floats
from discreet.errors import ConfigError

RULE = re.compile(r"(days|years) since (\d{4}-\d{2}-\d{2})(?: as (.+))?")
DAYS = {"days": 1.0, "years": 365.25}
SECONDS = 86_400.0
PROBE = datetime(2001, 2, 3, 4, 5, 6, tzinfo=UTC)


@dataclass(frozen=True)
class DateRule:
    """How a column of dates is read.

    >>> rule = DateRule.of("sold", "days since 2020-01-01")
    >>> rule.parsed(["2020-01-02", "2020-01-01T12:00:00+00:00", "soon", None])
    array([1. , 0.5, nan, nan])
    """

    unit: str
    first: datetime
    form: str | None = None

    @classmethod
    def of(cls, column: str, rule: str) -> "DateRule":
        """Return the rule that a text states; `ConfigError` if it states none."""
        found = RULE.fullmatch(rule.strip())
        try:
            if found is None:
                raise ValueError
            unit, day, form = found.groups()
            if form is not None:
                datetime.strptime(PROBE.strftime(form), form)
                if "%" not in form:
                    raise ValueError
            return cls(unit, datetime.fromisoformat(day).replace(tzinfo=UTC), form)
        except ValueError:
            raise ConfigError(
                f'dates of {column} must be a rule such as "days since 2020-01-01" or '
                f'"days since 2020-01-01 as %d/%m/%Y", got {require.shown(rule)}'
            ) from None

    @property
    def refusal(self) -> str:
        """The name of the rule that a cell breaks if it is no date: it says what a date is."""
        return "no date such as 2026-01-31" if self.form is None else f"no date as {self.form}"

    def days(self, seconds: Floats) -> Floats:
        """Return seconds since 1970 in units since the first day."""
        with np.errstate(all="ignore"):
            since = (seconds - self.first.timestamp()) / (SECONDS * DAYS[self.unit])
        return np.asarray(since, dtype=np.float64)

    def parsed(self, cells: Sequence[object]) -> Floats:
        """Return each cell in units since the first day; NaN for a cell that is no date."""
        return self.days(np.array([self._seconds(cell) for cell in cells], dtype=np.float64))

    def _seconds(self, cell: object) -> float:
        return _seconds_of_date(cell, self.form)


def seconds_of(cell: object) -> float:
    """Return a stamp in seconds since 1970: a number of seconds, or a date; NaN for no stamp.

    >>> [seconds_of(cell) for cell in ("1970-01-01T01:00:10+01:00", "10", 10, "soon")]
    [10.0, 10.0, 10.0, nan]
    """
    if isinstance(cell, str | int | float) and not isinstance(cell, bool):
        try:
            return float(cell)
        except (ValueError, OverflowError):
            pass
    return _seconds_of_date(cell)


def _seconds_of_date(cell: object, form: str | None = None) -> float:
    """Return a date in seconds since 1970; NaN for no date. Texts are ISO 8601 without a form."""
    try:
        if isinstance(cell, str):
            text = cell.strip()
            stamp = datetime.fromisoformat(text) if form is None else datetime.strptime(text, form)
        elif isinstance(cell, datetime):
            stamp = cell
        elif isinstance(cell, date):
            stamp = datetime(cell.year, cell.month, cell.day)
        else:
            return float("nan")
        return (stamp if stamp.tzinfo else stamp.replace(tzinfo=UTC)).timestamp()
    except Exception:  # a person's text must not end the reading
        return float("nan")
