"""decisions.jsonl: one line per release, in order, each on disk before the next release is made.

A release is committed to the state first, so a kill or a power cut can lose the newest line only,
and the next run writes it again from the state. Every start reads the file, and refuses it if a
line is not what a run wrote, because older decisions are in no other place. Releases that no run
over a log saw (the learner went on from Python, or the file was moved away) are named by the next
line in `missing_releases`: the first and the last of them.
"""

import json
import os
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from discreet.engine.state_file import make_durable
from discreet.errors import StateError

MISSING = "missing_releases"


class Decisions:
    """The file of decisions; it is read once, when it is opened, and then only grows.

    Parameters
    ----------
    path
        The path of the file, which need not exist.
    releases
        The number of releases in the state.
    """

    def __init__(self, path: Path, releases: int) -> None:
        self._path = path
        self._releases = releases
        self._last = -1
        self.missing: list[tuple[int, int]] = []
        """The first and the last release of each gap that this run found and named."""

    def __enter__(self) -> Self:
        self._file = self._path.open("ab+")
        try:
            self._file.seek(0)
            *lines, torn = self._file.read().split(b"\n")
            for number, line in enumerate(lines, start=1):
                self._last = self._follows(line, number)
            if torn:  # a killed process wrote half a line
                self._file.truncate(sum(len(line) + 1 for line in lines))
            make_durable(self._path.parent)
        except BaseException:
            self._file.close()
            raise
        return self

    def _follows(self, line: bytes, number: int) -> int:
        """Return the release of a line; refuse a line that does not follow the one before it."""
        entry = _entry(line)
        release = entry.get("release")
        expected = self._last + 1
        if type(release) is not int or not _is_next(release, expected, entry.get(MISSING)):
            raise StateError(
                f"line {number} of {self._path} is not the decision of release {expected}: "
                "restore the file, or move it away to go on without its lines"
            )
        if release > self._releases:
            raise StateError(
                f"{self._path} has release {release}, and the state beside it {self._releases}: "
                "restore the newest state, or start a new run"
            )
        return release

    def note(self, decision: dict[str, Any]) -> None:
        """Append the decision of a release, at once on disk, unless it is there already."""
        release = decision["release"]
        expected = self._last + 1
        if release < expected:
            return
        if release > expected:
            gap = (expected, release - 1)
            self.missing.append(gap)
            decision = {"release": release, MISSING: list(gap)} | decision
        self._file.write(f"{json.dumps(decision)}\n".encode())
        self._file.flush()
        os.fsync(self._file.fileno())
        self._last = release

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.close()


def _is_next(release: int, expected: int, missing: object) -> bool:
    """Return whether a release is the expected one, or a later one that names the gap."""
    return release == expected or (release > expected and missing == [expected, release - 1])


def _entry(line: bytes) -> dict[str, object]:
    """Return the content of a line; an empty entry if a run did not write it."""
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return entry if isinstance(entry, dict) else {}
