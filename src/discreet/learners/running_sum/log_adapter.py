"""What a log says to a running sum: what a person adds, one column a number."""

from collections.abc import Sequence
from typing import Any

from discreet.learners.log_adapter import NumbersLogAdapter
from discreet.learners.running_sum.settings import RunningSumSettings


class RunningSumLogAdapter(NumbersLogAdapter):
    """Rows of a log as vectors; totals are named by their columns."""

    settings_type = RunningSumSettings
    size = "dimension"

    def named(self, decision: dict[str, Any], columns: Sequence[str]) -> dict[str, Any]:
        return {"total": dict(zip(columns, decision["total"], strict=True))}
