"""Rows of a log as feedback of `SetMinimizer`: cost functions, or costs of the chosen sets.

* `feedback = "full"`: one column per number of a row: those named by `columns`; else by the items'
  labels if there are as many; else all columns in order.
* "bandit": `slate` (the chosen set, separated by spaces in any order, or a JSON list) and `cost`. A
  row counts if its set is the one that was decided. `slates = "decided"` declares that the log
  holds this run's own decisions, since a log of another policy would teach nothing.
"""

from collections.abc import Sequence

import numpy as np

from discreet.engine.tickets import Tickets
from discreet.errors import ConfigError
from discreet.learners.labels import names_by_number
from discreet.learners.log_adapter import (
    LogAdapter,
    Table,
    check_decided,
    present,
    row_columns,
    shown,
)
from discreet.learners.set_minimizer.settings import SetMinimizerSettings


class SetMinimizerLogAdapter(LogAdapter):
    """Log adapter of `SetMinimizer`: rows as cost functions, or as costs of the chosen sets."""

    settings_type = SetMinimizerSettings
    settings: SetMinimizerSettings
    keys = ("columns", "slates")

    def columns(self, header: Sequence[str]) -> list[str]:
        settings = self.settings
        if settings.feedback == "bandit":
            if "columns" in self.log:
                raise ConfigError(f'columns is for feedback = "full", got {settings.feedback!r}')
            check_decided(self.log, ": another log teaches a set minimiser nothing")
            return present(header, ["slate", "cost"])
        if "slates" in self.log:
            raise ConfigError(f'slates is for feedback = "bandit", got {settings.feedback!r}')
        if settings.functions is None:
            raise ConfigError("a log holds numbers: set function to a family of discreet.functions")
        width = settings.functions.width(settings.items)
        names = self.log.get("columns")
        if names is None and settings.labels is not None and width == settings.items:
            names = [str(label) for label in settings.labels]
        return row_columns(header, width, names)

    def numeric(self, columns: Sequence[str]) -> list[str]:
        return list(columns) if self.settings.feedback == "full" else []

    def feedback(self, rows: Table, columns: Sequence[str], tickets: Tickets) -> np.ndarray:
        settings = self.settings
        if settings.feedback == "full":
            return rows.numbers(columns)
        slate, cost = columns
        names = [str(label) for label in names_by_number(settings.items, settings.labels)]
        matches = shown(rows.texts(slate), tickets.numbers, names, ordered=False)
        return np.where(matches, rows.numbers([cost])[:, 0], np.nan)
