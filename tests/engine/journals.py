"""Journals in memory whose commits fail."""

from discreet import MemoryJournal
from discreet.engine.snapshot import Snapshot


class Flaky(MemoryJournal):
    """A journal that fails once, before or after it has stored the snapshot."""

    def __init__(self, after: bool) -> None:
        super().__init__()
        self.after = after
        self.failing = False

    def commit(self, snapshot: Snapshot) -> None:
        if self.failing and not self.after:
            self.failing = False
            raise OSError("disk full")
        super().commit(snapshot)
        if self.failing:
            self.failing = False
            raise OSError("connection lost")


class Silent(Flaky):
    """A journal whose commits cannot be read back."""

    def latest(self) -> Snapshot | None:
        raise ConnectionError


class Lost(Flaky):
    """A journal that stores nothing while it fails, and cannot be read back while `after`."""

    def latest(self) -> Snapshot | None:
        if self.after:
            raise ConnectionError
        return super().latest()

    def commit(self, snapshot: Snapshot) -> None:
        if self.failing:
            raise OSError("connection lost")
        super().commit(snapshot)
