"""Requests, which come with the questions of rounds, and batches of feedback."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from discreet.arrays import Floats, Integers, Mask
from discreet.release.aggregators import Aggregate

Block = dict[str, Aggregate]
"""The aggregates of one block, by the name of their aggregator."""


@dataclass(frozen=True, eq=False)
class Request:
    """What comes with the questions of some rounds: one row of context per round, and a mask.

    `available` is one mask of candidates for all rounds, or one per round.
    """

    context: Floats | None = field(default=None, repr=False)
    available: Mask | None = None

    def row(self, place: int) -> "Request":
        """Return the request of one of the rounds."""
        return self[place : place + 1]

    def __getitem__(self, part: slice | Integers | Mask) -> "Request":
        if self is EMPTY_REQUEST:
            return self
        context = self.context
        mask = self.available
        return Request(
            None if context is None else context[part],
            mask if mask is None or mask.ndim == 1 else mask[part],
        )

    def same(self, other: "Request") -> bool:
        """Return whether two requests are equal."""
        if self.context is None or other.context is None:
            are_contexts_equal = self.context is other.context
        else:
            are_contexts_equal = np.array_equal(self.context, other.context, equal_nan=True)
        if self.available is None or other.available is None:
            return are_contexts_equal and self.available is other.available
        return are_contexts_equal and np.array_equal(self.available, other.available)


EMPTY_REQUEST = Request()


@dataclass(eq=False, slots=True)
class Batch:
    """Feedback of some rounds of one block, for `Phase.read`.

    `single` feedback comes from one `close`: it is refused if it is malformed, and the round stays
    open. Otherwise `feedback` holds one entry or row per round, and malformed ones add nothing.
    """

    rounds: Integers
    feedback: Any = field(repr=False)
    request: Request
    single: bool = False
    decide: Callable[[Integers, Request], np.ndarray] | None = field(default=None, repr=False)
    """Returns what the rounds decided; the engine sets it where it has not kept that."""
    kept: np.ndarray | None = field(default=None, repr=False)
    """What the rounds decided, one decision per row, if the engine has kept it."""

    @property
    def decisions(self) -> np.ndarray:
        """What the rounds decided, one decision per row: kept since they were opened, or again."""
        if self.kept is None:
            assert self.decide is not None, "a view sets it before feedback is read"
            self.kept = self.decide(self.rounds, self.request)
        return self.kept

    def __len__(self) -> int:
        return len(self.rounds)


def all_leave_some(masks: Mask) -> bool:
    """Return whether every mask (one mask, or one per row) has at least one candidate."""
    if masks.ndim == 1:
        return bool(np.count_nonzero(masks))  # fast: runs while one visitor waits
    return bool(masks.any(axis=-1).all())
