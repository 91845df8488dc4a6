"""State files: one record per file, versioned, checksummed, replaced atomically, no pickle.

    "DISCREET" · format (2 bytes) · version that wrote it (3 numbers of 2 bytes) ·
    length of the file (8) · length of the header (8) ·
    header (JSON) · arrays · SHA-256 of everything before (32)

The header is the record of a snapshot (discreet/engine/state_record.py) with descriptions in place
of its arrays, which follow in the same order. This frame is the same in every format. A record of
an earlier format is upgraded when it is read; its file changes with the next commit, as a whole.

Only the owner can read the file (mode 0600). It holds raw sums and noise buffers; where rounds name
their person, keyed digests of the people of the open block; and, for learners that hold rows until
one release, people's rows. It is NOT private: store it where the data itself may be stored.
"""

import json
import os
import stat
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from struct import Struct
from typing import Any, NamedTuple

import numpy as np

from discreet.engine.codec import fingerprint
from discreet.engine.formats import (
    FORMATS,
    PRESENT,
    TRANSLATED,
    Formats,
    Origin,
    Record,
    Version,
)
from discreet.engine.snapshot import Snapshot
from discreet.engine.state_record import record_of, snapshot_of
from discreet.errors import StateError

MAGIC = b"DISCREET"
START = Struct("<8sHHHHQQ")
"""What a file begins with, up to the header."""
ARRAY = "$array"
"""Key of the description of an array, which no other part of a record has."""
_CHECK = 32


class _Start(NamedTuple):
    """The start of a file."""

    origin: Origin
    length: int
    header: int
    """Length of the header."""


def encode(snapshot: Snapshot) -> bytes:
    """Return the bytes of a snapshot, in the present format."""
    return framed(record_of(snapshot), FORMATS.newest)


def framed(record: Record, number: int, version: Version = PRESENT) -> bytes:
    """Return the file with a record of format `number`, written by a version of discreet."""
    arrays: list[np.ndarray] = []
    text = json.dumps(_described(record, arrays)).encode()
    length = START.size + len(text) + sum(array.nbytes for array in arrays) + _CHECK
    start = START.pack(MAGIC, number, *version, length, len(text))
    body = b"".join([start, text, *(array.tobytes() for array in arrays)])
    return body + sha256(body).digest()


def _described(value: object, arrays: list[np.ndarray]) -> object:
    """Return a value with descriptions in place of its arrays, which are appended to `arrays`."""
    if isinstance(value, np.ndarray):
        arrays.append(np.ascontiguousarray(value))
        return {ARRAY: value.dtype.str, "shape": list(value.shape)}
    if isinstance(value, dict):
        return {name: _described(entry, arrays) for name, entry in value.items()}
    if isinstance(value, list):
        return [_described(entry, arrays) for entry in value]
    return value


class _Arrays:
    """The arrays of a file, which are read in its order."""

    def __init__(self, content: memoryview) -> None:
        self._content = content
        self._place = 0
        """Where the next array begins."""

    def put_into(self, value: Any) -> Any:
        """Return a value with arrays in place of their descriptions."""
        if isinstance(value, dict):
            if ARRAY in value:
                return self._next(np.dtype(value[ARRAY]), value["shape"])
            return {name: self.put_into(entry) for name, entry in value.items()}
        if isinstance(value, list):
            return [self.put_into(entry) for entry in value]
        return value

    def _next(self, dtype: np.dtype[Any], shape: list[object]) -> np.ndarray:
        lengths = [int(length) for length in shape]  # type: ignore[call-overload]
        if dtype.kind not in "biuf" or min(lengths, default=0) < 0:
            raise ValueError
        begin = self._place
        end = begin + dtype.itemsize * int(np.prod(lengths, dtype=object))
        if end > len(self._content):
            raise ValueError
        self._place = end
        return np.frombuffer(self._content[begin:end], dtype=dtype).reshape(lengths).copy()


def decode(content: bytes, name: str, formats: Formats = FORMATS) -> Snapshot:
    """Return the snapshot in these bytes of the file `name`, or raise `StateError`."""
    start = _start(content[: START.size], name, formats)
    if len(content) < max(START.size + _CHECK, start.length):
        raise StateError(f"{name} is truncated: restore it from where it was copied")
    body = content[:-_CHECK]
    if sha256(body).digest() != content[-_CHECK:]:  # nothing of it is parsed before this
        raise StateError(
            f"{name} was altered (its checksum does not match): restore it from where it was copied"
        )
    arrays_begin = START.size + start.header
    try:
        header = json.loads(body[START.size : arrays_begin])
        record = _Arrays(memoryview(body)[arrays_begin:]).put_into(header)
        if record.get("calibration") == TRANSLATED:
            raise ValueError  # only an upgrader says so, never a file
        record = formats.upgraded("state", record, start.origin)
        if start.origin.format < formats.newest:
            record["settings_hash"] = fingerprint(record["settings"])
        return snapshot_of(record, start.origin.version)
    except StateError:
        raise
    except Exception as error:  # a checksum can be forged
        raise StateError(
            f"{name} makes no sense ({type(error).__name__}): restore it from where it was copied"
        ) from None


def read(path: Path, formats: Formats = FORMATS) -> Snapshot:
    """Return the snapshot in a file; refuse all but ordinary files of the stated length."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError as error:
        raise StateError(f"{path.name} cannot be read: {error.strerror}") from None
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise StateError(f"{path.name} is not a discreet state file")
        start = os.read(descriptor, START.size)
        length = _start(start, path.name, formats).length
        if status.st_size != length:
            is_short = status.st_size < length
            damage = "truncated" if is_short else "altered (longer than its header states)"
            raise StateError(f"{path.name} is {damage}: restore it from where it was copied")
        with os.fdopen(os.dup(descriptor), "rb") as file:
            return decode(start + file.read(), path.name, formats)
    except OSError as error:
        raise StateError(f"{path.name} cannot be read: {error.strerror}") from None
    finally:
        os.close(descriptor)


def _start(content: bytes, name: str, formats: Formats) -> _Start:
    """Return the start of a file; refuse other files, and formats that are not read."""
    if content[: len(MAGIC)] != MAGIC[: len(content)] or not content:
        raise StateError(f"{name} is not a discreet state file")
    if len(content) < START.size:
        raise StateError(f"{name} is truncated: restore it from where it was copied")
    _, number, major, minor, patch, length, header = START.unpack(content)
    origin = Origin(name, number, str(Version(major, minor, patch)))
    formats.check(origin)
    return _Start(origin, length, header)


def write(path: Path, content: bytes, check: Callable[[], None] = lambda: None) -> None:
    """Replace a file atomically and durably; `check` may raise right before the replacement."""
    draft = path.with_name(f".{path.name}.draft")
    try:
        draft.unlink(missing_ok=True)  # from a process that was killed
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            check()
            os.replace(draft, path)
        except BaseException:
            draft.unlink(missing_ok=True)
            raise
        make_durable(path.parent)
    except OSError as error:
        raise StateError(
            f"{path.name} cannot be written ({error.strerror}): make room or choose another place"
        ) from None


def make_durable(folder: Path) -> None:
    """Flush a directory, so that the new name of a file survives a power cut."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
