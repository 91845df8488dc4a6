"""If these fail, a crash loses people, releases them twice with different noise, or overspends."""

import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, initialize, invariant, precondition, rule

import discreet
from discreet import BudgetError, ConfigError, MemoryJournal, OutOfBounds, Privacy, RunningSum, StateError
from discreet.release.door import Door
from discreet.release.noise import DiscreteLaplace
from discreet.release.privacy import pure
from discreet.release.randomness import seeded_words
from discreet.release.selection import Selection, SelectionTree
from discreet.release.turn import Ticket, Turn
from dying import run_and_die

HORIZON, BLOCK = 12, 3


class TurnMachine(RuleBasedStateMachine):
    """Open, close, turn, crash and reload in any order, against a model of what must hold."""

    tickets = Bundle("tickets")

    @initialize()
    def begin(self) -> None:
        self.folder = Path(tempfile.mkdtemp())
        self.path = self.folder / "sum.state"
        self.sums = RunningSum(1, HORIZON, Privacy(1.0), bound=1.0, nonnegative=True, method="tree", block=BLOCK, journal=self.path)
        self.clock = 0
        self.answered: dict[int, float] = {}
        self.committed: dict[int, float] = {}  # what people of finished blocks count as
        self.shown: dict[int, float] = {}

    def teardown(self) -> None:
        if hasattr(self, "folder"):
            self.sums.detach()
            shutil.rmtree(self.folder)

    def settle(self) -> None:
        """The model's turn: people of the block without an answer count as zero."""
        if self.clock - len(self.committed) == BLOCK:
            for round in range(self.clock - BLOCK, self.clock):
                self.committed[round] = self.answered.get(round, 0.0)

    @rule(target=tickets)
    def open(self) -> Ticket:
        self.settle()
        ticket = self.sums.open()
        self.clock = min(self.clock + 1, HORIZON)
        return ticket

    @rule(ticket=consumes(tickets), value=st.sampled_from([0.0, 0.25, 1.0]))
    def close(self, ticket: Ticket, value: float) -> None:
        if ticket.round == HORIZON:
            with pytest.raises(discreet.HorizonReached):
                self.sums.close(ticket, [value])
        elif ticket.round < len(self.committed):
            assert self.sums.close(ticket, [value]) is False  # too late: already a blank
        elif ticket.round >= self.clock or ticket.round in self.answered:
            with pytest.raises(StateError):  # a ticket from before a crash, or of a round answered since
                self.sums.close(ticket, [value])
        else:
            assert self.sums.close(ticket, [value]) is True
            self.answered[ticket.round] = value

    @rule(ticket=tickets)
    def close_with_nonsense(self, ticket: Ticket) -> None:
        if ticket.round < len(self.committed) or ticket.round >= self.clock or ticket.round in self.answered:
            return
        with pytest.raises(OutOfBounds):
            self.sums.close(ticket, [float("nan")])

    @rule()
    def turn(self) -> None:
        before = len(self.committed)
        self.settle()
        assert self.sums.turn() is (len(self.committed) > before)

    @rule()
    def crash(self) -> None:
        """All that is not committed is gone; the log is read again from `rounds` on."""
        self.sums.detach()
        self.sums = discreet.load(self.path)  # type: ignore[assignment]
        self.clock = self.sums._turn.clock
        self.answered = {round: value for round, value in self.answered.items() if round < self.sums._turn.rounds or round in self.kept}

    kept: frozenset[int] = frozenset()

    @rule()
    def save_and_reload(self) -> None:
        self.sums.save(self.path)
        self.sums.detach()
        self.sums = discreet.load(self.path)  # type: ignore[assignment]
        self.kept = frozenset(self.answered)

    @precondition(lambda self: hasattr(self, "sums"))
    @invariant()
    def everyone_counts_once(self) -> None:
        """The exact sums inside add up to the people of the model, each at most once."""
        secret, levels = self.sums._secret, self.sums._segments.sums(0).levels
        people = sum(self.committed.values()) + sum(v for round, v in self.answered.items() if round >= len(self.committed))
        assert sum(int(value[0]) for name, value in secret.items() if name != "steps") == round(people * levels)

    @precondition(lambda self: hasattr(self, "sums"))
    @invariant()
    def nothing_is_released_twice(self) -> None:
        index, total = self.sums._turn.index, float(self.sums.total[0])
        assert self.shown.setdefault(index, total) == total
        assert index == len(self.committed) // BLOCK
        assert self.sums.guarantee.spent.amount <= self.sums.config.privacy.budget.amount
        assert self.sums._clock == self.clock


TurnMachine.TestCase.settings = settings(max_examples=40, stateful_step_count=30)
TestTurnMachine = TurnMachine.TestCase


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_process_killed_at_any_statement_of_a_turn_loses_nothing_and_repeats_nothing(tmp_path: Path) -> None:
    original, path = tmp_path / "original.state", tmp_path / "sum.state"
    people = [0.25, 0.5, 1.0, 0.75]
    sums = RunningSum(1, 8, Privacy(1.0, 1e-6), bound=1.0, nonnegative=True, method="tree", block=2, journal=original)
    for person in people[:2]:
        sums.close(sums.open(), [person])
    sums.turn()
    first = sums.total
    sums.detach()
    levels = sums._segments.sums(0).levels

    def prepare(learner: RunningSum) -> None:
        for person in people[2:]:
            learner.close(learner.open(), [person])

    def work(learner: RunningSum, show: Callable[[Any], None]) -> None:
        learner.turn()
        show((learner._turn.index, learner.total.tolist()))

    last, finished = 0, False
    died_before, died_after = 0, 0
    while not finished:
        shutil.copy(original, path)
        finished, shown = run_and_die(path, prepare, work, last)
        after = discreet.load(path)
        assert isinstance(after, RunningSum)
        index = after._turn.index
        kept = {1: first.tolist(), index: after.total.tolist()}
        assert all(kept[shown_index] == total for shown_index, total in map(eval, shown))  # shown, therefore kept, and the same
        assert index in (1, 2)
        died_before, died_after = died_before + (index == 1), died_after + (index == 2 and not finished)
        for person in people[after._turn.rounds :]:  # the log is read again from there
            after.close(after.open(), [person])
        after.turn()
        assert after._turn.index == 2
        assert sum(int(value[0]) for name, value in after._secret.items() if name != "steps") == sum(
            int(person * levels + 0.5) for person in people
        )
        assert after.guarantee.spent.amount <= after.config.privacy.budget.amount
        after.detach()
        last += 1
    assert died_before > 50  # many of the deaths came before the commit,
    assert died_after > 3  # and some between commit and show


class Flaky(MemoryJournal):
    """Fails once, before or after it has kept the turn."""

    def __init__(self, after: bool) -> None:
        super().__init__()
        self.after, self.failing = after, False

    def commit(self, turn: Turn) -> None:
        if self.failing and not self.after:
            self.failing = False
            raise OSError("disk full")
        super().commit(turn)
        if self.failing:
            self.failing = False
            raise OSError("connection lost")


def test_a_commit_that_may_have_happened_is_read_back() -> None:
    journal = Flaky(after=True)
    sums = RunningSum(1, 10, Privacy(1.0), bound=1.0, journal=journal)
    journal.failing = True
    total = sums.add([1.0])
    kept = journal.latest()
    assert kept is not None
    assert np.array_equal(kept.public["total"], total)


def test_a_commit_that_did_not_happen_is_tried_again_with_the_same_draw() -> None:
    journal = Flaky(after=False)
    sums = RunningSum(1, 10, Privacy(1.0), bound=1.0, journal=journal)
    journal.failing = True
    with pytest.raises(StateError, match="nothing was shown"):
        sums.add([1.0])
    assert sums.guarantee.releases == 0
    assert sums._unsettled is not None
    drawn = sums._unsettled.public["total"].copy()
    assert sums.turn()
    assert np.array_equal(sums.total, drawn)


class Clumsy(RunningSum):
    """Breaks after its noise was drawn."""

    def release(self, public: Any, secret: Any, door: Any) -> Any:
        super().release(public, secret, door)
        raise ArithmeticError("post-processing broke")


def test_a_failure_after_the_draw_ends_the_learner_for_good(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "sum.state"
    clumsy = Clumsy(1, 10, Privacy(1.0), bound=1.0, journal=path)
    with pytest.raises(ArithmeticError):
        clumsy.add([1.0])
    for call in (clumsy.open, clumsy.turn, lambda: clumsy.add([1.0]), lambda: clumsy.save(path)):
        with pytest.raises(StateError, match="cannot go on"):
            call()
    clumsy.detach()
    monkeypatch.setitem(discreet._LEARNERS, "Clumsy", __name__)
    monkeypatch.setitem(discreet._HOMES, "Clumsy", __name__)
    with pytest.raises(StateError, match="failed after its noise was drawn"):
        discreet.load(path)


class Greedy(RunningSum):
    """Steps twice in one turn."""

    def release(self, public: Any, secret: Any, door: Any) -> Any:
        super().release(public, dict(secret), door)
        return super().release(public, secret, door)


def test_a_sum_steps_once_a_turn() -> None:
    """Later steps are paid by earlier ones, so a second step from the same state would be free: and average the noise away."""
    greedy = Greedy(1, 1, Privacy(1.0), bound=1.0)
    with pytest.raises(BudgetError, match="one step a turn"):
        greedy.add([1.0])


def door(amount: float) -> Door:
    return Door(seeded_words(1, 0), pure(amount), index=0)


def test_a_door_gives_no_more_than_was_reserved() -> None:
    selection, scores = Selection.at_rate(0.25, span=2), np.zeros(3, dtype=np.int64)
    passage = door(1.01)
    passage.select(selection, scores)
    passage.select(selection, scores)
    for again in (
        lambda: passage.select(selection, scores),
        lambda: passage.select_from(SelectionTree(selection, scores)),
        lambda: passage.select_basis(selection, scores, lambda chosen: np.ones(3, dtype=bool), rank=1),
        lambda: passage.add_noise(DiscreteLaplace(10), scores, sensitivity=1),
    ):
        with pytest.raises(BudgetError, match="plan it"):
            again()


def test_a_basis_draws_no_more_often_than_it_pays() -> None:
    drawn = door(3.0).select_basis(
        Selection.at_rate(0.25, span=2), np.zeros(9, dtype=np.int64), lambda chosen: ~np.isin(np.arange(9), chosen), rank=2
    )
    assert len(drawn) == 2


def test_every_number_gets_noise_of_its_own() -> None:
    noisy = door(1.0).add_noise(DiscreteLaplace(100), np.array([[5], [1005], [5]]), sensitivity=1)
    assert noisy.shape == (3, 1)
    assert noisy[0, 0] != noisy[2, 0]


def test_a_door_takes_whole_numbers_only() -> None:
    for values in (np.array([0.123]), np.array([1], dtype=np.int32)):
        passage = door(1.0)
        with pytest.raises(ConfigError, match="quantise"):
            passage.add_noise(DiscreteLaplace(100), values, sensitivity=1)
        with pytest.raises(ConfigError, match="quantise"):
            passage.select(Selection.at_rate(0.1, span=2), values)
        assert not passage.opened


def test_a_visitor_who_never_answers_can_be_skipped() -> None:
    sums = RunningSum(1, 4, Privacy(1.0), bound=1.0, block=2)
    sums.act()
    sums.skip()
    sums.act()
    sums.observe([1.0])
    assert sums.turn()
    assert int(sums._secret["node0"][0]) == sums._segments.sums(0).levels


def test_a_question_left_open_does_not_freeze_later_ones() -> None:
    sums = RunningSum(1, 4, Privacy(1.0), bound=1.0)
    sums.act()
    assert sums.turn()
    assert sums._pending is not None
    stale = sums._pending.round
    sums.act()
    assert sums._pending.round == stale + 1


def test_an_interrupt_after_counting_does_not_let_a_person_count_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    sums = RunningSum(1, 4, Privacy(1.0), bound=1.0, block=4)
    original = RunningSum.digest

    def interrupted(self: RunningSum, public: Any, secret: Any, batch: Any) -> Any:
        original(self, public, secret, batch)
        raise KeyboardInterrupt

    ticket = sums.open()
    monkeypatch.setattr(RunningSum, "digest", interrupted)
    for again in (lambda: sums.close(ticket, [1.0]), lambda: sums.observe_many([[1.0]])):
        with pytest.raises(KeyboardInterrupt):
            again()
    monkeypatch.undo()
    with pytest.raises(StateError, match="is not open"):
        sums.close(ticket, [1.0])
    assert sums._clock == 2


class Chatty(MemoryJournal):
    """Fails like a database driver that shows what it was given."""

    def commit(self, turn: Turn) -> None:
        if turn.index:
            raise RuntimeError(f"INSERT failed: {turn.secret}")
        super().commit(turn)


def test_what_a_journal_says_when_it_fails_is_not_passed_on() -> None:
    sums = RunningSum(1, 4, Privacy(1.0), bound=1.0, journal=Chatty())
    with pytest.raises(StateError, match="RuntimeError") as caught:
        sums.add([1.0])
    assert "INSERT" not in str(caught.value)
    assert caught.value.__cause__ is None


class Swollen:
    """Says that it is one row, and is fifty."""

    def __len__(self) -> int:
        return 1

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.ones((50, 1))


def test_nobody_brings_friends() -> None:
    sums = RunningSum(1, 4, Privacy(1.0), bound=1.0, block=4)
    with pytest.raises(OutOfBounds, match="one row a round"):
        sums.observe_many(Swollen())


def test_what_comes_with_a_question_must_be_plain() -> None:
    sums = RunningSum(1, 4, Privacy(1.0), bound=1.0)
    with pytest.raises(OutOfBounds, match="context must be"):
        sums.open(context={"name": "Ann"})
    assert sums._clock == 0


class Overdrawn(RunningSum):
    """Plans more than its budget."""

    def plan(self) -> Any:
        from dataclasses import replace

        plan = super().plan()
        return replace(plan, total=plan.total * 2)


def test_a_plan_beyond_the_budget_is_refused_at_once() -> None:
    with pytest.raises(discreet.ConfigError, match="does not fit the budget"):
        Overdrawn(1, 1, Privacy(1.0), bound=1.0)


def test_decisions_cannot_be_changed_from_outside() -> None:
    sums = RunningSum(1, 10, Privacy(1.0), bound=1.0)
    sums.add([1.0])
    with pytest.raises(ValueError, match="read-only"):
        sums.open().decision[0] = 5.0


def test_threads_may_share_a_learner() -> None:
    import threading

    sums = RunningSum(1, 400, Privacy(1.0), bound=1.0, method="tree")
    threads = [threading.Thread(target=lambda: [sums.add([1.0]) for _ in range(50)]) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sums.guarantee.releases == 400
    assert sum(int(value[0]) for name, value in sums._secret.items() if name != "steps") >= 256 * sums._segments.sums(0).levels
