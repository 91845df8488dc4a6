"""What a log says to experts: what every action would have gained, one column each."""

from collections.abc import Sequence
from typing import Any

from discreet.learners.hedge.draws import HedgeSettings
from discreet.learners.wire import NumbersWire

__all__ = ["HedgeWire"]


class HedgeWire(NumbersWire):
    """Rows of a log as gains; the drawn action is named by its column."""

    settings_type = HedgeSettings
    size = "actions"

    def named(self, decision: dict[str, Any], columns: Sequence[str]) -> dict[str, Any]:
        action = decision["action"]
        return {"action": None if action is None else columns[action]}
