"""Tickets of open rounds: they come back with the feedback, to the learner that made them."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, cast, overload

import numpy as np

from discreet.arrays import Integers, Mask
from discreet.engine.labels import Labels
from discreet.errors import ConfigError

if TYPE_CHECKING:  # the standard library's type variables have defaults from Python 3.13 on
    from typing_extensions import TypeVar

    Decision = TypeVar("Decision", covariant=True, default=Any)
    Decisions = TypeVar("Decisions", covariant=True, default=Any)
else:
    from typing import TypeVar

    Decision = TypeVar("Decision", covariant=True)
    Decisions = TypeVar("Decisions", covariant=True)


@dataclass(eq=False, slots=True)
class Ticket(Generic[Decision]):
    """A round that waits for feedback: pass it to `close` together with the feedback.

    Examples
    --------
    >>> from discreet import Hedge, Privacy
    >>> learner = Hedge(3, horizon=100, privacy=Privacy(1.0), seed=1)
    >>> ticket = learner.open()
    >>> ticket.round, learner.close(ticket, [0.1, 0.5, 0.2])
    (0, True)
    """

    learner: str
    """Identity of the learner that opened the round."""
    epoch: int
    """Number of times that the learner's state had been loaded by then."""
    index: int
    """Index of the release that reads its feedback."""
    round: int
    decision: Decision
    """The decision to show: labels if the learner has them, otherwise numbers."""

    def as_plain(self) -> dict[str, object]:
        """Return the ticket as numbers, strings and lists, for a message or a file.

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
    def from_plain(cls, plain: dict[str, object]) -> "Ticket":
        """Return the ticket that `as_plain` has described."""
        try:
            origin = _Origin.from_plain(plain)
            round = _whole(plain["round"])
            decision = plain["decision"]
        except Exception:  # foreign data may raise anything
            raise ConfigError("a ticket must be what as_plain gave") from None
        return Ticket(origin.learner, origin.epoch, origin.index, round, decision)


@dataclass(frozen=True, eq=False)
class Tickets(Generic[Decision, Decisions]):
    """Many rounds that wait for feedback, with one decision per row.

    A slice is a `Tickets` again, and each entry is a `Ticket`.
    """

    learner: str
    epoch: int
    index: int
    rounds: Integers
    numbers: np.ndarray
    """Decisions by number, one row per round; sets of different sizes are padded with −1."""
    labels: Labels | None = None

    @cached_property
    def decisions(self) -> Decisions:
        """The decisions to show, one per round: labels if the learner has them, or numbers.

        They are an array, or a list of lists if labelled sets differ in size.
        """
        decisions = self.numbers if self.labels is None else self.labels.many(self.numbers)
        return cast(Decisions, decisions)  # their type follows from the learner's settings

    def __len__(self) -> int:
        return len(self.rounds)

    @overload
    def __getitem__(self, part: int | np.integer) -> Ticket[Decision]: ...

    @overload
    def __getitem__(
        self, part: slice | Sequence[int] | Integers | Mask
    ) -> "Tickets[Decision, Decisions]": ...

    def __getitem__(
        self, part: int | np.integer | slice | Sequence[int] | Integers | Mask
    ) -> "Ticket[Decision] | Tickets[Decision, Decisions]":
        rounds = self.rounds[part]
        numbers = self.numbers[part]
        if isinstance(part, int | np.integer):
            decision: Any = _single(numbers) if self.labels is None else self.labels.single(numbers)
            return Ticket(self.learner, self.epoch, self.index, int(rounds), decision)
        return Tickets(self.learner, self.epoch, self.index, rounds, numbers, self.labels)

    def __iter__(self) -> Iterator[Ticket[Decision]]:
        return (self[place] for place in range(len(self)))

    def as_plain(self) -> dict[str, object]:
        """Return the tickets as numbers, strings and lists, for a message or a file."""
        plain: dict[str, object] = {
            "learner": self.learner,
            "epoch": self.epoch,
            "index": self.index,
            "rounds": self.rounds.tolist(),
            "decisions": _plain(self.decisions),
        }
        return plain if self.labels is None else plain | {"labels": self.labels.as_plain()}

    @classmethod
    def from_plain(cls, plain: dict[str, Any]) -> "Tickets":
        """Return the tickets that `as_plain` has described.

        An entry that is no round becomes −1, which was never opened: it must not refuse the others.
        """
        try:
            origin = _Origin.from_plain(plain)
            numbers_of_rounds = [_round_or_none(round) for round in plain["rounds"]]
            decisions = plain["decisions"]
            labels = Labels.from_plain(plain["labels"]) if "labels" in plain else None
            numbers = np.array(decisions) if labels is None else labels.table(decisions)
            if numbers.shape[:1] != (len(numbers_of_rounds),):
                raise ValueError
        except Exception:  # foreign data may raise anything
            raise ConfigError(
                "tickets must be what as_plain gave: one decision per round"
            ) from None
        rounds = np.array(numbers_of_rounds, dtype=np.int64)
        return Tickets(origin.learner, origin.epoch, origin.index, rounds, numbers, labels)


@dataclass(frozen=True)
class _Origin:
    """Where a ticket comes from: the learner, its epoch, and the release of its feedback."""

    learner: str
    epoch: int
    index: int

    @classmethod
    def from_plain(cls, plain: dict[str, object]) -> "_Origin":
        learner = plain["learner"]
        if not isinstance(learner, str):
            raise ValueError
        return cls(learner, _whole(plain["epoch"]), _whole(plain["index"]))


def _whole(number: object) -> int:
    """Return an integer of less than 62 bits; raise `ValueError` for anything else."""
    if type(number) is not int or abs(number) >= 2**62:
        raise ValueError
    return number


def _round_or_none(number: object) -> int:
    """Return an integer of less than 62 bits; −1, which is no round, for anything else."""
    with suppress(ValueError):
        return _whole(number)
    return -1


def _plain(decisions: object) -> object:
    """Return decisions as lists and Python numbers."""
    return decisions.tolist() if isinstance(decisions, np.ndarray | np.generic) else decisions


def _single(decision: np.ndarray | np.generic) -> object:
    """Return a decision without the padding of −1; a NumPy number becomes a Python number."""
    if isinstance(decision, np.generic):
        return decision.item()
    is_set = decision.dtype.kind == "i" and decision.ndim == 1
    return decision[decision >= 0] if is_set else decision
