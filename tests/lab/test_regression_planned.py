"""If these fail, people plan regressions with numbers that do not hold, or the story shows something else."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from discreet import Privacy
from discreet.cli import app
from discreet.lab.planning_regression import RegressionCase
from discreet.lab.stories.regression.results import (
    DISCREET,
    EFFECTS,
    FEATURES,
    LEAST_SQUARES,
    PLAIN,
    compute_regression,
    flats,
)

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


def test_flats_are_within_their_bounds_and_large_ones_have_more_rooms() -> None:
    rows, prices = flats(5000, np.random.default_rng(0))
    assert np.linalg.norm(rows, axis=1).max() <= 1 + 1e-12
    assert np.abs(prices).max() <= 1
    assert np.corrcoef(rows[:, 0], rows[:, 1])[0, 1] > 0.85


def test_the_regression_story_publishes_what_least_squares_would() -> None:
    result = compute_regression(60_000, USUAL, seed=1)
    explained = result.explained
    assert explained[LEAST_SQUARES] >= explained[DISCREET] > explained[LEAST_SQUARES] - 0.02
    ours = result.paths[DISCREET]
    assert ours.sellers[-1] == 60_000
    assert (np.diff(ours.sellers) > 0).all()
    assert np.isinf(ours.errors[0]).all()
    assert np.isfinite(ours.errors[-1]).all()
    truth = np.array(EFFECTS) * 500
    assert np.abs(result.paths[LEAST_SQUARES].coefficients[-1] - truth).max() < 6
    assert np.abs(ours.coefficients[-1] - truth).max() < 40
    assert set(result.report()["coefficients"]) == {DISCREET, PLAIN, LEAST_SQUARES}
    assert result.facts["method"] == "whitened"


def test_the_demo_writes_a_picture_and_numbers(tmp_path: Path) -> None:
    command = ["demo", "--story", "regression", "--people", "6000", "--seed", "1", "--out", str(tmp_path)]
    shown = CliRunner().invoke(app, command)
    assert shown.exit_code == 0, shown.output
    assert all(name in shown.output for name in FEATURES)
    assert "SIMULATED" in shown.output
    numbers = json.loads((tmp_path / "demo.json").read_text())
    assert numbers["sellers"] == 6000
    assert (tmp_path / "demo.png").stat().st_size > 10_000
