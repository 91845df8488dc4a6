"""If these fail, a commit with an unknown outcome is drawn again, lost or shown too early."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import discreet
from discreet import (
    MemoryJournal,
    Privacy,
    RunningSum,
    StateError,
)
from discreet.engine import state_file
from discreet.engine.engine import Engine
from discreet.engine.problem import Problem
from discreet.engine.request import EMPTY_REQUEST
from discreet.engine.rounds import Rounds
from discreet.engine.snapshot import RoundsState, Snapshot
from discreet.learners.forced import forced
from engine.counting import Counting, settings
from engine.journals import Flaky, Silent
from engine.sums import exact_people, levels_of, sum_of


def test_a_commit_that_may_have_happened_is_read_back() -> None:
    journal = Flaky(after=True)
    sums = sum_of(journal)
    journal.failing = True
    total = sums.add([1.0])
    stored = journal.latest()
    assert stored is not None
    assert np.array_equal(stored.public["total"], total)
    assert sums.releases == 1


def test_a_commit_that_did_not_happen_is_tried_again_with_the_same_draw() -> None:
    journal = Flaky(after=False)
    drawn = []
    sums = sum_of(journal)

    def watched(snapshot: Snapshot) -> None:
        drawn.append(snapshot.public["total"].copy())
        Flaky.commit(journal, snapshot)

    journal.commit = watched  # type: ignore[method-assign]
    journal.failing = True
    with pytest.raises(StateError, match="nothing was shown"):
        sums.add([1.0])
    assert sums.releases == 0
    assert sums.release_if_due()
    assert len(drawn) == 2
    assert np.array_equal(drawn[0], drawn[1])
    assert np.array_equal(sums.total, drawn[0])


def test_a_commit_that_cannot_even_be_read_back_shows_nothing_and_draws_nothing_new() -> None:
    journal = Silent(after=True)
    sums = sum_of(journal)
    journal.failing = True
    with pytest.raises(StateError, match="nothing was shown"):
        sums.add([1.0])
    stored = MemoryJournal.latest(journal)
    assert stored is not None
    assert stored.index == 1
    assert sums.releases == 0
    assert sums.release_if_due()
    assert np.array_equal(sums.total, stored.public["total"])


def test_an_answer_after_a_failed_commit_counts_only_if_close_returns_true() -> None:
    """The release is drawn, so later answers are late, and `close` must return False."""
    journal = Flaky(after=False)
    engine = Engine(Problem(Counting(settings(seed=1))), "Counting", journal)
    rounds = Rounds(engine)
    tickets = rounds.open_many(3, EMPTY_REQUEST)
    rounds.close(tickets[0], 1)
    journal.failing = True
    with pytest.raises(StateError, match="nothing was shown"):
        rounds.release_if_due()
    counted = rounds.close(tickets[1], 1)
    assert rounds.release_if_due()
    twin = Engine(Problem(Counting(settings(seed=1))), "Counting")
    expected = Rounds(twin)
    expected.observe_many([1, 1 if counted else -1, -1])
    expected.release_if_due()
    assert np.array_equal(engine.view.public.counts, twin.view.public.counts)


def test_a_drawn_release_does_not_change_with_later_answers() -> None:
    """The stored node is the block that was noised, without the answers that follow."""
    journal = Flaky(after=False)
    sums = forced(
        RunningSum,
        "honaker",
        1,
        10,
        Privacy(1.0),
        bound=1.0,
        block=2,
        nonnegative=True,
        journal=journal,
    )
    tickets = sums.open_many(2)
    sums.close(tickets[0], [1.0])
    journal.failing = True
    with pytest.raises(StateError, match="nothing was shown"):
        sums.release_if_due()
    sums.close(tickets[1], [1.0])
    sums.release_if_due()
    assert exact_people(sums) == levels_of(sums)


@pytest.mark.parametrize("stops", [OSError, KeyboardInterrupt])
@pytest.mark.parametrize("stores", ["save", "checkpoint"])
def test_a_release_that_may_be_committed_is_never_overwritten_by_an_older_state(
    stops: type[BaseException], stores: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The new file is in place, and the flush of its folder fails or is interrupted."""
    path = tmp_path / "sum.state"
    often = timedelta(microseconds=1)
    sums = RunningSum(1, 10, Privacy(1.0), bound=1.0, block=2, journal=path, checkpoint=often)
    tickets = sums.open_many(2)
    sums.close(tickets[0], [1.0])

    def failing(folder: Path) -> None:
        raise stops

    with monkeypatch.context() as broken:
        broken.setattr(state_file, "make_durable", failing)
        with pytest.raises((StateError, KeyboardInterrupt)):
            sums.release_if_due()
    shown = state_file.read(path)
    assert shown.index == 1
    if stores == "save":
        with pytest.raises(
            StateError, match=r"a release waits to be committed: release_if_due\(\) first"
        ):
            sums.save(path)
    else:
        with pytest.warns(RuntimeWarning, match="a release waits to be committed"):
            assert not sums.close(tickets[1], [1.0])  # late, and a checkpoint is due
    sums.detach()  # killed
    again: Any = discreet.load(path)
    assert not again.release_if_due()  # the block is not released a second time
    assert again.snapshot().coin_key == shown.coin_key
    assert np.array_equal(again.total, shown.public["total"])
    again.detach()


class Chatty(MemoryJournal):
    """A journal that fails like a database driver whose errors show the data."""

    def commit(self, snapshot: Snapshot) -> None:
        if snapshot.index or snapshot.rounds.clock:
            raise RuntimeError(f"INSERT failed: {snapshot.block} {snapshot.hidden}")
        super().commit(snapshot)


def test_error_texts_of_a_journal_are_not_passed_on() -> None:
    sums = sum_of(Chatty())
    engine = Engine(Problem(Counting(settings())), "Counting", Chatty())
    for attempt in (
        lambda: sums.add([1.0]),
        lambda: engine.note({"closed": 1}, RoundsState(clock=1)),
        lambda: engine.checkpoint(RoundsState(clock=1)),
    ):
        with pytest.raises(StateError, match="RuntimeError") as caught:
            attempt()
        assert "INSERT" not in str(caught.value)
        assert caught.value.__cause__ is None
        assert caught.value.__suppress_context__ or caught.value.__context__ is None
