"""If these fail, plans are made with a learner or a world that the problem does not have."""

import json
from dataclasses import replace
from typing import Any

import pytest
from typer.testing import CliRunner

from discreet import Privacy
from discreet.cli import app
from discreet.simulate.planning import search
from discreet.simulate.planning.cases import (
    ContextualCase,
    ContinuousCase,
    CostsCase,
    DisplayCase,
    RegressionCase,
    SelectionCase,
)
from discreet.simulate.planning.search import Case, Effort
from discreet.simulate.problems.contexts import DenseWorld, SparseWorld

USUAL = Privacy(1.0, 1e-6)


@pytest.mark.parametrize(
    "case",
    [
        DisplayCase(3000, USUAL, items=12, slots=3, stream="iid"),
        CostsCase(3000, USUAL, items=6),
        RegressionCase(12_000, USUAL, features=8),
        ContextualCase(20_000, USUAL, arms=3, features=4),
        ContinuousCase(3000, USUAL, items=12, slots=3, stream="iid"),
        SelectionCase(1500, USUAL, items=30, slots=4),
    ],
    ids=lambda case: type(case).__name__,
)
def test_more_privacy_has_a_smaller_share_and_equal_questions_equal_answers(case: Case) -> None:
    strict = replace(case, privacy=Privacy(0.02, 1e-6))
    shares = [each.share(1000) for each in (strict, case, case)]
    assert shares[0] + 0.05 < shares[1] == shares[2] <= 1.01
    facts: Any = case.facts()
    assert 0.9 < facts["epsilon"] <= 1.0 + 1e-9
    thrice = replace(case, privacy=Privacy(1.0, 1e-6, contributions=3))
    assert thrice.facts()["epsilon"] == pytest.approx(1.0, rel=0.05)
    assert thrice.share(1000) < shares[1] + 0.02


@pytest.mark.parametrize("rate", [0.004, 0.05, 0.4])
def test_a_world_has_the_requested_click_rate(rate: float) -> None:
    case = DisplayCase(
        100, USUAL, items=20, slots=3, feedback="clicks", stream="iid", click_rate=rate
    )
    world = case.people(1)
    assert float((world.weights @ world.chances).mean()) == pytest.approx(rate, rel=0.01)
    assert world.chances.max() <= 1


def test_a_regression_that_is_published_once_has_one_release() -> None:
    often: Any = RegressionCase(20_000, USUAL, features=10).facts()
    once: Any = RegressionCase(20_000, USUAL, features=10, once=True).facts()
    assert once["releases"] == 1
    assert often["releases"] > 10


@pytest.mark.parametrize(
    ("features", "relevant", "kind"),
    [
        (20, None, DenseWorld),
        (200, None, SparseWorld),
        (200, "all", DenseWorld),
        (20, 3, SparseWorld),
    ],
)
def test_contexts_are_as_the_learner_expects_them(features: int, relevant: Any, kind: type) -> None:
    case = ContextualCase(1000, USUAL, arms=3, features=features, relevant=relevant)
    world = case.people(0)
    assert isinstance(world, kind)
    assert ("few features matter" in case.world) == (kind is SparseWorld)
    if isinstance(world, SparseWorld):
        assert (world.coefficients != 0).sum(axis=1).tolist() == [relevant or 5] * 3


@pytest.mark.parametrize(
    "case",
    [
        DisplayCase(200_000, USUAL, 1682, 10),
        DisplayCase(200_000, USUAL, 1682, 10, "clicks"),
        DisplayCase(200_000, USUAL, 1682, 10, "bandit"),
        DisplayCase(10**6, USUAL, 100, 5, "clicks"),
        CostsCase(200_000, USUAL, 100),
        CostsCase(200_000, USUAL, 100, "bandit"),
        RegressionCase(10**6, USUAL, 50),
        ContextualCase(10**6, USUAL, 10, 50),
        SelectionCase(100_000, USUAL, 500, 10),
        ContinuousCase(200_000, USUAL, 1682, 10),
    ],
    ids=str,
)
def test_all_people_of_a_large_problem_are_simulated_within_a_minute(case: Case) -> None:
    afforded = search.affordable(case, 1.0)
    assert afforded.people == case.rounds
    assert afforded.effort.worlds >= 2
    assert afforded.seconds <= 60 * search.CORES


# --- the commands


@pytest.mark.parametrize(
    ("options", "world"),
    [
        ("display --items 6 --slots 2 --click-rate 0.1 --feedback clicks", "favourite items"),
        ("costs --items 4 --feedback bandit --stream iid --minutes 2", "want separated"),
        ("regression --features 3 --once", "features that go together"),
        ("contextual --arms 3 --features 4 --relevant 2", "few features matter"),
        ("contextual --arms 3 --features 4 --relevant all", "matter as a whole"),
        ("selection --items 9 --slots 2", "liked a few items"),
        ("continuous --items 6 --slots 2 --stream iid", "favourite items"),
    ],
)
def test_every_problem_has_a_command_with_reproducible_output(
    options: str, world: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "EFFORTS", (Effort(2, 1),))
    monkeypatch.setattr(search, "STEPS", 1)
    arguments = ["plan", *options.split(), "--rounds", "500", "--json"]
    first, second = (json.loads(CliRunner().invoke(app, arguments).output) for _ in range(2))
    assert first == second
    assert world in first["world"]
    assert first["people"] == 500
    assert first["facts"]["epsilon"] <= 1 + 1e-9


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("display --items 5 --slots 9", "slots (9) must not exceed items (5)"),
        ("display --items 5 --slots 2 --click-rate 0.9", "click-rate must be a number between"),
        ("display --items 5 --slots 2 --contributions 0", "contributions must be"),
        (
            "contextual --arms 3 --features 4 --relevant few",
            "whole number or all or left out, got 'few'",
        ),
        ("contextual --arms 3 --features 4 --relevant 5", "between 1 and 4, got 5"),
        ("contextual --arms 3 --features 4 --delta 0", "needs delta > 0"),
        ("costs --items 4 --stream iid", "for bandit feedback"),
        ("costs --items 4 --minutes 0", "minutes must be"),
    ],
)
def test_impossible_plans_are_refused_in_one_line(options: str, message: str) -> None:
    result = CliRunner().invoke(app, ["plan", *options.split(), "--rounds", "100"])
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1), result.output
    assert message in result.stderr


@pytest.mark.parametrize(
    ("options", "option"),
    [("display --items 5", "--slots"), ("costs --items 5 --slots 2", "--slots")],
)
def test_a_problem_takes_its_own_options_and_no_others(options: str, option: str) -> None:
    result = CliRunner().invoke(app, ["plan", *options.split(), "--rounds", "100"])
    assert result.exit_code == 2
    assert option in result.stderr


@pytest.mark.parametrize(
    ("options", "instead"),
    [
        ("--items 5 costs --rounds 9", "discreet plan costs --items 5 --rounds 9"),
        (
            "--items 5 --slots 2",
            "discreet plan display|costs|regression|contextual|selection|continuous --items 5 "
            "--slots 2",
        ),
    ],
)
def test_options_before_the_problem_are_refused_with_the_right_order(
    options: str, instead: str
) -> None:
    result = CliRunner().invoke(app, ["plan", *options.split()])
    assert (result.exit_code, result.stderr) == (
        2,
        f"discreet: the problem comes first: {instead}\n",
    )
