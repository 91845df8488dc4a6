"""Tickets: rounds in flight. They come back with the feedback, to the learner that gave them
out.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, overload

import numpy as np

from discreet.arrays import Integers, Mask
from discreet.engine.labels import Labels
from discreet.errors import ConfigError


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
    """What to show: labels where the learner has them, otherwise numbers."""

    def as_plain(self) -> dict[str, object]:
        """Numbers, strings and lists: for a message or a file.

        >>> Ticket.from_plain(Ticket("shop", 0, 0, 7, ["tea", "milk"]).as_plain()).decision
        ['tea', 'milk']
        """
        return {
            "learner": self.learner,
            "epoch": self.epoch,
            "index": self.index,
            "round": self.round,
            "decision": _plain(self.decision),
        }

    @classmethod
    def from_plain(cls, plain: dict[str, Any]) -> "Ticket":
        """The inverse of `as_plain`."""
        try:
            learner, epoch, index = _origin(plain)
            round, decision = _whole(plain["round"]), plain["decision"]
        except Exception:  # whatever somebody else's data raises
            raise ConfigError("a ticket must be what as_plain gave") from None
        return cls(learner, epoch, index, round, decision)


@dataclass(frozen=True, eq=False)
class Tickets:
    """Many rounds in flight, with one decision per row.

    Slices are tickets again, and each entry is a `Ticket`.
    """

    learner: str
    epoch: int
    index: int
    rounds: Integers
    numbers: np.ndarray
    """The decisions by number, one row per round; −1 fills up sets of different sizes."""
    labels: Labels | None = None

    @cached_property
    def decisions(self) -> Any:
        """What to show, one row per round: labels where the learner has them, otherwise numbers.

        An array; with labels, sets of different sizes are a list of lists.
        """
        return self.numbers if self.labels is None else self.labels.many(self.numbers)

    def __len__(self) -> int:
        return len(self.rounds)

    @overload
    def __getitem__(self, part: int | np.integer) -> Ticket: ...

    @overload
    def __getitem__(self, part: slice | Sequence[int] | Integers | Mask) -> "Tickets": ...

    def __getitem__(
        self, part: int | np.integer | slice | Sequence[int] | Integers | Mask
    ) -> "Ticket | Tickets":
        if isinstance(part, int | np.integer):
            round, decision = int(self.rounds[part]), self.numbers[part]
            decision = _single(decision) if self.labels is None else self.labels.single(decision)
            return Ticket(self.learner, self.epoch, self.index, round, decision)
        rounds, numbers = self.rounds[part], self.numbers[part]
        return Tickets(self.learner, self.epoch, self.index, rounds, numbers, self.labels)

    def __iter__(self) -> Iterator[Ticket]:
        return (self[place] for place in range(len(self)))

    def as_plain(self) -> dict[str, object]:
        """Numbers, strings and lists: for a message or a file."""
        plain: dict[str, object] = {
            "learner": self.learner,
            "epoch": self.epoch,
            "index": self.index,
        }
        plain |= {"rounds": self.rounds.tolist(), "decisions": _plain(self.decisions)}
        return plain if self.labels is None else plain | {"labels": self.labels.as_plain()}

    @classmethod
    def from_plain(cls, plain: dict[str, Any]) -> "Tickets":
        """The inverse of `as_plain`."""
        try:
            learner, epoch, index = _origin(plain)
            rounds, decisions = [_whole(round) for round in plain["rounds"]], plain["decisions"]
            labels = Labels.from_plain(plain["labels"]) if "labels" in plain else None
            numbers = np.array(decisions) if labels is None else labels.table(decisions)
            if numbers.shape[:1] != (len(rounds),):
                raise ValueError
        except Exception:  # whatever somebody else's data raises
            raise ConfigError(
                "tickets must be what as_plain gave: one decision per round"
            ) from None
        return cls(learner, epoch, index, np.array(rounds, dtype=np.int64), numbers, labels)


def _origin(plain: dict[str, Any]) -> tuple[str, int, int]:
    """Who gave a ticket out, in which epoch and before which release."""
    if not isinstance(plain["learner"], str):
        raise ValueError
    return plain["learner"], _whole(plain["epoch"]), _whole(plain["index"])


def _whole(number: object) -> int:
    if type(number) is not int or abs(number) >= 2**62:
        raise ValueError
    return number


def _plain(decisions: Any) -> Any:
    return decisions.tolist() if isinstance(decisions, np.ndarray | np.generic) else decisions


def _single(decision: Any) -> Any:
    """A set without the −1 that fills it up in a table of many sets; a plain number for a
    number.
    """
    if isinstance(decision, np.generic):
        return decision.item()
    return (
        decision[decision >= 0] if decision.dtype.kind == "i" and decision.ndim == 1 else decision
    )
