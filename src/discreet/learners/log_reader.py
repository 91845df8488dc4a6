"""A table, and how the rows of a learner are read from it: for runs, and for tables in Python.

    reader = LogReader.opened(adapter, table, "person", adapter.answer_columns)
    for rows in reader.batches():
        adapter.answers(rows, reader.columns), reader.people(rows)

What is public is said before a row is read: `notices`. What is not, only by `check`.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal, Self

import numpy as np

from discreet import require
from discreet.arrays import Mask
from discreet.budget.privacy import delta_notice
from discreet.engine.people import NOBODY, each_name
from discreet.errors import ConfigError
from discreet.learners.homes import HOMES
from discreet.learners.log_adapter import LogAdapter, log_adapter_of, present
from discreet.progress import bar
from discreet.records.check import Check, checked, checked_rows
from discreet.records.kinds import recognised
from discreet.records.log_cells import NAMING
from discreet.records.samples import opened as opened_table

if TYPE_CHECKING:
    from discreet.learners.readable import Readable
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
        numeric = self.adapter.numeric(self.columns)
        self.log.check_numbers(numeric)
        naming = [name for name in self.columns if name in NAMING and name not in numeric]
        self.log.check_items(naming, self.adapter.item_labels)
        if self.person is not None:
            self.log.check_people(self.person)

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

    def whole(self, most: int | None = None) -> "LogTable":
        """Return all rows at once; `most` + 1 of them if there are more than `most`."""
        return self.log.whole(self.names, None if most is None else most + 1)

    @cached_property
    def count(self) -> int | None:
        """The number of rows; None if only a full reading would tell."""
        with bar("counting rows", None):  # lines of a text file
            return self.log.count()

    def people(self, rows: "LogTable") -> list[object] | None:
        """Return the person of each row; None if the log does not name them."""
        return None if self.person is None else rows.people(self.person)

    # --- before any budget is spent ---------------------------------------------------------------

    def notices(self, horizon: int | None, *, takes_delta: bool) -> list[str]:
        """Return public facts about the log and the settings, one line each.

        They follow from the settings, the number of rows and a typed schema, never from a cell.
        `takes_delta` says that releases need a positive delta.
        """
        count = self.count
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
        if self.person is not None and not self.adapter.settings.keyed:
            notices.append(
                "person names people, but the guarantee is for one row of a person: set keyed = "
                "true and contributions for all their rows"
            )
        if takes_delta:
            notices.append(delta_notice(self.adapter.settings.delta, people))
        return [notice for notice in notices if notice]

    def check(self, notices: Sequence[str] = ()) -> Check:
        """Return how many rows cannot be read, by rule; NOT private. It spends and writes nothing.

        A text file is read with all its columns, to recognise lines that cannot be split.
        """
        every = list(dict.fromkeys([*self.log.columns, *self.names]))
        with bar("rows", self.count) as report:
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
    return both + f"the plan has room for {horizon - rows:,} more"


# --- tables and checks of learners in Python ------------------------------------------------------


def reader_for(
    learner: "Readable",
    table: object,
    persons: object = None,
    *,
    of: Literal["answers", "contexts", "checks"] = "answers",
    log: dict[str, object] | None = None,
) -> LogReader:
    """Return the reader of a learner's table; `log` has keys about it, as a run's TOML has them."""
    adapter = _adapter_of(learner, log)
    choose = {
        "answers": adapter.answer_columns,
        "contexts": adapter.context_columns,
        "checks": adapter.check_columns,
    }
    return LogReader.opened(adapter, table, persons, choose[of])


def check_for(
    learner: "Readable", rows: object, persons: object, log: dict[str, object] | None = None
) -> Check:
    """Return how many rows of a table, an array or a list a learner cannot read; NOT private."""
    is_table, rows = recognised(rows)
    if is_table:
        reader = reader_for(learner, rows, persons, of="checks", log=log)
        takes_delta = learner.guarantee.total.takes_delta
        return reader.check(reader.notices(learner.horizon, takes_delta=takes_delta))
    if log:
        raise ConfigError("a log of another policy is checked as a table: give a frame or a Path")
    adapter = _adapter_of(learner, None)
    cells = adapter.cells(rows)
    return checked_rows(cells, adapter.unreadable(cells, adapter.answer_names))


def _adapter_of(learner: "Readable", log: dict[str, object] | None) -> LogAdapter:
    """Return the log adapter of a learner, with the labels that its items have by now."""
    kinds = type(learner).__mro__
    name = next((kind.__name__ for kind in kinds if kind.__name__ in HOMES), None)
    if name is None:
        raise ConfigError(f"{kinds[0].__name__} does not read tables: give an array or a list")
    return log_adapter_of(name)(learner.settings, log or {}, learner.labels)
