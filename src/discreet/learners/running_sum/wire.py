"""What a log says to a running sum: what a person adds, one column a number."""

from collections.abc import Sequence
from typing import Any

from discreet.learners.running_sum.settings import RunningSumSettings
from discreet.learners.wire import NumbersWire

__all__ = ["RunningSumWire"]


class RunningSumWire(NumbersWire):
    """Rows of a log as vectors; totals are named by their columns."""

    settings_type = RunningSumSettings
    size = "dimension"

    def named(self, decision: dict[str, Any], columns: Sequence[str]) -> dict[str, Any]:
        return {"total": dict(zip(columns, decision["total"], strict=True))}
