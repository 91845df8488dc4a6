"""Where turns are kept: a turn is committed here before anything of it is shown.

A journal holds the newest turn only. `FileJournal` keeps it in one file that is replaced atomically. Whoever opens the file
locks it and raises its epoch, so of all copies of a learner only the newest can release anything.

Guarantee   docs/guarantees/turn.md, Theorem 3 (crashes and copies)
"""

import os
from collections.abc import Iterator
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

    def claim(self) -> Turn | None:
        """Become the only holder; the newest turn, if there is one."""

    def commit(self, turn: Turn) -> None:
        """Keep this turn durably, or raise. If it raises, the outcome is unknown until `latest` is asked."""

    def latest(self) -> Turn | None:
        """The newest turn that was committed."""

    def close(self) -> None:
        """Let others claim it."""


class MemoryJournal:
    """Keeps nothing beyond the process."""

    def __init__(self) -> None:
        self._turn: Turn | None = None

    def claim(self) -> None:
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

    The file's lock is held from `claim` to `close`, or to the end of the process. With `hold=False` it is taken for each
    commit only, so that somebody else may load the file; the commit after that is refused.
    """

    def __init__(self, path: str | os.PathLike[str], *, hold: bool = True) -> None:
        self.path = Path(path)
        self.hold = hold
        self._descriptor: int | None = None

    def claim(self) -> Turn | None:
        with self._locked() as present:
            if not present:
                return None
            turn = self._read()
            turn = replace(turn, epoch=turn.epoch + 1)
            self._write(turn)
        return turn

    def commit(self, turn: Turn) -> None:
        with self._locked() as present:
            if present and self._read().epoch != turn.epoch:
                raise StateError(f"{self.path.name} was loaded elsewhere: only the newest copy may go on")
            if not present and turn.index + turn.epoch > 0:
                raise StateError(f"{self.path.name} is gone: without it, what was spent cannot be kept")
            self._write(turn)

    def create(self, turn: Turn) -> None:
        """Commit to a file that must not exist yet."""
        with self._locked() as present:
            if present:
                raise StateError(f"{self.path.name} exists already: delete it, or choose another name")
            self._write(turn)

    def latest(self) -> Turn | None:
        return self._read() if self.path.exists() else None

    def close(self) -> None:
        """Give up the lock."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _read(self) -> Turn:
        try:
            content = self.path.read_bytes()
        except OSError as error:
            raise StateError(f"{self.path.name} cannot be read: {error.strerror}") from None
        return statefile.decode(content, self.path.name)

    def _write(self, turn: Turn) -> None:
        descriptor = statefile.write(self.path, statefile.encode(turn))
        self.close()
        self._descriptor = descriptor

    def _is_current(self, descriptor: int) -> bool:
        return self.path.exists() and os.path.samestat(os.fstat(descriptor), os.stat(self.path))

    @contextmanager
    def _locked(self) -> Iterator[bool]:
        """Hold the lock of the file that is at the path now; yields whether there is one."""
        import fcntl

        while self._descriptor is None:
            try:
                descriptor = os.open(self.path, os.O_RDWR)
            except FileNotFoundError:
                break
            except OSError as error:
                raise StateError(f"{self.path.name} cannot be opened: {error.strerror}") from None
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                os.close(descriptor)
                raise StateError(f"{self.path.name} is in use by another learner") from None
            if self._is_current(descriptor):
                self._descriptor = descriptor
            else:
                os.close(descriptor)  # replaced between opening and locking: look again
        if self._descriptor is not None and not self._is_current(self._descriptor):
            self.close()
            raise StateError(f"{self.path.name} was moved or replaced: only the file that was opened may go on")
        try:
            yield self._descriptor is not None
        except BaseException:
            self.close()
            raise
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
