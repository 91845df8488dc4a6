"""Where turns are kept: a turn is committed here before anything of it is shown.

A journal holds the newest turn only. `FileJournal` keeps it in one file that is replaced atomically. Whoever opens the file
locks it and raises its epoch, so of all copies of a learner only the newest can release anything.

Guarantee   docs/guarantees/turn.md, Theorem 3 (crashes and copies)
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import NoReturn, Protocol

from discreet.errors import StateError
from discreet.release import statefile
from discreet.release.turn import Turn

__all__ = ["FileJournal", "Journal", "MemoryJournal", "as_journal"]


class Journal(Protocol):
    """What the turn mechanism asks of a place to keep turns."""

    def claim(self, accept: Callable[[Turn], None]) -> Turn | None:
        """Become the only holder; the newest turn, if there is one. `accept` raises before anything changes if it is not wanted."""

    def commit(self, turn: Turn) -> None:
        """Keep this turn durably, or raise. If it raises, the outcome is unknown until `latest` is asked."""

    def latest(self) -> Turn | None:
        """The newest turn that was committed, for certain."""

    def close(self) -> None:
        """Let others claim it."""


class MemoryJournal:
    """Keeps nothing beyond the process."""

    def __init__(self) -> None:
        self._turn: Turn | None = None

    def claim(self, accept: Callable[[Turn], None]) -> None:
        """A new journal is always empty; a used one belongs to its learner."""
        if self._turn is not None:
            raise StateError("this journal belongs to another learner: make a new one")

    def commit(self, turn: Turn) -> None:
        self._turn = turn

    def latest(self) -> Turn | None:
        return self._turn

    def close(self) -> None:
        """Nothing to give up."""


class FileJournal:
    """Keeps the newest turn in one file (see discreet/release/statefile.py).

    A lock beside it (an empty file, never replaced) is held from `claim` to `close`, or to the end of the process. With
    `hold=False` it is taken for each commit only, so that somebody else may load the file; the commit after that is refused.
    """

    def __init__(self, path: str | os.PathLike[str], *, hold: bool = True) -> None:
        self.path = Path(os.path.realpath(path))  # a link must not become a second copy
        self.hold = hold
        self._lock: int | None = None

    def claim(self, accept: Callable[[Turn], None]) -> Turn | None:
        with self._locked():
            if not self.path.exists():
                return None
            turn = self._read()
            accept(turn)
            turn = replace(turn, epoch=turn.epoch + 1)
            statefile.write(self.path, statefile.encode(turn))
        return turn

    def commit(self, turn: Turn) -> None:
        with self._locked():
            if turn.index + turn.epoch > 0 or self.path.exists():
                kept = self._read()
                if (kept.identity, kept.epoch) != (turn.identity, turn.epoch):
                    raise StateError(f"{self.path.name} was loaded elsewhere or replaced: only the newest copy may go on")
            statefile.write(self.path, statefile.encode(turn))

    def create(self, turn: Turn) -> None:
        """Commit to a file that must not exist yet."""
        with self._locked():
            if self.path.exists():
                raise StateError(f"{self.path.name} exists already: delete it, or choose another name")
            statefile.write(self.path, statefile.encode(turn))

    def latest(self) -> Turn | None:
        if not self.path.exists():
            return None
        turn = self._read()
        statefile.make_durable(self.path.parent)  # what is read back must survive a power cut
        return turn

    def close(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def _read(self) -> Turn:
        try:
            content = self.path.read_bytes()
        except OSError as error:
            raise StateError(f"{self.path.name} cannot be read: {error.strerror}") from None
        return statefile.decode(content, self.path.name)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        import fcntl

        if self._lock is None:
            try:
                lock = os.open(self.path.with_name(f".{self.path.name}.lock"), os.O_RDWR | os.O_CREAT, 0o600)
            except OSError as error:
                raise StateError(f"{self.path.name} cannot be locked: {error.strerror}") from None
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                os.close(lock)
                raise StateError(f"{self.path.name} is in use by another learner") from None
            self._lock = lock
        try:
            yield
        finally:
            if not self.hold:
                self.close()

    def __del__(self) -> None:
        self.close()

    def __reduce__(self) -> NoReturn:
        raise StateError("a journal cannot be copied or pickled: it holds a lock")


def as_journal(journal: Journal | str | os.PathLike[str] | None) -> Journal:
    """A journal as it is, a path as a file journal, None as memory."""
    if journal is None:
        return MemoryJournal()
    return FileJournal(journal) if isinstance(journal, str | os.PathLike) else journal
