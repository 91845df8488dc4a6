"""Where turns are kept: a turn is committed here before anything of it is shown.

A journal holds the newest turn only. `FileJournal` keeps it in one file that is replaced
atomically. Whoever opens the file locks it and raises its epoch, so of all copies of a learner only
the newest can release anything.

Guarantee   docs/guarantees/engine.md, Theorem 3 (crashes and copies)
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import NoReturn, Protocol

from discreet import require
from discreet.engine import state_file
from discreet.engine.snapshot import Snapshot
from discreet.errors import ConfigError, StateError

_held: set[int] = set()
"""Locks of this process; a forked child closes its copies, so that they do not outlive their
owner.
"""


def _let_go() -> None:
    for lock in _held:
        with suppress(OSError):
            os.close(lock)
    _held.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_let_go)


class Journal(Protocol):
    """What the turn mechanism asks of a place to keep turns."""

    def claim(self, accept: Callable[[Snapshot], None]) -> Snapshot | None:
        """Become the only holder; gives the newest turn, if there is one.

        `accept` raises, before anything changes, if that turn is not wanted.
        """

    def commit(self, snapshot: Snapshot) -> None:
        """Keep this turn durably, or raise. If it raises, the outcome is unknown until `latest`
        is asked.
        """

    def latest(self) -> Snapshot | None:
        """The newest turn that was committed, for certain."""

    def close(self) -> None:
        """Let others claim it."""


class MemoryJournal:
    """Keeps nothing beyond the process."""

    def __init__(self) -> None:
        self._snapshot: Snapshot | None = None

    def claim(self, accept: Callable[[Snapshot], None]) -> None:
        """A new journal is always empty; a used one belongs to its learner."""
        if self._snapshot is not None:
            raise StateError("this journal belongs to another learner: make a new one")

    def commit(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot

    def latest(self) -> Snapshot | None:
        return self._snapshot

    def close(self) -> None:
        """Nothing to give up."""


class FileJournal:
    """Keeps the newest turn in one file (see discreet/engine/state_file.py).

    A lock beside it (an empty file, never replaced) is held from `claim` to `close`, or to the end
    of the process. With `hold=False` it is taken for each commit only, so that somebody else may
    load the file; the commit after that is refused.
    """

    def __init__(self, path: str | os.PathLike[str], *, hold: bool = True) -> None:
        if not isinstance(path, str | os.PathLike):
            raise ConfigError(f"journal must be a path, got {require.shown(path)}")
        try:
            name = os.fsencode(path)
        except UnicodeEncodeError:  # half a letter, which no file system knows
            name = b""
        if not name or b"\0" in name:
            raise ConfigError(f"journal must be a path, got {require.shown(path)}")
        self.path = Path(os.path.realpath(path))  # a link must not become a second copy
        self.hold = hold
        self.created = False
        """Whether `create` made the file."""
        self._lock: int | None = None
        self._process = os.getpid()

    def claim(self, accept: Callable[[Snapshot], None]) -> Snapshot | None:
        with self._locked():
            if not self._exists():
                return None
            self._refuse_links()
            snapshot = self._read()
            accept(snapshot)
            snapshot = replace(snapshot, epoch=snapshot.epoch + 1)
            self._write(snapshot)
        return snapshot

    def commit(self, snapshot: Snapshot) -> None:
        def check() -> None:
            """Right before the file takes the place of the one that is there: not minutes
            before.
            """
            if snapshot.index + snapshot.epoch > 0 or self._exists():
                newest = self._read()
                if (newest.identity, newest.epoch) != (snapshot.identity, snapshot.epoch):
                    raise StateError(
                        f"{self.path.name} was loaded elsewhere or replaced: only the newest copy "
                        "may go on"
                    )

        with self._locked():
            self._write(snapshot, check)

    def create(self, snapshot: Snapshot) -> None:
        """Commit to a file that must not exist yet."""
        with self._locked():
            if self._exists():
                raise StateError(
                    f"{self.path.name} exists already: delete it, or choose another name"
                )
            try:
                self._write(snapshot)
                self.created = True
            except BaseException:  # a copy that nobody commits to must not stay behind
                self.created = False
                with suppress(OSError):
                    self.path.unlink(missing_ok=True)
                raise

    def latest(self) -> Snapshot | None:
        if not self._exists():
            return None
        snapshot = self._read()
        try:
            state_file.make_durable(self.path.parent)  # what is read back must survive a power cut
        except OSError as error:
            raise StateError(
                f"{self.path.name} cannot be read back for certain: {error.strerror}"
            ) from None
        return snapshot

    def close(self) -> None:
        lock, self._lock = self._lock, None
        if (
            lock is not None and self._process == os.getpid()
        ):  # a child must not give up its parent's
            _held.discard(lock)
            with suppress(OSError):
                os.close(lock)

    def _exists(self) -> bool:
        try:
            return self.path.exists()
        except OSError as error:
            raise StateError(f"{self.path.name} cannot be looked at: {error.strerror}") from None

    def _refuse_links(self) -> None:
        """A commit replaces one name of a file: another one would stay behind as a second copy."""
        names = 1
        with suppress(OSError):  # reading it says why
            names = self.path.stat().st_nlink
        if names > 1:
            raise StateError(
                f"{self.path.name} has another name (a hard link): delete all names but one"
            )

    def _read(self) -> Snapshot:
        return state_file.read(self.path)

    def _write(self, snapshot: Snapshot, check: Callable[[], None] = lambda: None) -> None:
        state_file.write(self.path, state_file.encode(snapshot), check)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        if self._lock is not None and self._process != os.getpid():
            raise StateError(
                f"{self.path.name} is in use by the process that this one was forked from"
            )
        if self._lock is None:
            self._lock, self._process = self._taken(), os.getpid()
        try:
            yield
        finally:
            if not self.hold:
                self.close()

    def _taken(self) -> int:
        """The lock: an empty file beside the state, held alone.

        It is never followed through a link, and closed in programs that this one starts.
        """
        import fcntl

        beside = self.path.with_name(f".{self.path.name}.lock")
        lock = -1
        try:
            lock = os.open(beside, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(lock)
            raise StateError(f"{self.path.name} is in use by another learner") from None
        except OSError as error:
            if lock >= 0:
                os.close(lock)
            raise StateError(f"{self.path.name} cannot be locked: {error.strerror}") from None
        except BaseException:  # an interrupt must not leave a lock that nobody holds
            if lock >= 0:
                os.close(lock)
            raise
        _held.add(lock)
        return lock

    def __del__(self) -> None:
        with suppress(Exception):  # the interpreter may be half gone
            self.close()

    def __reduce__(self) -> NoReturn:
        raise StateError("a journal cannot be copied or pickled: it holds a lock")


def as_journal(journal: Journal | str | os.PathLike[str] | None) -> Journal:
    """A journal as it is, a path as a file journal, None as memory."""
    if journal is None:
        return MemoryJournal()
    if isinstance(journal, str | os.PathLike):
        return FileJournal(journal)
    has_all = all(
        callable(getattr(journal, name, None)) for name in ("claim", "commit", "latest", "close")
    )
    if not has_all or isinstance(journal, type):
        raise ConfigError(f"journal must be a path or a journal, got {require.shown(journal)}")
    return journal
