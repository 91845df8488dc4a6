"""State that outlives the process: journals, checkpoints of the open block, `save` and `detach`.

A journal commits every release before it is shown. A checkpoint also saves the answers that came
since the last release, so that a killed process loses few of them.

Guarantee   docs/guarantees/engine.md
"""

import os
import warnings
from datetime import timedelta
from math import inf
from time import monotonic
from types import TracebackType
from typing import NoReturn, Self

from discreet import require
from discreet.engine.engine import DoorMaker, Engine
from discreet.engine.journal import Journal
from discreet.engine.problem import Problem
from discreet.engine.rounds import Rounds
from discreet.engine.snapshot import RoundsState, Snapshot
from discreet.errors import ConfigError, StateError
from discreet.learners.guard import Guarded, guarded, guarded_even_after_a_failure

JournalLike = Journal | str | os.PathLike[str] | None
Checkpoint = int | timedelta | None


class CheckpointTimer:
    """When to save the open block: after a number of answers, or with the first after a time."""

    def __init__(self, every: Checkpoint) -> None:
        if every is not None and not isinstance(every, timedelta):
            every = require.whole("checkpoint", every)
        if isinstance(every, timedelta) and every <= timedelta(0):
            raise ConfigError(f"checkpoint must be a positive time, got {every}")
        self._every = every
        self._answers = 0
        self._since = monotonic()

    @property
    def is_set(self) -> bool:
        """Whether checkpoints are made at all."""
        return self._every is not None

    def is_due(self, closed: int) -> bool:
        """Return whether to save after `closed` more answers; if so, counting starts again."""
        if self._every is None:
            return False
        self._answers += closed
        if isinstance(self._every, timedelta):
            due = monotonic() - self._since >= self._every.total_seconds()
        else:
            due = self._answers >= self._every
        if due:
            self._answers = 0
            self._since = monotonic()
        return due

    def retry(self) -> None:
        """Be due again with the next answer."""
        self._answers = 2**62
        self._since = -inf


class Durable(Guarded):
    """Base class of what owns an engine: it can be saved, loaded and detached, but not copied."""

    _rounds: Rounds
    _timer: CheckpointTimer

    def _attach(
        self, problem: Problem, journal: JournalLike, timer: CheckpointTimer, door: DoorMaker
    ) -> None:
        """Start the engine, from the newest snapshot in the journal if there is one."""
        self._timer = timer
        self._checkpoints = timer.is_set
        self._engine = Engine(problem, type(self).__name__, journal, door=door)
        if timer.is_set and not self._engine.keeps_files:
            self._engine.detach()
            raise ConfigError("a checkpoint needs a file: give a path as journal")
        self._rounds = Rounds(self._engine)

    @property
    def state_bytes(self) -> int:
        """Size of the state as a file, in bytes, without the rounds that wait for answers."""
        from discreet.engine.state_file import encode

        return len(encode(self._engine.snapshot(RoundsState(self._rounds.clock))))

    @guarded
    def snapshot(self) -> Snapshot:
        """Return the whole state as one record, as `save` would write it.

        It is not private: it holds raw sums.
        """
        return self._engine.snapshot(self._rounds.state())

    @guarded
    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the whole state to a file, which becomes the journal of all later releases.

        The file is not private: it holds raw sums. `discreet.load(path)` continues from it, and
        this copy can then release nothing more.

        Parameters
        ----------
        path
            A new file, or the file that is the journal already.
        """
        self._engine.save(path, self._rounds.state())

    def detach(self) -> None:
        """Give up the journal's lock, so that others can load the file; wait for a running call."""
        if not self._engine.is_forked:  # a child process does not hold the lock
            self._detach()

    @guarded_even_after_a_failure
    def _detach(self) -> None:
        self._engine.detach()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Save the open block if the journal is a file, and give up the journal's lock."""
        try:
            if self._engine.keeps_files:
                self._save_open_block()
        finally:
            self.detach()

    @guarded
    def _save_open_block(self) -> None:
        self._engine.checkpoint(self._rounds.state())

    def _checkpoint_if_due(self, closed: int) -> None:
        """Save the open block if a checkpoint is due after `closed` more answers.

        A failure only warns, and the next answer tries again: the feedback is counted already, and
        after an error the caller would send it again.
        """
        if not self._timer.is_due(closed):
            return
        try:
            self._engine.checkpoint(self._rounds.state())
        except StateError as error:
            self._timer.retry()
            warnings.warn(f"the open block is not saved: {error}", RuntimeWarning, stacklevel=4)

    def __reduce__(self) -> NoReturn:
        raise StateError(
            "a learner cannot be copied or pickled: two copies would spend one budget twice; "
            "use save and load"
        )
