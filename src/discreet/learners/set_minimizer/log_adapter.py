"""Rows of a log as feedback of `SetMinimizer`: cost functions, or costs of the chosen sets.

* `feedback = "full"`: one column per number of a row: those named by `columns`; else by the items'
  labels if there are as many; else all columns in order.
* "bandit": `slate` (the chosen set, separated by spaces in any order, or a JSON list) and `cost`. A
  row counts if its set is the one that was decided. `slates = "decided"` declares that the log
  holds this run's own decisions, since a log of another policy would teach nothing.
"""

from collections.abc import Sequence
from typing import Literal, TypedDict

import numpy as np

from discreet.arrays import Floats, Mask
from discreet.engine.tickets import Tickets
from discreet.errors import ConfigError
from discreet.learners.labels import names_by_number
from discreet.learners.log_adapter import (
    UNLISTED,
    LogAdapter,
    Table,
    check_decided,
    names_of_row,
    present,
    row_columns,
    shown,
)
from discreet.learners.set_minimizer.settings import SetMinimizerSettings
from discreet.records.log_cells import names_in

SLATE = "slate"
COST = "cost"


class SetMinimizerLog(TypedDict, total=False):
    """Keys about a log of cost functions, or of costs of the chosen sets.

    Parameters
    ----------
    columns
        With `feedback = "full"`: the columns of a row's numbers, in order. Without it they are
        those named like the items, or all columns of the log.
    slates
        With `feedback = "bandit"`: "decided" declares that the log holds this run's own decisions.
        A row counts if its set is the one that was decided.
    """

    columns: Sequence[str]
    slates: Literal["decided"]


class SetMinimizerLogAdapter(LogAdapter):
    """Log adapter of `SetMinimizer`: rows as cost functions, or as costs of the chosen sets."""

    settings_type = SetMinimizerSettings
    settings: SetMinimizerSettings
    log_type = SetMinimizerLog

    @property
    def answer_names(self) -> list[str]:
        settings = self.settings
        if settings.feedback == "bandit":
            return [COST]
        return names_of_row(_width(settings), settings.labels)

    def answer_columns(self, header: Sequence[str]) -> list[str]:
        is_cost = self.settings.feedback == "bandit"
        return present(header, [COST]) if is_cost else self.columns(header)

    def check_columns(self, header: Sequence[str]) -> list[str]:
        """Return the columns of answers, and that of the sets if the table has it."""
        shown = [SLATE] if self.settings.feedback == "bandit" and SLATE in list(header) else []
        return [*shown, *self.answer_columns(header)]

    def columns(self, header: Sequence[str]) -> list[str]:
        settings = self.settings
        if settings.feedback == "bandit":
            if "columns" in self.log:
                raise ConfigError(f'columns is for feedback = "full", got {settings.feedback!r}')
            check_decided(self.log, ": another log teaches a set minimiser nothing")
            return present(header, [SLATE, COST])
        if "slates" in self.log:
            raise ConfigError(f'slates is for feedback = "bandit", got {settings.feedback!r}')
        width = _width(settings)
        names = self.log.get("columns")
        if names is None and settings.labels is not None and width == settings.items:
            names = [str(label) for label in settings.labels]
        return row_columns(header, width, names)

    def numeric(self, columns: Sequence[str]) -> list[str]:
        return list(columns) if self.settings.feedback == "full" else [COST]

    @property
    def _names(self) -> list[str]:
        """The items as texts, by number."""
        settings = self.settings
        return [str(label) for label in names_by_number(settings.items, settings.labels)]

    def answers(self, rows: Table, columns: Sequence[str]) -> Floats:
        if self.settings.feedback == "full":
            return rows.numbers(columns)
        return rows.numbers([COST])[:, 0]

    def feedback(self, rows: Table, columns: Sequence[str], tickets: Tickets) -> Floats:
        answers = self.answers(rows, columns)
        if self.settings.feedback == "full":
            return answers
        matches = shown(rows.texts(SLATE), tickets.numbers, self._names, ordered=False)
        return np.where(matches, answers, np.nan)

    def unreadable(self, rows: Table, columns: Sequence[str]) -> dict[str, Mask]:
        found = super().unreadable(rows, columns)
        if self.settings.feedback == "bandit" and SLATE in columns:
            known = set(self._names)
            slates = [names_in(text) for text in rows.texts(SLATE)]
            found[f"{SLATE}: {UNLISTED}"] = np.array([not known.issuperset(s) for s in slates])
        return found


def _width(settings: SetMinimizerSettings) -> int:
    """Return the number of numbers of a cost function; refuse callables, which no log holds."""
    if settings.functions is None:
        raise ConfigError("a log holds numbers: set function to a family of discreet.functions")
    return settings.functions.width(settings.items)
