"""If these fail, people plan a contextual bandit with numbers that do not hold."""

import json
from io import StringIO
from typing import Any

import pytest
from rich.console import Console
from typer.testing import CliRunner

from discreet import ConfigError, Privacy
from discreet.cli import app
from discreet.lab import planning_contextual
from discreet.lab.contextual import DenseWorld, SparseWorld
from discreet.lab.planning_contextual import (
    ContextualCase,
    make_contextual_plan,
    print_contextual_plan,
    share_in_world,
)

USUAL = Privacy(1.0, 1e-6)
QUIET = Console(quiet=True)
CLINIC = ContextualCase(3, 4, 20_000, USUAL)


def printed(plan: dict[str, Any]) -> str:
    paper = StringIO()
    print_contextual_plan(plan, Console(file=paper, width=120))
    return paper.getvalue()


@pytest.fixture
def simulated(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Shares that grow with epsilon, ± 0.1 in every other world, without simulation; and what was asked."""
    asked: list[Any] = []

    def instead(experiment: Any, tasks: Any, **options: Any) -> list[float]:
        asked.extend(tasks)
        return [min(0.9, 0.45 * case.privacy.epsilon) + 0.1 * (seed % 2) for case, seed in tasks]

    monkeypatch.setattr(planning_contextual, "repeat", instead)
    return asked


def test_a_plan_says_what_epsilons_buy_on_average_over_worlds(simulated: list[Any]) -> None:
    plan = make_contextual_plan(CLINIC, QUIET)
    assert plan["expected_share"] == pytest.approx(0.5)
    assert plan["standard_error"] == pytest.approx(0.1 / 12**0.5)
    epsilons = [row["epsilon"] for row in plan["share_by_epsilon"]]
    assert epsilons == [0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0]
    assert plan["epsilon_for_90_percent"] == 2.0
    assert (plan["worlds"], plan["kind_of_world"]) == (4, "dense")
    assert len({seed for _, seed in simulated}) == 4
    text = printed(plan)
    assert "epsilon = 1 at delta = 1e-06" in text
    assert "simulated in 4 dense worlds" in text
    assert "50.0% ± 2.9%" in text
    assert "about 2" in text


def test_a_large_plan_is_simulated_less_and_says_so(simulated: list[Any]) -> None:
    plan = make_contextual_plan(ContextualCase(3, 1000, 10**6, USUAL), QUIET)
    assert len(simulated) == 1
    assert plan["standard_error"] is None
    assert "simulated in 1 sparse world " in printed(plan)
    assert "more than was tried" in printed(plan)


def test_what_the_smallest_epsilon_reaches_may_take_even_less(simulated: list[Any]) -> None:
    plan = make_contextual_plan(ContextualCase(3, 4, 20_000, Privacy(64.0, 1e-6)), QUIET)
    assert plan["epsilon_for_90_percent"] == 8.0
    assert "at most 8" in printed(plan)


def test_epsilons_that_no_guarantee_can_have_are_left_out(simulated: list[Any]) -> None:
    plan = make_contextual_plan(ContextualCase(3, 4, 20_000, Privacy(1e6, 1e-6)), QUIET)
    assert plan["share_by_epsilon"][-1]["epsilon"] == 1e6


@pytest.mark.parametrize(
    ("features", "relevant", "kind"),
    [(20, None, DenseWorld), (200, None, SparseWorld), (200, "all", DenseWorld), (20, 3, SparseWorld)],
)
def test_worlds_are_as_the_learner_expects_them(features: int, relevant: Any, kind: type) -> None:
    world = ContextualCase(3, features, 1000, USUAL, relevant).world(0)
    assert isinstance(world, kind)
    if isinstance(world, SparseWorld):
        assert (world.coefficients != 0).sum(axis=1).tolist() == [relevant or 5] * 3


def test_more_privacy_keeps_less_and_the_same_question_has_the_same_answer() -> None:
    shares = [share_in_world(CLINIC.with_epsilon(epsilon), 7) for epsilon in (0.1, 1.0, 1.0)]
    assert shares[0] + 0.1 < shares[1] == shares[2] < 1


def test_the_command_plans_contexts() -> None:
    arguments = ["plan", "--problem", "contextual", "--arms", "3", "--features", "4", "--rounds", "3000"]
    plan = json.loads(CliRunner().invoke(app, [*arguments, "--relevant", "2", "--json"]).output)
    assert plan["kind_of_world"] == "sparse"
    assert plan["facts"]["estimator"] == "screen"
    assert plan["facts"]["releases"] > 5
    assert plan["expected_share"] < plan["share_by_epsilon"][-1]["share"] < 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--problem contextual", "a plan for contextual needs --arms and --features"),
        ("--items 3 --arms 4", "a plan for sets has no use for --arms: leave it out"),
        ("--problem contextual --arms 3 --features 4 --stream iid", "no use for --stream: leave it out"),
        ("", "a plan for sets needs --items"),
        ("--problem contextual --arms 3 --features 4 --relevant few", "whole number or all, got 'few'"),
        ("--problem contextual --arms 3 --features 4 --relevant 5", "between 1 and 4, got 5"),
        ("--problem contextual --arms 3 --features 4 --delta 0", "needs delta > 0"),
    ],
)
def test_options_that_are_missing_or_would_do_nothing_are_refused_in_one_line(
    options: str, message: str
) -> None:
    result = CliRunner().invoke(app, ["plan", "--rounds", "100", *options.split()])
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
    assert message in result.stderr


def test_relevant_is_a_number_or_all() -> None:
    terms: dict[str, Any] = {"arms": 3, "features": 4, "rounds": 100, "privacy": USUAL}
    found = [ContextualCase.asked(text, **terms).relevant for text in (None, "all", "3")]
    assert found == [None, "all", 3]
    with pytest.raises(ConfigError, match="whole number or all"):
        ContextualCase.asked("-3", **terms)
