"""Rows of a log as feedback of `RunningSum`: one person's vector per row, one column per number."""

from collections.abc import Sequence
from typing import Any

from discreet.learners.log_adapter import NumbersLogAdapter
from discreet.learners.running_sum.settings import RunningSumSettings


class RunningSumLogAdapter(NumbersLogAdapter):
    """Log adapter of `RunningSum`: rows as vectors; totals are named by their columns."""

    settings_type = RunningSumSettings
    size = "dimension"

    def named(self, decision: dict[str, Any], columns: Sequence[str]) -> dict[str, object]:
        return {"total": dict(zip(columns, decision["total"], strict=True))}
