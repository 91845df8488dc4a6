"""If these fail, a copied, stolen or restored state could spend a budget twice."""

import copy
import errno
import os
import pickle
import signal
import stat
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Event, Thread
from typing import Any

import numpy as np
import pytest

import discreet
from discreet import ConfigError, FileJournal, MemoryJournal, Privacy, RunningSum, StateError
from discreet.arrays import Floats
from discreet.engine import state_file
from discreet.engine.journal import as_journal
from discreet.engine.rounds import Rounds
from discreet.engine.snapshot import Snapshot
from discreet.learners.hedge import Hedge


def epoch(path: Path) -> int:
    """Return the number of times that the file was loaded."""
    snapshot = FileJournal(path).latest()
    assert snapshot is not None
    return snapshot.epoch


def counted(**more: Any) -> RunningSum:
    """Return a running sum of ten people."""
    settings: dict[str, Any] = {
        "dimension": 1,
        "horizon": 10,
        "privacy": Privacy(1.0),
        "bound": 1.0,
    } | more
    return RunningSum(**settings)


def saved(path: Path) -> RunningSum:
    """Return a running sum of two columns that was saved after three people."""
    sums = counted(dimension=2, privacy=Privacy(1.0, 1e-6))
    for _ in range(3):
        sums.add([0.5, 0.5])
    sums.save(path)
    return sums


def test_a_state_is_one_file_for_its_owner_only(tmp_path: Path) -> None:
    saved(tmp_path / "sum.state")
    sizes = {entry.name: entry.stat().st_size > 0 for entry in tmp_path.iterdir()}
    assert sizes == {"sum.state": True, ".sum.state.lock": False}
    assert (tmp_path / "sum.state").stat().st_mode & 0o777 == 0o600
    assert (tmp_path / ".sum.state.lock").stat().st_mode & 0o777 == 0o600


def test_a_missing_file_is_named() -> None:
    with pytest.raises(StateError, match=r"nowhere\.state does not exist"):
        discreet.load("nowhere.state")


def test_a_second_load_is_refused_while_the_first_lives(tmp_path: Path) -> None:
    saved(tmp_path / "sum.state")
    first = discreet.load(tmp_path / "sum.state")
    with pytest.raises(StateError, match="in use"):
        discreet.load(tmp_path / "sum.state")
    first.detach()
    second = discreet.load(tmp_path / "sum.state")
    assert epoch(tmp_path / "sum.state") == 2
    second.detach()


def test_a_learner_that_saved_cannot_release_once_the_file_was_loaded(tmp_path: Path) -> None:
    sums = saved(tmp_path / "sum.state")
    sums.add([0.5, 0.5])  # committed to the file
    loaded = discreet.load(tmp_path / "sum.state")
    assert loaded.releases == 4
    with pytest.raises(StateError, match="in use"):
        sums.add([0.5, 0.5])
    loaded.detach()
    with pytest.raises(StateError, match="loaded elsewhere"):
        sums.add([0.5, 0.5])


def test_a_checkpoint_cannot_be_rolled_back_by_loading_it(tmp_path: Path) -> None:
    """After a save, releases go to the file, so loading it never repeats one with new noise."""
    sums = saved(tmp_path / "sum.state")
    shown = [sums.add([0.5, 0.5]) for _ in range(4)]
    loaded = discreet.load(tmp_path / "sum.state")
    assert isinstance(loaded, RunningSum)
    assert np.array_equal(loaded.total, shown[-1])
    assert loaded.guarantee.spent == sums.guarantee.spent


def test_a_state_is_stored_in_one_place(tmp_path: Path) -> None:
    sums = saved(tmp_path / "sum.state")
    with pytest.raises(StateError, match=r"stored in sum\.state already"):
        sums.save(tmp_path / "other.state")
    with pytest.raises(StateError, match="exists already"):
        saved(tmp_path / "sum.state")

    class Foreign:
        """A journal of another class, such as a database."""

        def __init__(self) -> None:
            inner = MemoryJournal()
            self.claim = inner.claim
            self.commit = inner.commit
            self.latest = inner.latest
            self.close = inner.close

    with pytest.raises(StateError, match="second copy"):
        counted(journal=Foreign()).save(tmp_path / "third.state")
    assert not (tmp_path / "third.state").exists()


def test_a_journal_resumes_only_its_own_settings(tmp_path: Path) -> None:
    path = tmp_path / "sum.state"
    first = counted(journal=path)
    total = first.add([1.0])
    first.detach()
    with pytest.raises(StateError, match="other settings"):
        counted(privacy=Privacy(2.0), journal=path)
    with pytest.raises(StateError, match="other settings"):
        Hedge(3, 10, Privacy(1.0), journal=path)
    again = counted(journal=FileJournal(path))
    assert np.array_equal(again.total, total)
    assert again.releases == 1


def test_a_file_that_vanished_or_was_replaced_stops_the_learner(tmp_path: Path) -> None:
    path = tmp_path / "sum.state"
    other = tmp_path / "other.state"
    sums = counted(journal=path)
    content = path.read_bytes()
    path.unlink()
    with pytest.raises(StateError, match="cannot be read"):
        sums.add([1.0])
    counted(journal=other).detach()
    other.rename(path)
    with pytest.raises(StateError, match="replaced"):
        sums.release_if_due()
    path.write_bytes(content)
    assert sums.release_if_due()  # the same draw, committed at last
    assert sums.releases == 1


def test_a_backup_cannot_be_loaded_over_a_running_learner(tmp_path: Path) -> None:
    path = tmp_path / "sum.state"
    sums = counted(journal=path)
    backup = path.read_bytes()
    sums.add([1.0])
    path.write_bytes(backup)
    with pytest.raises(StateError, match="in use"):
        discreet.load(path)
    sums.add([1.0])
    snapshot = FileJournal(path).latest()
    assert snapshot is not None
    assert snapshot.index == 2


def test_a_link_is_not_a_second_copy(tmp_path: Path) -> None:
    saved(tmp_path / "sum.state")
    (tmp_path / "link").symlink_to(tmp_path / "sum.state")
    first = discreet.load(tmp_path / "link")
    with pytest.raises(StateError, match="in use"):
        discreet.load(tmp_path / "sum.state")
    first.detach()
    discreet.load(tmp_path / "sum.state")
    assert epoch(tmp_path / "sum.state") == 2


def test_a_hard_link_is_not_a_second_copy(tmp_path: Path) -> None:
    path = tmp_path / "sum.state"
    link = tmp_path / "link"
    sums = counted(journal=path)
    os.link(path, link)
    for name in (link, path):
        with pytest.raises(StateError, match=r"another name \(a hard link\)|in use"):
            discreet.load(name)
    sums.add([1.0])  # a running learner goes on
    sums.detach()
    link.unlink()
    assert discreet.load(path).releases == 1


class Stopped(FileJournal):
    """A journal that stops in the middle of a commit until it may go on."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.stopping = False
        self.begun = Event()
        self.may_go_on = Event()

    def commit(self, snapshot: Snapshot) -> None:
        if self.stopping:
            self.begun.set()
            assert self.may_go_on.wait(60)
        super().commit(snapshot)


def test_detaching_waits_for_the_commit_of_another_thread(tmp_path: Path) -> None:
    """Otherwise another process loads the file meanwhile, and two copies make the same release."""
    journal = Stopped(tmp_path / "sum.state")
    sums = counted(journal=journal)
    sums.observe_many([[1.0]])
    journal.stopping = True
    releasing = Thread(target=sums.release_if_due)
    detaching = Thread(target=sums.detach)
    releasing.start()
    assert journal.begun.wait(60)
    detaching.start()
    detaching.join(0.2)
    waits = detaching.is_alive()
    journal.may_go_on.set()
    releasing.join()
    detaching.join()
    assert waits
    assert discreet.load(tmp_path / "sum.state").releases == 1


def test_a_learner_is_not_detached_from_inside_a_call(tmp_path: Path) -> None:
    sums = counted(journal=tmp_path / "sum.state")

    class Row:
        def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
            sums.detach()

    with pytest.raises(discreet.DiscreetError):
        sums.add(Row())
    with pytest.raises(StateError, match="in use"):
        discreet.load(tmp_path / "sum.state")


def test_the_epoch_is_read_again_right_before_the_file_is_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process loads the file while the new one is being flushed: its file stays."""
    path = tmp_path / "sum.state"
    sums = counted(journal=path)
    sums.observe_many([[1.0]])
    theirs = state_file.encode(replace(state_file.read(path), epoch=1))
    real = os.fsync

    def flushed(descriptor: int) -> None:
        real(descriptor)
        path.write_bytes(theirs)

    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(os, "fsync", flushed)
        with pytest.raises(StateError, match="loaded elsewhere"):
            sums.release_if_due()
    assert path.read_bytes() == theirs
    assert not (tmp_path / ".sum.state.draft").exists()


def test_the_lock_is_not_followed_through_a_link(tmp_path: Path) -> None:
    """Otherwise any user who can write to the folder could make us open another user's file."""
    precious = tmp_path / "precious"
    (tmp_path / ".sum.state.lock").symlink_to(precious)
    with pytest.raises(StateError, match="cannot be locked"):
        counted(journal=tmp_path / "sum.state")
    assert not precious.exists()
    assert not (tmp_path / "sum.state").exists()


def test_the_draft_of_a_killed_process_does_not_stop_the_next(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_text("untouched")
    (tmp_path / ".sum.state.draft").symlink_to(precious)
    counted(journal=tmp_path / "sum.state").detach()
    assert precious.read_text() == "untouched"
    assert not (tmp_path / ".sum.state.draft").exists()


def test_refused_settings_do_not_fence_off_a_running_learner(tmp_path: Path) -> None:
    sums = saved(tmp_path / "sum.state")
    with pytest.raises(StateError, match="other settings"):
        counted(dimension=2, horizon=11, privacy=Privacy(1.0, 1e-6), journal=tmp_path / "sum.state")
    sums.add([0.5, 0.5])


def test_a_state_is_not_reinterpreted_by_another_calibration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved(tmp_path / "sum.state")
    monkeypatch.setattr("discreet.release.sums.prefix_sum.MOST_LEVELS", 2**20)
    content = (tmp_path / "sum.state").read_bytes()
    with pytest.raises(StateError, match=r"with another NumPy or SciPy.*epsilon = 1 of"):
        discreet.load(tmp_path / "sum.state")
    assert (tmp_path / "sum.state").read_bytes() == content


def test_a_deleted_learner_gives_up_its_lock(tmp_path: Path) -> None:
    sums = counted(journal=tmp_path / "sum.state")
    del sums
    discreet.load(tmp_path / "sum.state")
    assert epoch(tmp_path / "sum.state") == 1


def test_a_memory_journal_serves_one_learner() -> None:
    journal = MemoryJournal()
    counted(journal=journal)
    with pytest.raises(StateError, match="belongs to another"):
        counted(journal=journal)


def test_learners_and_journals_cannot_be_copied(tmp_path: Path) -> None:
    journal = FileJournal(tmp_path / "sum.state")
    sums = counted(journal=journal)
    for duplicate in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(StateError, match="spend one budget twice"):
            duplicate(sums)
        with pytest.raises(StateError, match="holds a lock"):
            duplicate(journal)


@pytest.mark.parametrize("journal", [3, b"path", object(), MemoryJournal, ["path"]])
def test_only_a_path_or_a_journal_is_a_journal(journal: Any) -> None:
    with pytest.raises(ConfigError, match="journal must be a path or a journal"):
        as_journal(journal)
    with pytest.raises(ConfigError, match="journal must be a path or a journal"):
        counted(journal=journal)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_learner_is_refused() -> None:
    sums = counted()
    child = os.fork()
    if child == 0:
        try:
            sums.add([1.0])
        except StateError:
            os._exit(7)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    sums.add([1.0])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_fork_in_the_middle_of_another_threads_call_does_not_wait_for_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sums = counted()
    inside, leave = Event(), Event()
    honest = Rounds.open

    def slow(self: Rounds, *arguments: Any) -> Any:
        inside.set()
        leave.wait(60)
        return honest(self, *arguments)

    monkeypatch.setattr(Rounds, "open", slow)
    thread = Thread(target=sums.open)
    thread.start()
    assert inside.wait(60)
    child = os.fork()
    if child == 0:
        signal.alarm(30)  # a child that waits for the lock would wait for ever
        try:
            sums.open()
        except StateError:
            os._exit(7)
        os._exit(0)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    leave.set()
    thread.join()
    assert status == 7


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_child_neither_holds_nor_frees_its_parents_lock(tmp_path: Path) -> None:
    path = tmp_path / "sum.state"
    sums = counted(journal=path)
    reader, writer = os.pipe()
    refused_reader, refused_writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            discreet.load(path)
        except StateError:
            sums.detach()  # the lock is the parent's
            os.write(refused_writer, b"x")
            os.read(reader, 1)  # lives on, without the lock
            os._exit(7)
        os._exit(0)
    os.read(refused_reader, 1)
    sums.add([1.0])
    with pytest.raises(StateError, match="in use"):
        discreet.load(path)
    sums.detach()
    loaded = discreet.load(path)
    os.write(writer, b"x")
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    assert loaded.releases == 1
    loaded.detach()
    for pipe in (reader, writer, refused_reader, refused_writer):
        os.close(pipe)


# --- a full disk


@dataclass
class Disk:
    """A disk that is full while the test wants it to be."""

    full: bool = False


@pytest.fixture(params=["bytes", "file", "rename", "folder"])
def disk(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Disk:
    """Return a disk without room at one step: write, flush, rename, or flush of the folder."""
    disk = Disk()
    fdopen = os.fdopen
    fsync = os.fsync
    rename = os.replace

    def no_room() -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def opened(descriptor: int, mode: str = "r", *more: Any, **named: Any) -> Any:
        if disk.full and "w" in mode:
            os.close(descriptor)
            descriptor = os.open("/dev/full", os.O_WRONLY)
        return fdopen(descriptor, mode, *more, **named)

    def flushed(descriptor: int) -> None:
        folder = stat.S_ISDIR(os.fstat(descriptor).st_mode)
        if disk.full and folder == (request.param == "folder"):
            no_room()
        fsync(descriptor)

    def renamed(*paths: Any) -> None:
        if disk.full:
            no_room()
        rename(*paths)

    if request.param == "bytes":
        monkeypatch.setattr(os, "fdopen", opened)
    elif request.param == "rename":
        monkeypatch.setattr(os, "replace", renamed)
    else:
        monkeypatch.setattr(os, "fsync", flushed)
    return disk


def test_a_full_disk_refuses_a_new_learner_and_leaves_no_draft(tmp_path: Path, disk: Disk) -> None:
    path = tmp_path / "sum.state"
    disk.full = True
    with pytest.raises(StateError, match="No space left"):
        counted(journal=path)
    assert not (tmp_path / ".sum.state.draft").exists()
    disk.full = False
    sums = counted(journal=path)
    sums.add([1.0])
    sums.detach()


def test_a_full_disk_refuses_a_save_and_the_learner_goes_on(tmp_path: Path, disk: Disk) -> None:
    path = tmp_path / "sum.state"
    sums = counted()
    total = sums.add([1.0])
    disk.full = True
    with pytest.raises(StateError, match="No space left"):
        sums.save(path)
    disk.full = False
    assert np.array_equal(sums.total, total)
    sums.add([1.0])
    # A file that is there now must not be a second copy from before that release.
    assert not path.exists() or discreet.load(path).releases == 2
    sums.save(path)
    sums.detach()
    assert discreet.load(path).releases == 2


def test_a_full_disk_in_a_release_shows_nothing_and_retains_the_draw(
    tmp_path: Path, disk: Disk
) -> None:
    path = tmp_path / "sum.state"
    sums = counted(journal=path, seed=5)
    twin = counted(seed=5)
    disk.full = True
    with pytest.raises(StateError, match="nothing was shown"):
        sums.add([1.0])
    assert sums.releases == 0
    assert not sums.total.any()
    with pytest.raises(StateError, match="nothing was shown"):
        sums.release_if_due()
    disk.full = False
    assert sums.release_if_due() is True
    assert np.array_equal(sums.total, twin.add([1.0]))  # the same draw
    sums.detach()
    assert np.array_equal(discreet.load(path).decision["total"], sums.total)


def test_the_draw_of_a_full_disk_is_not_drawn_again(tmp_path: Path, disk: Disk) -> None:
    """Without a seed, a second draw would differ."""
    sums = counted(journal=tmp_path / "sum.state")
    drawn: list[Floats] = []
    real = FileJournal.commit

    class Watching(FileJournal):
        def commit(self, snapshot: Snapshot) -> None:
            drawn.append(snapshot.public["total"].copy())
            real(self, snapshot)

    sums.detach()
    sums = counted(journal=Watching(tmp_path / "sum.state"))
    drawn.clear()
    disk.full = True
    for call in (lambda: sums.add([1.0]), sums.release_if_due, sums.release_if_due):
        with pytest.raises(StateError, match="nothing was shown"):
            call()
    disk.full = False
    sums.release_if_due()
    assert len(drawn) == 4
    assert all(np.array_equal(total, sums.total) for total in drawn)
