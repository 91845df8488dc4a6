"""If these fail, a run cannot follow its catalogue, or a change is lost, repeated or partial."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars
import pytest
from rich.console import Console
from typer.testing import CliRunner

from discreet import ConfigError, Privacy, SetMaximizer
from discreet.cli import app
from discreet.runs.change import change_run
from discreet.runs.evaluate import policy_from
from discreet.runs.run import run_log
from discreet.runs.status import status_of

SETTINGS = """epsilon = 1.0
delta = 1e-6
horizon = 400
items = ["tea", "milk", "soap"]
slots = 2
feedback = "clicks"
max_items = 5
explore = 0.2
block = 100
slates = "decided"
"""


def run(folder: Path, visitors: int, slate: str = "tea milk") -> dict[str, Any]:
    folder.mkdir(exist_ok=True)
    clicks = np.random.default_rng(0).random(visitors) < 0.3
    table = {"slate": [slate] * visitors, "click": ["tea" if click else None for click in clicks]}
    polars.DataFrame(table).write_csv(folder / "log.csv")
    (folder / "run.toml").write_text(SETTINGS)
    return run_log(folder / "run.toml", folder / "log.csv", folder / "out", Console(quiet=True))


def test_a_run_goes_on_with_its_new_catalogue(tmp_path: Path) -> None:
    run(tmp_path, 100)
    changes = ["--add", "rope", "--retire", "milk", "--extend", "200"]
    result = CliRunner().invoke(app, ["change", str(tmp_path / "out"), *changes, "--json"])
    assert result.exit_code == 0, result.output
    assert json.loads(result.output) == {
        "active": ["tea", "soap"],
        "pending": ["rope"],
        "horizon": 600,
    }
    report = run(tmp_path, 600, slate="tea rope")
    assert report["visitors"] == 600
    assert "milk" not in report["slate"]
    assert status_of(tmp_path / "out")["horizon"] == 600
    assert policy_from(tmp_path / "out").items == 3


def test_changes_that_cannot_be_made_are_refused_in_one_line(tmp_path: Path) -> None:
    run(tmp_path, 100)
    refused: tuple[tuple[dict[str, Any], str], ...] = (
        ({}, "nothing is to be changed"),
        ({"retire": ["rope"]}, "no item 'rope'"),
        ({"add": ["tea"]}, "'tea' already"),
        ({"extend": 0}, "rounds must be"),
        ({"extend": 200, "add": ["rope"], "retire": ["typo"]}, "no item 'typo'"),
    )
    for change, message in refused:
        with pytest.raises(ConfigError, match=message):
            change_run(tmp_path / "out", **change)
    with pytest.raises(ConfigError, match="not the folder of a run"):
        change_run(tmp_path, add=["rope"])
    result = CliRunner().invoke(app, ["change", str(tmp_path / "out"), "--retire", "rope"])
    assert result.exit_code == 2
    unchanged = {"active": ["tea", "milk", "soap"], "pending": [], "horizon": 401}
    assert change_run(tmp_path / "out", extend=1) == unchanged


@pytest.mark.parametrize(("text", "label"), [("7", 7), ("²", "²"), ("9" * 5000, "9" * 5000)])
def test_a_name_that_only_looks_like_a_number_is_a_name(
    tmp_path: Path, text: str, label: str | int
) -> None:
    shop = SetMaximizer(
        [1, 2, 3], 2, 400, Privacy(1.0), feedback="clicks", max_items=4, journal=tmp_path / "state"
    )
    shop.detach()
    assert change_run(tmp_path, add=[text])["pending"] == [label]
