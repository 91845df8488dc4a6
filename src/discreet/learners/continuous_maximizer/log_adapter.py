"""What a log says to a continuous maximiser: one column for each number of a row.

They are named by `columns`; without it by the labels, or all columns of the log, in order.
"""

from collections.abc import Sequence

from discreet.arrays import Floats
from discreet.engine.tickets import Tickets
from discreet.learners.continuous_maximizer.settings import ContinuousMaximizerSettings
from discreet.learners.log_adapter import LogAdapter, Table, row_columns


class ContinuousMaximizerLogAdapter(LogAdapter):
    """Rows of a log as people's functions."""

    settings_type = ContinuousMaximizerSettings
    settings: ContinuousMaximizerSettings
    keys = ("columns",)

    def columns(self, header: Sequence[str]) -> list[str]:
        settings = self.settings
        width, names = settings.function.width(settings.domain.items), self.log.get("columns")
        if names is None and settings.labels is not None and width == settings.domain.items:
            names = [str(label) for label in settings.labels]
        return row_columns(header, width, names)

    def feedback(self, rows: Table, columns: Sequence[str], tickets: Tickets) -> Floats:
        return rows.numbers(columns)
