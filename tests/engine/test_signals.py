"""If these fail, a signal loses people, counts them twice, or ends a learner in mid-release.

The tests install the handlers they need: a suite that runs in the background ignores SIGINT.
"""

import gc
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import discreet
from discreet import Privacy, RunningSum, SetMaximizer, SetMinimizer, SetSelector, StreamingLearner
from discreet.domains import LpBall, UniformMatroid
from discreet.engine import signals, state_file
from discreet.engine.signals import held
from discreet.errors import StateError
from discreet.functions import SetFunction
from discreet.learners.forced import forced
from discreet.release.door import Door
from engine.sums import counted_people as people

USUAL = Privacy(1.0, 1e-6)
PURE = Privacy(1.0)


class SoftTimeLimit(Exception):
    """The exception of a task queue in a task that takes too long."""


def too_long(number: int, frame: Any) -> None:
    raise SoftTimeLimit


@contextmanager
def handled(number: int, handler: Any) -> Iterator[None]:
    """Install a handler while this lasts."""
    before = signal.signal(number, handler)
    try:
        yield
    finally:
        signal.signal(number, before)


@pytest.fixture(autouse=True)
def handlers() -> Iterator[None]:
    with (
        handled(signal.SIGINT, signal.default_int_handler),
        handled(signal.SIGALRM, too_long),
        handled(signal.SIGUSR1, too_long),
    ):
        yield


RAISING = {
    signal.SIGINT: KeyboardInterrupt,
    signal.SIGALRM: SoftTimeLimit,
    signal.SIGUSR1: SoftTimeLimit,
}
raising = pytest.mark.parametrize("number", RAISING, ids=lambda number: number.name)


# --- signals that wait ----------------------------------------------------------------------------


def test_a_signal_waits_until_the_end_of_the_outermost_block() -> None:
    done = []

    @held
    def work() -> None:
        with held:
            signal.raise_signal(signal.SIGINT)
            done.append("inner")
        done.append("outer")

    with pytest.raises(KeyboardInterrupt):
        work()
    assert done == ["inner", "outer"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_handlers_are_as_they_were_and_each_is_called_once() -> None:
    heard: list[int] = []

    def mine(number: int, frame: Any) -> None:
        heard.append(number)

    with handled(signal.SIGUSR1, mine), handled(signal.SIGTERM, mine):
        with held:
            for number in (signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR1):
                signal.raise_signal(number)
            assert heard == []
        assert heard == [signal.SIGTERM, signal.SIGUSR1]
        assert signal.getsignal(signal.SIGUSR1) is mine is signal.getsignal(signal.SIGTERM)


def test_every_signal_is_delivered_whatever_other_handlers_raise() -> None:
    heard: list[int] = []

    @held
    def work() -> None:
        for number in (signal.SIGALRM, signal.SIGTERM):
            signal.raise_signal(number)

    with (
        handled(signal.SIGTERM, lambda number, frame: heard.append(number)),
        pytest.raises(SoftTimeLimit),
    ):
        work()
    assert heard == [signal.SIGTERM]


def test_a_second_ctrl_c_raises_at_once_and_a_third_does_nothing() -> None:
    done = []

    @held
    def work() -> None:
        try:
            signal.raise_signal(signal.SIGINT)
            done.append("first")
            signal.raise_signal(signal.SIGINT)
            done.append("second")
        finally:
            signal.raise_signal(signal.SIGINT)
            done.append("third")

    with pytest.raises(KeyboardInterrupt):
        work()
    assert done == ["first", "third"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_an_ignored_signal_stays_ignored() -> None:
    with handled(signal.SIGINT, signal.SIG_IGN), held:
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
        signal.raise_signal(signal.SIGINT)


def test_a_handler_that_is_set_inside_stays() -> None:
    """A function of the operator may have a time limit of its own."""
    with held:
        signal.signal(signal.SIGUSR1, signal.SIG_IGN)
    assert signal.getsignal(signal.SIGUSR1) is signal.SIG_IGN


def test_a_handler_that_is_set_inside_and_calls_the_one_before_is_called_once() -> None:
    """A tracing library wraps the handler that it finds."""
    heard: list[int] = []
    with handled(signal.SIGUSR1, lambda number, frame: heard.append(number)):
        with held:
            before: Any = signal.getsignal(signal.SIGUSR1)
            signal.signal(signal.SIGUSR1, lambda number, frame: before(number, frame))
        for _ in range(2):
            with held:
                signal.raise_signal(signal.SIGUSR1)
        signal.raise_signal(signal.SIGUSR1)
    assert len(heard) == 3


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks here")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_child_that_a_worker_forks_while_signals_wait_receives_them() -> None:
    ended: list[int] = []

    def work() -> None:
        child = os.fork()
        if not child:
            with suppress(BaseException):
                with held:
                    signal.raise_signal(signal.SIGTERM)
                signal.raise_signal(signal.SIGTERM)
            os._exit(1)
        ended.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))

    thread = threading.Thread(target=work)
    with handled(signal.SIGTERM, lambda number, frame: os._exit(7)), held:
        thread.start()
        thread.join()
    assert ended == [7]


def test_other_threads_leave_handlers_alone() -> None:
    installed: list[Any] = []

    def work() -> None:
        with held:
            installed.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert installed == [signal.default_int_handler]


@pytest.mark.parametrize("after", range(1, 7))
def test_a_signal_while_handlers_are_replaced_or_restored_loses_no_later_signal(
    after: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    install = signals.install
    numbers = iter(range(after, -100, -1))

    def rung(number: int, handler: Any) -> None:
        install(number, handler)
        if next(numbers) == 1:
            signal.raise_signal(signal.SIGUSR1)

    with monkeypatch.context() as patched:
        patched.setattr(signals, "install", rung)
        with pytest.raises(SoftTimeLimit), held:
            pass
    for number, error in RAISING.items():
        with pytest.raises(error):
            signal.raise_signal(number)
    with held:
        pass
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert signal.getsignal(signal.SIGALRM) is too_long is signal.getsignal(signal.SIGUSR1)


# --- while a batch is read ------------------------------------------------------------------------


def worth(chosen: Any) -> float:
    return 0.2 * len(chosen)


def gradient(coefficients: Any, x: Any, y: float) -> Any:
    return x * (x @ coefficients - y)


def ringing(function: Callable[..., Any], number: int, times: int = 1) -> Callable[..., Any]:
    """Return the same function, except that signals come at its first call."""
    left = [times]

    def called(*arguments: Any) -> Any:
        while left[0]:
            left[0] -= 1
            signal.raise_signal(number)
        return function(*arguments)

    return called


def callables(make: Callable[[], Any]) -> Callable[[int | None], tuple[Any, Any]]:
    """Return a world of callables: a learner and ten people, the fifth of whom may signal."""

    def world(number: int | None) -> tuple[Any, Any]:
        fifth = worth if number is None else ringing(worth, number)
        return make(), [worth] * 4 + [fifth] + [worth] * 5

    return world


def samples(number: int | None) -> tuple[Any, Any]:
    """Return a learner with a gradient that may signal, and ten samples."""
    loss = gradient if number is None else ringing(gradient, number)
    bounds: dict[str, Any] = {"feature_bound": 1.0, "target_bound": 1.0}
    learner = StreamingLearner(LpBall(3), loss, 100, USUAL, block=50, **bounds)
    return learner, (np.eye(10, 3) + 0.1, np.linspace(-1, 1, 10))


WORLDS = {
    "costs": callables(lambda: SetMinimizer(3, 100, USUAL, block=50)),
    "sets": callables(lambda: SetMaximizer(3, 2, 100, USUAL, function=SetFunction, block=50)),
    "sets, pure": callables(lambda: SetMaximizer(3, 2, 100, PURE, function=SetFunction, block=50)),
    "samples": samples,
}


@raising
@pytest.mark.parametrize("world", WORLDS)
def test_a_signal_while_people_are_read_counts_every_person_once(world: str, number: int) -> None:
    plain, people = WORLDS[world](None)
    plain.observe_many(people)
    interrupted, people = WORLDS[world](number)
    with pytest.raises(RAISING[signal.Signals(number)]):
        interrupted.observe_many(people)
    assert interrupted.clock == plain.clock == 10
    expected = plain.snapshot().block
    for name, values in interrupted.snapshot().block.items():
        assert expected[name].any()
        assert np.array_equal(values, expected[name])


@raising
def test_a_signal_while_one_person_is_read_is_never_that_persons_blank(number: int) -> None:
    learner = SetMinimizer(3, 100, USUAL, block=50)
    learner.act()
    with pytest.raises(RAISING[signal.Signals(number)]):
        learner.observe(ringing(worth, number))
    assert not learner.snapshot().block["gradient"].any()
    learner.observe(worth)  # the round is still open
    assert learner.snapshot().block["gradient"].any()
    assert learner.clock == 1


def test_after_a_second_ctrl_c_before_any_addition_the_batch_can_be_passed_again() -> None:
    learner = SetMinimizer(3, 100, USUAL, block=50)
    tickets = learner.open_many(2)
    with pytest.raises(KeyboardInterrupt):
        learner.observe_many([worth, ringing(worth, signal.SIGINT, times=2), worth])
    with pytest.raises(KeyboardInterrupt):
        learner.close_many(tickets, [worth, ringing(worth, signal.SIGINT, times=2)])
    assert learner.clock == 2
    assert not learner.snapshot().block["gradient"].any()
    learner.close_many(tickets, [worth, worth])
    assert learner.snapshot().block["gradient"].any()


def test_after_a_second_ctrl_c_no_person_who_was_added_counts_again() -> None:
    """Costs are added 1,024 at a time: the first 1,024 are added, the others are not."""
    learner = SetMinimizer(3, 5000, USUAL, block=2500)
    first = SetMinimizer(3, 5000, USUAL, block=2500)
    first.observe_many([worth] * 1024)
    with pytest.raises(KeyboardInterrupt):
        learner.observe_many([worth] * 1500 + [ringing(worth, signal.SIGINT, times=2)])
    assert learner.clock == 1501
    assert np.array_equal(learner.snapshot().block["gradient"], first.snapshot().block["gradient"])
    learner.observe_many([worth])


# --- at any line ----------------------------------------------------------------------------------

PACKAGE = str(Path(discreet.__file__).parent)


def signalled(number: int, work: Callable[[], Any], *after: int) -> bool:
    """Send signals after these numbers of calls inside discreet; return whether all were sent."""
    calls = 0
    came = 0

    def count(frame: Any, event: str, argument: Any) -> Any:
        nonlocal calls, came
        if event == "call" and frame.f_code.co_filename.startswith(PACKAGE):
            calls += 1
            if came < len(after) and calls > after[came]:
                came += 1
                signal.raise_signal(number)
        return count

    before = sys.gettrace()
    gc.disable()  # finalisers of other tests' learners must not count as calls
    sys.settrace(count)
    try:
        work()
    except (KeyboardInterrupt, SoftTimeLimit):
        assert came
    finally:
        sys.settrace(before)
        gc.enable()
    return came == len(after)


def counting(**more: Any) -> RunningSum:
    settings: dict[str, Any] = {"bound": 1.0, "nonnegative": True, "block": 4} | more
    return forced(RunningSum, "honaker", 1, 100, USUAL, **settings)


ROWS = [[1.0], "n/a", [1.0], [1, 2]]


@raising
@pytest.mark.parametrize(
    "rows", [ROWS, np.array([[1.0], [np.nan], [1.0], [np.inf]])], ids=["list", "array"]
)
def test_a_batch_counts_whole_or_not_at_all_wherever_a_signal_comes(number: int, rows: Any) -> None:
    after = 0
    going = True
    ways = set()
    while going:
        sums = counting()
        going = signalled(number, lambda: sums.observe_many(rows), after)  # noqa: B023
        ways.add((sums.clock, people(sums)))
        after += 1
    assert ways == {(0, 0.0), (4, 2.0)}
    after = 0
    going = True
    while going:
        sums = counting()
        tickets = sums.open_many(4)
        going = signalled(number, lambda: sums.close_many(tickets, rows), after)  # noqa: B023
        with suppress(StateError):  # it counted already
            sums.close_many(tickets, rows)
        assert (sums.clock, people(sums)) == (4, 2.0)
        after += 1
    assert after > 5


@raising
def test_one_answer_counts_once_or_not_at_all_wherever_a_signal_comes(number: int) -> None:
    after = 0
    going = True
    ways = set()
    while going:
        sums = counting()
        ticket = sums.open()
        going = signalled(number, lambda: sums.close(ticket, "1"), after)  # noqa: B023
        with suppress(StateError):
            sums.close(ticket, [1.0])
        ways.add(people(sums))
        sums.act()
        assert sums.clock == 2
        after += 1
    assert ways <= {0.0, 1.0}
    assert after > 5


@raising
def test_an_answer_and_what_it_earned_count_together_wherever_a_signal_comes(number: int) -> None:
    after = 0
    going = True
    ways = set()
    while going:
        learner = SetMaximizer(3, 1, 100, USUAL, feedback="clicks", report=0.1, block=50)
        slate = learner.act()
        going = signalled(number, lambda: learner.observe(int(slate[0])), after)  # noqa: B023
        block = learner.snapshot().block
        ways.add((bool(block["found"].any()), bool(block["earned"].any())))
        after += 1
    assert ways <= {(False, False), (True, True)}
    assert (True, True) in ways


@raising
@pytest.mark.parametrize("in_file", [False, True], ids=["memory", "file"])
def test_a_release_is_made_and_charged_once_wherever_a_signal_comes(
    number: int, in_file: bool, memory_path: Path
) -> None:
    after = 0
    going = True
    ways = set()
    while going:
        path = memory_path / f"state {after}"
        sums = counting(**({"journal": path} if in_file else {}))
        sums.observe_many([[1.0]] * 4)
        going = signalled(number, sums.release_if_due, after)
        ways.add(sums.releases)
        spent = sums.guarantee.epsilon_spent
        assert (spent > 0) == (sums.releases == 1)
        if in_file:
            assert state_file.read(path).index == sums.releases
        assert sums.release_if_due() is (sums.releases == 0) or sums.releases == 1
        assert sums.releases == 1
        sums.observe_many([[1.0]])
        assert (sums.clock, people(sums)) == (5, 1.0)
        sums.detach()
        after += 5
    assert ways == {0, 1}


def test_a_second_ctrl_c_anywhere_leaves_a_working_learner_and_the_handlers() -> None:
    for first in range(0, 60, 4):
        second = first
        going = True
        while going:
            sums = counting()
            sums.observe_many([[1.0]] * 4)
            going = signalled(signal.SIGINT, lambda: sums.observe_many(ROWS), first, second)  # noqa: B023
            assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
            with pytest.raises(KeyboardInterrupt):
                signal.raise_signal(signal.SIGINT)
            counted = (sums.releases, sums.clock, people(sums))
            assert counted in {(0, 4, 4.0), (1, 4, 0.0), (1, 8, 0.0), (1, 8, 2.0)}
            sums.release_if_due()
            sums.act()
            assert sums.releases == 1 + (counted[1] == 8)
            second += 1


@raising
def test_a_public_event_is_committed_or_not_wherever_a_signal_comes(
    number: int, memory_path: Path
) -> None:
    after = 0
    going = True
    ways = set()
    while going:
        path = memory_path / f"state {after}"
        settings: dict[str, Any] = {"max_items": 4, "feedback": "clicks", "block": 50}
        learner = SetMaximizer(["tea", "milk"], 1, 100, USUAL, journal=path, **settings)
        going = signalled(number, lambda: learner.change(add=["water"]), after)  # noqa: B023
        there = "water" in state_file.read(path).public["catalogue.added"]
        assert there == ("water" in learner.snapshot().public["catalogue.added"])
        ways.add(there)
        learner.act()
        learner.detach()
        after += 3
    assert ways == {False, True}


@raising
def test_a_signal_while_a_sample_is_read_is_not_taken_for_a_malformed_sample(
    number: int,
) -> None:
    after = 0
    going = True
    while going:
        learner, _ = samples(None)
        ticket = learner.open()
        going = signalled(number, lambda: learner.close(ticket, ([0.1, 0.2, 0.3], 0.3)), after)  # noqa: B023
        after += 1
    assert after > 5


# --- in the middle of a release -------------------------------------------------------------------


class Rung(Door):
    """A door that raises signals after its next draw, once."""

    numbers: tuple[int, ...] = ()

    def noised(self, noise: Any, exact: Any) -> Any:
        released = super().noised(noise, exact)
        numbers, Rung.numbers = Rung.numbers, ()
        for number in numbers:
            signal.raise_signal(number)
        return released


def rung(journal: Any = None) -> RunningSum:
    """Return a running sum whose doors are `Rung`, with a release due."""
    sums: RunningSum = RunningSum.from_settings(counting().settings, journal, door=Rung)
    sums.observe_many([[1.0]] * 4)
    return sums


@raising
def test_a_soft_time_limit_after_a_draw_does_not_end_the_learner(
    number: int, tmp_path: Path
) -> None:
    sums = rung(tmp_path / "state")
    Rung.numbers = (number,)
    with pytest.raises(RAISING[signal.Signals(number)]):
        sums.release_if_due()
    spent = sums.guarantee.epsilon_spent
    assert sums.releases == state_file.read(tmp_path / "state").index == 1
    assert not sums.release_if_due()
    assert sums.guarantee.epsilon_spent == spent > 0
    sums.observe_many([[1.0]] * 4)
    assert sums.release_if_due()


def test_a_second_ctrl_c_after_a_draw_discards_it_and_the_learner_goes_on() -> None:
    sums = rung()
    Rung.numbers = (signal.SIGINT, signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        sums.release_if_due()
    assert (sums.releases, people(sums)) == (0, 4.0)
    assert sums.release_if_due()
    assert sums.releases == 1


@raising
def test_a_signal_while_a_release_is_written_leaves_it_written_once(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sums = counting(journal=tmp_path / "state", checkpoint=1)
    sums.observe_many([[1.0]] * 3)
    flush = state_file.make_durable

    def flushed(folder: Path) -> None:
        flush(folder)
        signal.raise_signal(number)

    with monkeypatch.context() as patched:
        patched.setattr(state_file, "make_durable", flushed)
        for call in (lambda: sums.observe_many([[1.0]]), sums.release_if_due):
            with pytest.raises(RAISING[signal.Signals(number)]):
                call()
    assert sums.releases == state_file.read(tmp_path / "state").index == 1
    assert not sums.release_if_due()
    sums.detach()
    loaded: Any = discreet.load(tmp_path / "state")
    assert (loaded.clock, loaded.releases) == (4, 1)
    loaded.detach()


@raising
def test_a_choice_during_which_a_signal_came_can_be_read_back(number: int, tmp_path: Path) -> None:
    def selector() -> SetSelector:
        journal = tmp_path / "state"
        return SetSelector(UniformMatroid(3, 1), PURE, function=SetFunction, journal=journal)

    with pytest.raises(RAISING[signal.Signals(number)]):
        selector().fit([worth] * 5 + [ringing(worth, number)])
    assert state_file.read(tmp_path / "state").index == 1
    assert selector().fit([worth] * 6).people == 6


def test_a_handler_that_calls_the_learner_during_a_release_is_refused() -> None:
    sums = rung()
    Rung.numbers = (signal.SIGUSR1,)
    with (
        handled(signal.SIGUSR1, lambda number, frame: sums.act()),
        pytest.raises(StateError, match="busy"),
    ):
        sums.release_if_due()
    assert sums.releases == 1
    sums.act()


# --- threads --------------------------------------------------------------------------------------


@raising
def test_a_signal_while_another_thread_reads_people_reaches_the_main_thread(number: int) -> None:
    plain, rows = WORLDS["costs"](None)
    plain.observe_many(rows)
    learner, rows = WORLDS["costs"](number)
    thread = threading.Thread(target=learner.observe_many, args=(rows,))

    def read_elsewhere() -> None:
        thread.start()
        thread.join()

    with pytest.raises(RAISING[signal.Signals(number)]):
        read_elsewhere()
    thread.join()
    assert learner.clock == 10
    assert np.array_equal(learner.snapshot().block["gradient"], plain.snapshot().block["gradient"])
