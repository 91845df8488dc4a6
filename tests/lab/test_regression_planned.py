"""If these fail, people plan regressions with numbers that do not hold, or the story shows something else."""

from dataclasses import replace

import pytest
from typer.testing import CliRunner

from discreet import Privacy
from discreet.cli import app
from discreet.lab.planning_regression import RegressionCase

USUAL = Privacy(1.0, 1e-6)


@pytest.mark.parametrize(("method", "learns"), [("stream", "whitened"), ("batch", "passes")])
def test_a_plan_says_what_will_be_done(method: str, learns: str) -> None:
    facts = RegressionCase(10, 20_000, USUAL, method).facts()
    assert facts["method"] == learns
    assert facts["epsilon"] == pytest.approx(1.0, abs=1e-3)


def test_more_budget_keeps_more_of_a_regression_whose_features_go_together() -> None:
    case = RegressionCase(8, 12_000, USUAL)
    kept = [replace(case, privacy=Privacy(epsilon, 1e-6)).share(600) for epsilon in (0.05, 3.0)]
    assert kept[0] < kept[1]
    assert kept[1] > 0.9


def test_the_command_line_plans_regressions_and_refuses_what_they_do_not_use() -> None:
    without = CliRunner().invoke(app, ["plan", "--problem", "regression", "--rounds", "1000"])
    assert without.exit_code == 2
    assert "--features" in without.output
    vain = ["plan", "--problem", "regression", "--rounds", "1000", "--features", "3", "--arms", "2"]
    assert "no use for --arms" in CliRunner().invoke(app, vain).output
