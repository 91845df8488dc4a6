"""columns.json: the columns of the log that a run reads, and the lasting settings of the log.

The file is written once, before the first row is read. A later run with other columns would add
other numbers to the same sums, so it is refused. A damaged file is refused too, and so is a missing
one once rows were read. A file of an earlier format (discreet/engine/formats.py) is upgraded when
it is read, and written again by the next run.
"""

import json
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from pathlib import Path

from discreet.engine.formats import FORMATS, PRESENT, Origin, Record
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

    def as_text(self) -> str:
        """Return the content of the file."""
        record: Record = {"format": FORMATS.newest, "version": str(PRESENT)}
        record |= {"columns": self.columns, "log": self.log}
        return json.dumps(record | {"check": _check_of(record)}) + "\n"


def _check_of(record: Record) -> str:
    """Return a hash of all other entries, by which a damaged file is recognised."""
    content = {name: value for name, value in record.items() if name != "check"}
    return blake2b(json.dumps(content).encode(), digest_size=16).hexdigest()


def stored_reading(folder: Path) -> LogReading | None:
    """Return what columns.json in the folder of a run says; None if there is no such file."""
    path = folder / COLUMNS
    try:
        record = _parsed(path.read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}") from None
    if record is None:
        raise ConfigError(f"{path} is not what a run wrote: restore it from a copy")
    origin = Origin(str(path), record["format"], record["version"])
    record = FORMATS.upgraded("reading", record, origin)
    return LogReading(record["columns"], record["log"])


def _parsed(content: bytes) -> Record | None:
    """Return the content of a file; None if it is damaged."""
    try:
        record: Record = json.loads(content)
        is_whole = record["check"] == _check_of(record)
        is_stamped = type(record["format"]) is int and isinstance(record["version"], str)
        return record if is_whole and is_stamped else None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
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
