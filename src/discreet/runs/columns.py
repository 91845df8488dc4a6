"""columns.json: which columns of the log a run reads, and what its settings say of the log for
good.

It is written once, before anyone is read. A later run with other columns would add other numbers to
the same sums, so it is refused; and so is a file that is damaged, or missing once people were read.
"""

import json
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any

from discreet.errors import ConfigError
from discreet.runs.files import write_whole

COLUMNS = "columns.json"


@dataclass(frozen=True)
class LogReading:
    """How a run reads its log."""

    columns: list[str]
    log: dict[str, Any] = field(default_factory=dict)
    """What the settings say of the log that holds for all of the run."""

    @property
    def check(self) -> str:
        """Tells what was written from what was damaged since."""
        return blake2b(json.dumps([self.columns, self.log]).encode(), digest_size=16).hexdigest()

    def as_text(self) -> str:
        """The file's content."""
        return json.dumps({"columns": self.columns, "log": self.log, "check": self.check}) + "\n"


def kept_reading(folder: Path) -> LogReading | None:
    """What the run in this folder wrote down; None if it did not."""
    path = folder / COLUMNS
    try:
        reading = _parsed(path.read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}") from None
    if reading is None:
        raise ConfigError(f"{path} is not what a run wrote: restore it from where it was copied")
    return reading


def _parsed(content: bytes) -> LogReading | None:
    """What a file says; None if it is damaged."""
    try:
        plain = json.loads(content)
        if isinstance(plain, list):  # as runs wrote it up to 0.5
            return LogReading(plain) if all(isinstance(name, str) for name in plain) else None
        reading = LogReading(plain["columns"], plain["log"])
        return reading if reading.check == plain["check"] else None
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


def keep_reading(folder: Path, reading: LogReading, *, begun: bool) -> None:
    """Write down how this run reads its log, once; refuse to go on in another way.

    `begun` says that people were read before.
    """
    before = kept_reading(folder)
    path = folder / COLUMNS
    if before is None:
        if begun:
            raise ConfigError(
                f"{path} is missing, and says which columns this run reads: "
                "restore it, or go on from Python with discreet.load"
            )
        write_whole(path, reading.as_text())
        return
    if before.columns != reading.columns:
        raise ConfigError(
            f"{path} says that this run reads the columns {', '.join(before.columns)}: go on with "
            "those"
        )
    changed = [
        name for name in reading.log if name in before.log and before.log[name] != reading.log[name]
    ]
    if changed:
        said = ", ".join(f"{name} = {before.log[name]}" for name in changed)
        raise ConfigError(f"{path} says that this run reads a log with {said}: go on with that")
    if path.read_text(encoding="utf-8") != reading.as_text():  # of an older version
        write_whole(path, reading.as_text())
