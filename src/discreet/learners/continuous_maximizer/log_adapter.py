"""The log adapter of `ContinuousMaximizer`: one column per number of a person's row.

The columns are named by `columns`; without it, by the labels, or they are all columns of the log in
order.
"""

from collections.abc import Sequence

from discreet.arrays import Floats
from discreet.learners.continuous_maximizer.settings import ContinuousMaximizerSettings
from discreet.learners.log_adapter import (
    LogAdapter,
    NumbersLog,
    Table,
    names_of_row,
    row_columns,
)


class ContinuousMaximizerLogAdapter(LogAdapter):
    """Reads rows of a log as rows of people's functions."""

    settings_type = ContinuousMaximizerSettings
    settings: ContinuousMaximizerSettings
    log_type = NumbersLog

    @property
    def _width(self) -> int:
        return self.settings.function.width(self.settings.domain.items)

    @property
    def answer_names(self) -> list[str]:
        return names_of_row(self._width, self.settings.labels)

    def columns(self, header: Sequence[str]) -> list[str]:
        settings = self.settings
        width = self._width
        names = self.log.get("columns")
        if names is None and settings.labels is not None and width == settings.domain.items:
            names = [str(label) for label in settings.labels]
        return row_columns(header, width, names)

    def numeric(self, columns: Sequence[str]) -> list[str]:
        return list(columns)

    def answers(self, rows: Table, columns: Sequence[str]) -> Floats:
        return rows.numbers(columns)
