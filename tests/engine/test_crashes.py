"""If these fail, a crash loses people, releases them twice with different noise, or overspends."""

import os
import shutil
import sys
import tempfile
from ast import literal_eval
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
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
    FileJournal,
    OutOfBounds,
    Privacy,
    RunningSum,
    StateError,
)
from discreet.audit.contract.kills import run_and_die
from discreet.engine.tickets import Ticket
from discreet.learners.base import Learner
from discreet.learners.forced import forced
from engine.sums import exact_people, levels_of

HORIZON = 12
BLOCK = 3


class EngineMachine(RuleBasedStateMachine):
    """Opens, closes, releases, saves, crashes and reloads in any order, against a model."""

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
        self.committed: dict[int, float] = {}
        """Values of the people of finished blocks."""
        self.stored = (0, frozenset[int]())
        """Clock and answered rounds in the file."""
        self.shown: dict[int, float] = {}
        """The total after each release."""

    def teardown(self) -> None:
        if hasattr(self, "folder"):
            self.sums.detach()
            shutil.rmtree(self.folder)

    def settle(self) -> None:
        """Release in the model: people of the block without an answer count as zero."""
        if self.clock - len(self.committed) == BLOCK:
            for round in range(self.clock - BLOCK, self.clock):
                self.committed[round] = self.answered.get(round, 0.0)
            self.stored = (self.clock, frozenset())

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
                assert self.sums.close(ticket, [value]) is False  # its block is over
            elif ticket.epoch != self.epoch:
                with pytest.raises(StateError, match="before the state was loaded"):
                    self.sums.close(ticket, [value])
            elif ticket.round == HORIZON:
                with pytest.raises(discreet.HorizonReached):
                    self.sums.close(ticket, [value])
            elif ticket.round < len(self.committed):
                assert self.sums.close(ticket, [value]) is False  # too late: it added nothing
            elif ticket.round in self.answered:
                assert self.sums.close(ticket, [value]) is False  # once is enough
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
        """Lose everything that is not committed; the log is read again from there on."""
        self.sums.detach()
        self.load()
        self.clock, answers = self.stored
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
        self.stored = (self.clock, frozenset(self.answered))

    def load(self) -> None:
        loaded = discreet.load(self.path)
        assert isinstance(loaded, RunningSum)
        self.sums = loaded
        self.epoch += 1

    @precondition(lambda self: hasattr(self, "sums"))
    @invariant()
    def every_person_counts_once(self) -> None:
        """Compare the exact sums in the state with the people of the model."""
        people = sum(self.committed.values())
        people += sum(
            value for round, value in self.answered.items() if round >= len(self.committed)
        )
        assert exact_people(self.sums) == round(people * levels_of(self.sums))

    @precondition(lambda self: hasattr(self, "sums"))
    @invariant()
    def nothing_is_released_twice(self) -> None:
        index = self.sums.releases
        total = float(self.sums.total[0])
        assert self.shown.setdefault(index, total) == total
        assert index == len(self.committed) // BLOCK
        assert self.sums.guarantee.epsilon_spent <= 1.0
        assert self.sums.clock == self.clock


EngineMachine.TestCase.settings = budget(max_examples=40, stateful_step_count=30)
TestEngineMachine = EngineMachine.TestCase


PEOPLE = [0.25, 0.5, 1.0, 0.75]


def half_way(path: Path) -> RunningSum:
    """Return a sum with two of four people released, before the other two come."""
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
    """Load a file, read the rest of the log and make the next release, as after a crash."""
    after = discreet.load(path)
    assert isinstance(after, RunningSum)
    after.observe_many([[person] for person in PEOPLE[after.rounds_before_release :]])
    after.release_if_due()
    assert after.releases == 2
    assert exact_people(after) == sum(int(person * levels_of(after) + 0.5) for person in PEOPLE)
    assert after.guarantee.epsilon_spent <= 1.0
    return after


def test_a_kill_at_any_statement_of_a_release_loses_and_repeats_nothing(
    memory_path: Path,
) -> None:
    """A killed process leaves its files as they are, so they are copied before every statement."""
    path = memory_path / "sum.state"
    package = str(Path(discreet.__file__).parent)
    sums = half_way(path)
    sums.observe_many([[person] for person in PEOPLE[2:]])
    first = path.read_bytes()
    copies: list[dict[str, bytes]] = []

    def look(frame: Any, event: str, argument: Any) -> Any:
        if not frame.f_code.co_filename.startswith(package):
            return None
        if event == "line":
            copies.append({file.name: file.read_bytes() for file in memory_path.iterdir()})
        return look

    before = sys.gettrace()
    sys.settrace(look)
    try:
        sums.release_if_due()
    finally:
        sys.settrace(before)
    shown = sums.total.tolist()
    sums.detach()
    last = path.read_bytes()
    names = {"sum.state", ".sum.state.lock", ".sum.state.draft"}
    distinct = {tuple(sorted(files.items())) for files in copies}
    assert len(copies) > 150
    assert {files[path.name] for files in copies} == {first, last}  # the old snapshot or the new
    assert all(set(files) <= names for files in copies)
    assert len(distinct) >= 3  # some of them with a draft, or a part of one, beside the file
    for number, files in enumerate(sorted(distinct)):
        folder = memory_path / str(number)
        folder.mkdir()
        for name, content in files:
            (folder / name).write_bytes(content)
        after = finished_after(folder / "sum.state")
        if dict(files)["sum.state"] == last:
            assert after.total.tolist() == shown
        after.detach()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_process_killed_in_a_release_loses_and_repeats_nothing(memory_path: Path) -> None:
    """Kills real processes at every eleventh statement; the test above covers all statements."""
    original = memory_path / "original.state"
    path = memory_path / "sum.state"
    sums = half_way(original)
    first = sums.total.tolist()
    sums.detach()

    def prepare(learner: Learner) -> None:
        learner.observe_many([[person] for person in PEOPLE[2:]])

    def work(learner: Learner, show: Callable[[Any], None]) -> None:
        learner.release_if_due()
        show((learner.releases, learner.decision["total"]))

    last = 0
    deaths = 0
    finished = False
    while not finished:
        shutil.copy(original, path)
        finished, shown = run_and_die(path, prepare, work, last)
        newest = FileJournal(path).latest()
        assert newest is not None
        totals = {1: first, newest.index: newest.public["total"].tolist()}
        assert all(totals[release] == total for release, total in map(literal_eval, shown))
        finished_after(path).detach()
        deaths += not finished
        last += 11
    assert deaths > 15
