"""Signals that came while people were being read: delivered once everyone in the batch was counted.

Whoever reads a person's own code notes real signals instead of letting them in (discreet/arrivals/person.py);
the engine delivers them when the batch is added up. So nobody is lost or counted twice because of a Ctrl-C.
"""

import signal
import threading
from collections.abc import Iterable

__all__ = ["deliver", "delivered_after"]


class _Waiting(threading.local):
    """Of this thread: how many batches are being added up (one inside another), and what came meanwhile."""

    depth = 0

    def __init__(self) -> None:
        self.arrived: list[int] = []


_waiting = _Waiting()


class _DeliveredAfter:
    """Signals that are handed to `deliver` inside are delivered at the end."""

    def __enter__(self) -> None:
        _waiting.depth += 1

    def __exit__(self, *error: object) -> None:
        _waiting.depth -= 1
        if _waiting.arrived and not _waiting.depth:
            arrived, _waiting.arrived = _waiting.arrived, []
            deliver(arrived)


delivered_after = _DeliveredAfter()
"""One for all: it keeps its count by thread."""


def deliver(numbers: Iterable[int]) -> None:
    """Let these signals in: now, or when the batch that is being added up is done."""
    if _waiting.depth:
        _waiting.arrived += numbers
        return
    for number in dict.fromkeys(numbers):
        signal.raise_signal(number)
