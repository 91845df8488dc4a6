"""What comes with the questions of rounds, and feedback on its way to a view."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from discreet.arrays import Floats, Integers, Mask
from discreet.release.aggregators import Aggregate

Block = dict[str, Aggregate]


@dataclass(frozen=True, eq=False)
class Request:
    """What came with the questions of some rounds: a row of context each, and what was available.

    `available` is one mask of candidates for all of them, or one a round.
    """

    context: Floats | None = field(default=None, repr=False)
    available: Mask | None = None

    def row(self, place: int) -> "Request":
        """What came with one of the questions."""
        return self[place : place + 1]

    def __getitem__(self, part: slice | Integers | Mask) -> "Request":
        if self is EMPTY_REQUEST:
            return self
        mask = self.available
        mask = mask if mask is None or mask.ndim == 1 else mask[part]
        return Request(None if self.context is None else self.context[part], mask)

    def same(self, other: "Request") -> bool:
        """Whether two questions are the same."""
        if self.context is None or other.context is None:
            contexts = self.context is other.context
        else:
            contexts = np.array_equal(self.context, other.context, equal_nan=True)
        if self.available is None or other.available is None:
            return contexts and self.available is other.available
        return contexts and np.array_equal(self.available, other.available)


EMPTY_REQUEST = Request()


@dataclass(eq=False, slots=True)
class Batch:
    """Feedback of some rounds of one block, on its way to `read`.

    `single` feedback comes from one `close`: it is refused if it is wrong, and the round stays
    open. Otherwise `feedback` holds one entry or row a round, and whoever is malformed adds
    nothing.
    """

    rounds: Integers
    feedback: Any = field(repr=False)
    request: Request
    single: bool = False

    def __len__(self) -> int:
        return len(self.rounds)


def all_leave_some(masks: Mask) -> bool:
    """Whether every mask, one or one a row, has a yes."""
    if masks.ndim == 1:
        return bool(np.count_nonzero(masks))  # what one visitor waits for
    return bool(masks.any(axis=-1).all())
