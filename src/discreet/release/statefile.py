"""One turn in one file: versioned, checksummed, readable by its owner only, replaced atomically, no pickle.

    "DISCREET" · version (2 bytes) · length of the file (8) · length of the header (8) · header (JSON) · arrays · SHA-256 of all before

The file holds raw sums and noise buffers. It is NOT private: keep it where the data itself may be kept.
"""

import json
import os
from dataclasses import fields
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from discreet.errors import StateError
from discreet.release.ledger import Ledger
from discreet.release.turn import Asked, Turn

__all__ = ["decode", "encode", "make_durable", "write"]

MAGIC = b"DISCREET"
VERSION = 1
_START = len(MAGIC) + 2 + 8 + 8
_CHECK = 32
_STATES = ("public", "secret")


def encode(turn: Turn) -> bytes:
    """The bytes of a turn."""
    arrays: list[np.ndarray] = []

    def plain(value: Any) -> Any:
        if isinstance(value, np.ndarray) and value.dtype.kind in "biufSU":
            arrays.append(np.ascontiguousarray(value))
            return {"dtype": value.dtype.str, "shape": list(value.shape)}
        if value is None or isinstance(value, int | float | str):
            return value
        raise StateError(f"a state holds plain arrays, numbers and strings, not {getattr(value, 'dtype', type(value).__name__)}")

    header: dict[str, Any] = {field.name: getattr(turn, field.name) for field in fields(Turn)}
    header["ledger"] = turn.ledger.as_plain()
    header["coin_key"] = turn.coin_key.hex()
    for name in _STATES:
        header[name] = {key: plain(value) for key, value in header[name].items()}
    header["waiting"] = [[number, plain(asked.context), plain(asked.available)] for number, asked in turn.waiting.items()]
    text = json.dumps(header).encode()
    length = _START + len(text) + sum(array.nbytes for array in arrays) + _CHECK
    start = [MAGIC, VERSION.to_bytes(2, "little"), length.to_bytes(8, "little"), len(text).to_bytes(8, "little")]
    body = b"".join([*start, text, *(array.tobytes() for array in arrays)])
    return body + sha256(body).digest()


def decode(content: bytes, name: str) -> Turn:
    """The turn in these bytes; a `StateError` names what is wrong with the file called `name`."""
    if content[: len(MAGIC)] != MAGIC[: len(content)]:
        raise StateError(f"{name} is not a discreet state file")
    version, length, size = (int.from_bytes(content[place : place + width], "little") for place, width in ((8, 2), (10, 8), (18, 8)))
    if version > VERSION:
        raise StateError(f"{name} was written by a newer discreet (format {version}, this one reads up to {VERSION}): upgrade")
    if len(content) < max(_START + _CHECK, length):
        raise StateError(f"{name} is truncated: restore it from where it was copied")
    body, check = content[:-_CHECK], content[-_CHECK:]
    if sha256(body).digest() != check:  # nothing of the content is read before this
        raise StateError(f"{name} was altered (its checksum does not match): restore it from where it was copied")
    return _turn(json.loads(body[_START : _START + size]), memoryview(body)[_START + size :])


def _size(described: dict[str, Any]) -> int:
    return int(np.dtype(described["dtype"]).itemsize * np.prod(described["shape"], dtype=np.int64))


def _turn(header: dict[str, Any], rest: memoryview) -> Turn:
    place = 0

    def restored(value: Any) -> Any:
        nonlocal place
        if not isinstance(value, dict):
            return value
        start, place = place, place + _size(value)
        return np.frombuffer(rest[start:place], dtype=value["dtype"]).reshape(value["shape"]).copy()

    for name in _STATES:
        header[name] = {key: restored(value) for key, value in header[name].items()}
    waiting = {entry[0]: Asked(restored(entry[1]), restored(entry[2])) for entry in header["waiting"]}
    special = {"ledger": Ledger.from_plain(header["ledger"]), "coin_key": bytes.fromhex(header["coin_key"]), "waiting": waiting}
    return Turn(**(header | special))


def write(path: Path, content: bytes) -> None:
    """Replace the file in one step that survives a power cut."""
    draft = path.with_name(f".{path.name}.draft")
    draft.unlink(missing_ok=True)  # left by a process that was killed
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
    make_durable(path.parent)


def make_durable(folder: Path) -> None:
    """Flush a directory, so that a file's new name survives a power cut."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
