"""If these fail, a public event is used before it is stored, lost, or overwritten."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import discreet
from discreet import (
    ConfigError,
    FileJournal,
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
from engine.counting import Closing, Counting, settings
from engine.journals import Flaky, Lost, Silent
from engine.sums import sum_of


class Watching(MemoryJournal):
    """A journal that notes the order of commits and events."""

    def __init__(self) -> None:
        super().__init__()
        self.events: list[tuple[str, Any]] = []

    def commit(self, snapshot: Snapshot) -> None:
        self.events.append(("committed", snapshot.public["closed"]))
        super().commit(snapshot)


def test_a_public_event_is_committed_before_it_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    journal = Watching()
    engine = Engine(Problem(Counting(settings())), "Counting", journal)
    rounds = Rounds(engine)
    rounds.observe_many([1, 1])
    real = Closing.noted

    def noted(view: Any, event: Any) -> Any:
        journal.events.append(("noted", event["closed"]))
        return real(view, event)

    monkeypatch.setattr(Closing, "noted", noted)
    engine.note({"closed": 3}, rounds.state())
    assert journal.events[1:] == [("noted", 3), ("committed", 3)]
    assert engine.view.public.closed == 3
    assert rounds.open(EMPTY_REQUEST).decision.tolist() == [2, 3]
    stored = journal.latest()
    assert stored is not None
    assert stored.public["closed"] == 3
    assert stored.block["votes"].tolist() == engine.block["votes"].values.tolist()
    assert stored.index == 0
    assert stored.ledger == engine.committed.ledger


def test_an_event_that_could_not_be_committed_is_not_used() -> None:
    journal = Flaky(after=False)
    engine = Engine(Problem(Counting(settings())), "Counting", journal)
    rounds = Rounds(engine)
    journal.failing = True
    with pytest.raises(StateError, match="could not be committed"):
        engine.note({"closed": 3}, rounds.state())
    assert engine.view.public.closed == 0
    assert rounds.open(EMPTY_REQUEST).decision.tolist() == [0, 0]
    engine.note({"closed": 3}, rounds.state())
    assert engine.view.public.closed == 3


def test_an_event_that_was_committed_after_all_is_used() -> None:
    """The journal has stored it, and its reply was lost."""
    journal = Flaky(after=True)
    engine = Engine(Problem(Counting(settings())), "Counting", journal)
    journal.failing = True
    engine.note({"closed": 3}, RoundsState())
    stored = journal.latest()
    assert stored is not None
    assert (stored.public["closed"], stored.revision) == (3, 1)
    assert (engine.view.public.closed, engine.committed.revision) == (3, 1)


def test_an_event_of_unknown_outcome_is_settled_before_the_next_decision() -> None:
    """Answers that come in between are not lost."""
    journal = Silent(after=True)
    engine = Engine(Problem(Counting(settings())), "Counting", journal)
    rounds = Rounds(engine)
    tickets = rounds.open_many(2, EMPTY_REQUEST)
    journal.failing = True
    with pytest.raises(
        StateError, match=r"may or may not be committed .*release_if_due\(\) tries again"
    ):
        engine.note({"closed": 3}, rounds.state())
    stored = MemoryJournal.latest(journal)
    assert stored is not None
    assert stored.public["closed"] == 3
    assert rounds.close(tickets[0], 1)
    votes = engine.block["votes"].values.tolist()
    journal.failing = True
    with pytest.raises(
        StateError,
        match=r"an earlier public event is not committed yet .*release_if_due\(\) tries again",
    ):
        rounds.open(EMPTY_REQUEST)
    assert rounds.clock == 2
    assert rounds.open(EMPTY_REQUEST).decision.tolist() == [2, 3]
    assert engine.block["votes"].values.tolist() == votes
    assert rounds.waits(1)
    assert engine.committed.revision == 1


@pytest.mark.parametrize("stores", ["checkpoint", "save", "note"])
def test_an_event_of_unknown_outcome_is_not_overwritten_by_an_older_state(
    stores: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "state"
    engine = Engine(Problem(Counting(settings())), "Counting", path)
    rounds = Rounds(engine)

    def failing(folder: Path) -> None:
        raise OSError

    with monkeypatch.context() as broken:
        broken.setattr(state_file, "make_durable", failing)
        with pytest.raises(StateError, match="may or may not be committed"):
            engine.note({"closed": 3}, rounds.state())
    assert state_file.read(path).public["closed"] == 3
    if stores == "checkpoint":
        engine.checkpoint(rounds.state())
    elif stores == "save":
        engine.save(path, rounds.state())
    else:
        engine.note({"closed": 0}, rounds.state())
    stored = state_file.read(path)
    assert stored.public["closed"] == engine.view.public.closed == 3
    assert stored.revision == engine.committed.revision == (2 if stores == "note" else 1)


def test_a_retired_item_is_not_shown_when_the_folder_is_flushed_at_the_second_try(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The new file is in place, so a learner that loads it and this one must agree."""
    shop = discreet.SetMaximizer(
        4, 2, 1000, Privacy(1.0), block=10, seed=1, journal=tmp_path / "state"
    )
    shown = int(shop.act()[0])
    real = state_file.make_durable
    calls = 0

    def flaky(folder: Path) -> None:
        nonlocal calls
        calls += 1
        if calls == 1:
            raise OSError
        real(folder)

    monkeypatch.setattr(state_file, "make_durable", flaky)
    shop.retire(shown)
    stored = state_file.read(tmp_path / "state").public["catalogue.active"]
    assert np.array_equal(stored, shop.snapshot().public["catalogue.active"])
    assert not stored[shown]
    assert all(shown not in shop.open().decision for _ in range(5))


def test_an_event_with_a_promised_retry_is_never_dropped_for_a_later_one() -> None:
    journal = Lost(after=True)
    shop = discreet.SetMaximizer(
        ["a", "b", "c", "d"], 1, 1000, Privacy(1.0), block=10, journal=journal
    )
    journal.failing = True
    with pytest.raises(
        StateError, match=r"may or may not be committed .*release_if_due\(\) tries again"
    ):
        shop.retire("a")
    journal.after = False  # it can be read again: nothing was stored
    with pytest.raises(
        StateError, match=r"an earlier public event is not committed yet .*nothing else was done"
    ):
        shop.retire("b")
    journal.failing = False
    shop.retire("b")
    assert shop.active == ["c", "d"]


def test_an_added_item_is_numbered_after_the_event_before_it() -> None:
    journal = Lost(after=True)
    shop = discreet.SetMaximizer(3, 1, 1000, Privacy(1.0), block=10, max_items=6, journal=journal)
    journal.failing = True
    with pytest.raises(StateError, match="may or may not be committed"):
        shop.add_item()
    journal.failing = False
    assert shop.add_item() == 4


def test_an_added_arm_is_numbered_after_the_event_before_it() -> None:
    journal = Lost(after=True)
    clinic = discreet.ContextualBandit(2, 2, 1000, Privacy(1.0, 1e-6), max_arms=5, journal=journal)
    journal.failing = True
    with pytest.raises(StateError, match="may or may not be committed"):
        clinic.add_arm()
    journal.failing = False
    assert clinic.add_arm() == 3


def test_a_warm_start_counts_as_a_public_event() -> None:
    shop = discreet.SetMaximizer(4, 2, 10_000, Privacy(1.0), feedback="clicks", seed=1)
    shop.warm_start([([0, 1], 0), ([2, 3], None)] * 50)
    assert shop.snapshot().revision == 1


def test_an_event_survives_a_crash_and_the_next_release(tmp_path: Path) -> None:
    path = tmp_path / "state"
    engine = Engine(Problem(Counting(settings())), "Counting", path)
    rounds = Rounds(engine)
    rounds.observe_many([1, 1])
    engine.note({"closed": 3}, rounds.state())
    engine.detach()
    again = Engine(Problem(Counting(settings())), "Counting", FileJournal(path))
    rounds = Rounds(again)
    assert again.view.public.closed == 3
    assert rounds.clock == 2
    rounds.observe_many([0])
    assert rounds.release_if_due()
    assert again.view.public.closed == 3
    assert again.committed.index == 1


def test_a_problem_without_public_events_refuses_them() -> None:
    problem = RunningSum.problem_for(sum_of().settings)
    engine = Engine(problem, "RunningSum")
    with pytest.raises(ConfigError, match="takes no public events"):
        engine.note({"closed": 1}, RoundsState())
