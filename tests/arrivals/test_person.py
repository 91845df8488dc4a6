"""If these fail, one person's code can stop the program, silence a signal, or delete other people."""

import signal
import threading
import warnings
from typing import Any

import numpy as np
import pytest

from discreet import Privacy, RunningSum, SetMaximizer, SetMinimizer, StreamingLearner
from discreet.arrivals import SetFunction
from discreet.arrivals.person import asked_of, reading
from discreet.domains import LpBall

USUAL, PURE = Privacy(1.0, 1e-6), Privacy(1.0)


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
        learner = SetMinimizer(3, 100, USUAL)
        learner.observe_many([lambda chosen: float(np.log(-0.777 * len(chosen)))])
    assert not shown


def test_a_callable_that_wants_to_stop_everything_stops_nothing_but_itself() -> None:
    def leaves(chosen: Any) -> float:
        raise SystemExit

    def interrupts(chosen: Any) -> float:
        raise KeyboardInterrupt

    people = [lambda chosen: 0.2 * len(chosen)] * 9
    blank, left, interrupted = (SetMinimizer(3, 100, USUAL, seed=1) for _ in range(3))
    blank.observe_many([*people[:4], lambda chosen: 0.0, *people[4:]])
    left.observe_many([*people[:4], leaves, *people[4:]])
    interrupted.observe_many([*people[:4], interrupts, *people[4:]])
    for learner in (left, interrupted):
        assert learner.clock == 10
        assert np.array_equal(learner.snapshot().block["gradient"], blank.snapshot().block["gradient"])


def pressed_by(person: Any) -> Any:
    """The same person; but while their code runs, somebody presses Ctrl-C."""
    heard = [False]

    def pressed(*arguments: Any) -> Any:
        if not heard[0]:
            heard[0] = True
            signal.raise_signal(signal.SIGINT)
        return person(*arguments)

    return pressed


class Array:
    """A row that is an array only when it is asked."""

    def __init__(self, ask: Any) -> None:
        self.ask = ask

    def __array__(self, *arguments: Any, **named: Any) -> Any:
        return self.ask()


def worth(chosen: Any) -> float:
    return 0.2 * len(chosen)


def gradient(coefficients: Any, x: Any, y: float) -> Any:
    return x * (x @ coefficients - y)


def on_the_line(pressed: bool) -> StreamingLearner:
    found = pressed_by(gradient) if pressed else gradient
    return StreamingLearner(LpBall(3), found, 100, USUAL, feature_bound=1.0, target_bound=1.0, block=50)


def crowd_of(pressed: bool) -> tuple[Any, Any]:
    return np.eye(10, 3) + 0.1, np.linspace(-1, 1, 10)


def callables(pressed: bool) -> list[Any]:
    return [worth] * 4 + [pressed_by(worth) if pressed else worth] + [worth] * 5


def rows(pressed: bool) -> list[Any]:
    def row() -> Any:
        return np.full(3, 0.25)

    return [[0.5, 0.5, 0.5]] * 4 + [Array(pressed_by(row) if pressed else row)] + [[0.5, 0.5, 0.5]] * 5


READERS: dict[str, tuple[Any, Any]] = {
    "costs": (lambda pressed: SetMinimizer(3, 100, USUAL, block=50), callables),
    "sets": (lambda pressed: SetMaximizer(3, 2, 100, USUAL, function=SetFunction, block=50), callables),
    "sets, pure": (lambda pressed: SetMaximizer(3, 2, 100, PURE, function=SetFunction, block=50), callables),
    "samples": (on_the_line, crowd_of),
    "rows": (lambda pressed: RunningSum(3, 100, USUAL, bound=1.0, block=50), rows),
}


@pytest.mark.parametrize("reader", READERS)
def test_a_real_interrupt_while_people_are_read_counts_everyone_once(reader: str) -> None:
    """Their rounds are over, so whoever was read must be counted before the operator is heard."""
    make, people = READERS[reader]
    plain, interrupted = make(False), make(True)
    plain.observe_many(people(False))
    with pytest.raises(KeyboardInterrupt):
        interrupted.observe_many(people(True))
    assert interrupted.clock == plain.clock == 10
    expected = plain.snapshot().block
    for name, values in interrupted.snapshot().block.items():
        assert expected[name].any()
        assert np.array_equal(values, expected[name])
