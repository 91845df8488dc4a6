"""If these fail, a file of an earlier version is misread, or changed before it is accepted."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

import discreet
from discreet import FileJournal, Privacy, RunningSum, StateError
from discreet.engine import state_file
from discreet.engine.formats import (
    FORMATS,
    PRESENT,
    TRANSLATED,
    Formats,
    Origin,
    Record,
    Upgrade,
    Version,
)
from discreet.engine.state_record import record_of
from discreet.runs import columns
from discreet.runs.columns import LogReading, store_reading, stored_reading

EARLIER = Version(0, 7, 0)


def with_earlier(monkeypatch: pytest.MonkeyPatch, **upgraders: Any) -> Formats:
    """Let this version read a format more, with these upgraders to the present one."""
    formats = Formats(FORMATS.newest - 1, (Upgrade(**upgraders),))
    monkeypatch.setattr(FileJournal, "formats", formats)
    monkeypatch.setattr(columns, "FORMATS", formats)
    return formats


def earlier_sum(path: Path, **changed: object) -> bytes:
    """Write the state of a sum in the format before the present one; return the file."""
    sums = RunningSum(2, 10, Privacy(1.0), bound=1.0, seed=1)
    sums.add([0.5, 0.5])
    record = record_of(sums.snapshot()) | changed
    path.write_bytes(state_file.framed(record, FORMATS.newest - 1, EARLIER))
    return path.read_bytes()


def test_upgraders_are_applied_in_order_from_the_format_of_the_file() -> None:
    def then(word: str) -> Upgrade:
        return Upgrade(state=lambda record: {"words": [*record["words"], word]})

    formats = Formats(3, (then("4"), Upgrade(), then("6")))
    for number, words in ((3, ["4", "6"]), (4, ["6"]), (5, ["6"]), (6, [])):
        origin = Origin("sum.state", number, "0.7.0")
        assert formats.upgraded("state", {"words": []}, origin) == {"words": words}
        assert formats.upgraded("reading", {"words": []}, origin) == {"words": []}


def test_what_is_written_has_the_present_format_and_version(tmp_path: Path) -> None:
    RunningSum(2, 10, Privacy(1.0), bound=1.0, journal=tmp_path / "state").detach()
    content = (tmp_path / "state").read_bytes()
    _, number, *version, length, _ = state_file.START.unpack(content[: state_file.START.size])
    assert (number, Version(*version), length) == (FORMATS.newest, PRESENT, len(content))
    assert state_file.decode(content, "state").version == str(PRESENT)


def test_a_kill_while_an_old_file_is_loaded_leaves_it_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first commit raises its epoch and is of the present format: both or neither."""
    with_earlier(monkeypatch)
    path = tmp_path / "state"
    old = earlier_sum(path)

    def dies(*paths: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as killed:
        killed.setattr(os, "replace", dies)
        with pytest.raises(KeyboardInterrupt):
            discreet.load(path)
    assert path.read_bytes() == old
    sums = discreet.load(path)
    assert (sums.clock, sums.releases) == (1, 1)
    assert path.read_bytes()[8:10] == FORMATS.newest.to_bytes(2, "little")
    sums.detach()
    assert state_file.read(path).epoch == 1


def test_a_state_of_another_calibration_is_refused_with_the_version_that_can_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_earlier(monkeypatch)
    path = tmp_path / "state"
    old = earlier_sum(path, calibration="of that version")
    monkeypatch.setattr("discreet.engine.state_check.PRESENT", Version(0, 8, 0))
    with pytest.raises(StateError) as refused:
        discreet.load(path)
    assert str(refused.value).startswith(
        "this state was calibrated by discreet 0.7.0 and 0.8.0 calibrates it otherwise: go on "
        "with 0.7.0, or begin a new learner (epsilon = "
    )
    assert path.read_bytes() == old


def test_a_state_that_an_upgrader_translates_goes_on_under_the_present_calibration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From its next commit on it is like any other: only the present calibration may read it."""

    def translate(record: Record) -> Record:
        return record | {"calibration": TRANSLATED}

    with_earlier(monkeypatch, state=translate)
    path = tmp_path / "state"
    earlier_sum(path, calibration="of that version")
    sums = discreet.load(path)
    present = RunningSum(2, 10, Privacy(1.0), bound=1.0, seed=1).snapshot().calibration
    sums.observe_many([[0.5, 0.5]])
    sums.detach()
    assert state_file.read(path).calibration == present


@pytest.mark.parametrize("number", [FORMATS.newest - 1, FORMATS.newest])
def test_a_file_cannot_say_by_itself_that_it_was_translated(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise the sums of another calibration would be read as if they were of this one."""
    with_earlier(monkeypatch)
    path = tmp_path / "state"
    sums = RunningSum(2, 10, Privacy(1.0), bound=1.0, seed=1)
    record = record_of(sums.snapshot()) | {"calibration": TRANSLATED}
    path.write_bytes(old := state_file.framed(record, number, EARLIER))
    with pytest.raises(StateError, match="state makes no sense"):
        discreet.load(path)
    assert path.read_bytes() == old


def test_the_columns_of_a_run_of_an_earlier_format_are_upgraded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def upgrade(record: Record) -> Record:
        return record | {"columns": record["names"]}

    formats = with_earlier(monkeypatch, reading=upgrade)
    path = tmp_path / "columns.json"
    record: Record = {"format": formats.first, "version": "0.7.0", "names": ["tea"], "log": {}}
    old = json.dumps(record | {"check": columns._check_of(record)})
    path.write_text(old)
    assert stored_reading(tmp_path) == LogReading(["tea"])
    assert path.read_text() == old
    store_reading(tmp_path, LogReading(["tea"]), begun=True)
    assert path.read_text() == LogReading(["tea"]).as_text()
    later = json.loads(path.read_text()) | {"format": 99, "version": "9.1.0"}
    path.write_text(json.dumps(later | {"check": columns._check_of(later)}))
    with pytest.raises(StateError, match=r"columns\.json needs discreet 9\.1\.0 or newer"):
        stored_reading(tmp_path)
