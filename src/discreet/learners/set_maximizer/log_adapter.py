"""The log adapter of `SetMaximizer`: rows of a log as preferences, rewards or clicks.

* `feedback = "full"`: one column per number of a row, named by its item, by `columns`, or in order;
* "bandit" and "clicks": `slate` (the shown items, separated by spaces, or a JSON list), and
  `reward` or `click` (the item; empty for none).

A log of slates declares their origin. If another policy showed them, all rows enter one warm start:

    propensity = "p"            # a column: one propensity per row, or one per shown item
    least_propensity = 0.01     # smaller ones count as this; public, never computed from the log

or `propensity = "uniform"`, if slates were drawn uniformly from all items. If this run itself
decided them, `slates = "decided"`: a row counts if its slate is the one that was decided.

Logs with one row per position or per event become such logs by `layout` (records/layouts.py).
"""

from collections.abc import Sequence

import numpy as np

from discreet.engine.tickets import Tickets
from discreet.errors import ConfigError
from discreet.learners.labels import Label, names_by_number
from discreet.learners.log_adapter import (
    DECIDED,
    LogAdapter,
    OfAnotherPolicy,
    Table,
    check_decided,
    check_propensity,
    present,
    row_columns,
    shown,
)
from discreet.learners.set_maximizer.settings import SetMaximizerSettings
from discreet.records.log_cells import UNIFORM, item_text, names_in, numbers_in


class SetMaximizerLogAdapter(LogAdapter):
    """Reads rows of a log as preferences, rewards or clicks."""

    settings_type = SetMaximizerSettings
    settings: SetMaximizerSettings
    keys = ("columns", "propensity", "least_propensity", "slates")

    def columns(self, header: Sequence[str]) -> list[str]:
        settings = self.settings
        if settings.feedback != "full":
            if "columns" in self.log:
                raise ConfigError(f'columns is for feedback = "full", got {settings.feedback!r}')
            return self._columns_of_slates(header)
        for key in ("propensity", "least_propensity", "slates"):
            if key in self.log:
                raise ConfigError(
                    f'{key} is for feedback = "bandit" or "clicks", got {settings.feedback!r}'
                )
        if settings.functions is None:
            raise ConfigError("a log holds numbers: set function to a family of discreet.functions")
        width = settings.functions.width(settings.room)
        names = self.log.get("columns")
        if names is None and settings.labels is not None and width == settings.items:
            names = [str(label) for label in settings.labels]
        return row_columns(header, width, names)

    def _columns_of_slates(self, header: Sequence[str]) -> list[str]:
        names = ["slate", "reward" if self.settings.feedback == "bandit" else "click"]
        if "propensity" not in self.log:
            check_decided(
                self.log,
                f'; or propensity = "{UNIFORM}" or a column of propensities, '
                "if another policy showed it",
            )
            if "least_propensity" in self.log:
                raise ConfigError(
                    f'least_propensity is for another policy, not for slates = "{DECIDED}"'
                )
            return present(header, names)
        check_propensity(self.log, names, "item")
        if "slates" in self.log:
            raise ConfigError(
                "give propensity if another policy showed the slates, or slates = ..., not both"
            )
        # The column of propensities is no answer: a run with its own decisions has none.
        present(header, [*names, *([] if self._uniform else [self.log["propensity"]])])
        return names

    @property
    def _labels(self) -> Sequence[Label]:
        settings = self.settings
        return (
            names_by_number(settings.items, settings.labels) if self.labels is None else self.labels
        )

    @property
    def _uniform(self) -> bool:
        return bool(self.log["propensity"] == UNIFORM)

    @property
    def warm_starts(self) -> bool:
        return "propensity" in self.log

    @property
    def slots(self) -> int | None:
        return None if self.settings.feedback == "full" else self.settings.slots

    def numeric(self, columns: Sequence[str]) -> list[str]:
        return list(columns) if self.settings.feedback == "full" else []

    def of_another_policy(self, rows: Table, columns: Sequence[str]) -> OfAnotherPolicy:
        slate, answer = columns
        named = {str(label): label for label in self._labels}
        slates = [[named.get(name) for name in names_in(text)] for text in rows.texts(slate)]
        if self.settings.feedback == "bandit":
            answers = rows.numbers([answer])[:, 0].tolist()
        else:
            answers = [_named(value, named) for value in rows.values(answer)]
        propensity = self.log["propensity"]
        propensities = (
            UNIFORM if self._uniform else [numbers_in(text) for text in rows.texts(propensity)]
        )
        shown_rows = list(zip(slates, answers, strict=True))
        return OfAnotherPolicy(shown_rows, propensities, self.log.get("least_propensity"))

    def feedback(self, rows: Table, columns: Sequence[str], tickets: Tickets) -> object:
        settings = self.settings
        if settings.feedback == "full":
            return rows.numbers(columns)
        slate, answer = columns
        names = [str(label) for label in self._labels]
        matches = shown(rows.texts(slate), tickets.numbers, names, ordered=True)
        if settings.feedback == "bandit":
            return np.where(matches, rows.numbers([answer])[:, 0], np.nan)
        clicked = dict(zip(names, self._labels, strict=True))
        clicks = zip(matches, rows.values(answer), strict=True)
        return [_named(value, clicked) if match else None for match, value in clicks]


def _named(value: object, labels: dict[str, Label]) -> Label | None:
    """Return the item that a cell names; None for none."""
    return None if value is None else labels.get(item_text(value))
