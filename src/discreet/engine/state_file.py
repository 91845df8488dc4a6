"""State files: one snapshot per file, versioned, checksummed, replaced atomically, no pickle.

    "DISCREET" · version (2 bytes) · length of the file (8) · length of the header (8) ·
    header (JSON) · arrays · SHA-256 of everything before (32)

Only the owner can read the file (mode 0600). It holds raw sums and noise buffers; where rounds name
their person, keyed digests of the people of the open block; and, for learners that hold rows until
one release, people's rows. It is NOT private: store it where the data itself may be stored.
"""

import json
import os
import stat
from collections.abc import Callable
from dataclasses import fields
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from discreet.budget.ledger import Ledger
from discreet.budget.privacy import Privacy
from discreet.engine.flat_state import flat_hidden, nested_hidden
from discreet.engine.plan import State
from discreet.engine.snapshot import OpenRounds, PeopleState, RoundsState, Snapshot
from discreet.errors import StateError

MAGIC = b"DISCREET"
VERSION = 6
FINISHES = {1: "0.1", 2: "0.3", 3: "0.4", 4: "0.5", 5: "0.6 before its release"}
"""The version of discreet that can go on from each older format."""
_START = len(MAGIC) + 2 + 8 + 8
_CHECK = 32
_STATES = ("public", "hidden", "block")


def encode(snapshot: Snapshot) -> bytes:
    """Return the bytes of a snapshot."""
    writer = _Writer()
    header: dict[str, object] = {
        field.name: getattr(snapshot, field.name) for field in fields(Snapshot)
    }
    states = {"public": snapshot.public, "hidden": flat_hidden(snapshot.hidden)}
    for name, state in {**states, "block": snapshot.block}.items():
        header[name] = writer.dictionary(state)
    header["rounds"] = writer.rounds(snapshot.rounds)
    header["ledger"] = snapshot.ledger.as_plain()
    header["coin_key"] = snapshot.coin_key.hex()
    return _framed(json.dumps(header).encode(), writer.arrays)


class _Writer:
    """Converts states to plain values; arrays are collected, and described in their place."""

    def __init__(self) -> None:
        self.arrays: list[np.ndarray] = []
        """The arrays so far, in the order of the file."""

    def plain(self, value: object) -> object:
        """Return a number or text as it is, and the description of an array."""
        if isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
            self.arrays.append(np.ascontiguousarray(value))
            return {"dtype": value.dtype.str, "shape": list(value.shape)}
        if value is None or isinstance(value, int | float | str):
            return value
        kind = getattr(value, "dtype", type(value).__name__)
        raise StateError(f"a state holds plain arrays, numbers and strings, not {kind}")

    def dictionary(self, state: State) -> State:
        """Return all entries of a state as plain values."""
        return {name: self.plain(value) for name, value in state.items()}

    def rounds(self, rounds: RoundsState) -> State:
        """Return the clock, the open rounds, the mask counts and the people as plain values."""
        opened = []
        for part in rounds.open:
            opened.append(
                [self.plain(part.edges), self.plain(part.context), self.plain(part.available)]
            )
        plain: State = {
            "clock": rounds.clock,
            "open": opened,
            "mask_counts": self.dictionary(rounds.mask_counts),
        }
        people = rounds.people
        if people is not None:
            plain["people"] = {
                "key": people.key.hex(),
                "digests": self.plain(people.digests),
                "silent": self.plain(people.silent),
            }
        return plain


def _framed(text: bytes, arrays: list[np.ndarray]) -> bytes:
    """Return the file: its start (see above), the header, the arrays, and their checksum."""
    length = _START + len(text) + sum(array.nbytes for array in arrays) + _CHECK
    start = [
        MAGIC,
        VERSION.to_bytes(2, "little"),
        length.to_bytes(8, "little"),
        len(text).to_bytes(8, "little"),
    ]
    body = b"".join([*start, text, *(array.tobytes() for array in arrays)])
    return body + sha256(body).digest()


def decode(content: bytes, name: str) -> Snapshot:
    """Return the snapshot in these bytes of the file `name`, or raise `StateError`."""
    length = _length(content[:_START], name)
    if len(content) < max(_START + _CHECK, length):
        raise StateError(f"{name} is truncated: restore it from where it was copied")
    header_length = int.from_bytes(content[18:26], "little")
    body = content[:-_CHECK]
    checksum = content[-_CHECK:]
    if sha256(body).digest() != checksum:  # nothing of the content is parsed before this
        raise StateError(
            f"{name} was altered (its checksum does not match): restore it from where it was copied"
        )
    arrays_begin = _START + header_length
    try:
        header = json.loads(body[_START:arrays_begin])
        return _snapshot(header, memoryview(body)[arrays_begin:])
    except Exception as error:  # a checksum can be forged
        raise StateError(
            f"{name} makes no sense ({type(error).__name__}): restore it from where it was copied"
        ) from None


def _snapshot(header: dict[str, Any], arrays: memoryview) -> Snapshot:
    """Return the snapshot of a header and its arrays.

    Arrays are read in the order in which `encode` has written them.
    """
    reader = _Reader(arrays)
    decoded: dict[str, Any] = {name: reader.dictionary(header[name]) for name in _STATES}
    decoded["hidden"] = nested_hidden(decoded["hidden"])
    decoded["rounds"] = reader.rounds(header["rounds"])
    decoded["ledger"] = Ledger.from_plain(_privacy(header["settings"]), header["ledger"])
    decoded["coin_key"] = bytes.fromhex(header["coin_key"])
    snapshot = Snapshot(**(header | decoded))
    _check(snapshot)
    return snapshot


def _privacy(settings: dict[str, Any]) -> Privacy:
    """Return the privacy that plain settings ask for."""
    return Privacy(
        settings["epsilon"],
        settings["delta"],
        contributions=settings.get("contributions", 1),
        keyed=settings.get("keyed", False),
    )


def _check(snapshot: Snapshot) -> None:
    """Raise `ValueError` for fields of the wrong type or range: later code relies on them."""
    texts = (snapshot.identity, snapshot.kind, snapshot.settings_hash, snapshot.calibration)
    begin = snapshot.begin
    clock = snapshot.rounds.clock
    counts = (snapshot.epoch, snapshot.index, begin, clock, snapshot.revision)
    fits = all(isinstance(text, str) for text in texts) and isinstance(snapshot.failed, bool)
    fits &= all(type(count) is int and 0 <= count < 2**62 for count in counts)
    fits &= begin <= clock and _are_open(snapshot.rounds.open, begin, clock)
    people = snapshot.rounds.people
    if people is not None:
        fits &= len(people.key) == 16
        fits &= people.digests.dtype == np.uint8 and people.digests.shape[1:] == (16,)
        fits &= people.silent.dtype == np.int64 and people.silent.ndim == 1
    if not fits or len(snapshot.coin_key) != 16:
        raise ValueError


def _are_open(parts: tuple[OpenRounds, ...], begin: int, clock: int) -> bool:
    """Return whether these are rounds of the open block in ascending order, one request each."""
    for part in parts:
        edges = part.edges
        if edges.dtype != np.int64 or edges.ndim != 1 or len(edges) % 2 or not len(edges):
            return False
        if edges[0] < begin or edges[-1] > clock or (np.diff(edges) <= 0).any():
            return False
        count = int((edges[1::2] - edges[::2]).sum())
        if not _are_requests(part, count):
            return False
        begin = int(edges[-1])
    return True


def _are_requests(part: OpenRounds, count: int) -> bool:
    """Return whether contexts and masks have the types and lengths of this number of rounds."""
    context = part.context
    if context is not None and not (context.dtype == np.float64 and len(context) == count):
        return False
    mask = part.available
    if mask is None:
        return True
    return mask.dtype == np.bool_ and (mask.ndim == 1 or len(mask) == count)


class _Reader:
    """The inverse of `_Writer`: reads arrays in the order of the file."""

    def __init__(self, arrays: memoryview) -> None:
        self._arrays = arrays
        self._place = 0
        """Where the next array begins."""

    def value(self, plain: object) -> Any:
        """Return a number or text as it is, and the next array for its description."""
        if not isinstance(plain, dict):
            return plain
        dtype = np.dtype(plain["dtype"])
        shape = [int(length) for length in plain["shape"]]
        if dtype.kind not in "biuf" or min(shape, default=0) < 0:
            raise ValueError
        begin = self._place
        end = begin + dtype.itemsize * int(np.prod(shape, dtype=object))
        if end > len(self._arrays):
            raise ValueError
        self._place = end
        return np.frombuffer(self._arrays[begin:end], dtype=dtype).reshape(shape).copy()

    def dictionary(self, plain: State) -> State:
        """Return all entries of a state."""
        return {name: self.value(entry) for name, entry in plain.items()}

    def rounds(self, plain: State) -> RoundsState:
        """Return the clock, the open rounds, the mask counts and the people."""
        opened = tuple(OpenRounds(*map(self.value, part)) for part in plain["open"])
        mask_counts = self.dictionary(plain["mask_counts"])
        people = None
        if plain.get("people") is not None:
            people = self._people(plain["people"])
        return RoundsState(plain["clock"], opened, mask_counts, people)

    def _people(self, plain: State) -> PeopleState:
        digests = self.value(plain["digests"])
        silent = self.value(plain["silent"])
        return PeopleState(bytes.fromhex(plain["key"]), digests, silent)


def read(path: Path) -> Snapshot:
    """Return the snapshot in a file; refuse all but ordinary files of the stated length."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError as error:
        raise StateError(f"{path.name} cannot be read: {error.strerror}") from None
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise StateError(f"{path.name} is not a discreet state file")
        start = os.read(descriptor, _START)
        length = _length(start, path.name)
        if status.st_size != length:
            is_short = status.st_size < length
            damage = "truncated" if is_short else "altered (longer than its header states)"
            raise StateError(f"{path.name} is {damage}: restore it from where it was copied")
        with os.fdopen(os.dup(descriptor), "rb") as file:
            return decode(start + file.read(), path.name)
    except OSError as error:
        raise StateError(f"{path.name} cannot be read: {error.strerror}") from None
    finally:
        os.close(descriptor)


def _length(start: bytes, name: str) -> int:
    """Return the length of the file that its start states; refuse other files and versions."""
    if start[: len(MAGIC)] != MAGIC[: len(start)] or not start:
        raise StateError(f"{name} is not a discreet state file")
    if len(start) < _START:
        raise StateError(f"{name} is truncated: restore it from where it was copied")
    version = int.from_bytes(start[8:10], "little")
    if version < VERSION:
        last = FINISHES.get(version, "of an older version")
        raise StateError(f"{name} was written by discreet {last}: finish it with that version")
    if version > VERSION:
        raise StateError(f"{name} was written by a newer discreet (format {version}): upgrade")
    return int.from_bytes(start[10:18], "little")


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
