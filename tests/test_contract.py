"""What every learner promises. If one of these fails, the promise is broken for everyone who uses that learner."""

import copy
import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import discreet
from contract import CASES, HORIZON, Case
from discreet import ConfigError, DiscreetError, HorizonReached, OutOfBounds, StateError
from discreet.release.conversion import epsilon_of
from discreet.release.learner import Learner
from discreet.release.ledger import Ledger
from discreet.release.statefile import encode
from dying import run_and_die

pytestmark = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


def state(learner: Learner) -> bytes:
    """Everything that a learner remembers."""
    return encode(learner._snapshot())


def same(one: Any, two: Any) -> bool:
    return np.array_equal(np.asarray(one), np.asarray(two))


def trimmed(decision: Any) -> Any:
    """A set without the −1 that fills it up in a table of many sets."""
    return decision[decision >= 0] if isinstance(decision, np.ndarray) and decision.dtype.kind == "i" else decision


def lived(case: Case, people: list[Any], **settings: Any) -> tuple[Learner, list[Any]]:
    """A learner that met these people one by one, and its decisions."""
    learner, decisions = case.make(**settings), []
    for person in people:
        decisions.append(np.array(learner.act()))
        learner.observe(person)
    return learner, decisions


def test_asking_twice_gives_the_same_and_costs_nothing(case: Case) -> None:
    learner = case.make()
    before = learner.act()
    kept = state(learner)
    assert same(learner.act(), before)
    assert state(learner) == kept


def test_past_the_horizon_decisions_are_free_and_feedback_is_refused(case: Case) -> None:
    learner, _ = lived(case, case.people(HORIZON))
    last = learner.act()
    kept, spent = state(learner), learner.guarantee.spent
    assert same(learner.act(), last)
    for late in (
        lambda: learner.observe(case.people(1)[0]),
        lambda: learner.close(learner.open(), case.people(1)[0]),
        lambda: learner.observe_many(case.people(1)),
        lambda: learner.replay(case.people(1)),
    ):
        with pytest.raises(HorizonReached):
            late()
    assert state(learner) == kept
    assert learner.guarantee.spent == spent


def test_rows_at_once_are_rounds_one_by_one(case: Case) -> None:
    people = case.people(HORIZON)
    one_by_one, decisions = lived(case, people, seed=5)
    at_once, position = case.make(seed=5), 0
    while position < HORIZON:
        count = max(1, at_once.rounds_until_release - 1)
        at_once.observe_many(people[position : position + count])
        position += count
    assert state(at_once) == state(one_by_one)
    if case.full:
        replayed = case.make(seed=5)
        assert all(same(*pair) for pair in zip(map(trimmed, replayed.replay(people)), decisions, strict=True))
        assert state(replayed) == state(one_by_one)
    previewed, position = case.make(seed=5), 0
    while position < HORIZON:
        count = previewed.rounds_until_release
        assert all(same(*pair) for pair in zip(map(trimmed, previewed.preview(count)), decisions[position : position + count], strict=True))
        previewed.observe_many(people[position : position + count])
        position += count


def test_a_round_begun_with_act_is_the_first_of_the_rows(case: Case) -> None:
    people = case.people(2)
    begun, plain = case.make(seed=5), case.make(seed=5)
    begun.act()
    for person in people:
        begun.observe_many([person])
        plain.observe_many([person])
    assert state(begun) == state(plain)


def test_too_many_rows_are_refused_and_nothing_changes(case: Case) -> None:
    learner = case.make()
    kept = state(learner)
    with pytest.raises(StateError, match="until the next release"):
        learner.observe_many(case.people(learner.rounds_until_release + 1))
    assert state(learner) == kept


def test_spending_never_falls_and_never_exceeds_the_budget(case: Case) -> None:
    learner, seen = case.make(), [0.0]
    for person in case.people(HORIZON):
        learner.act()
        learner.observe(person)
        seen.append(learner.guarantee.spent.amount)
    learner.act()
    given = learner.guarantee
    seen.append(given.spent.amount)
    assert seen == sorted(seen)
    assert given.spent.amount <= given.total.amount * (1 + 1e-12) <= learner.config.privacy.budget.amount * (1 + 1e-12)
    assert given.releases == given.planned
    assert given.epsilon_spent <= given.epsilon * (1 + 1e-9)
    if given.spent.measure == "zcdp":
        assert given.epsilon_spent == epsilon_of(given.spent.amount, given.delta)


def test_the_plan_says_beforehand_what_is_charged(case: Case) -> None:
    learner = case.make()
    plan = learner._plan
    ledger = Ledger(learner.config.privacy.budget)
    for index in range(plan.schedule.releases or 0):
        ledger = ledger.charge(plan.charge(index), cohort=plan.cohort(index))
    for person in case.people(HORIZON):
        learner.close(learner.open(), person)
    learner.act()
    assert learner.guarantee.spent == ledger.spent


def test_missing_feedback_counts_as_blank(case: Case) -> None:
    people = case.people(HORIZON)
    silent, blank = case.make(seed=9), case.make(seed=9)
    tickets = []
    for round in range(HORIZON):
        tickets.append(silent.open())
        if round % 3:
            silent.close(tickets[-1], people[round])
        blank.close(blank.open(), people[round] if round % 3 else blank.blank())
    assert same(silent.open().decision, blank.open().decision)
    assert silent.guarantee.spent == blank.guarantee.spent


def test_late_feedback_is_discarded(case: Case) -> None:
    learner = case.make()
    late = learner.open()
    while learner.open().index == late.index and learner._clock < HORIZON:
        pass
    kept = state(learner)
    assert learner.close(late, case.people(1)[0]) is False
    assert state(learner) == kept


def test_two_feedbacks_for_one_visitor_count_once(case: Case) -> None:
    learner = case.make()
    ticket = learner.open()
    assert learner.close(ticket, case.people(1)[0]) is True
    kept = state(learner)
    with pytest.raises(StateError, match="is not open"):
        learner.close(ticket, case.people(1)[0])
    assert state(learner) == kept


def test_feedback_without_a_question_is_refused(case: Case) -> None:
    learner = case.make()
    kept = state(learner)
    with pytest.raises(StateError, match="call act"):
        learner.observe(case.people(1)[0])
    assert state(learner) == kept


def test_wrong_feedback_is_refused_without_showing_it_and_the_round_stays_open(case: Case) -> None:
    learner = case.make()
    learner.act()
    kept = state(learner)
    for wrong in case.refused:
        with pytest.raises(OutOfBounds) as caught:
            learner.observe(wrong)
        assert "0.777" not in str(caught.value)
        assert state(learner) == kept
    learner.observe(case.people(1)[0])


def test_in_many_rows_what_is_not_finite_counts_as_nothing(case: Case) -> None:
    broken, blank = case.make(seed=1), case.make(seed=1)
    broken.observe_many([case.broken])
    blank.observe_many([blank.blank()])
    assert state(broken) == state(blank)


def test_nothing_about_a_person_shows_before_their_release(case: Case) -> None:
    """Two streams that differ in one person: all that is shown before the next release is the same."""
    people, others = case.people(HORIZON), case.people(HORIZON, seed=1)
    for replaced in range(HORIZON):
        here, there = case.make(seed=4), case.make(seed=4)
        for round in range(replaced + 1):
            here.act(), there.act()
            here.observe(people[round])
            there.observe(others[round] if round == replaced else people[round])
        index = here._turn.index
        while here.open().index == index and here._clock < HORIZON:
            assert same(here._ticket(here._clock - 1, discreet.release.turn.Asked()).decision, there.open().decision)
        assert str(here.guarantee) == str(there.guarantee) or here._turn.index > index


def test_a_seed_repeats_a_run_and_says_so(case: Case) -> None:
    people = case.people(HORIZON)
    (one, decisions), (two, again), (other, _) = (lived(case, people, seed=seed) for seed in (7, 7, 8))
    assert state(one) == state(two)
    assert all(same(*pair) for pair in zip(decisions, again, strict=True))
    assert state(one) != state(other)
    assert one.guarantee.simulated
    assert "SIMULATED" in str(one.guarantee)
    assert not case.make().guarantee.simulated


def test_a_configuration_survives_toml(case: Case) -> None:
    learner = case.make(seed=3)
    config = type(learner.config).from_toml(learner.config.to_toml())
    assert config == learner.config
    assert config.hash == learner.config.hash
    assert type(learner).from_config(config).config == learner.config
    assert case.make(seed=4).config.hash != config.hash
    with pytest.raises(ConfigError, match="unknown setting 'colour'"):
        type(config).from_toml(config.to_toml() + '\ncolour = "red"')


def test_a_saved_run_goes_on_as_if_nothing_had_happened(case: Case, tmp_path: Path) -> None:
    people = case.people(HORIZON)
    straight, decisions = lived(case, people, seed=6)
    learner, taken = case.make(seed=6), []
    for round, person in enumerate(people):
        taken.append(np.array(learner.act()))
        learner.observe(person)
        if round in (3, 7):
            path = tmp_path / f"{case.name}.state"
            learner.save(path)
            learner.detach()
            learner = discreet.load(path)
    assert all(same(*pair) for pair in zip(taken, decisions, strict=True))
    assert same(learner.act(), straight.act())
    assert learner.guarantee == straight.guarantee


def test_a_second_load_is_refused_and_the_saver_is_fenced_off(case: Case, tmp_path: Path) -> None:
    learner = case.make()
    learner.save(tmp_path / "state")
    loaded = discreet.load(tmp_path / "state")
    with pytest.raises(StateError, match="in use"):
        discreet.load(tmp_path / "state")
    learner.observe_many(case.people(learner.rounds_until_release))
    with pytest.raises(StateError, match="in use"):
        learner.turn()
    assert loaded.guarantee.releases == 0


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_killed_anywhere_in_a_turn_it_shows_one_thing_only(case: Case, tmp_path: Path) -> None:
    """Every seventh statement, from another start for each learner; tests/release/test_turn.py tries every single one."""
    original, path = tmp_path / "original", tmp_path / "state"
    learner = case.make(journal=original)
    block = case.people(learner.rounds_until_release)
    learner.detach()

    def prepare(child: Learner) -> None:
        child.observe_many(block)

    def work(child: Learner, show: Any) -> None:
        show(np.asarray(child.act()).tolist())

    last, finished = len(case.name) % 7, False
    while not finished:
        shutil.copy(original, path)
        finished, shown = run_and_die(path, prepare, work, last)
        after = discreet.load(path)
        if shown:
            assert after._turn.index == 1
            assert np.asarray(after.act()).tolist() == eval(shown[0])
        assert after._turn.index in (0, 1)
        assert after.guarantee.spent.amount <= after.config.privacy.budget.amount
        after.detach()
        last += 7


def test_learners_cannot_be_copied(case: Case) -> None:
    with pytest.raises(StateError):
        copy.deepcopy(case.make())


def test_every_error_is_one_of_ours_and_one_line(case: Case) -> None:
    with pytest.raises(DiscreetError) as caught:
        case.make().observe(None)
    assert "\n" not in str(caught.value)
