"""The record of a snapshot: plain data and arrays, in the present format of state files.

A change of what `record_of` returns needs a new format (discreet/engine/formats.py).
"""

from dataclasses import fields
from typing import Any

import numpy as np

from discreet.budget.ledger import Ledger
from discreet.budget.privacy import Privacy
from discreet.engine.flat_state import flat_hidden, nested_hidden
from discreet.engine.formats import Record
from discreet.engine.plan import State
from discreet.engine.snapshot import OpenRounds, PeopleState, RoundsState, Snapshot
from discreet.errors import StateError


def record_of(snapshot: Snapshot) -> Record:
    """Return the record of a snapshot; its arrays are those of the snapshot."""
    record = {field.name: getattr(snapshot, field.name) for field in fields(Snapshot)}
    del record["version"]  # a file states the version that wrote it in front of its record
    record["hidden"] = flat_hidden(snapshot.hidden)
    for name in ("public", "hidden", "block"):
        record[name] = _entries(record[name])
    record["ledger"] = snapshot.ledger.as_plain()
    record["coin_key"] = snapshot.coin_key.hex()
    record["rounds"] = _of_rounds(snapshot.rounds)
    return record


def _entries(state: State) -> State:
    """Return the entries of a state; refuse all but plain arrays, numbers and texts."""
    return {name: _entry(value) for name, value in state.items()}


def _entry(value: object) -> object:
    is_array = isinstance(value, np.ndarray) and value.dtype.kind in "biuf"
    if is_array or value is None or isinstance(value, int | float | str):
        return value
    kind = getattr(value, "dtype", type(value).__name__)
    raise StateError(f"a state holds plain arrays, numbers and strings, not {kind}")


def _of_rounds(rounds: RoundsState) -> Record:
    opened = [
        [_entry(part.edges), _entry(part.context), _entry(part.available)] for part in rounds.open
    ]
    record: Record = {
        "clock": rounds.clock,
        "open": opened,
        "mask_counts": _entries(rounds.mask_counts),
    }
    people = rounds.people
    if people is not None:
        record["people"] = {
            "key": people.key.hex(),
            "digests": _entry(people.digests),
            "silent": _entry(people.silent),
        }
    return record


def snapshot_of(record: Record, version: str) -> Snapshot:
    """Return the snapshot of a record that this version of discreet wrote.

    Any error means that no snapshot has this record.
    """
    decoded: dict[str, Any] = {
        "rounds": _rounds(record["rounds"]),
        "ledger": Ledger.from_plain(_privacy(record["settings"]), record["ledger"]),
        "coin_key": bytes.fromhex(record["coin_key"]),
    }
    for name in ("public", "hidden", "block"):
        decoded[name] = dict(record[name].items())  # refuses all but dictionaries
    decoded["hidden"] = nested_hidden(decoded["hidden"])
    snapshot = Snapshot(**(record | decoded), version=version)
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


def _rounds(record: Record) -> RoundsState:
    """Return the clock, the open rounds, the mask counts and the people."""
    opened = tuple(OpenRounds(*part) for part in record["open"])
    people = None
    if record.get("people") is not None:
        plain = record["people"]
        people = PeopleState(bytes.fromhex(plain["key"]), plain["digests"], plain["silent"])
    return RoundsState(record["clock"], opened, dict(record["mask_counts"].items()), people)


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
