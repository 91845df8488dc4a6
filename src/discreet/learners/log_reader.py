"""A table, and how the rows of a learner are read from it: for runs, and for tables in Python.

    reader = LogReader.opened(adapter, table, "person", adapter.answer_columns)
    for rows in reader.batches():
        adapter.answers(rows, reader.columns), reader.people(rows)

What is public is said before a row is read: `notices`. What is not, only by `check`.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from discreet import require
from discreet.arrays import Mask
from discreet.budget.privacy import delta_notice
from discreet.engine.people import NOBODY, each_name
from discreet.errors import ConfigError
from discreet.learners.log_adapter import LogAdapter, present
from discreet.progress import Bar, silent
from discreet.records.check import Check, checked
from discreet.records.samples import opened as opened_table

if TYPE_CHECKING:
    from discreet.records.sources import Source
    from discreet.records.table import LogTable


@dataclass(frozen=True)
class LogReader:
    """A log, and how its rows are read."""

    adapter: LogAdapter
    log: "Source"
    columns: list[str]
    """The columns that the learner reads."""
    person: str | None = None
    """The column with the person of each row."""

    def __post_init__(self) -> None:
        self.log.check_numbers(self.adapter.numeric(self.columns))

    @classmethod
    def opened(
        cls,
        adapter: LogAdapter,
        table: object,
        person: object,
        choose: Callable[[Sequence[str]], list[str]],
    ) -> Self:
        """Return the reader of a table; `choose` returns the columns to read, from the header.

        Raises
        ------
        ConfigError
            If the table cannot be opened, or lacks columns.
        """
        if person is not None and not isinstance(person, str):
            raise ConfigError(
                f"persons of a table must be a column, got {require.shown(type(person).__name__)}"
            )
        log = opened_table(table)
        header = log.columns
        if person is not None:
            present(header, [person])
            if list(header):
                header = [column for column in header if column != person]
        return cls(adapter, log, choose(header), person)

    @property
    def names(self) -> list[str]:
        """All columns of the log that are read."""
        person = [] if self.person is None else [self.person]
        return list(dict.fromkeys([*self.columns, *self.adapter.beside, *person]))

    def batches(self) -> Iterator["LogTable"]:
        """Yield all rows, some thousands at a time."""
        return self.log.batches(self.names)

    def whole(self, most: int) -> "LogTable":
        """Return all rows at once; `most` + 1 of them if there are more than `most`."""
        return self.log.whole(self.names, most + 1)

    def people(self, rows: "LogTable") -> list[object] | None:
        """Return the person of each row; None if the log does not name them."""
        return None if self.person is None else rows.people(self.person)

    # --- before any budget is spent ---------------------------------------------------------------

    def notices(self, horizon: int | None, *, takes_delta: bool) -> list[str]:
        """Return public facts about the log and the settings, one line each.

        They follow from the settings, the number of rows and a typed schema, never from a cell.
        `takes_delta` says that releases need a positive delta.
        """
        count = self.log.count()
        reads_once = self.adapter.warm_starts
        planned = None if reads_once else horizon
        known = [number for number in (count, planned) if number is not None]
        people = min(known, default=0)
        notices = [_length_notice(count, planned)]
        notices += [
            f"the schema of the log says that {name} holds text: cells that spell no number add "
            "nothing"
            for name in self.log.texts_among(self.adapter.numeric(self.columns))
        ]
        if takes_delta:
            notices.append(delta_notice(self.adapter.settings.delta, people))
        return [notice for notice in notices if notice]

    def check(self, notices: Sequence[str] = (), bar: Bar = silent) -> Check:
        """Return how many rows cannot be read, by rule; NOT private. It spends and writes nothing.

        A text file is read with all its columns, to recognise lines that cannot be split.
        """
        every = list(dict.fromkeys([*self.log.columns, *self.names]))
        total = self.log.count()
        opened_bar = silent("rows", 0) if total is None else bar("rows", total)
        with opened_bar as report:
            return checked(
                self.log.batches(every), self._unreadable, self.log.blank_row, notices, report
            )

    def _unreadable(self, rows: "LogTable") -> dict[str, Mask]:
        found = self.adapter.unreadable(rows, self.columns)
        people = self.people(rows)
        if people is not None and self.adapter.settings.keyed:
            named = each_name(people, keyed=True)
            found[f"{self.person}: no name"] = np.array([name == NOBODY for name in named])
        return found


def _length_notice(rows: int | None, horizon: int | None) -> str:
    """Return what the number of rows means for the horizon; "" if nothing."""
    if rows is None or horizon is None or rows == horizon:
        return ""
    both = f"the log has {rows:,} rows, and horizon is {horizon:,}: "
    if rows > horizon:
        return both + "the rest is not read"
    return both + f"budget for {horizon - rows:,} rows stays unspent"
