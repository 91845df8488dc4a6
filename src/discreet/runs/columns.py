"""columns.json: the columns of the log that a run reads, and the lasting settings of the log.

The file is written once, before the first row is read. A later run with other columns would add
other numbers to the same sums, so it is refused. A damaged file is refused too, and so is a missing
one once rows were read.
"""

import json
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from pathlib import Path

from discreet.errors import ConfigError
from discreet.runs.files import write_whole

COLUMNS = "columns.json"
LAYOUT, WARM_START_LAYOUT = "layout", "warm_start_layout"
"""Settings of the log with the layout of the run's own log, and of a warm start's."""


@dataclass(frozen=True)
class LogReading:
    """The columns that a run reads, and the settings of the log that hold for the whole run."""

    columns: list[str]
    log: dict[str, object] = field(default_factory=dict)

    @property
    def check(self) -> str:
        """A hash of the content, by which a damaged file is recognised."""
        content = json.dumps([self.columns, self.log]).encode()
        return blake2b(content, digest_size=16).hexdigest()

    def as_text(self) -> str:
        """Return the content of the file."""
        return json.dumps({"columns": self.columns, "log": self.log, "check": self.check}) + "\n"


def stored_reading(folder: Path) -> LogReading | None:
    """Return what columns.json in the folder of a run says; None if there is no such file."""
    path = folder / COLUMNS
    try:
        reading = _parsed(path.read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}") from None
    if reading is None:
        raise ConfigError(f"{path} is not what a run wrote: restore it from a copy")
    return reading


def _parsed(content: bytes) -> LogReading | None:
    """Return the content of a file; None if it is damaged."""
    try:
        plain = json.loads(content)
        reading = LogReading(plain["columns"], plain["log"])
        return reading if reading.check == plain["check"] else None
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


def store_reading(folder: Path, reading: LogReading, *, begun: bool) -> None:
    """Write columns.json once; refuse to read the log in another way later.

    `begun` says that rows were read before.
    """
    before = stored_reading(folder)
    path = folder / COLUMNS
    if before is None:
        if begun:
            raise ConfigError(
                f"{path} is missing, which has the columns that this run reads: "
                "restore it, or go on from Python with discreet.load"
            )
        write_whole(path, reading.as_text())
        return
    if before.columns != reading.columns:
        raise ConfigError(
            f"{path} says that this run reads the columns {', '.join(before.columns)}: "
            "go on with those"
        )
    stored_log = before.log
    changed = [
        name for name in reading.log if stored_log.get(name, reading.log[name]) != reading.log[name]
    ]
    if changed:
        stored = ", ".join(f"{name} = {stored_log[name]}" for name in changed)
        raise ConfigError(f"{path} says that this run reads a log with {stored}: go on with that")
    # A run that goes on from a warm start to its own log has one setting more.
    now = replace(reading, log={**before.log, **reading.log})
    if path.read_text(encoding="utf-8") != now.as_text():
        write_whole(path, now.as_text())
