"""If these fail, plans, the papers' runs and benchmarks report shares of another value."""

from typing import Any

import numpy as np
import pytest

from discreet import ConfigError, Privacy
from discreet.simulate.problems import (
    Coefficients,
    Contextual,
    Continuous,
    Costs,
    Display,
    Problem,
    Selection,
)
from discreet.simulate.problems.continuous import Moving, meta_frank_wolfe
from discreet.simulate.problems.selection import FilmLog, greedy_without_noise, value_to

USUAL = Privacy(1.0, 1e-6)
DISPLAY = Display(500, USUAL, 12, 3)
COSTS = Costs(500, USUAL, 6)
COEFFICIENTS = Coefficients(500, USUAL, 4)
CONTEXTUAL = Contextual(500, USUAL, 3, 4)
SELECTION = Selection(200, USUAL, 30, 4)
CONTINUOUS = Continuous(500, USUAL, 12, 3)
MOVING = Moving(200, USUAL, 12, 3)
ALL = (DISPLAY, COSTS, COEFFICIENTS, CONTEXTUAL, SELECTION, CONTINUOUS, MOVING)


def ends(problem: Problem[Any, Any], people: Any) -> tuple[float, float]:
    """Outcomes of the baseline and of the best fixed decision."""
    if isinstance(problem, Costs):
        return people.naive, people.cost_of(people.best)
    if isinstance(problem, Coefficients):
        return people.suboptimality(np.zeros(4)), people.suboptimality(people.truth)
    if isinstance(problem, Contextual):
        return 1.0, 0.0
    if isinstance(problem, Selection):
        return 0.0, value_to(people.worths, greedy_without_noise(people.worths, problem.domain))
    if isinstance(problem, Moving):
        return 0.0, meta_frank_wolfe(people.chances, problem.slots)
    return people.random_worth(3), people.worth(people.best_slate(3))


@pytest.mark.parametrize("problem", ALL, ids=lambda problem: type(problem).__name__)
def test_the_baseline_has_a_share_of_zero_and_the_best_decision_one(
    problem: Problem[Any, Any],
) -> None:
    people = problem.people(3)
    baseline, best = ends(problem, people)
    assert problem.share_of(baseline, people) == pytest.approx(0.0)
    assert problem.share_of(best, people) == pytest.approx(1.0)


@pytest.mark.parametrize("problem", ALL, ids=lambda problem: type(problem).__name__)
def test_a_share_is_that_of_the_learners_outcome_with_these_people(
    problem: Problem[Any, Any],
) -> None:
    people = problem.people(4)
    outcome = problem.outcome(problem.learner(people, 4), people, 4)
    assert problem.share(4) == problem.share_of(outcome, people)


@pytest.mark.parametrize(
    ("problem", "mode"),
    [
        (Display(500, USUAL, 12, 3, stream="iid"), "gain-sum"),
        (COSTS, "bound"),
        (COEFFICIENTS, "frank-wolfe"),
        (CONTEXTUAL, "screen"),
        (SELECTION, "sampled"),
        (CONTINUOUS, "vertex"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_a_learner_runs_in_the_named_mode(problem: Problem[Any, Any], mode: str) -> None:
    people = problem.people(1)
    assert problem.learner(people, 1).settings.mode == "auto"
    assert problem.learner(people, 1, mode=mode).settings.mode == mode
    with pytest.raises(ConfigError, match="mode must be one of"):
        problem.learner(people, 1, mode="odd")


def test_the_share_is_zero_if_all_values_are_zero() -> None:
    people = SELECTION.people(1)
    assert isinstance(people, FilmLog)
    people.liked[:] = 0
    assert SELECTION.share_of(0.0, people) == 0.0
