"""Rules of the contract about budgets, settings, files, kills and copies."""

import copy
import os
import shutil
import tempfile
import warnings
from ast import literal_eval
from collections.abc import Callable
from pathlib import Path

import numpy as np

from discreet.audit.accounts import check_all_is_spent, check_spending
from discreet.audit.cases.case import Case
from discreet.audit.contract.kills import run_and_die
from discreet.audit.contract.tools import fed, lived, opened, raises, row_of, same, state
from discreet.engine.problem import view_of
from discreet.errors import ConfigError, DiscreetError, StateError
from discreet.learners.base import Learner
from discreet.learners.registry import load

EVERY = 31
"""Number of statements between two kills."""


def spending_never_falls_and_never_exceeds_the_budget(case: Case) -> None:
    learner = case.make()
    spent = [0.0]
    contexts = case.contexts(case.horizon)
    for round, person in enumerate(case.people(case.horizon)):
        decision = learner.act(row_of(contexts, round), **case.whose(round))
        learner.observe(case.answered(person, decision))
        spent.append(learner.guarantee.epsilon_spent)
    learner.release_if_due()
    given = learner.guarantee
    spent.append(given.epsilon_spent)
    assert spent == sorted(spent), "spending fell"
    assert given.planned in (None, given.releases), "not all planned releases were made"
    assert given.epsilon_spent <= given.epsilon * (1 + 1e-9), "more than the budget was spent"
    promised = given.total.epsilon(given.privacy)
    assert given.epsilon_spent <= promised * (1 + 1e-9), "more than the plan says was spent"


def the_ledger_is_what_the_plan_charges_and_the_guarantee_says(case: Case) -> None:
    learner = case.make()
    steps = []
    problem = type(learner).problem_for(learner.settings)
    contexts = case.contexts(case.horizon)
    step = view_of(problem, learner.snapshot()).step
    for round, person in enumerate([*case.people(case.horizon), None]):
        if learner.release_if_due():
            assert step is not None, "a release was made that was not planned"
            steps.append(step)
            step = view_of(problem, learner.snapshot()).step
        check_spending(learner.guarantee, steps)
        if round < case.horizon:
            decision = learner.act(row_of(contexts, round), **case.whose(round))
            learner.observe(case.answered(person, decision))
    check_all_is_spent(learner.guarantee)


def a_seed_repeats_a_run_and_says_so(case: Case) -> None:
    people = case.people(case.horizon)
    one, decisions = lived(case, people, seed=7)
    two, again = lived(case, people, seed=7)
    other, _ = lived(case, people, seed=8)
    assert state(one) == state(two), "the same seed gave another state"
    assert all(map(same, decisions, again)), "the same seed gave other decisions"
    assert state(one) != state(other), "another seed gave the same state"
    assert "SIMULATED" in str(one.guarantee), "a seeded run does not say so"
    assert not case.make().guarantee.simulated, "a run without a seed says that it is simulated"


def settings_survive_toml_and_print_options(case: Case) -> None:
    learner = case.make(seed=3)
    kind = type(learner.settings)
    text = learner.settings.to_toml()
    settings = kind.from_toml(text)
    assert settings == learner.settings, "the settings changed on the way"
    assert type(learner).from_settings(settings).settings == settings, (
        "the learner has other settings"
    )
    assert case.make(seed=4).settings.hash != settings.hash, "another seed has the same hash"
    plan = type(learner).problem_for(settings).plan
    with np.printoptions(precision=1, threshold=2):
        assert kind.from_toml(text).hash == settings.hash, "the hash depends on print options"
        again = type(learner).problem_for(settings).plan
        assert again.calibration == plan.calibration, "calibration depends on print options"
    raises(ConfigError, lambda: kind.from_toml('colour = "red"\n' + text), "unknown key 'colour'")


def wrong_types_are_refused(case: Case) -> None:
    settings = case.make().settings
    plain = settings.as_plain()
    for name in plain:
        for wrong in ("x", [], {}, object(), b"", float("nan"), -1):
            try:
                type(settings).from_plain(plain | {name: wrong})
            except ConfigError as error:
                assert "\n" not in str(error), f"{name}: the error has several lines"
            except BaseException as error:
                raise AssertionError(
                    f"{name}={wrong!r} raised {type(error).__name__}: {error}"
                ) from error


def a_saved_run_goes_on_as_if_nothing_had_happened(case: Case) -> None:
    people = case.people(case.horizon)
    straight, decisions = lived(case, people, seed=6)
    learner = case.make(seed=6)
    resumed: list[object] = []
    contexts = case.contexts(case.horizon)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "state"
        for round, person in enumerate(people):
            decision = learner.act(row_of(contexts, round), **case.whose(round))
            learner.observe(case.answered(person, decision))
            resumed.append(decision)
            if round in (3, 7):
                learner.save(path)
                learner.detach()
                learner = load(path)
        learner.release_if_due()
        straight.release_if_due()
        assert all(map(same, resumed, decisions)), "decisions differ"
        assert learner.guarantee == straight.guarantee, "the guarantee differs"
        assert learner.decision == straight.decision, "the last decision differs"
        learner.detach()


def a_second_load_is_refused_and_the_saver_is_fenced_off(case: Case) -> None:
    with tempfile.TemporaryDirectory() as folder:
        learner = case.make()
        path = Path(folder) / "state"
        learner.save(path)
        loaded = load(path)
        raises(StateError, lambda: load(path), "in use")
        opened(case, learner, learner.rounds_until_release)
        raises(StateError, learner.release_if_due, "in use")
        assert loaded.guarantee.releases == 0, "something was released"
        loaded.detach()


def killed_anywhere_in_a_release_it_shows_one_decision_only(case: Case) -> None:
    """The process is killed every `EVERY` statements.

    The first kill differs between learners, so that code they share is hit at every statement.
    """
    if not hasattr(os, "fork"):
        return
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # forking a process that has threads
        original = Path(folder) / "original"
        path = Path(folder) / "state"
        learner = case.make(journal=original)
        people = case.people(learner.rounds_until_release)
        learner.detach()
        last = len(case.name) % EVERY
        finished = False
        while not finished:
            shutil.copy(original, path)
            finished, shown = run_and_die(
                path, lambda child: fed(case, child, people), _show_next, last
            )
            _check_after_death(path, shown)
            last += EVERY


def _check_after_death(path: Path, shown: list[str]) -> None:
    """Check that the state has the release that was shown, and no other."""
    learner = load(path)
    given = learner.guarantee
    assert learner.releases in (0, 1), "there are more releases than blocks"
    if shown:
        assert learner.releases == 1, "a decision was shown that is not committed"
        assert learner.decision == literal_eval(shown[0]), "the committed decision is another one"
    assert given.epsilon_spent <= given.epsilon * (1 + 1e-9), "too much was spent"
    learner.detach()


def _show_next(learner: Learner, show: Callable[[object], None]) -> None:
    learner.release_if_due()
    show(learner.decision)


def learners_cannot_be_copied(case: Case) -> None:
    raises(StateError, lambda: copy.deepcopy(case.make()), "two copies")


def every_error_is_one_of_ours(case: Case) -> None:
    raises(DiscreetError, lambda: case.make().observe(None))
