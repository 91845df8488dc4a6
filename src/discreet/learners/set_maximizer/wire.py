"""What a log says to a set maximiser: preferences, rewards or clicks.

* `feedback = "full"`: one column for each number of a row, named by its item, by `columns`, or in order;
* "bandit" and "clicks": `slate` (the shown items, separated by spaces, or a JSON list), and `reward` or
  `click` (the item; empty for none). A row counts if its slate is the one that was decided.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from discreet.errors import ConfigError
from discreet.learners.labels import labels_of
from discreet.learners.logged import item_text
from discreet.learners.set_maximizer.settings import SetMaximizerSettings
from discreet.learners.wire import Table, Wire, present, row_columns, shown
from discreet.turn.tickets import Tickets

__all__ = ["SetMaximizerWire"]


class SetMaximizerWire(Wire):
    """Rows of a log as preferences, rewards or clicks."""

    settings_type = SetMaximizerSettings
    settings: SetMaximizerSettings
    keys = ("columns",)

    def columns(self, header: Sequence[str]) -> list[str]:
        settings = self.settings
        if settings.feedback != "full":
            if "columns" in self.log:
                raise ConfigError(f'columns is for feedback = "full", got {settings.feedback!r}')
            return present(header, ["slate", "reward" if settings.feedback == "bandit" else "click"])
        if settings.functions is None:
            raise ConfigError("a log holds numbers: set function to a family of discreet.arrivals")
        width = settings.functions.width(settings.items)
        names = self.log.get("columns")
        if names is None and settings.labels is not None and width == settings.items:
            names = [str(label) for label in settings.labels]
        return row_columns(header, width, names)

    def feedback(self, rows: Table, columns: Sequence[str], tickets: Tickets) -> Any:
        settings = self.settings
        if settings.feedback == "full":
            return rows.numbers(columns)
        slate, answer = columns
        labels = labels_of(settings.items, settings.labels).tolist()
        names = [str(label) for label in labels]
        matches = shown(rows.texts(slate), tickets.decisions, names, ordered=True)
        if settings.feedback == "bandit":
            return np.where(matches, rows.numbers([answer])[:, 0], np.nan)
        clicked = dict(zip(names, labels, strict=True))
        clicks = zip(matches, rows.values(answer), strict=True)
        return [clicked.get(item_text(value)) if match else None for match, value in clicks]
