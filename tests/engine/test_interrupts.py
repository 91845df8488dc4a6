"""If these fail, an interrupt or error inside a call counts a person twice or loses a release."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import discreet
from discreet import (
    ConfigError,
    Privacy,
    RunningSum,
    SetMaximizer,
    SetMinimizer,
    StateError,
    StreamingLearner,
)
from discreet.domains import LpBall
from discreet.engine.engine import Engine
from discreet.engine.journal import FileJournal
from discreet.engine.waiting import Waiting
from discreet.learners.forced import forced
from discreet.learners.running_sum.prefixes import PrefixPhase
from discreet.losses import SquaredLoss
from engine.sums import counted_people

USUAL = Privacy(1.0, 1e-6)


def counting(**more: Any) -> RunningSum:
    settings: dict[str, Any] = {"bound": 1.0, "nonnegative": True, "block": 50} | more
    return forced(RunningSum, "honaker", 1, 1000, USUAL, **settings)


def test_an_error_after_people_were_counted_does_not_reopen_their_rounds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    honest = PrefixPhase.gather

    def interrupted(self: PrefixPhase, *arguments: Any) -> None:
        honest(self, *arguments)
        raise StateError("too late")

    monkeypatch.setattr(PrefixPhase, "gather", interrupted)
    sums = counting()
    with pytest.raises(StateError):
        sums.observe_many([[1.0]] * 10)
    assert (sums.clock, counted_people(sums)) == (10, 10)
    tickets = sums.open_many(5)
    with pytest.raises(StateError):
        sums.close_many(tickets, [[1.0]] * 5)
    monkeypatch.undo()
    assert not sums.close_many(tickets, [[1.0]] * 5).any()
    assert (sums.clock, counted_people(sums)) == (15, 15)


def test_an_interrupt_while_rounds_are_opened_costs_them_and_opens_none_twice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sums = counting()

    def interrupted(self: Waiting, *arguments: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Waiting, "add", interrupted)
        patched.setattr(Waiting, "add_many", interrupted)
        for ask in (lambda: sums.open_many(10), sums.open):
            with pytest.raises(KeyboardInterrupt):
                ask()
    assert sums.clock == 11
    tickets = sums.open_many(10)
    assert tickets.rounds.tolist() == list(range(11, 21))
    sums.close_many(tickets, [[1.0]] * 10)
    assert not sums.close_many(tickets, [[1.0]] * 10).any()
    assert counted_people(sums) == 10


def test_a_checkpoint_that_fails_warns_and_the_feedback_counts_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sums = counting(journal=tmp_path / "state", checkpoint=2)

    def full(self: Engine, rounds: Any) -> None:
        raise StateError("state cannot be written (No space left on device)")

    with monkeypatch.context() as patched:
        patched.setattr(Engine, "checkpoint", full)
        sums.add([1.0])
        with pytest.warns(RuntimeWarning, match="not saved: .*No space left"):
            sums.add([1.0])
    assert (sums.clock, counted_people(sums)) == (2, 2)
    sums.add([1.0])  # tried again at once
    sums.detach()
    loaded = discreet.load(tmp_path / "state")
    assert loaded.clock == 3
    loaded.detach()


def test_an_interrupted_save_leaves_one_copy_that_can_release(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sums = counting()

    def interrupted(self: FileJournal) -> None:
        honest(self)
        raise KeyboardInterrupt

    honest = FileJournal.close
    with monkeypatch.context() as patched:
        patched.setattr(FileJournal, "close", interrupted)
        with pytest.raises(KeyboardInterrupt):
            sums.save(tmp_path / "state")
    loaded = discreet.load(tmp_path / "state")
    sums.open_many(50)
    with pytest.raises(StateError, match="in use"):
        sums.release_if_due()
    loaded.detach()


def test_the_size_of_a_state_does_not_reveal_who_answered() -> None:
    sizes = set()
    for answered in range(3):
        sums = counting()
        tickets = sums.open_many(3)
        sums.close(tickets[answered], [1.0])
        sizes.add(sums.state_bytes)
    assert len(sizes) == 1


def regression() -> StreamingLearner:
    bounds: dict[str, Any] = {"feature_bound": 1.0, "target_bound": 1.0}
    return forced(
        StreamingLearner, "leader", LpBall(2), SquaredLoss(), 1000, USUAL, seed=1, **bounds
    )


def test_an_unreadable_row_does_not_affect_other_people() -> None:
    learners: list[tuple[Any, Any]] = [
        (counting(), [1.0]),
        (SetMaximizer(4, 2, 1000, USUAL, feedback="clicks"), None),
        (SetMaximizer(4, 2, 1000, USUAL, feedback="bandit"), 0.5),
        (SetMinimizer(3, 1000, USUAL), lambda chosen: 0.1),
        (regression(), ([0.1, 0.2], 0.5)),
    ]
    for learner, person in learners:
        learner.close_many(learner.open_many(3), [person, object(), person])
        assert learner.clock == 3


def test_one_malformed_sample_does_not_refuse_the_others() -> None:
    fine = regression()
    odd = regression()
    ragged = regression()
    fine.observe_stream([[0.1, 0.2], [0.3, 0.1]], [1.0, float("nan")])
    odd.observe_stream([[0.1, 0.2], [0.1, "n/a"]], [1.0, 1.0])
    ragged.observe_stream([[0.1, 0.2], [0.1]], [1.0, 1.0])
    expected = fine.snapshot().block["gradient"]
    for learner in (odd, ragged):
        assert np.array_equal(learner.snapshot().block["gradient"], expected)


def test_every_segment_of_an_endless_sum_can_be_calibrated_or_is_refused() -> None:
    RunningSum(1, None, Privacy(30.0, 1e-12, contributions=2), bound=1.0, nonnegative=True)
    with pytest.raises(ConfigError, match="too many for the rounding"):
        forced(RunningSum, "toeplitz", 10**6, None, Privacy(0.01, 1e-6), bound=1.0)


def test_a_bound_that_would_overflow_is_refused_at_once() -> None:
    with pytest.raises(ConfigError, match="bound"):
        SetMinimizer(3, 50, USUAL, bound=1e100)
