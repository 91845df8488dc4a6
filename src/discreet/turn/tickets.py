"""Tickets: rounds in flight. They come back with the feedback, to the learner that gave them out."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.arrays import Integers
from discreet.errors import ConfigError

__all__ = ["Ticket", "Tickets"]


@dataclass(eq=False, slots=True)
class Ticket:
    """One round in flight: hand it back to `close` together with the feedback."""

    learner: str
    """Who gave it out."""
    epoch: int
    """How often that learner's state had been loaded by then."""
    index: int
    """The release that its feedback is for."""
    round: int
    decision: Any


@dataclass(frozen=True, eq=False)
class Tickets:
    """Many rounds in flight, with one decision a row.

    Slices are tickets again, and each entry is a `Ticket`.
    """

    learner: str
    epoch: int
    index: int
    rounds: Integers
    decisions: Any

    def __len__(self) -> int:
        return len(self.rounds)

    def __getitem__(self, part: Any) -> Any:
        if isinstance(part, int | np.integer):
            round, decision = int(self.rounds[part]), _single(self.decisions[part])
            return Ticket(self.learner, self.epoch, self.index, round, decision)
        return Tickets(self.learner, self.epoch, self.index, self.rounds[part], self.decisions[part])

    def __iter__(self) -> Iterator[Ticket]:
        return (self[place] for place in range(len(self)))

    def as_plain(self) -> dict[str, Any]:
        """Numbers, strings and lists: for a message or a file."""
        return {
            "learner": self.learner,
            "epoch": self.epoch,
            "index": self.index,
            "rounds": self.rounds.tolist(),
            "decisions": np.asarray(self.decisions).tolist(),
        }

    @classmethod
    def from_plain(cls, plain: dict[str, Any]) -> "Tickets":
        """The inverse of `as_plain`."""
        try:
            rounds, decisions = plain["rounds"], np.array(plain["decisions"])
            numbers = [plain["epoch"], plain["index"], *rounds]
            whole = all(type(number) is int and number < 2**62 for number in numbers)
            named = isinstance(plain["learner"], str) and isinstance(rounds, list)
            if not (whole and named and decisions.shape[:1] == (len(rounds),)):
                raise ValueError
        except Exception:  # whatever somebody else's data raises
            raise ConfigError("tickets must be what as_plain gave: one decision a round") from None
        rounds = np.array(rounds, dtype=np.int64)
        return cls(plain["learner"], plain["epoch"], plain["index"], rounds, decisions)


def _single(decision: Any) -> Any:
    """A set without the −1 that fills it up in a table of many sets; a plain number for a number."""
    if isinstance(decision, np.generic):
        return decision.item()
    return decision[decision >= 0] if decision.dtype.kind == "i" and decision.ndim == 1 else decision
