"""If these fail, a damaged, copied or stolen state could spend a budget twice or be read by the wrong people."""

import copy
import os
import pickle
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet
from discreet import FileJournal, MemoryJournal, Privacy, RunningSum, StateError
from discreet.release import statefile
from discreet.release.turn import Asked


def saved(path: Path, **settings: object) -> RunningSum:
    sums = RunningSum(2, 10, Privacy(1.0, 1e-6), bound=1.0, **settings)  # type: ignore[arg-type]
    for _ in range(3):
        sums.add([0.5, 0.5])
    sums.save(path)
    return sums


def test_a_state_is_one_file_for_its_owner_only(tmp_path: Path) -> None:
    saved(tmp_path / "sum.state")
    assert {entry.name: entry.stat().st_size > 0 for entry in tmp_path.iterdir()} == {"sum.state": True, ".sum.state.lock": False}
    assert (tmp_path / "sum.state").stat().st_mode & 0o777 == 0o600


def test_a_state_comes_back_as_it_was(tmp_path: Path) -> None:
    sums = saved(tmp_path / "sum.state")
    sums.open(context=[1.0, 2.0], available=[True, False])
    sums.save(tmp_path / "sum.state")
    content = (tmp_path / "sum.state").read_bytes()
    turn = statefile.decode(content, "sum.state")
    assert statefile.encode(turn) == content
    assert np.array_equal(turn.public["total"], sums.total)
    assert turn.waiting.keys() == {3}
    assert np.array_equal(turn.waiting[3].context, [1.0, 2.0])


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda content: content[:-1], "truncated"),
        (lambda content: content[:100], "truncated"),
        (lambda content: content[:12], "truncated"),
        (lambda content: content[:3], "truncated"),
        (lambda content: content[:-40] + bytes([content[-40] ^ 1]) + content[-39:], "altered"),
        (lambda content: content.replace(b'"horizon": 10', b'"horizon": 99'), "altered"),
        (lambda content: content[:8] + (7).to_bytes(2, "little") + content[10:], "newer discreet .format 7"),
        (lambda content: b"PK" + content[2:], "not a discreet state file"),
        (lambda content: b"", "truncated"),
    ],
)
def test_a_damaged_file_is_refused_with_the_cause(tmp_path: Path, damage, message: str) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "sum.state"
    saved(path)
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(StateError, match=message):
        discreet.load(path)


@settings(max_examples=60)
@given(st.data())
def test_no_flipped_bit_goes_unnoticed(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    path = tmp_path_factory.mktemp("flip") / "sum.state"
    saved(path)
    content = bytearray(path.read_bytes())
    content[data.draw(st.integers(0, len(content) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    path.write_bytes(content)
    with pytest.raises(StateError):
        discreet.load(path)


def test_a_missing_file_is_named() -> None:
    with pytest.raises(StateError, match=r"nowhere\.state does not exist"):
        discreet.load("nowhere.state")


def test_a_second_load_is_refused_while_the_first_lives(tmp_path: Path) -> None:
    saved(tmp_path / "sum.state")
    first = discreet.load(tmp_path / "sum.state")
    with pytest.raises(StateError, match="in use"):
        discreet.load(tmp_path / "sum.state")
    first.detach()
    assert discreet.load(tmp_path / "sum.state")._turn.epoch == 2


def test_whoever_saved_cannot_release_once_the_file_was_loaded(tmp_path: Path) -> None:
    sums = saved(tmp_path / "sum.state")
    sums.add([0.5, 0.5])  # committed to the file
    loaded = discreet.load(tmp_path / "sum.state")
    assert loaded.guarantee.releases == 4
    with pytest.raises(StateError, match="in use"):
        sums.add([0.5, 0.5])
    loaded.detach()
    with pytest.raises(StateError, match="loaded elsewhere"):
        sums.add([0.5, 0.5])


def test_a_checkpoint_cannot_be_rolled_back_by_loading_it(tmp_path: Path) -> None:
    """After a save, releases go to the file, so loading it never repeats one with fresh noise."""
    sums = saved(tmp_path / "sum.state")
    shown = [sums.add([0.5, 0.5]) for _ in range(4)]
    loaded = discreet.load(tmp_path / "sum.state")
    assert isinstance(loaded, RunningSum)
    assert np.array_equal(loaded.total, shown[-1])
    assert loaded.guarantee.spent == sums.guarantee.spent


def test_a_state_has_one_home(tmp_path: Path) -> None:
    sums = saved(tmp_path / "sum.state")
    with pytest.raises(StateError, match=r"kept in sum\.state already"):
        sums.save(tmp_path / "other.state")
    with pytest.raises(StateError, match="exists already"):
        saved(tmp_path / "sum.state")


def test_a_journal_resumes_only_its_own_configuration(tmp_path: Path) -> None:
    path = tmp_path / "sum.state"
    first = RunningSum(1, 10, Privacy(1.0), bound=1.0, journal=path)
    total = first.add([1.0])
    first.detach()
    with pytest.raises(StateError, match="another configuration"):
        RunningSum(1, 10, Privacy(2.0), bound=1.0, journal=path)
    again = RunningSum(1, 10, Privacy(1.0), bound=1.0, journal=FileJournal(path))
    assert np.array_equal(again.total, total)
    assert again.guarantee.releases == 1


def test_a_file_that_vanished_or_was_replaced_stops_the_learner(tmp_path: Path) -> None:
    path, other = tmp_path / "sum.state", tmp_path / "other.state"
    sums = RunningSum(1, 10, Privacy(1.0), bound=1.0, journal=path)
    content = path.read_bytes()
    path.unlink()
    with pytest.raises(StateError, match="cannot be read"):
        sums.add([1.0])
    RunningSum(1, 10, Privacy(1.0), bound=1.0, journal=other).detach()
    other.rename(path)
    with pytest.raises(StateError, match="replaced"):
        sums.turn()
    path.write_bytes(content)
    assert sums.turn()  # the same draw, committed at last
    assert sums.guarantee.releases == 1


def test_a_backup_cannot_be_loaded_over_a_living_learner(tmp_path: Path) -> None:
    path = tmp_path / "sum.state"
    sums = RunningSum(1, 10, Privacy(1.0), bound=1.0, journal=path)
    backup = path.read_bytes()
    sums.add([1.0])
    path.write_bytes(backup)
    with pytest.raises(StateError, match="in use"):
        discreet.load(path)
    sums.add([1.0])
    assert FileJournal(path).latest().index == 2  # type: ignore[union-attr]


def test_a_link_is_not_a_second_copy(tmp_path: Path) -> None:
    saved(tmp_path / "sum.state")
    (tmp_path / "link").symlink_to(tmp_path / "sum.state")
    first = discreet.load(tmp_path / "link")
    with pytest.raises(StateError, match="in use"):
        discreet.load(tmp_path / "sum.state")
    first.detach()
    assert discreet.load(tmp_path / "sum.state")._turn.epoch == 2


def test_a_refused_configuration_does_not_fence_off_the_living(tmp_path: Path) -> None:
    sums = saved(tmp_path / "sum.state")
    with pytest.raises(StateError, match="another configuration"):
        RunningSum(2, 11, Privacy(1.0, 1e-6), bound=1.0, journal=tmp_path / "sum.state")
    sums.add([0.5, 0.5])


def test_a_state_is_not_reinterpreted_by_another_calibration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    saved(tmp_path / "sum.state")
    monkeypatch.setattr("discreet.release.sums.MOST_LEVELS", 2**20)
    with pytest.raises(StateError, match="another version"):
        discreet.load(tmp_path / "sum.state")


def test_a_forgotten_learner_gives_up_its_lock(tmp_path: Path) -> None:
    sums = RunningSum(1, 10, Privacy(1.0), bound=1.0, journal=tmp_path / "sum.state")
    del sums
    assert discreet.load(tmp_path / "sum.state")._turn.epoch == 1


def test_a_memory_journal_serves_one_learner() -> None:
    journal = MemoryJournal()
    RunningSum(1, 10, Privacy(1.0), bound=1.0, journal=journal)
    with pytest.raises(StateError, match="belongs to another"):
        RunningSum(1, 10, Privacy(1.0), bound=1.0, journal=journal)


def test_learners_and_journals_cannot_be_copied(tmp_path: Path) -> None:
    sums = RunningSum(1, 10, Privacy(1.0), bound=1.0, journal=tmp_path / "sum.state")
    for duplicate in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(StateError, match="spend one budget twice"):
            duplicate(sums)
        with pytest.raises(StateError, match="holds a lock"):
            duplicate(sums._journal)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_learner_is_refused() -> None:
    sums = RunningSum(1, 10, Privacy(1.0), bound=1.0)
    child = os.fork()
    if child == 0:
        try:
            sums.add([1.0])
        except StateError:
            os._exit(7)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    sums.add([1.0])


def test_only_plain_values_can_be_kept(tmp_path: Path) -> None:
    sums = saved(tmp_path / "sum.state")
    turn = sums._snapshot()
    turn.waiting[9] = Asked(context=object())
    with pytest.raises(StateError, match="not object"):
        statefile.encode(turn)
