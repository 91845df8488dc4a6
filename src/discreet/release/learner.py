"""The turn mechanism: one way from people to decisions, for every learner.

A learner writes six small hooks. This class does the rest: tickets and the clock, blanks, reserving the charge, committing
before showing, crash and reload. It never looks at feedback itself.

    plan()                                        schedule and charge of each release, known in advance
    start()                                       public and secret state before anyone came
    digest(public, secret, batch) → secret        clip, quantise, add: order-free within a block; refuses before it changes
    release(public, secret, door) → both          asks the Door for noise or selections, nothing else
    decide(public, round, asked, coin)            pure
    blank()                                       what a missing answer counts as

Guarantee   docs/guarantees/turn.md
"""

import os
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from hashlib import blake2b
from threading import RLock
from typing import Any, ClassVar, NoReturn

import numpy as np

from discreet.errors import ConfigError, HorizonReached, OutOfBounds, StateError
from discreet.release.coins import Coin
from discreet.release.config import Config
from discreet.release.door import Door
from discreet.release.guarantee import Guarantee
from discreet.release.journal import FileJournal, Journal, MemoryJournal, as_journal
from discreet.release.ledger import Ledger
from discreet.release.randomness import Words, forks, seeded_words, system_words
from discreet.release.turn import Asked, Batch, Plan, State, Ticket, Turn

__all__ = ["Learner"]


class Learner(ABC):
    """The base of everything that learns from people; see the module's docstring for the hooks."""

    configuration: ClassVar[type[Config]]
    notion: ClassVar[str] = "DP"
    assumes: ClassVar[str] = ""
    proof: ClassVar[str]

    _turn: Turn
    _secret: State
    _clock: int
    _waiting: dict[int, Asked]

    @abstractmethod
    def plan(self) -> Plan: ...

    @abstractmethod
    def start(self) -> tuple[State, State]: ...

    @abstractmethod
    def digest(self, public: State, secret: State, batch: Batch) -> State: ...

    @abstractmethod
    def release(self, public: State, secret: State, door: Door) -> tuple[State, State]: ...

    @abstractmethod
    def decide(self, public: State, round: int, asked: Asked, coin: Coin) -> Any: ...

    @abstractmethod
    def blank(self) -> Any: ...

    def decide_many(self, public: State, rounds: range, coin_key: bytes) -> Any:
        """The decisions of some rounds of one block, stacked; a learner that decides once a block says so faster."""
        return np.array([self.decide(public, round, Asked(), Coin(coin_key, round)) for round in rounds])

    def __init__(self, config: Config, journal: Journal | str | os.PathLike[str] | None = None) -> None:
        self.config = config
        self._plan = self.plan()
        self._ledger_fits()
        self._lock = RLock()
        self._process = (os.getpid(), forks())
        self._journal = as_journal(journal)
        self._pending: Ticket | None = None
        self._unsettled: Turn | None = None
        self._failed = False
        self._busy = False
        try:
            self._take(self._claimed())
        except BaseException:
            self._journal.close()
            raise

    def _claimed(self) -> Turn:
        """The journal's newest turn, or the first one."""
        found = self._journal.claim(self._accept)
        if found is None:
            public, secret = self.start()
            found = Turn(
                identity=os.urandom(8).hex() if self.config.seed is None else "simulated",
                kind=type(self).__name__, config=self.config.as_plain(), config_hash=self.config.hash,
                calibration=self._plan.calibration, epoch=0, index=0, rounds=0, clock=0, waiting={}, public=public, secret=secret,
                ledger=Ledger(self.config.privacy.budget), coin_key=self._coin_key(0),
            )  # fmt: skip
            self._journal.commit(found)
        return found

    def _accept(self, found: Turn) -> None:
        """Refuse a turn that this learner cannot go on from."""
        if (found.kind, found.config_hash) != (type(self).__name__, self.config.hash):
            raise StateError(f"the journal belongs to another configuration (of {found.kind}): use discreet.load, or another file")
        if found.calibration != self._plan.calibration:
            raise StateError("this state was calibrated by another version of discreet or its parts: go on with that version")
        if found.failed:
            raise StateError("a release of this state failed after its noise was drawn: it cannot go on; start a new learner")

    @classmethod
    def from_config(cls, config: Config, journal: Journal | str | os.PathLike[str] | None = None) -> "Learner":
        """The learner with this configuration."""
        learner = cls.__new__(cls)
        Learner.__init__(learner, config, journal)
        return learner

    # --- rounds ---------------------------------------------------------------------------------------------------------

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
                    decided = np.concatenate([np.asarray(self._pending.decision)[None], decided[1:]])
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

    # --- the turn ---------------------------------------------------------------------------------------------------------

    def turn(self) -> bool:
        """Make the release that is due, if one is. Asking for a decision does so too; this is for whoever does not ask."""
        with self._lock:
            return self._release_if_due()

    def _is_over(self) -> bool:
        return self._clock == self._plan.schedule.horizon

    def _is_due(self) -> bool:
        releases = self._plan.schedule.releases
        left = releases is None or self._turn.index < releases
        return left and self._clock == self._plan.schedule.end(self._turn.index)

    def _block_end(self, index: int) -> int:
        schedule = self._plan.schedule
        if schedule.horizon is None or schedule.releases is None or index < schedule.releases:
            return schedule.end(index)
        return schedule.horizon

    def _release_if_due(self) -> bool:
        self._check()
        if self._unsettled is None:
            if not self._is_due():
                return False
            self._unsettled = self._draw()
        self._settle(self._unsettled)
        return True

    def _draw(self) -> Turn:
        """Reserve the planned charge, then release into new values. Nothing of them is used before it is committed."""
        index = self._turn.index
        charge = self._plan.charge(index)
        ledger = self._turn.ledger.charge(charge, cohort=self._plan.cohort(index))
        if self._waiting:
            missing, self._waiting = self._waiting, {}
            self._digest(Batch(index, list(missing), [self.blank() for _ in missing], asked=missing))
        door = Door(self._words(index), charge, index)
        try:
            with self._alone():
                public, secret = self.release(self._turn.public, self._secret, door)
        except BaseException:
            if door.opened:
                self._fail()
            raise
        return replace(
            self._turn, index=index + 1, rounds=self._clock, clock=self._clock, waiting={}, public=public, secret=secret,
            ledger=ledger, coin_key=self._coin_key(index + 1),
        )  # fmt: skip

    def _settle(self, turn: Turn) -> None:
        """Commit, and only then swap. If the outcome is unknown, read it back; never draw again."""
        try:
            self._journal.commit(turn)
        except Exception as error:
            kept = self._journal.latest()
            if kept is None or (kept.index, kept.coin_key) != (turn.index, turn.coin_key):
                cause = str(error) if isinstance(error, StateError) else type(error).__name__  # a driver's text may hold sums
                raise StateError(
                    f"a release could not be committed ({cause}): nothing was shown, everyone is counted; turn() tries again"
                ) from None
        self._take(turn)
        self._unsettled = None

    def _fail(self) -> None:
        self._failed = True
        with suppress(Exception):  # the error that led here is the one to be seen
            self._journal.commit(replace(self._snapshot(), failed=True))

    def _take(self, turn: Turn) -> None:
        for value in turn.public.values():
            if isinstance(value, np.ndarray):
                value.setflags(write=False)
        self._turn, self._secret, self._clock, self._waiting = turn, turn.secret, turn.clock, dict(turn.waiting)

    def _snapshot(self) -> Turn:
        return replace(self._turn, clock=self._clock, waiting=dict(self._waiting), secret=self._secret)

    def _digest(self, batch: Batch) -> None:
        with self._alone():
            self._secret = self.digest(self._turn.public, self._secret, batch)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """While a hook runs, the learner takes no calls: a person's own code might make one."""
        self._busy = True
        try:
            yield
        finally:
            self._busy = False

    def _ticket(self, round: int, asked: Asked) -> Ticket:
        decision = self.decide(self._turn.public, round, asked, Coin(self._turn.coin_key, round))
        return Ticket(round, self._turn.index, decision)

    def _words(self, index: int) -> Words:
        return system_words() if self.config.seed is None else seeded_words(self.config.seed, index)

    def _coin_key(self, index: int) -> bytes:
        if self.config.seed is None:
            return os.urandom(16)
        return blake2b(f"discreet coins {self.config.seed} {index}".encode(), digest_size=16).digest()

    def _ledger_fits(self) -> None:
        try:
            Ledger(self.config.privacy.budget).charge(self._plan.total)
        except Exception as error:
            raise ConfigError(f"the plan does not fit the budget: {error}") from error

    def _check(self) -> None:
        if self._busy:
            raise StateError("this learner is busy with another call: feedback must not call it back")
        if self._failed:
            raise StateError("a release failed after its noise was drawn: this learner cannot go on; start a new one")
        if (os.getpid(), forks()) != self._process:
            raise StateError("this learner was forked: two copies would spend one budget twice; make one in each process")

    # --- what may be asked at any time --------------------------------------------------------------------------------------

    @property
    def guarantee(self) -> Guarantee:
        """What everything published so far promises."""
        turn = self._turn
        return Guarantee(
            self.config.privacy, spent=turn.ledger.spent, total=self._plan.total, releases=turn.index,
            planned=self._plan.schedule.releases, notion=self.notion, assumes=self.assumes,
            simulated=self.config.seed is not None, proof=self.proof,
        )  # fmt: skip

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the whole state to a file, which becomes the journal: from now on every release is committed there.

        The file is not private: it holds raw sums. `discreet.load(path)` goes on from it, and fences off this copy.
        """
        with self._lock:
            self._check()
            snapshot = self._snapshot()
            if isinstance(self._journal, FileJournal):
                if self._journal.path.resolve() != FileJournal(path).path.resolve():
                    raise StateError(f"the state is kept in {self._journal.path.name} already: a second file could spend the budget twice")
                self._journal.commit(snapshot)
            elif isinstance(self._journal, MemoryJournal):
                journal = FileJournal(path, hold=False)
                journal.create(snapshot)
                self._journal = journal
            else:
                raise StateError("the state is kept in this learner's journal already: a second copy could spend the budget twice")

    def detach(self) -> None:
        """Give up the journal's lock, so that others can load the file."""
        self._journal.close()

    def __reduce__(self) -> NoReturn:
        raise StateError("a learner cannot be copied or pickled: two copies would spend one budget twice; use save and load")

    def __repr__(self) -> str:
        settings = ", ".join(f"{name}={value!r}" for name, value in self.config.as_plain().items())
        return f"{type(self).__name__}({settings})"


def _plain(name: str, value: Any) -> Any:
    """What came with a question, as an array that can be kept."""
    if value is None:
        return None
    array = np.asarray(value)
    if array.dtype.kind not in "biufSU":
        raise OutOfBounds(f"{name} must be numbers, strings or booleans, or arrays of them")
    return array
