"""The log adapter of `ContinuousMaximizer`: one column per number of a person's row.

The columns are named by `columns`; without it, by the labels, or they are all columns of the log in
order.
"""

from collections.abc import Sequence

from discreet.arrays import Floats
from discreet.engine.tickets import Tickets
from discreet.learners.continuous_maximizer.settings import ContinuousMaximizerSettings
from discreet.learners.log_adapter import LogAdapter, Table, row_columns


class ContinuousMaximizerLogAdapter(LogAdapter):
    """Reads rows of a log as rows of people's functions."""

    settings_type = ContinuousMaximizerSettings
    settings: ContinuousMaximizerSettings
    keys = ("columns",)

    def columns(self, header: Sequence[str]) -> list[str]:
        settings = self.settings
        width = settings.function.width(settings.domain.items)
        names = self.log.get("columns")
        if names is None and settings.labels is not None and width == settings.domain.items:
            names = [str(label) for label in settings.labels]
        return row_columns(header, width, names)

    def numeric(self, columns: Sequence[str]) -> list[str]:
        return list(columns)

    def feedback(self, rows: Table, columns: Sequence[str], tickets: Tickets) -> Floats:
        return rows.numbers(columns)
