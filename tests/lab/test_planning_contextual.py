"""If these fail, people plan a contextual bandit with numbers that do not hold."""

import json
from typing import Any

import pytest
from typer.testing import CliRunner

from discreet import ConfigError, Privacy
from discreet.cli import app
from discreet.lab import planning
from discreet.lab.contextual import DenseWorld, SparseWorld
from discreet.lab.planning import Effort
from discreet.lab.planning_contextual import ContextualCase

USUAL = Privacy(1.0, 1e-6)
CLINIC = ContextualCase(3, 4, 20_000, USUAL)


@pytest.mark.parametrize(
    ("features", "relevant", "kind"),
    [(20, None, DenseWorld), (200, None, SparseWorld), (200, "all", DenseWorld), (20, 3, SparseWorld)],
)
def test_worlds_are_as_the_learner_expects_them(features: int, relevant: Any, kind: type) -> None:
    case = ContextualCase(3, features, 1000, USUAL, relevant)
    world = case.people(0)
    assert isinstance(world, kind)
    assert ("few features matter" in case.world) == (kind is SparseWorld)
    if isinstance(world, SparseWorld):
        assert (world.coefficients != 0).sum(axis=1).tolist() == [relevant or 5] * 3


def test_more_privacy_keeps_less_and_the_same_question_has_the_same_answer() -> None:
    shares = [CLINIC.with_epsilon(epsilon).share(7) for epsilon in (0.1, 1.0, 1.0)]
    assert shares[0] + 0.1 < shares[1] == shares[2] < 1


def test_the_command_plans_contexts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planning, "EFFORTS", (Effort(2, 1, 3),))
    arguments = ["plan", "--problem", "contextual", "--arms", "3", "--features", "4", "--rounds", "1000"]
    plan = json.loads(CliRunner().invoke(app, [*arguments, "--relevant", "2", "--json"]).output)
    assert "few features matter" in plan["world"]
    assert plan["facts"]["estimator"] == "screen"
    assert plan["facts"]["releases"] > 5
    assert plan["expected_share"] < plan["share_by_epsilon"][-1]["share"] < 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("", "a plan for contextual needs --arms and --features"),
        ("--arms 3 --features 4 --stream iid", "no use for --stream: leave it out"),
        ("--arms 3 --features 4 --relevant few", "whole number or all, got 'few'"),
        ("--arms 3 --features 4 --relevant 5", "between 1 and 4, got 5"),
        ("--arms 3 --features 4 --delta 0", "needs delta > 0"),
    ],
)
def test_what_contexts_do_not_take_is_refused_in_one_line(options: str, message: str) -> None:
    result = CliRunner().invoke(app, ["plan", "--problem", "contextual", "--rounds", "100", *options.split()])
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
    assert message in result.stderr


def test_relevant_is_a_number_or_all() -> None:
    terms: dict[str, Any] = {"arms": 3, "features": 4, "rounds": 100, "privacy": USUAL}
    found = [ContextualCase.asked(text, **terms).relevant for text in (None, "all", "3")]
    assert found == [None, "all", 3]
    with pytest.raises(ConfigError, match="whole number or all"):
        ContextualCase.asked("-3", **terms)
