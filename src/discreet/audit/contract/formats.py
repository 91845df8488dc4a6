"""Rules of the contract about state files of earlier formats.

States are saved in two forms that never were formats, from which the upgraders of this module lead
to the present one, so that the way through `engine/formats.py` is tried for every learner.
"""

import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

from discreet.audit.cases.case import Case
from discreet.audit.contract.tools import lived, raises, row_of, same
from discreet.engine import state_file
from discreet.engine.formats import FORMATS, Formats, Record, Upgrade, Version
from discreet.engine.journal import FileJournal
from discreet.engine.state_record import record_of
from discreet.errors import StateError
from discreet.learners.base import Learner

AFTER = 7
"""The round after which a learner is saved in an earlier format."""
EARLIER = Version(0, 0, 1)
"""The version that is said to have written that file."""


def _as_one(record: Record) -> Record:
    """Return a record in the form before the last: public and hidden state as one dictionary."""
    record = dict(record)
    parts = {name: record.pop(name) for name in ("public", "hidden")}
    entries = {f"{part} {key}": value for part in parts for key, value in parts[part].items()}
    return record | {"state": entries}


def _apart(record: Record) -> Record:
    """Upgrade a record from the form of `_as_one`."""
    record = dict(record)
    parts: dict[str, Record] = {"public": {}, "hidden": {}}
    for name, value in record.pop("state").items():
        part, key = name.split(" ", 1)
        parts[part][key] = value
    return record | parts


def _nested(record: Record) -> Record:
    """Return a record in the oldest form: its settings have the budget as a table."""
    settings = dict(record["settings"])
    budget = {name: settings.pop(name) for name in ("epsilon", "delta")}
    return record | {"settings": settings | {"budget": budget}, "settings_hash": "of that format"}


def _flat(record: Record) -> Record:
    """Upgrade a record from the form of `_nested`."""
    settings = dict(record["settings"])
    return record | {"settings": settings | settings.pop("budget")}


def _fail(record: Record) -> Record:
    raise KeyError("a name that the record lacks")


def _forget(record: Record) -> Record:
    """Return a record without the released values, which no learner goes on from."""
    return record | {"public": {}}


def _formats(*upgraders: Callable[[Record], Record]) -> Formats:
    """Return formats of which the newest is the present one, with these upgraders to it."""
    upgrades = tuple(Upgrade(state=upgrader) for upgrader in upgraders)
    return Formats(FORMATS.newest - len(upgrades), upgrades)


CHAIN = _formats(_flat, _apart)
"""The way from the oldest form to the present format."""


def _journal(path: Path, formats: Formats) -> FileJournal:
    """Return a file journal that reads these formats."""
    journal = FileJournal(path)
    journal.formats = formats
    return journal


def a_state_of_an_earlier_format_goes_on(case: Case) -> None:
    people = case.people(case.horizon)
    straight, decisions = lived(case, people, seed=6)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "state"
        learner, before = lived(case, people[:AFTER], seed=6)
        learner.detach()
        old = _written(learner, path)
        state_file.read(path, CHAIN)
        assert path.read_bytes() == old, "reading a file changed it"
        learner = case.make(seed=6, journal=_journal(path, CHAIN))
        assert path.read_bytes() != old, "the file was not raised to this holder's epoch"
        stored = state_file.read(path)  # in the present format, without upgraders
        assert stored.settings_hash == learner.settings.hash, "the hash is that of other settings"
        contexts = case.contexts(case.horizon)
        for round, person in enumerate(people[AFTER:], AFTER):
            decision = learner.act(row_of(contexts, round), **case.whose(round))
            learner.observe(case.answered(person, decision))
            before.append(decision)
        learner.release_if_due()
        straight.release_if_due()
        assert all(map(same, before, decisions)), "decisions differ"
        assert learner.guarantee == straight.guarantee, "the guarantee differs"
        assert learner.decision == straight.decision, "the last decision differs"
        learner.detach()


def a_state_that_cannot_be_upgraded_stays_as_it_was(case: Case) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "state"
        learner, _ = lived(case, case.people(AFTER), seed=6)
        learner.detach()
        old = _written(learner, path)
        for formats, refusal in (
            (_formats(_flat, _fail), "go on with discreet 0.0.1, which wrote it"),
            (_formats(_flat, lambda record: _forget(_apart(record))), "does not fit"),
            (Formats(CHAIN.first - 1), "needs discreet 0.0.1 or newer"),
            (Formats(FORMATS.newest), "is older than discreet"),
        ):
            load = partial(case.make, seed=6, journal=_journal(path, formats))
            raises(StateError, load, refusal)
            assert path.read_bytes() == old, f"a refused file was changed ({refusal})"
        case.make(seed=6, journal=_journal(path, CHAIN)).detach()


def _written(learner: Learner, path: Path) -> bytes:
    """Write the state of a learner in the oldest form, and return the file."""
    record = _nested(_as_one(record_of(learner.snapshot())))
    path.write_bytes(state_file.framed(record, CHAIN.first, EARLIER))
    return path.read_bytes()
