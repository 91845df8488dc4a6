"""If these fail, a learner runs two calls at once, or loses answers that it had saved."""

import threading
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import discreet
from discreet import ConfigError, Hedge, Privacy, RunningSum, SetMaximizer, StateError
from discreet.audit.cases.learners import cases
from discreet.engine.state_file import encode
from discreet.functions import SetFunction
from discreet.learners.base import Learner
from discreet.learners.forced import forced
from discreet.learners.homes import HOMES
from discreet.learners.registry import learner_named
from discreet.learners.running_sum.prefixes import Prefixes

USUAL = Privacy(1.0, 1e-6)


def counting(**more: Any) -> RunningSum:
    """A running sum that counts people, in blocks of ten."""
    settings: dict[str, Any] = {
        "dimension": 1,
        "horizon": 40,
        "privacy": USUAL,
        "bound": 1.0,
        "nonnegative": True,
        "block": 10,
    }
    return RunningSum(**(settings | more))


def levels_of(sums: Learner) -> int:
    """Number of integer steps with which one person is counted."""
    problem = RunningSum.problem_for(sums.settings).mode
    assert isinstance(problem, Prefixes)
    return problem.total.sum_of(0).aggregator.levels


def people(sums: Learner) -> float:
    """Number of people counted since the last release."""
    return float(sums.snapshot().block["sum"][0]) / levels_of(sums)


def saved_clock(path: Path) -> int:
    """The clock of the newest snapshot in a journal."""
    snapshot = discreet.FileJournal(path).latest()
    assert snapshot is not None
    return snapshot.rounds.clock


# --- one round at a time


def test_a_visitor_who_never_answers_can_be_skipped() -> None:
    sums = counting()
    sums.act()
    sums.skip()
    sums.act()
    sums.observe([1.0])
    assert sums.clock == 2
    assert people(sums) == 1
    with pytest.raises(StateError, match=r"call act\(\) first"):
        sums.observe([1.0])


def test_a_question_left_open_does_not_freeze_later_ones() -> None:
    sums = counting(block=1, horizon=4)
    sums.act()
    assert sums.clock == 1
    assert sums.release_if_due()
    sums.act()
    assert sums.clock == 2


def test_asking_again_gives_the_same_round_and_another_mask_is_refused() -> None:
    shop = SetMaximizer(5, 2, 100, USUAL, seed=1)
    mask = np.array([True, True, True, False, True])
    first = shop.act(available=mask)
    assert np.array_equal(shop.act(available=mask), first)
    assert shop.clock == 1
    for other in (None, np.ones(5, dtype=bool), ~mask):
        with pytest.raises(StateError, match="another context or mask"):
            shop.act(available=other)
    assert shop.clock == 1
    shop.observe(np.zeros(5))
    shop.act()
    assert shop.clock == 2


def test_a_round_begun_with_act_is_none_of_the_rows_that_follow() -> None:
    sums = counting()
    sums.act()
    sums.observe_many([[1.0]] * 3)
    assert sums.clock == 4
    sums.observe([1.0])
    assert people(sums) == 4
    sums.act()
    sums.replay([[1.0]] * 5)
    assert sums.clock == 10
    assert people(sums) == 9


def test_feedback_after_the_block_is_over_is_dropped_and_the_next_question_is_a_new_one() -> None:
    sums = counting(block=1, horizon=4)
    sums.act()
    sums.release_if_due()
    sums.observe([1.0])  # too late
    assert people(sums) == 0
    sums.act()
    assert sums.clock == 2


# --- one call at a time


def test_threads_may_share_a_learner() -> None:
    sums = forced(RunningSum, "honaker", 1, 400, Privacy(1.0), bound=1.0, nonnegative=True)
    threads = [
        threading.Thread(target=lambda: [sums.add([1.0]) for _ in range(50)]) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sums.releases == sums.clock == 400
    assert int(sums.snapshot().hidden["sum"]["nodes"].sum()) == 400 * levels_of(sums)


def test_a_person_who_calls_back_changes_nothing() -> None:
    learner = SetMaximizer(3, 2, 20, USUAL, function=SetFunction, block=5)
    for _ in range(4):
        learner.close(learner.open(), lambda chosen: 0.2 * len(chosen))
    before = learner.snapshot().block["gains"].copy()
    calls: list[str] = []

    def person(chosen: Any) -> float:
        for call in (
            learner.release_if_due,
            learner.act,
            learner.open,
            lambda: learner.save("x"),
            lambda: learner.preview(1),
        ):
            try:
                call()
            except StateError as error:
                calls.append(str(error))
        return float(learner.release_if_due()) or 0.2

    learner.close(learner.open(), person)
    assert calls
    assert all("busy" in call for call in calls)
    assert learner.releases == 0
    assert np.array_equal(learner.snapshot().block["gains"], before)  # the person's own code failed
    assert learner.release_if_due()


# --- checkpoints


def test_a_checkpoint_saves_the_open_block_after_a_number_of_answers(tmp_path: Path) -> None:
    path = tmp_path / "state"
    sums = counting(journal=path, checkpoint=3)
    sums.observe_many([[1.0]] * 2)
    sums.detach()
    killed = discreet.load(path, checkpoint=3)
    assert (killed.clock, people(killed)) == (0, 0)  # not yet
    killed.observe_many([[1.0]] * 2)
    killed.close(killed.open(), [1.0])
    killed.close(killed.open(), [1.0])
    killed.detach()
    again = discreet.load(path)
    assert (again.clock, people(again)) == (3, 3)  # the third answer was saved, the fourth is lost
    again.detach()


def test_a_checkpoint_counts_answers_that_counted_and_not_questions(tmp_path: Path) -> None:
    sums = counting(journal=tmp_path / "state", checkpoint=4)
    tickets = sums.open_many(10)
    late = sums.open_many(5)
    assert not sums.close_many(tickets, [[1.0]] * 10).any()
    sums.close_many(late[:3], [[1.0]] * 3)
    sums.detach()
    again = discreet.load(tmp_path / "state")
    assert (again.clock, people(again)) == (10, 0)
    again.detach()


def test_a_checkpoint_comes_with_the_first_answer_after_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [100.0]
    monkeypatch.setattr("discreet.learners.durable.monotonic", lambda: now[0])
    sums = counting(journal=tmp_path / "state", checkpoint=timedelta(seconds=30))
    sums.observe_many([[1.0]])
    now[0] += 29
    sums.observe_many([[1.0]])
    assert saved_clock(tmp_path / "state") == 0
    now[0] += 1
    sums.observe_many([[1.0]])
    assert saved_clock(tmp_path / "state") == 3
    now[0] += 10
    sums.observe_many([[1.0]])
    assert saved_clock(tmp_path / "state") == 3
    sums.detach()


@pytest.mark.parametrize(
    "checkpoint", [0, -1, 2.5, "often", True, timedelta(0), timedelta(seconds=-1)]
)
def test_impossible_checkpoints_are_refused(checkpoint: Any, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="checkpoint"):
        counting(journal=tmp_path / "state", checkpoint=checkpoint)


def test_a_checkpoint_needs_a_file(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="give a path as journal"):
        counting(checkpoint=3)
    counting(journal=tmp_path / "state", checkpoint=3).detach()


# --- the rest


def test_every_learner_is_known_by_its_name() -> None:
    assert {learner_named(name).__name__ for name in HOMES} == set(HOMES)
    with pytest.raises(ConfigError, match="learner must be one of"):
        learner_named("Oracle")
    for path in (3, None, b"state", ["state"]):
        with pytest.raises(ConfigError, match="path of a state file"):
            discreet.load(path)  # type: ignore[arg-type]


def test_a_state_of_an_unknown_learner_is_refused(tmp_path: Path) -> None:
    state = replace(counting().snapshot(), kind="Oracle")
    (tmp_path / "state").write_bytes(encode(state))
    with pytest.raises(StateError, match="holds a Oracle, which this version"):
        discreet.load(tmp_path / "state")


def test_what_may_be_read_does_not_change_and_shows_no_person() -> None:
    hedge = Hedge(3, 40, USUAL, block=10, seed=1)
    hedge.observe_many([[0.123456, 0.0, 0.0]] * 4)
    before = hedge.snapshot()
    shown = (
        repr(hedge),
        str(hedge.facts),
        str(hedge.guarantee),
        str(hedge.decision),
        str(hedge.settings),
        hedge.guarantee._repr_html_(),
        repr(before),
    )
    assert hedge.state_bytes > 500
    assert not any("123456" in text or str(int(before.block["gains"][0])) in text for text in shown)
    hedge.facts["block"] = 99
    assert hedge.facts["block"] == 10
    assert hedge.clock == 4
    assert hedge.releases == 0
    assert hedge.rounds_before_release == 0
    assert hedge.rounds_until_release == 6


def test_warming_up_leaves_a_learner_as_it_was() -> None:
    sums = counting(seed=1)
    size = sums.state_bytes
    total = sums.snapshot().public["total"].copy()
    discreet.warm_up(sums)
    assert (sums.clock, sums.releases) == (0, 0)
    assert sums.state_bytes == size
    assert np.array_equal(sums.snapshot().public["total"], total)
    with pytest.raises(ConfigError, match="warm_up takes learners"):
        discreet.warm_up("everything")  # type: ignore[arg-type]


def test_warming_up_puts_no_learner_of_its_own_into_the_log_of_an_operator(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level("DEBUG", logger="discreet"):
        discreet.warm_up()
    assert caplog.messages == []


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.name)
def test_facts_name_the_method_and_the_reason(case: Any) -> None:
    facts = case.make().facts
    assert facts["method"]
    assert facts["why"]


# --- what public numbers warn of


def test_a_delta_above_one_over_the_number_of_people_warns_in_one_line() -> None:
    for delta in (0.5, 2e-3):
        with pytest.warns(
            UserWarning, match=f"^delta = {delta:.3g} is more than 1/1000, "
        ) as shown:
            RunningSum(1, 1000, Privacy(1.0, delta), bound=1.0)
        assert "\n" not in str(shown[0].message)
    RunningSum(1, 1000, Privacy(1.0, 9e-4), bound=1.0)
    # Without a horizon the number of people is not known.
    RunningSum(1, None, Privacy(1.0, 0.5), bound=1.0)
    SetMaximizer(20, 2, 10**4, Privacy(1.0, 1e-3), feedback="clicks")  # pure: δ is not used
