"""Commits of snapshots to a journal, with a known outcome.

A commit that raises may have been stored all the same (a lost reply, an error after the rename).
Its outcome is therefore read back from the journal before the engine goes on.

Guarantee   docs/guarantees/engine.md, Theorem 3 (crashes and copies)
"""

from dataclasses import dataclass

from discreet.engine.journal import Journal
from discreet.engine.snapshot import Snapshot
from discreet.errors import StateError


@dataclass(frozen=True)
class CommitFailure:
    """Why a snapshot was not committed, and whether it is certain that it was not."""

    cause: str
    is_certain: bool


def commit_and_read_back(journal: Journal, snapshot: Snapshot) -> CommitFailure | None:
    """Commit a snapshot; return None if it is stored for certain, otherwise why not.

    If the journal raises, the newest snapshot is read back and compared with this one.
    """
    try:
        journal.commit(snapshot)
        return None
    except Exception as error:
        # The text of a foreign exception may hold sums: only our own texts are passed on.
        cause = str(error) if isinstance(error, StateError) else type(error).__name__
    try:
        newest = journal.latest()
    except Exception:
        return CommitFailure(cause, is_certain=False)
    is_stored = newest is not None and _version_of(newest) == _version_of(snapshot)
    return None if is_stored else CommitFailure(cause, is_certain=True)


def store(journal: Journal, snapshot: Snapshot) -> None:
    """Commit a snapshot that publishes nothing new; raise `StateError` if the journal raises."""
    try:
        journal.commit(snapshot)
    except StateError:
        raise
    except Exception as error:  # the text of a foreign exception may hold sums
        raise StateError(
            f"the state could not be stored ({type(error).__name__}): try again"
        ) from None


@dataclass(frozen=True)
class _Version:
    """What tells a snapshot from all others of its learner."""

    index: int
    coin_key: bytes
    """Another one for every draw of the same release."""
    epoch: int
    revision: int


def _version_of(snapshot: Snapshot) -> _Version:
    return _Version(snapshot.index, snapshot.coin_key, snapshot.epoch, snapshot.revision)
