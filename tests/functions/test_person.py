"""If these fail, one person's unreadable data stops the program, warns, or removes other people."""

import threading
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from discreet import (
    ContextualBandit,
    Privacy,
    RunningSum,
    SetMaximizer,
    SetMinimizer,
    StreamingLearner,
)
from discreet.arrays import Floats, Integers
from discreet.domains import LpBall
from discreet.functions import SetFunction
from discreet.functions.person import reading, result_or

USUAL = Privacy(1.0, 1e-6)


def worth(chosen: Integers) -> float:
    return 0.2 * len(chosen)


class PanicException(BaseException):
    """The exception that a library in Rust raises by PyO3; it is no `Exception`."""


@pytest.mark.parametrize(
    "raises",
    [
        ValueError,
        MemoryError,
        RecursionError,
        StopIteration,
        SystemExit,
        GeneratorExit,
        PanicException,
    ],
)
def test_an_exception_of_the_operators_function_counts_against_that_person_alone(
    raises: type[BaseException],
) -> None:
    """A function that parses a person's text with argparse raises `SystemExit`."""

    def fails(chosen: Integers) -> float:
        raise raises("0.777")

    makers: list[Callable[[], SetMinimizer | SetMaximizer]] = [
        lambda: SetMinimizer(3, 100, USUAL, seed=1),
        lambda: SetMaximizer(3, 2, 100, USUAL, function=SetFunction, seed=1),
    ]
    for make in makers:
        blank, failed = make(), make()
        blank.observe_many([*[worth] * 4, lambda chosen: 0.0, *[worth] * 5])
        failed.observe_many([*[worth] * 4, fails, *[worth] * 5])
        assert failed.clock == 10
        for name, values in failed.snapshot().block.items():
            assert values.any()
            assert np.array_equal(values, blank.snapshot().block[name])


def test_a_gradient_that_fails_for_one_sample_fails_for_that_sample_alone() -> None:
    def gradient(coefficients: Floats, x: Floats, y: float) -> Floats:
        if y < 0:
            raise ZeroDivisionError("0.777")
        return np.asarray(x * (x @ coefficients - y))

    def gradient_sums(targets: list[float]) -> np.ndarray:
        bounds: dict[str, Any] = {"feature_bound": 1.0, "target_bound": 1.0}
        learner = StreamingLearner(LpBall(3), gradient, 100, USUAL, block=50, seed=1, **bounds)
        learner.observe_many((np.eye(4, 3) + 0.1, targets))
        return learner.snapshot().block["gradient"]

    failing = gradient_sums([1.0, -1.0, 0.5, 0.25])
    missing = gradient_sums([1.0, float("nan"), 0.5, 0.25])
    assert np.array_equal(failing, missing)
    assert failing.any()


def test_a_keyboard_interrupt_is_never_swallowed() -> None:
    def stopped() -> float:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), reading():
        result_or(stopped, default=0.0)


def test_warnings_of_the_operators_function_are_not_shown() -> None:
    with warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter("always")
        with reading():
            result_or(lambda: warnings.warn("0.777 is a secret", stacklevel=1), None)
        learner = SetMinimizer(3, 100, USUAL)
        learner.observe_many([lambda chosen: float(np.log(-0.777 * len(chosen)))])
    assert not shown


def test_numbers_that_overflow_warn_on_no_thread() -> None:
    """Every thread has its own settings for floating-point errors."""
    rows = [
        [np.longdouble("1e4000"), np.float32(1.0)],
        [1e308, -1e308],
        [10**400, 0],
        [np.float32(3e38), 1],
    ]

    def people() -> None:
        sums = RunningSum(2, 100, USUAL, bound=1.0, block=50)
        sums.observe_many(rows)
        sums.observe_many(np.array(rows[:2], dtype=np.longdouble))
        SetMinimizer(3, 100, USUAL).observe_many(
            [lambda chosen: np.float64(1e308) * 10 * len(chosen)]
        )

    with warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter("always")
        people()
        thread = threading.Thread(target=people)
        thread.start()
        thread.join()
    assert not shown


def test_warnings_about_people_are_shown_on_no_thread_and_other_warnings_on_all() -> None:
    """A worker thread of a server reads people while the main thread warns of something else."""
    complex_rows = np.array([[1 + 2j, 0.5]])

    def people() -> None:
        sums = RunningSum(2, 100, USUAL, bound=1.0, block=50)
        sums.observe_many(complex_rows)
        sums.observe_many([[np.array([0.777]), 0.5]])
        bandit = ContextualBandit(2, 2, 1000, USUAL)
        bandit.open_many(complex_rows)
        SetMinimizer(3, 100, USUAL).observe_many(
            [lambda chosen: warnings.warn("0.777", stacklevel=1)]
        )
        with reading():
            inside.set()
            assert warned.wait(10)
            result_or(lambda: warnings.warn("0.777", stacklevel=1), None)
        warnings.warn("about no person", stacklevel=1)

    inside, warned = threading.Event(), threading.Event()
    with warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter("always")
        thread = threading.Thread(target=people)
        thread.start()
        assert inside.wait(10)
        warnings.simplefilter("error", ResourceWarning)
        warnings.warn("of the main thread", stacklevel=1)
        warned.set()
        thread.join()
    assert [str(warning.message) for warning in shown] == ["of the main thread", "about no person"]


def test_filters_that_are_added_later_do_not_show_warnings_about_people() -> None:
    for _ in range(3):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            before = len(warnings.filters)
            with reading(), reading():
                warnings.warn("0.777", stacklevel=1)
            assert len(warnings.filters) <= before + 1
            with pytest.raises(UserWarning, match="about no person"):
                warnings.warn("about no person", stacklevel=1)
