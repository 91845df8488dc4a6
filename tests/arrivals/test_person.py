"""If these fail, one person's code can stop the program, silence a signal, or delete other people."""

import signal
import threading
import warnings
from typing import Any

import numpy as np
import pytest

from discreet import Privacy, SetMinimizer
from discreet.arrivals.person import asked_of, reading


@pytest.mark.parametrize(
    "raises", [ValueError, MemoryError, RecursionError, SystemExit, KeyboardInterrupt, GeneratorExit]
)
def test_whatever_a_persons_code_raises_counts_against_that_person_alone(raises: type[BaseException]) -> None:
    def person() -> float:
        raise raises("0.777")

    with reading():
        assert asked_of(person, otherwise=-1.0) == -1.0
        assert asked_of(lambda: 2.0, otherwise=-1.0) == 2.0


def test_a_signal_waits_until_everyone_was_read() -> None:
    """Ctrl-C while people are read: all of them count, then the operator is heard."""
    answers = []

    def person(number: int) -> float:
        if number == 3:
            signal.raise_signal(signal.SIGINT)
        return float(number)

    def everyone() -> None:
        with reading():
            for number in range(10):
                answers.append(asked_of(lambda number=number: person(number), otherwise=-1.0))

    with pytest.raises(KeyboardInterrupt):
        everyone()
    assert answers == [float(number) for number in range(10)]


def test_asked_a_second_time_a_signal_is_delivered_at_once() -> None:
    """A person whose code never ends must not make the program deaf."""
    answers = []

    def endless() -> float:
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)
        raise AssertionError("not reached")

    def everyone() -> None:
        with reading():
            answers.append(asked_of(endless, otherwise=-1.0))
            answers.append(0.0)

    with pytest.raises(KeyboardInterrupt):
        everyone()
    assert not answers
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_handlers_are_as_they_were_afterwards_and_own_ones_are_called_once() -> None:
    heard: list[int] = []
    before = signal.signal(signal.SIGUSR1, lambda number, frame: heard.append(number))
    try:
        mine = signal.getsignal(signal.SIGUSR1)
        with reading():
            signal.raise_signal(signal.SIGUSR1)
            assert heard == []
        assert heard == [signal.SIGUSR1]
        assert signal.getsignal(signal.SIGUSR1) is mine
    finally:
        signal.signal(signal.SIGUSR1, before)


def test_people_are_read_in_threads_too() -> None:
    found: list[Any] = []

    def work() -> None:
        with reading():
            found.append(asked_of(lambda: 1 / 0, otherwise="nothing"))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == ["nothing"]


def test_warnings_of_a_persons_code_are_not_shown() -> None:
    with warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter("always")
        with reading():
            asked_of(lambda: warnings.warn("0.777 is a secret", stacklevel=1), None)
        learner = SetMinimizer(3, 100, Privacy(1.0, 1e-6))
        learner.observe_many([lambda chosen: float(np.log(-0.777 * len(chosen)))])
    assert not shown


def test_a_callable_that_wants_to_stop_everything_stops_nothing_but_itself() -> None:
    def leaves(chosen: Any) -> float:
        raise SystemExit

    def interrupts(chosen: Any) -> float:
        raise KeyboardInterrupt

    people = [lambda chosen: 0.2 * len(chosen)] * 9
    blank, left, interrupted = (SetMinimizer(3, 100, Privacy(1.0, 1e-6), seed=1) for _ in range(3))
    blank.observe_many([*people[:4], lambda chosen: 0.0, *people[4:]])
    left.observe_many([*people[:4], leaves, *people[4:]])
    interrupted.observe_many([*people[:4], interrupts, *people[4:]])
    for learner in (left, interrupted):
        assert learner.clock == 10
        assert np.array_equal(learner.snapshot().block["gradient"], blank.snapshot().block["gradient"])


def test_a_real_interrupt_while_callables_are_read_counts_everyone_once() -> None:
    def pressed(chosen: Any) -> float:
        if len(chosen) == 1:
            signal.raise_signal(signal.SIGINT)
        return 0.2 * len(chosen)

    people: list[Any] = [lambda chosen: 0.2 * len(chosen)] * 9
    plain, interrupted = (SetMinimizer(3, 100, Privacy(1.0, 1e-6), seed=1) for _ in range(2))
    plain.observe_many([*people, people[0]])
    with pytest.raises(KeyboardInterrupt):
        interrupted.observe_many([*people[:4], pressed, *people[4:]])
    assert interrupted.clock == 10
    assert np.array_equal(interrupted.snapshot().block["gradient"], plain.snapshot().block["gradient"])
