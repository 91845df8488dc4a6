"""If these fail, a crash loses people, releases them twice with different noise, or overspends."""

import os
import shutil
import sys
import tempfile
from ast import literal_eval
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from counting import Counting, CountingView, settings
from hypothesis import settings as budget
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    initialize,
    invariant,
    precondition,
    rule,
)

import discreet
from discreet import (
    BudgetError,
    ConfigError,
    FileJournal,
    MemoryJournal,
    OutOfBounds,
    Privacy,
    RunningSum,
    StateError,
)
from discreet.audit.contract.kills import run_and_die
from discreet.budget.privacy import pure
from discreet.engine import signals, state_file
from discreet.engine.engine import Engine
from discreet.engine.request import EMPTY_REQUEST
from discreet.engine.rounds import Rounds
from discreet.engine.snapshot import RoundsState, Snapshot
from discreet.engine.tickets import Ticket
from discreet.learners.base import Learner
from discreet.learners.forced import forced
from discreet.release.door import Door

HORIZON, BLOCK = 12, 3


def levels_of(sums: Any) -> int:
    levels: int = RunningSum.problem_for(sums.settings).total.sum_of(0).aggregator.levels  # type: ignore[attr-defined]
    return levels


def exact_people(sums: Any) -> int:
    """All that a tree still holds of people, in steps: its nodes and the open block."""
    snapshot = sums.snapshot()
    return int(snapshot.hidden["nodes"].sum() if snapshot.index else 0) + int(
        snapshot.block["sum"][0]
    )


class EngineMachine(RuleBasedStateMachine):
    """Open, close, turn, save, crash and reload in any order, against a model of what must hold."""

    tickets = Bundle("tickets")

    @initialize()
    def begin(self) -> None:
        memory = Path("/dev/shm")
        self.folder = Path(tempfile.mkdtemp(dir=memory if memory.is_dir() else None))
        self.path = self.folder / "sum.state"
        self.sums = forced(
            RunningSum,
            "honaker",
            1,
            HORIZON,
            Privacy(1.0),
            bound=1.0,
            nonnegative=True,
            block=BLOCK,
            journal=self.path,
        )
        self.clock = 0
        self.epoch = 0
        self.answered: dict[int, float] = {}
        self.committed: dict[int, float] = {}  # what people of finished blocks count as
        self.kept = (0, frozenset[int]())  # the clock and the answers that the file has
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
            self.kept = (self.clock, frozenset())

    @rule(target=tickets, count=st.integers(0, BLOCK))
    def open(self, count: int) -> list[Ticket]:
        self.settle()
        if self.clock == HORIZON:
            return [self.sums.open()]
        left = BLOCK - (self.clock - len(self.committed))
        made = list(self.sums.open_many(min(count, left))) if count else [self.sums.open()]
        self.clock += len(made)
        return made

    @rule(tickets=consumes(tickets), value=st.sampled_from([0.0, 0.25, 1.0]))
    def close(self, tickets: list[Ticket], value: float) -> None:
        for ticket in tickets:
            if ticket.epoch != self.epoch and ticket.index < self.sums.releases:
                assert (
                    self.sums.close(ticket, [value]) is False
                )  # its block is over, whoever was in it
            elif ticket.epoch != self.epoch:
                with pytest.raises(StateError, match="before the state was loaded"):
                    self.sums.close(ticket, [value])
            elif ticket.round == HORIZON:
                with pytest.raises(discreet.HorizonReached):
                    self.sums.close(ticket, [value])
            elif ticket.round < len(self.committed):
                assert self.sums.close(ticket, [value]) is False  # too late: it added nothing
            elif ticket.round in self.answered:
                with pytest.raises(StateError, match="is not open"):
                    self.sums.close(ticket, [value])
            else:
                assert self.sums.close(ticket, [value]) is True
                self.answered[ticket.round] = value

    @rule(tickets=tickets)
    def close_with_nonsense(self, tickets: list[Ticket]) -> None:
        for ticket in tickets:
            known = ticket.epoch == self.epoch and ticket.round < HORIZON
            if known and ticket.round >= len(self.committed) and ticket.round not in self.answered:
                with pytest.raises(OutOfBounds):
                    self.sums.close(ticket, [float("nan")])

    @rule()
    def release_if_due(self) -> None:
        before = len(self.committed)
        self.settle()
        assert self.sums.release_if_due() is (len(self.committed) > before)

    @rule()
    def crash(self) -> None:
        """All that is not committed is gone; the log is read again from there on."""
        self.sums.detach()
        self.load()
        self.clock, answers = self.kept
        self.answered = {
            round: value
            for round, value in self.answered.items()
            if round < len(self.committed) or round in answers
        }

    @rule()
    def save_and_reload(self) -> None:
        self.sums.save(self.path)
        self.sums.detach()
        self.load()
        self.kept = (self.clock, frozenset(self.answered))

    def load(self) -> None:
        self.sums = discreet.load(self.path)  # type: ignore[assignment]
        self.epoch += 1

    @precondition(lambda self: hasattr(self, "sums"))
    @invariant()
    def everyone_counts_once(self) -> None:
        """The exact sums inside add up to the people of the model, each at most once."""
        people = sum(self.committed.values())
        people += sum(
            value for round, value in self.answered.items() if round >= len(self.committed)
        )
        assert exact_people(self.sums) == round(people * levels_of(self.sums))

    @precondition(lambda self: hasattr(self, "sums"))
    @invariant()
    def nothing_is_released_twice(self) -> None:
        index, total = self.sums.releases, float(self.sums.total[0])
        assert self.shown.setdefault(index, total) == total
        assert index == len(self.committed) // BLOCK
        assert self.sums.guarantee.epsilon_spent <= 1.0
        assert self.sums.clock == self.clock


EngineMachine.TestCase.settings = budget(max_examples=40, stateful_step_count=30)
TestTurnMachine = EngineMachine.TestCase


PEOPLE = [0.25, 0.5, 1.0, 0.75]


def half_way(path: Path) -> RunningSum:
    """Two of four people are released; the other two are about to come."""
    sums = forced(
        RunningSum,
        "honaker",
        1,
        8,
        Privacy(1.0, 1e-6),
        bound=1.0,
        nonnegative=True,
        block=2,
        journal=path,
    )
    sums.observe_many([[person] for person in PEOPLE[:2]])
    sums.release_if_due()
    return sums


def finished_after(path: Path) -> RunningSum:
    """Whoever finds this file reads the log again from where it stands, and goes on."""
    after = discreet.load(path)
    assert isinstance(after, RunningSum)
    after.observe_many([[person] for person in PEOPLE[after.rounds_before_release :]])
    after.release_if_due()
    assert after.releases == 2
    assert exact_people(after) == sum(int(person * levels_of(after) + 0.5) for person in PEOPLE)
    assert after.guarantee.epsilon_spent <= 1.0
    return after


def test_whatever_statement_of_a_turn_is_the_last_nothing_is_lost_or_repeated(
    memory_path: Path,
) -> None:
    """A process that is killed leaves its files as they are: they are looked at before every
    statement.
    """
    path, package = memory_path / "sum.state", str(Path(discreet.__file__).parent)
    sums = half_way(path)
    sums.observe_many([[person] for person in PEOPLE[2:]])
    first, left = path.read_bytes(), []

    def look(frame: Any, event: str, argument: Any) -> Any:
        if not frame.f_code.co_filename.startswith(package):
            return None
        if event == "line":
            left.append({file.name: file.read_bytes() for file in memory_path.iterdir()})
        return look

    before = sys.gettrace()
    sys.settrace(look)
    try:
        sums.release_if_due()
    finally:
        sys.settrace(before)
    shown = sums.total.tolist()
    sums.detach()
    kept = path.read_bytes()
    assert len(left) > 150
    assert {files[path.name] for files in left} == {
        first,
        kept,
    }  # the old turn or the new one, never less
    assert all(set(files) <= {"sum.state", ".sum.state.lock", ".sum.state.draft"} for files in left)
    distinct = {tuple(sorted(files.items())) for files in left}
    assert len(distinct) >= 3  # also with a draft beside it, or half of one
    for number, files in enumerate(sorted(distinct)):
        folder = memory_path / str(number)
        folder.mkdir()
        for name, content in files:
            (folder / name).write_bytes(content)
        after = finished_after(folder / "sum.state")
        if dict(files)["sum.state"] == kept:
            assert after.total.tolist() == shown  # shown, therefore kept, and the same
        after.detach()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_process_killed_in_a_turn_loses_nothing_and_repeats_nothing(memory_path: Path) -> None:
    """Real deaths, at every eleventh statement; the test above looks at each."""
    original, path = memory_path / "original.state", memory_path / "sum.state"
    sums = half_way(original)
    first = sums.total.tolist()
    sums.detach()

    def prepare(learner: Learner) -> None:
        learner.observe_many([[person] for person in PEOPLE[2:]])

    def work(learner: Learner, show: Callable[[Any], None]) -> None:
        learner.release_if_due()
        show((learner.releases, learner.decision["total"]))

    last, finished, deaths = 0, False, 0
    while not finished:
        shutil.copy(original, path)
        finished, shown = run_and_die(path, prepare, work, last)
        found = FileJournal(path).latest()
        assert found is not None
        kept = {1: first, found.index: found.public["total"].tolist()}
        assert all(kept[release] == total for release, total in map(literal_eval, shown))
        finished_after(path).detach()
        deaths += not finished
        last += 11
    assert deaths > 15


# --- commits that fail


class Flaky(MemoryJournal):
    """Fails once, before or after it has kept the turn."""

    def __init__(self, after: bool) -> None:
        super().__init__()
        self.after, self.failing = after, False

    def commit(self, snapshot: Snapshot) -> None:
        if self.failing and not self.after:
            self.failing = False
            raise OSError("disk full")
        super().commit(snapshot)
        if self.failing:
            self.failing = False
            raise OSError("connection lost")


def sum_of(journal: Any = None, **more: Any) -> RunningSum:
    return RunningSum(1, 10, Privacy(1.0), bound=1.0, journal=journal, **more)


def test_a_commit_that_may_have_happened_is_read_back() -> None:
    journal = Flaky(after=True)
    sums = sum_of(journal)
    journal.failing = True
    total = sums.add([1.0])
    kept = journal.latest()
    assert kept is not None
    assert np.array_equal(kept.public["total"], total)
    assert sums.releases == 1


def test_a_commit_that_did_not_happen_is_tried_again_with_the_same_draw() -> None:
    journal, drawn = Flaky(after=False), []
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


class Silent(Flaky):
    """Nobody knows what became of the commit, and asking fails too."""

    def latest(self) -> Snapshot | None:
        raise ConnectionError


def test_a_commit_that_cannot_even_be_read_back_shows_nothing_and_draws_nothing_new() -> None:
    journal = Silent(after=True)
    sums = sum_of(journal)
    journal.failing = True
    with pytest.raises(StateError, match="nothing was shown"):
        sums.add([1.0])
    kept = MemoryJournal.latest(journal)
    assert kept is not None
    assert kept.index == 1
    assert sums.releases == 0
    assert sums.release_if_due()
    assert np.array_equal(sums.total, kept.public["total"])  # what was kept all along


def test_answers_after_a_failed_commit_are_not_said_to_count_when_they_do_not() -> None:
    """The draw is made: whoever answers now is too late for it, and must be told so."""
    journal = Flaky(after=False)
    engine = Engine(Counting(settings(seed=1)), "Counting", journal)
    rounds = Rounds(engine)
    tickets = rounds.open_many(3, EMPTY_REQUEST)
    rounds.close(tickets[0], 1)
    journal.failing = True
    with pytest.raises(StateError, match="nothing was shown"):
        rounds.release_if_due()
    counted = rounds.close(tickets[1], 1)
    assert rounds.release_if_due()
    twin = Engine(Counting(settings(seed=1)), "Counting")
    expected = Rounds(twin)
    expected.observe_many([1, 1 if counted else -1, -1])
    expected.release_if_due()
    assert np.array_equal(engine.view.public.counts, twin.view.public.counts)


def test_what_was_drawn_does_not_change_with_answers_that_come_later() -> None:
    """A node that is kept is what was noised, not the block that goes on."""
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
@pytest.mark.parametrize("keeps", ["save", "checkpoint"])
def test_what_may_be_committed_is_never_overwritten_by_the_state_before_it(
    stops: type[BaseException], keeps: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file has its new name, and the flush of its folder fails or is interrupted: it may be
    read.
    """
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
    if keeps == "save":
        with pytest.raises(
            StateError, match=r"a release waits to be committed: release_if_due\(\) first"
        ):
            sums.save(path)
    else:
        with pytest.warns(RuntimeWarning, match="a release waits to be committed"):
            assert not sums.close(tickets[1], [1.0])  # too late, and a checkpoint is due
    sums.detach()  # killed
    again: Any = discreet.load(path)
    assert not again.release_if_due()  # nobody is released a second time
    assert again.snapshot().coin_key == shown.coin_key
    assert np.array_equal(again.total, shown.public["total"])
    again.detach()


class Chatty(MemoryJournal):
    """Fails like a database driver that shows what it was given."""

    def commit(self, snapshot: Snapshot) -> None:
        if snapshot.index or snapshot.rounds.clock:
            raise RuntimeError(f"INSERT failed: {snapshot.block} {snapshot.hidden}")
        super().commit(snapshot)


def test_what_a_journal_says_when_it_fails_is_not_passed_on() -> None:
    sums = sum_of(Chatty())
    engine = Engine(Counting(settings()), "Counting", Chatty())
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


# --- releases that break


class Stopping(Door):
    """A door that is interrupted after so many draws."""

    stops: BaseException | None = None

    def noised(self, noise: Any, exact: Any) -> Any:
        released = super().noised(noise, exact)
        if Stopping.stops is not None:
            stops, Stopping.stops = Stopping.stops, None
            raise stops
        return released


def stoppable(journal: Any = None, **more: Any) -> RunningSum:
    like = forced(
        RunningSum, "honaker", 1, 12, Privacy(1.0), bound=1.0, nonnegative=True, block=3, **more
    )
    return RunningSum.from_settings(like.settings, journal, door=Stopping)


def test_an_interrupt_in_the_middle_of_a_release_leaves_everything_as_it_was(
    tmp_path: Path,
) -> None:
    """Like a crash: what was drawn is dropped, nobody has seen it, and the learner goes on."""
    sums = stoppable(tmp_path / "state")
    sums.observe_many([[1.0]] * 3)
    sums.release_if_due()
    sums.observe_many([[1.0], [0.5], [0.0]])
    before, kept, spent = sums.snapshot(), (tmp_path / "state").read_bytes(), sums.guarantee.spent
    Stopping.stops = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        sums.release_if_due()
    after = sums.snapshot()
    assert after.index == before.index == 1
    assert np.array_equal(after.public["total"], before.public["total"])
    assert np.array_equal(after.block["sum"], before.block["sum"])
    assert after.hidden.keys() == before.hidden.keys()
    assert all(np.array_equal(after.hidden[name], before.hidden[name]) for name in before.hidden)
    assert sums.guarantee.spent == spent
    assert (tmp_path / "state").read_bytes() == kept
    assert sums.release_if_due() is True
    assert exact_people(sums) == int(4.5 * levels_of(sums))
    sums.observe_many([[1.0]])
    assert sums.releases == 2


def interrupted(work: Callable[[], Any], after: int) -> bool:
    """Do something, and be interrupted after so many calls inside discreet; False if it ended
    before.
    """
    package, calls = str(Path(discreet.__file__).parent), 0

    def count(frame: Any, event: str, argument: Any) -> Any:
        nonlocal calls
        name = frame.f_code.co_filename
        if event == "call" and name.startswith(package) and name != signals.__file__:
            calls += 1
            if calls > after:
                raise KeyboardInterrupt  # as a second Ctrl-C does
        return count

    before = sys.gettrace()
    sys.settrace(count)
    try:
        work()
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(before)
    return False


@pytest.mark.parametrize("what", ["release_if_due", "open", "close", "close_many", "observe_many"])
def test_an_interrupt_at_any_call_leaves_a_learner_that_goes_on_and_counts_nobody_twice(
    what: str,
) -> None:
    after, going = 0, True
    while going:
        sums = forced(
            RunningSum, "honaker", 1, 8, Privacy(1.0, 1e-6), bound=1.0, nonnegative=True, block=2
        )
        sums.observe_many([[0.25], [0.5]])
        sums.release_if_due()
        tickets = sums.open_many(1)
        if what == "release_if_due":
            sums.close_many(tickets, [[1.0]])
            sums.observe_many([[0.75]])
        work: dict[str, Callable[[], Any]] = {
            "release_if_due": sums.release_if_due,
            "open": sums.open,
            "close": lambda: sums.close(tickets[0], [1.0]),  # noqa: B023
            "close_many": lambda: sums.close_many(tickets, [[1.0]]),  # noqa: B023
            "observe_many": lambda: sums.observe_many([[1.0]]),  # noqa: B023
        }
        going = interrupted(work[what], after)
        if what != "release_if_due":
            with suppress(StateError):  # it has its feedback, perhaps
                sums.close_many(tickets, [[1.0]])
        most = {"release_if_due": 2.5, "observe_many": 2.75}.get(what, 1.75)
        assert exact_people(sums) / levels_of(sums) <= most + 1e-6
        sums.release_if_due()
        sums.act()
        assert sums.guarantee.epsilon_spent <= 1.0
        if what == "release_if_due":
            assert sums.releases == 2
            assert exact_people(sums) / levels_of(sums) == pytest.approx(2.5)
        after += 1
    assert after > 15


@pytest.mark.parametrize(
    "stops",
    [
        ArithmeticError("odd"),
        OSError("gone"),
        StateError("ours"),
        MemoryError(),
        BaseException("panic"),
    ],
)
def test_any_other_error_after_a_draw_ends_the_learner_for_good(
    stops: BaseException, tmp_path: Path
) -> None:
    """It might depend on what was drawn: drawing again would condition the noise."""
    path = tmp_path / "state"
    sums = stoppable(path)
    sums.observe_many([[1.0]] * 3)
    Stopping.stops = stops
    with pytest.raises(type(stops)):
        sums.release_if_due()
    for attempt in (
        sums.open,
        sums.release_if_due,
        sums.act,
        lambda: sums.add([1.0]),
        lambda: sums.save(path),
        lambda: sums.observe_many([[1.0]]),
        lambda: sums.preview(1),
    ):
        with pytest.raises(StateError, match="cannot go on"):
            attempt()
    sums.detach()
    kept = FileJournal(path).latest()
    assert kept is not None
    assert kept.failed
    assert not kept.block  # nobody goes on from it: what people brought need not lie there
    with pytest.raises(StateError, match="failed after its noise was drawn"):
        discreet.load(path)


def test_an_error_before_any_draw_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    from discreet.learners.running_sum.prefixes import PrefixView

    sums = sum_of()
    sums.observe_many([[1.0]])

    def broken(self: Any, *arguments: Any) -> Any:
        raise ArithmeticError

    monkeypatch.setattr(PrefixView, "release", broken)
    with pytest.raises(ArithmeticError):
        sums.release_if_due()
    monkeypatch.undo()
    assert sums.release_if_due() is True


class Twice(CountingView):
    """Asks its door twice for one price."""

    def release(self, mask_counts: Any, hidden: Any, block: Any, door: Door) -> Any:
        super().release(mask_counts, hidden, block, door)
        return super().release(mask_counts, hidden, block, door)


class Greedy(Counting):
    block_view = Twice


def test_a_release_that_wants_more_than_was_planned_ends_the_learner() -> None:
    rounds = Rounds(Engine(Greedy(settings()), "Counting"))
    rounds.observe_many([0, 1, 1])
    with pytest.raises(BudgetError, match="reserve it in the plan"):
        rounds.release_if_due()


class Overdrawn(Counting):
    """Plans more than its budget."""

    @property
    def plan(self) -> Any:  # type: ignore[override]
        plan = super().plan
        return replace(plan, total=replace(plan.total, pure=plan.total.pure * 2))


def test_a_plan_beyond_the_budget_is_refused_at_once() -> None:
    with pytest.raises(ConfigError, match="does not fit the budget"):
        Engine(Overdrawn(settings()), "Counting")


class Understated(Counting):
    """Says in its plan that it costs less than its steps do."""

    @property
    def plan(self) -> Any:  # type: ignore[override]
        plan = super().plan
        return replace(plan, total=replace(plan.total, pure=0.0), steps=self.steps)

    def steps(self, index: int) -> Any:
        step = super().plan.steps(index)
        return None if step is None else replace(step, charge=pure(1.5), cohort=None)


def test_a_step_beyond_the_budget_is_refused_before_anything_is_drawn() -> None:
    doors: list[Any] = []

    def door(*arguments: Any) -> Door:
        doors.append(arguments)
        return Door(*arguments)

    engine = Engine(Understated(settings()), "Counting", door=door)
    rounds = Rounds(engine)
    rounds.observe_many([0, 1, 1])
    with pytest.raises(BudgetError, match="would exceed epsilon"):
        rounds.release_if_due()
    assert not doors
    assert engine.committed.index == 0


# --- public events


class Slow(MemoryJournal):
    """Tells what was kept by when."""

    def __init__(self) -> None:
        super().__init__()
        self.events: list[tuple[str, Any]] = []

    def commit(self, snapshot: Snapshot) -> None:
        self.events.append(("kept", snapshot.public["closed"]))
        super().commit(snapshot)


def test_a_public_event_is_kept_before_it_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    journal = Slow()
    engine = Engine(Counting(settings()), "Counting", journal)
    rounds = Rounds(engine)
    rounds.observe_many([1, 1])
    real = CountingView.noted

    def noted(view: Any, event: Any) -> Any:
        journal.events.append(("noted", event["closed"]))
        return real(view, event)

    monkeypatch.setattr(CountingView, "noted", noted)
    engine.note({"closed": 3}, rounds.state())
    assert journal.events[1:] == [("noted", 3), ("kept", 3)]
    assert engine.view.public.closed == 3
    assert rounds.open(EMPTY_REQUEST).decision.tolist() == [2, 3]
    kept = journal.latest()
    assert kept is not None
    assert kept.public["closed"] == 3
    assert (
        kept.block["votes"].tolist() == engine.block["votes"].values.tolist()
    )  # with the open block
    assert kept.index == 0
    assert kept.ledger == engine.committed.ledger


def test_an_event_that_could_not_be_kept_is_not_used() -> None:
    journal = Flaky(after=False)
    engine = Engine(Counting(settings()), "Counting", journal)
    rounds = Rounds(engine)
    journal.failing = True
    with pytest.raises(StateError, match="could not be kept"):
        engine.note({"closed": 3}, rounds.state())
    assert engine.view.public.closed == 0
    assert rounds.open(EMPTY_REQUEST).decision.tolist() == [0, 0]
    engine.note({"closed": 3}, rounds.state())
    assert engine.view.public.closed == 3


def test_an_event_that_was_kept_after_all_is_used() -> None:
    """The journal kept it, and its answer was lost."""
    journal = Flaky(after=True)
    engine = Engine(Counting(settings()), "Counting", journal)
    journal.failing = True
    engine.note({"closed": 3}, RoundsState())
    kept = journal.latest()
    assert kept is not None
    assert (kept.public["closed"], kept.revision) == (3, 1)
    assert (engine.view.public.closed, engine.committed.revision) == (3, 1)


def test_an_event_of_which_nobody_knows_is_settled_before_anybody_is_shown_anything() -> None:
    """Whoever answers in between is not lost."""
    journal = Silent(after=True)
    engine = Engine(Counting(settings()), "Counting", journal)
    rounds = Rounds(engine)
    tickets = rounds.open_many(2, EMPTY_REQUEST)
    journal.failing = True
    with pytest.raises(StateError, match=r"nobody knows .*release_if_due\(\) tries again"):
        engine.note({"closed": 3}, rounds.state())
    kept = MemoryJournal.latest(journal)
    assert kept is not None
    assert kept.public["closed"] == 3
    assert rounds.close(tickets[0], 1)
    votes = engine.block["votes"].values.tolist()
    journal.failing = True
    with pytest.raises(
        StateError,
        match=r"an earlier public event is not kept yet .*release_if_due\(\) tries again",
    ):
        rounds.open(EMPTY_REQUEST)
    assert rounds.clock == 2
    assert rounds.open(EMPTY_REQUEST).decision.tolist() == [2, 3]
    assert engine.block["votes"].values.tolist() == votes
    assert rounds.waits(1)
    assert engine.committed.revision == 1


@pytest.mark.parametrize("keeps", ["checkpoint", "save", "note"])
def test_an_event_of_which_nobody_knows_is_not_overwritten_by_the_state_before_it(
    keeps: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "state"
    engine = Engine(Counting(settings()), "Counting", path)
    rounds = Rounds(engine)

    def failing(folder: Path) -> None:
        raise OSError

    with monkeypatch.context() as broken:
        broken.setattr(state_file, "make_durable", failing)
        with pytest.raises(StateError, match="nobody knows"):
            engine.note({"closed": 3}, rounds.state())
    assert state_file.read(path).public["closed"] == 3
    if keeps == "checkpoint":
        engine.checkpoint(rounds.state())
    elif keeps == "save":
        engine.save(path, rounds.state())
    else:
        engine.note({"closed": 0}, rounds.state())
    kept = state_file.read(path)
    assert kept.public["closed"] == engine.view.public.closed == 3
    assert kept.revision == engine.committed.revision == (2 if keeps == "note" else 1)


def test_a_retired_item_is_not_shown_when_the_folder_is_flushed_at_the_second_try(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file has its new name, so whoever loads it finds the item retired: so does who retired
    it.
    """
    shop = discreet.SetMaximizer(
        4, 2, 1000, Privacy(1.0), block=10, seed=1, journal=tmp_path / "state"
    )
    shown = int(shop.act()[0])
    real, calls = state_file.make_durable, 0

    def flaky(folder: Path) -> None:
        nonlocal calls
        calls += 1
        if calls == 1:
            raise OSError
        real(folder)

    monkeypatch.setattr(state_file, "make_durable", flaky)
    shop.retire(shown)
    kept = state_file.read(tmp_path / "state")
    assert np.array_equal(
        kept.public["catalogue.active"], shop.snapshot().public["catalogue.active"]
    )
    assert not kept.public["catalogue.active"][shown]
    assert all(shown not in shop.open().decision for _ in range(5))


class Lost(Flaky):
    """The commit fails, and so does the question what became of it, which was nothing; then all
    works.
    """

    def latest(self) -> Snapshot | None:
        if self.after:
            raise ConnectionError
        return super().latest()

    def commit(self, snapshot: Snapshot) -> None:
        if self.failing:
            raise OSError("connection lost")
        super().commit(snapshot)


def test_an_event_that_is_promised_to_be_tried_again_is_never_dropped_for_a_later_one() -> None:
    journal = Lost(after=True)
    shop = discreet.SetMaximizer(
        ["a", "b", "c", "d"], 1, 1000, Privacy(1.0), block=10, journal=journal
    )
    journal.failing = True
    with pytest.raises(StateError, match=r"nobody knows .*release_if_due\(\) tries again"):
        shop.retire("a")
    journal.after = False  # it can be read again: nothing was kept
    with pytest.raises(
        StateError, match=r"an earlier public event is not kept yet .*nothing else was done"
    ):
        shop.retire("b")
    journal.failing = False
    shop.retire("b")
    assert shop.active == ["c", "d"]


def test_what_is_added_is_numbered_after_the_event_before_it() -> None:
    journal = Lost(after=True)
    shop = discreet.SetMaximizer(3, 1, 1000, Privacy(1.0), block=10, max_items=6, journal=journal)
    journal.failing = True
    with pytest.raises(StateError, match="nobody knows"):
        shop.add_item()
    journal.failing = False
    assert shop.add_item() == 4
    clinic = discreet.ContextualBandit(
        2, 2, 1000, Privacy(1.0, 1e-6), max_arms=5, journal=Lost(after=True)
    )
    journal = clinic._engine._journal  # type: ignore[assignment]
    journal.failing = True
    with pytest.raises(StateError, match="nobody knows"):
        clinic.add_arm()
    journal.failing = False
    assert clinic.add_arm() == 3


def test_a_warm_start_counts_as_a_public_event() -> None:
    shop = discreet.SetMaximizer(4, 2, 10_000, Privacy(1.0), feedback="clicks", seed=1)
    shop.warm_start([([0, 1], 0), ([2, 3], None)] * 50)
    assert shop.snapshot().revision == 1


def test_an_event_survives_a_crash_and_the_next_release(tmp_path: Path) -> None:
    path = tmp_path / "state"
    engine = Engine(Counting(settings()), "Counting", path)
    rounds = Rounds(engine)
    rounds.observe_many([1, 1])
    engine.note({"closed": 3}, rounds.state())
    engine.detach()
    again = Engine(Counting(settings()), "Counting", FileJournal(path))
    rounds = Rounds(again)
    assert again.view.public.closed == 3
    assert rounds.clock == 2
    rounds.observe_many([0])
    assert rounds.release_if_due()
    assert again.view.public.closed == 3
    assert again.committed.index == 1


def test_a_learner_without_public_events_says_so() -> None:
    with pytest.raises(ConfigError, match="takes no public events"):
        sum_of()._engine.view.noted({"closed": 1})


# --- the rest


def test_a_checkpoint_keeps_the_open_block_and_nothing_is_released(tmp_path: Path) -> None:
    path = tmp_path / "state"
    engine = Engine(Counting(settings()), "Counting", path)
    rounds = Rounds(engine)
    ticket = rounds.open(EMPTY_REQUEST)
    rounds.observe_many([1])
    engine.checkpoint(rounds.state())
    engine.detach()
    again = Engine(Counting(settings()), "Counting", path)
    assert again.block["votes"].values[1] == again.problem.votes.calibrated.aggregator.levels  # type: ignore[attr-defined]
    assert Rounds(again).waits(ticket.round)
    assert again.committed.index == 0


def test_decisions_cannot_be_changed_from_outside() -> None:
    sums = sum_of()
    sums.add([1.0])
    with pytest.raises(ValueError, match="read-only"):
        sums.open().decision[0] = 5.0
    with pytest.raises(ValueError, match="read-only"):
        sums.open_many(1).decisions[0, 0] = 5.0
    sums.total[0] = 5.0
    assert sums.total[0] != 5.0


@pytest.mark.parametrize("seed", [None, 3])
def test_no_two_blocks_of_a_learner_share_their_coins(seed: int | None) -> None:
    """A key that was shown with one block must not tell the coins of the next."""
    sums = sum_of(seed=seed)
    keys = [sums.snapshot().coin_key]
    for _ in range(8):
        sums.add([1.0])
        keys.append(sums.snapshot().coin_key)
    assert len(set(keys)) == 9


def test_two_learners_never_share_an_identity_or_a_coin() -> None:
    turns = [sum_of().snapshot() for _ in range(50)]
    assert len({snapshot.identity for snapshot in turns}) == 50
    assert len({snapshot.coin_key for snapshot in turns}) == 50
    seeded = [sum_of(seed=3).snapshot() for _ in range(2)]
    assert seeded[0].coin_key == seeded[1].coin_key
    assert seeded[0].coin_key != sum_of(seed=4).snapshot().coin_key


def test_a_broken_state_does_not_leave_its_lock_behind(tmp_path: Path) -> None:
    path = tmp_path / "state"
    sum_of(path).detach()
    with pytest.raises(StateError, match="other settings"):
        sum_of(path, block=2)
    assert discreet.load(path).releases == 0
