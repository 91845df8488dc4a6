"""Rows of a log as feedback of `Hedge`: the gain of every action, one column per action.

`columns` names the columns; without it they are the labels, or all columns of the log in order.
"""

from collections.abc import Sequence
from typing import Any

from discreet.learners.hedge.settings import HedgeSettings
from discreet.learners.log_adapter import NumbersLogAdapter, names_of_row, row_columns


class HedgeLogAdapter(NumbersLogAdapter):
    """Log adapter of `Hedge`: rows as gains; actions without labels are named by their columns."""

    settings_type = HedgeSettings
    settings: HedgeSettings
    size = "actions"

    @property
    def answer_names(self) -> list[str]:
        return names_of_row(self.settings.actions, self.settings.labels)

    def columns(self, header: Sequence[str]) -> list[str]:
        names = self.log.get("columns")
        if names is None and self.settings.labels is not None:
            names = [str(label) for label in self.settings.labels]
        return row_columns(header, self.settings.actions, names)

    def named(self, decision: dict[str, Any], columns: Sequence[str]) -> dict[str, object]:
        if self.settings.labels:
            return decision
        return {"chances": dict(zip(columns, decision["chances"].values(), strict=True))}
