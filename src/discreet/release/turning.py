"""The turn mechanism: one way from secret to public, for every learner.

A learner writes six small hooks. This class does what happens between them: reserving the charge, committing before showing, crash and
reload. It never looks at feedback itself. Rounds, tickets and the clock are in discreet/release/learner.py.

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

from discreet.errors import ConfigError, StateError
from discreet.release.coins import Coin
from discreet.release.config import Config
from discreet.release.door import Door
from discreet.release.guarantee import Guarantee
from discreet.release.journal import FileJournal, Journal, MemoryJournal, as_journal
from discreet.release.ledger import Ledger
from discreet.release.randomness import Words, forks, seeded_words, system_words
from discreet.release.turn import Asked, Batch, Plan, State, Turn

__all__ = ["Turning"]


class Turning(ABC):
    """Everything about a learner but its rounds; see the module's docstring for the hooks."""

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
