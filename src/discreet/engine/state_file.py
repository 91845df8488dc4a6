"""One turn in one file: versioned, checksummed, readable by its owner only, replaced atomically, no
pickle.

    "DISCREET" · version (2 bytes) · length of the file (8) · length of the header (8) ·
    header (JSON) · arrays · SHA-256 of all before (32)

The file holds raw sums, noise buffers, keyed digests of the people of the open block where rounds
name their person, and, for learners that keep rows for one release, people's rows. It is NOT
private: keep it where the data itself may be kept.
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
from discreet.engine.plan import State
from discreet.engine.snapshot import OpenRounds, PeopleState, RoundsState, Snapshot
from discreet.errors import StateError

MAGIC = b"DISCREET"
VERSION = 6
FINISHES = {1: "0.1", 2: "0.3", 3: "0.4", 4: "0.5", 5: "0.6 before its release"}
"""Which release of discreet can go on from older formats."""
_START = len(MAGIC) + 2 + 8 + 8
_CHECK = 32
_STATES = ("public", "hidden", "block")


def encode(snapshot: Snapshot) -> bytes:
    """The bytes of a turn."""
    writer = _Writer()
    header: dict[str, object] = {
        field.name: getattr(snapshot, field.name) for field in fields(Snapshot)
    }
    for name in _STATES:
        header[name] = writer.dictionary(getattr(snapshot, name))
    header["rounds"] = writer.rounds(snapshot.rounds)
    header["ledger"] = snapshot.ledger.as_plain()
    header["coin_key"] = snapshot.coin_key.hex()
    return _framed(json.dumps(header).encode(), writer.arrays)


class _Writer:
    """States as plain values; their arrays are put aside, and described where they stood."""

    def __init__(self) -> None:
        self.arrays: list[np.ndarray] = []

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
        """Return the clock, the open rounds, the tally and who has opened rounds."""
        opened = []
        for part in rounds.open:
            opened.append(
                [self.plain(part.edges), self.plain(part.context), self.plain(part.available)]
            )
        found: State = {
            "clock": rounds.clock,
            "open": opened,
            "mask_counts": self.dictionary(rounds.mask_counts),
        }
        if (people := rounds.people) is not None:
            digests, silent = self.plain(people.digests), self.plain(people.silent)
            found["people"] = {"key": people.key.hex(), "digests": digests, "silent": silent}
        return found


def _framed(text: bytes, arrays: list[np.ndarray]) -> bytes:
    """Return the file: what it is and how long, the header, the arrays, and a checksum of all of
    it.
    """
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
    """The turn in these bytes; a `StateError` names what is wrong with the file called `name`."""
    length = _length(content[:_START], name)
    if len(content) < max(_START + _CHECK, length):
        raise StateError(f"{name} is truncated: restore it from where it was copied")
    size = int.from_bytes(content[18:26], "little")
    body, check = content[:-_CHECK], content[-_CHECK:]
    if sha256(body).digest() != check:  # nothing of the content is read before this
        raise StateError(
            f"{name} was altered (its checksum does not match): restore it from where it was copied"
        )
    try:
        return _snapshot(
            json.loads(body[_START : _START + size]), memoryview(body)[_START + size :]
        )
    except Exception as error:  # a checksum can be made anew
        raise StateError(
            f"{name} makes no sense ({type(error).__name__}): restore it from where it was copied"
        ) from None


def _snapshot(header: dict[str, Any], rest: memoryview) -> Snapshot:
    restored = _reader(rest)
    special: dict[str, Any] = {
        name: {key: restored(value) for key, value in header[name].items()} for name in _STATES
    }  # in the order in which `encode` wrote the arrays
    rounds = header["rounds"]
    opened = tuple(OpenRounds(*(restored(part) for part in parts)) for parts in rounds["open"])
    mask_counts = {key: restored(value) for key, value in rounds["mask_counts"].items()}
    people = None
    if (plain := rounds.get("people")) is not None:
        digests, silent = restored(plain["digests"]), restored(plain["silent"])
        people = PeopleState(bytes.fromhex(plain["key"]), digests, silent)
    special["rounds"] = RoundsState(rounds["clock"], opened, mask_counts, people)
    settings = header["settings"]
    contributions, keyed = settings.get("contributions", 1), settings.get("keyed", False)
    privacy = Privacy(
        settings["epsilon"], settings["delta"], contributions=contributions, keyed=keyed
    )
    special["ledger"] = Ledger.from_plain(privacy, header["ledger"])
    special["coin_key"] = bytes.fromhex(header["coin_key"])
    snapshot = Snapshot(**(header | special))
    _check(snapshot)
    return snapshot


def _check(snapshot: Snapshot) -> None:
    """Refuse fields of the wrong kind: whoever goes on from them must be able to rely on it."""
    texts = (snapshot.identity, snapshot.kind, snapshot.settings_hash, snapshot.calibration)
    counts = (
        snapshot.epoch,
        snapshot.index,
        snapshot.begin,
        snapshot.rounds.clock,
        snapshot.revision,
    )
    fits = all(isinstance(text, str) for text in texts) and isinstance(snapshot.failed, bool)
    fits &= all(type(count) is int and 0 <= count < 2**62 for count in counts)
    fits &= snapshot.begin <= snapshot.rounds.clock and _are_open(
        snapshot.rounds.open, snapshot.begin, snapshot.rounds.clock
    )
    if (people := snapshot.rounds.people) is not None:
        fits &= len(people.key) == 16
        fits &= people.digests.dtype == np.uint8 and people.digests.shape[1:] == (16,)
        fits &= people.silent.dtype == np.int64 and people.silent.ndim == 1
    if not fits or len(snapshot.coin_key) != 16:
        raise ValueError


def _are_open(parts: tuple[OpenRounds, ...], begin: int, clock: int) -> bool:
    """Whether these are rounds of the open block in ascending order, with one question each."""
    for part in parts:
        edges = part.edges
        fits = (
            edges.dtype == np.int64 and edges.ndim == 1 and len(edges) % 2 == 0 and len(edges) > 0
        )
        if not fits or edges[0] < begin or edges[-1] > clock or (np.diff(edges) <= 0).any():
            return False
        count = int((edges[1::2] - edges[::2]).sum())
        context, mask = part.context, part.available
        if context is not None and not (context.dtype == np.float64 and len(context) == count):
            return False
        if mask is not None and not (
            mask.dtype == np.bool_ and (mask.ndim == 1 or len(mask) == count)
        ):
            return False
        begin = int(edges[-1])
    return True


def _reader(rest: memoryview) -> Callable[[Any], Any]:
    """Plain values as they are, descriptions of arrays as the next bytes."""
    place = 0

    def restored(value: Any) -> Any:
        nonlocal place
        if not isinstance(value, dict):
            return value
        dtype, shape = np.dtype(value["dtype"]), [int(length) for length in value["shape"]]
        if dtype.kind not in "biuf" or min(shape, default=0) < 0:
            raise ValueError
        size = dtype.itemsize * int(np.prod(shape, dtype=object))
        start, place = place, place + size
        if place > len(rest):
            raise ValueError
        return np.frombuffer(rest[start:place], dtype=dtype).reshape(shape).copy()

    return restored


def read(path: Path) -> Snapshot:
    """The turn in a file. Only an ordinary file that is as long as it says is read at all."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError as error:
        raise StateError(f"{path.name} cannot be read: {error.strerror}") from None
    try:
        about = os.fstat(descriptor)
        if not stat.S_ISREG(about.st_mode):
            raise StateError(f"{path.name} is not a discreet state file")
        start = os.read(descriptor, _START)
        length = _length(start, path.name)
        if about.st_size != length:
            what = "truncated" if about.st_size < length else "altered (it is longer than it says)"
            raise StateError(f"{path.name} is {what}: restore it from where it was copied")
        with os.fdopen(os.dup(descriptor), "rb") as file:
            return decode(start + file.read(), path.name)
    except OSError as error:
        raise StateError(f"{path.name} cannot be read: {error.strerror}") from None
    finally:
        os.close(descriptor)


def _length(start: bytes, name: str) -> int:
    """How long the file says that it is; refuses what is no state of this version."""
    if start[: len(MAGIC)] != MAGIC[: len(start)] or not start:
        raise StateError(f"{name} is not a discreet state file")
    if len(start) < _START:
        raise StateError(f"{name} is truncated: restore it from where it was copied")
    version = int.from_bytes(start[8:10], "little")
    if version < VERSION:
        last = FINISHES.get(version, "an older version")
        raise StateError(f"{name} was written by discreet {last}: finish it with that version")
    if version > VERSION:
        raise StateError(f"{name} was written by a newer discreet (format {version}): upgrade")
    return int.from_bytes(start[10:18], "little")


def write(path: Path, content: bytes, check: Callable[[], None] = lambda: None) -> None:
    """Replace the file in one step that survives a power cut; `check` may refuse right before
    that step.
    """
    draft = path.with_name(f".{path.name}.draft")
    try:
        draft.unlink(missing_ok=True)  # left by a process that was killed
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
    """Flush a directory, so that a file's new name survives a power cut."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
