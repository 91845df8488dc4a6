"""Journals: a snapshot is committed to one before anything of it is shown.

A journal holds the newest snapshot only. `FileJournal` stores it in one file that is replaced
atomically. A learner that opens the file locks it and raises its epoch, so only the newest copy of
a learner can release anything.

Guarantee   docs/guarantees/engine.md, Theorem 3 (crashes and copies)
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import NoReturn, Protocol

from discreet import require
from discreet.engine import logs, state_file
from discreet.engine.formats import FORMATS, Formats
from discreet.engine.snapshot import Snapshot
from discreet.errors import ConfigError, StateError

_locks: set[int] = set()
"""Locks of this process; a forked child closes its copies, which would outlive their owner."""


def _close_locks() -> None:
    for lock in _locks:
        with suppress(OSError):
            os.close(lock)
    _locks.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_close_locks)


class Journal(Protocol):
    """Protocol of a place that stores the newest snapshot of a learner.

    Guarantee: docs/guarantees/engine.md, Theorem 3.
    """

    def claim(self, accept: Callable[[Snapshot], Snapshot]) -> Snapshot | None:
        """Become the only holder, and return the snapshot to go on from if there is one.

        `accept` gets the newest snapshot before anything changes, and returns that to go on from;
        it raises if there is none.
        """

    def commit(self, snapshot: Snapshot) -> None:
        """Store a snapshot durably, or raise; `latest` then tells whether it was stored."""

    def latest(self) -> Snapshot | None:
        """Return the newest snapshot that is stored durably."""

    def close(self) -> None:
        """Let other learners claim the journal."""


class MemoryJournal:
    """A journal in memory: nothing survives the process."""

    def __init__(self) -> None:
        self._snapshot: Snapshot | None = None

    def claim(self, accept: Callable[[Snapshot], Snapshot]) -> None:
        """Raise if the journal belongs to a learner already; a new one is always empty."""
        if self._snapshot is not None:
            raise StateError("this journal belongs to another learner: make a new one")

    def commit(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot

    def latest(self) -> Snapshot | None:
        return self._snapshot

    def close(self) -> None:
        """Do nothing: there is no lock."""


class FileJournal:
    """A journal that stores the newest snapshot in one file (discreet/engine/state_file.py).

    A lock beside it (an empty file, never replaced) is held from `claim` to `close`, or to the end
    of the process. With `hold=False` it is held during each commit only, so that another process
    may load the file; the next commit is then refused.

    Parameters
    ----------
    path
        The file; links are followed.
    hold
        Whether the lock is held between commits.

    Guarantee: docs/guarantees/engine.md, Theorem 3.
    """

    formats: Formats = FORMATS
    """The formats that are read; the contract tries others."""

    def __init__(self, path: str | os.PathLike[str], *, hold: bool = True) -> None:
        if not isinstance(path, str | os.PathLike):
            raise ConfigError(f"journal must be a path, got {require.shown(path)}")
        try:
            name = os.fsencode(path)
        except UnicodeEncodeError:  # a lone surrogate, which no file system can store
            name = b""
        if not name or b"\0" in name:
            raise ConfigError(f"journal must be a path, got {require.shown(path)}")
        self.path = Path(os.path.realpath(path))  # a link must not become a second copy
        self.hold = hold
        self.created = False
        """Whether `create` made the file."""
        self._lock: int | None = None
        self._process = os.getpid()

    def claim(self, accept: Callable[[Snapshot], Snapshot]) -> Snapshot | None:
        with self._locked():
            if not self._exists():
                return None
            self._refuse_links()
            snapshot = accept(self._read())
            snapshot = replace(snapshot, epoch=snapshot.epoch + 1)
            self._write(snapshot)
        return snapshot

    def commit(self, snapshot: Snapshot) -> None:
        def check() -> None:
            """Raise if another copy has written the file; runs right before it is replaced."""
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
            except BaseException:  # a copy that no learner commits to must not remain
                self.created = False
                with suppress(OSError):
                    self.path.unlink(missing_ok=True)
                raise

    def latest(self) -> Snapshot | None:
        if not self._exists():
            return None
        snapshot = self._read()
        try:
            state_file.make_durable(self.path.parent)  # it must survive a power cut
        except OSError as error:
            raise StateError(
                f"{self.path.name} cannot be read back for certain: {error.strerror}"
            ) from None
        return snapshot

    def close(self) -> None:
        lock, self._lock = self._lock, None
        is_own = self._process == os.getpid()  # a child must not give up its parent's lock
        if lock is not None and is_own:
            _locks.discard(lock)
            with suppress(OSError):
                os.close(lock)

    def _exists(self) -> bool:
        try:
            return self.path.exists()
        except OSError as error:
            raise StateError(f"{self.path.name} cannot be accessed: {error.strerror}") from None

    def _refuse_links(self) -> None:
        """Raise if the file has a second hard link, which a commit would leave as a copy."""
        names = 1
        with suppress(OSError):  # reading the file raises the same error
            names = self.path.stat().st_nlink
        if names > 1:
            raise StateError(
                f"{self.path.name} has another name (a hard link): delete all names but one"
            )

    def _read(self) -> Snapshot:
        return state_file.read(self.path, self.formats)

    def _write(self, snapshot: Snapshot, check: Callable[[], None] = lambda: None) -> None:
        state_file.write(self.path, state_file.encode(snapshot), check)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        if self._lock is not None and self._process != os.getpid():
            raise StateError(
                f"{self.path.name} is in use by the process that this one was forked from"
            )
        if self._lock is None:
            self._lock, self._process = self._acquired(), os.getpid()
        try:
            yield
        finally:
            if not self.hold:
                self.close()

    def _acquired(self) -> int:
        """Lock an empty file beside the state, and return its descriptor.

        Links are not followed, and programs that this process starts do not inherit the lock.
        """
        import fcntl

        path = self.path.with_name(f".{self.path.name}.lock")
        lock = -1
        try:
            lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(lock)
            logs.locked(self.path)
            raise StateError(f"{self.path.name} is in use by another learner") from None
        except OSError as error:
            if lock >= 0:
                os.close(lock)
            raise StateError(f"{self.path.name} cannot be locked: {error.strerror}") from None
        except BaseException:  # an interrupt must not leave a lock without an owner
            if lock >= 0:
                os.close(lock)
            raise
        _locks.add(lock)
        return lock

    def __del__(self) -> None:
        with suppress(Exception):  # the interpreter may be shutting down
            self.close()

    def __reduce__(self) -> NoReturn:
        raise StateError("a journal cannot be copied or pickled: it holds a lock")


def as_journal(journal: Journal | str | os.PathLike[str] | None) -> Journal:
    """Return a journal as it is, a file journal for a path, a memory journal for None."""
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
