"""If these fail, the clinic of the demo shows something else than was computed."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from discreet import Privacy
from discreet.cli import app
from discreet.lab.progress import Report
from discreet.lab.stories.dosing.results import DISCREET, Clinic, compute_dosing

USUAL = Privacy(1.0, 1e-6)


def test_patients_are_within_their_bounds_and_each_dose_is_best_for_many() -> None:
    contexts, means = Clinic.made().sample(20_000, np.random.default_rng(0))
    assert np.abs(contexts).max() <= 1
    assert set(np.unique(contexts[:, -2:])) == {-1.0, 1.0}
    assert 0 < means.min() < means.max() < 1  # chances are linear: none is cut off
    assert np.bincount(means.argmax(axis=1)).min() > 0.2 * 20_000


def test_the_dosing_story_computes_what_everybody_lost_with_the_same_patients() -> None:
    passed: dict[str, int] = {}

    @contextmanager
    def watching(label: str, total: int) -> Iterator[Report]:
        passed[label] = total

        def report(count: int) -> None:
            passed[label] -= count

        yield report

    result = compute_dosing(40_000, USUAL, seed=1, bar=watching)
    assert passed == {"patients": 0}
    regret = {name: run.regret for name, run in result.runs.items()}
    assert regret["LinUCB"] < regret[DISCREET] < 0.5 < regret["private LinUCB, as published"]
    assert regret["by lot"] == pytest.approx(1, abs=0.1)
    helped = result.helped
    assert helped["LinUCB"] > helped[DISCREET] > helped["by lot"]
    assert result.best > helped["LinUCB"]
    assert helped["by lot"] == pytest.approx(result.by_lot, rel=0.02)
    assert result.map.shape == result.best_map.shape
    assert result.agreement > 0.7
    assert result.guarantee.epsilon_spent <= 1
    assert [result.protection(name) for name in ("LinUCB", DISCREET)] == ["none", "epsilon = 1"]
    report = json.loads(json.dumps(result.report()))
    assert report["regret"] == regret
    assert set(report["weights"]) == {"low", "medium", "high"}


def test_the_dosing_story_prints_tables_and_a_guarantee_and_writes_a_picture(tmp_path: Path) -> None:
    arguments = ["demo", "--story", "dosing", "--people", "2000", "--out", str(tmp_path), "--seed", "1"]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    assert "private LinUCB, as published" in result.output
    assert "gene variant" in result.output
    assert "Joint differential privacy" in result.output
    assert json.loads((tmp_path / "demo.json").read_text())["patients"] == 2000
    assert (tmp_path / "demo.png").read_bytes().startswith(b"\x89PNG")


def test_a_clinic_without_a_delta_is_refused_in_one_line(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["demo", "--story", "dosing", "--delta", "0", "--out", str(tmp_path)])
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
    assert "needs delta > 0" in result.stderr
