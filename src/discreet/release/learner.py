"""Rounds: questions, answers and the clock, for every learner.

`open` asks for a decision and ticks the clock, `close` hands in the feedback, many may be in flight; `act` and `observe` are the same
for one at a time, `observe_many`, `replay` and `preview` for many at once. What happens at the end of a block is in
discreet/release/turning.py, with the hooks that a learner writes.

Guarantee   docs/guarantees/turn.md
"""

import os
from typing import Any

import numpy as np

from discreet.errors import HorizonReached, OutOfBounds, StateError
from discreet.release.coins import Coin
from discreet.release.config import Config
from discreet.release.journal import Journal
from discreet.release.turn import Asked, Batch, Ticket
from discreet.release.turning import Turning

__all__ = ["Learner"]


class Learner(Turning):
    """The base of everything that learns from people."""

    def __init__(self, config: Config, journal: Journal | str | os.PathLike[str] | None = None) -> None:
        self._pending: Ticket | None = None
        super().__init__(config, journal)

    @classmethod
    def from_config(cls, config: Config, journal: Journal | str | os.PathLike[str] | None = None) -> "Learner":
        """The learner with this configuration."""
        learner = cls.__new__(cls)
        Learner.__init__(learner, config, journal)
        return learner

    def open(self, context: Any = None, available: Any = None) -> Ticket:
        """Ask for the next round's decision. The clock ticks now, whether or not feedback comes."""
        with self._lock:
            asked = Asked(_plain("context", context), _plain("available", available))
            self._release_if_due()
            ticket = self._ticket(self._clock, asked)
            if not self._is_over():
                self._waiting[self._clock] = asked
                self._clock += 1
            return ticket

    def close(self, ticket: Ticket, feedback: Any) -> bool:
        """End a round with its feedback. False if its block was over and the round had already counted as blank."""
        with self._lock:
            self._check()
            if ticket.round == self._plan.schedule.horizon:
                raise HorizonReached(f"all {ticket.round} planned rounds are over: nothing more can be learned")
            if ticket.index < self._turn.index:
                return False
            if ticket.round not in self._waiting:
                raise StateError(f"round {ticket.round} is not open: it has its feedback, or was never asked for")
            # First out of the waiting ones: whatever interrupts this, nobody is counted twice.
            asked = self._waiting.pop(ticket.round)
            try:
                self._digest(Batch(self._turn.index, [ticket.round], feedback, single=True, asked={ticket.round: asked}))
            except OutOfBounds:
                self._waiting[ticket.round] = asked
                raise
            return True

    def act(self, context: Any = None, available: Any = None) -> Any:
        """This round's decision. Asking twice before `observe` gives the same."""
        with self._lock:
            if self._pending is None or (self._pending.round not in self._waiting and not self._is_over()):
                self._pending = self.open(context, available)
            return self._pending.decision

    def observe(self, feedback: Any) -> None:
        """End the round that `act` began."""
        with self._lock:
            if self._pending is None:
                if self._is_over():
                    raise HorizonReached(f"all {self._clock} planned rounds are over: nothing more can be learned")
                raise StateError("no round is open: call act() first, then observe() once")
            self.close(self._pending, feedback)
            self._pending = None

    def skip(self) -> None:
        """End the round that `act` began without feedback: it counts as blank."""
        with self._lock:
            self._pending = None

    def observe_many(self, rows: Any) -> None:
        """End up to `rounds_until_release` rounds at once. Entries that are not finite count as zero."""
        with self._lock:
            self._check()
            if not self._is_begun():
                self._release_if_due()
            count = len(rows)
            if count and self._is_over() and not self._is_begun():
                raise HorizonReached(f"all {self._clock} planned rounds are over: nothing more can be learned")
            if count > self.rounds_until_release:
                raise StateError(f"{count} rows, but {self.rounds_until_release} rounds until the next release: cut them, or use replay")
            if not count:
                return
            rounds = self._next_rounds(count)
            asked = {rounds[0]: self._waiting[rounds[0]]} if self._is_begun() else {}
            before = self._clock, dict(self._waiting), self._pending
            if self._is_begun():
                self._pending = None
            self._waiting.pop(rounds[0], None)
            self._clock = rounds[-1] + 1
            try:
                self._digest(Batch(self._turn.index, rounds, rows, asked=asked))
            except OutOfBounds:
                self._clock, self._waiting, self._pending = before
                raise

    def replay(self, rows: Any) -> Any:
        """Feed many rounds and give the decision of each, crossing releases."""
        decisions: list[Any] = []
        position = 0
        while position < len(rows):
            with self._lock:
                if not self._is_begun():
                    self._release_if_due()
                chunk = rows[position : position + max(1, self.rounds_until_release)]
                decided = self.decide_many(self._turn.public, self._next_rounds(len(chunk)), self._turn.coin_key)
                if self._pending is not None and self._is_begun():  # decided when it was asked for, with its context
                    first = np.asarray(self._pending.decision)
                    missing = decided.shape[1] - len(first) if first.ndim == 1 else 0  # sets of many rounds are filled up with −1
                    decided = np.concatenate(
                        [np.pad(first, (0, missing), constant_values=-1)[None] if missing else first[None], decided[1:]]
                    )
                self.observe_many(chunk)
            decisions.append(decided)
            position += len(chunk)
        return np.concatenate(decisions) if decisions else np.array([])

    def preview(self, count: int) -> Any:
        """The decisions of the next rounds of this block, without asking for them: for batch systems and simulations."""
        with self._lock:
            if not self._is_begun():
                self._release_if_due()
            if count > self.rounds_until_release:
                raise StateError(f"{count} rounds, but {self.rounds_until_release} until the next release: preview fewer")
            return self.decide_many(self._turn.public, self._next_rounds(count), self._turn.coin_key)

    @property
    def rounds_until_release(self) -> int:
        """How many more rounds can end before the next release."""
        with self._lock:
            ahead = self._is_due() and not self._is_begun()
            return self._block_end(self._turn.index + ahead) - self._next_rounds(1)[0]

    def _is_begun(self) -> bool:
        """Whether `act` began the newest round and waits for its feedback."""
        return self._pending is not None and self._pending.round == self._clock - 1 and self._pending.round in self._waiting

    def _next_rounds(self, count: int) -> range:
        """The rounds that the next feedback belongs to."""
        first = self._clock - self._is_begun()
        return range(first, first + count)

    def _ticket(self, round: int, asked: Asked) -> Ticket:
        decision = self.decide(self._turn.public, round, asked, Coin(self._turn.coin_key, round))
        return Ticket(round, self._turn.index, decision)


def _plain(name: str, value: Any) -> Any:
    """What came with a question, as an array that can be kept."""
    if value is None:
        return None
    array = np.asarray(value)
    if array.dtype.kind not in "biufSU":
        raise OutOfBounds(f"{name} must be numbers, strings or booleans, or arrays of them")
    return array
