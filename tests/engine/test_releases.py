"""If these fail, a release that breaks is drawn again, overspends, or counts a person twice."""

import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import discreet
from discreet import (
    BudgetError,
    ConfigError,
    FileJournal,
    Privacy,
    RunningSum,
    StateError,
)
from discreet.arrays import Floats
from discreet.budget.privacy import pure
from discreet.engine import signals
from discreet.engine.engine import Engine
from discreet.engine.flat_state import flat_hidden
from discreet.engine.phases import Scheduled
from discreet.engine.plan import Plan, State, Step
from discreet.engine.problem import Problem
from discreet.engine.rounds import Rounds
from discreet.engine.statistics import OneRelease, RunningTotal
from discreet.learners.forced import forced
from discreet.release.aggregators import OneChoice
from discreet.release.door import Door
from engine.counting import Counting, settings
from engine.sums import exact_people, levels_of, sum_of


class Stopping(Door):
    """A door that raises after its next draw, once."""

    stops: BaseException | None = None

    def noised(self, noise: Any, exact: Any) -> Any:
        released = super().noised(noise, exact)
        if Stopping.stops is not None:
            stops, Stopping.stops = Stopping.stops, None
            raise stops
        return released


def stoppable(journal: Any = None, **more: Any) -> RunningSum:
    """Return a running sum whose doors are `Stopping`."""
    like = forced(
        RunningSum, "honaker", 1, 12, Privacy(1.0), bound=1.0, nonnegative=True, block=3, **more
    )
    return RunningSum.from_settings(like.settings, journal, door=Stopping)


def test_an_interrupt_in_the_middle_of_a_release_leaves_everything_as_it_was(
    tmp_path: Path,
) -> None:
    """As after a crash, the draw is discarded unseen, and the learner goes on."""
    sums = stoppable(tmp_path / "state")
    sums.observe_many([[1.0]] * 3)
    sums.release_if_due()
    sums.observe_many([[1.0], [0.5], [0.0]])
    before = sums.snapshot()
    stored = (tmp_path / "state").read_bytes()
    spent = sums.guarantee.spent
    Stopping.stops = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        sums.release_if_due()
    after = sums.snapshot()
    assert after.index == before.index == 1
    assert np.array_equal(after.public["total"], before.public["total"])
    assert np.array_equal(after.block["sum"], before.block["sum"])
    left = flat_hidden(after.hidden)
    kept = flat_hidden(before.hidden)
    assert left.keys() == kept.keys()
    assert all(np.array_equal(left[name], kept[name]) for name in kept)
    assert sums.guarantee.spent == spent
    assert (tmp_path / "state").read_bytes() == stored
    assert sums.release_if_due() is True
    assert exact_people(sums) == int(4.5 * levels_of(sums))
    sums.observe_many([[1.0]])
    assert sums.releases == 2


def interrupted(work: Callable[[], Any], after: int) -> bool:
    """Interrupt work after a number of calls inside discreet; return whether it was interrupted."""
    package = str(Path(discreet.__file__).parent)
    calls = 0

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
def test_an_interrupt_at_any_call_leaves_a_learner_that_counts_no_person_twice(
    what: str,
) -> None:
    after = 0
    is_interrupted = True
    while is_interrupted:
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
        is_interrupted = interrupted(work[what], after)
        if what != "release_if_due":
            with suppress(StateError):  # the round may be closed already
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
    assert after > 10


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
    """The error might depend on the draw, so a second draw would be conditioned on it."""
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
    stored = FileJournal(path).latest()
    assert stored is not None
    assert stored.failed
    assert not stored.block  # no learner goes on from it, so it needs no people's data
    with pytest.raises(StateError, match="failed after its noise was drawn"):
        discreet.load(path)


def test_an_error_before_any_draw_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    sums = sum_of()
    sums.observe_many([[1.0]])

    def broken(self: Any, *arguments: Any) -> Any:
        raise ArithmeticError

    monkeypatch.setattr(RunningTotal, "release", broken)
    with pytest.raises(ArithmeticError):
        sums.release_if_due()
    monkeypatch.undo()
    assert sums.release_if_due() is True


class Twice(OneRelease[OneChoice]):
    """A statistic that passes its door twice for one charge."""

    def release(self, *arguments: Any) -> tuple[Floats, State, State]:
        super().release(*arguments)
        return super().release(*arguments)


class Greedy(Counting):
    """Spends twice what it plans."""

    statistic = Twice


def test_a_release_that_wants_more_than_was_planned_ends_the_learner() -> None:
    rounds = Rounds(Engine(Problem(Greedy(settings())), "Counting"))
    rounds.observe_many([0, 1, 1])
    with pytest.raises(BudgetError, match="reserve it in the plan"):
        rounds.release_if_due()


class Overdrawn(Counting):
    """Plans more than its budget."""

    @cached_property
    def phases(self) -> Scheduled:
        return TwiceTheTotal(super().phases.runs)


class TwiceTheTotal(Scheduled):
    """Phases whose plan has twice the honest total."""

    def plan(self, *arguments: Any) -> Plan:
        plan = super().plan(*arguments)
        return replace(plan, total=replace(plan.total, pure=plan.total.pure * 2))


def test_a_plan_beyond_the_budget_is_refused_at_once() -> None:
    with pytest.raises(ConfigError, match="does not fit the budget"):
        Engine(Problem(Overdrawn(settings())), "Counting")


class Understated(Counting):
    """Plans a total that is less than its steps cost."""

    @cached_property
    def phases(self) -> Scheduled:
        return DearerSteps(super().phases.runs)


class DearerSteps(Scheduled):
    """Phases whose steps cost more than the total of their plan."""

    def plan(self, *arguments: Any) -> Plan:
        plan = super().plan(*arguments)
        honest = plan.steps
        assert honest is not None

        def dearer(index: int) -> Step | None:
            step = honest(index)
            return None if step is None else replace(step, charge=pure(1.5), cohort=None)

        return replace(plan, total=replace(plan.total, pure=0.0), steps=dearer)


def test_a_step_beyond_the_budget_is_refused_before_anything_is_drawn() -> None:
    doors: list[Any] = []

    def door(*arguments: Any) -> Door:
        doors.append(arguments)
        return Door(*arguments)

    engine = Engine(Problem(Understated(settings())), "Counting", door=door)
    rounds = Rounds(engine)
    rounds.observe_many([0, 1, 1])
    with pytest.raises(BudgetError, match="would exceed epsilon"):
        rounds.release_if_due()
    assert not doors
    assert engine.committed.index == 0
