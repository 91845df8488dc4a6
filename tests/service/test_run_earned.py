"""If these fail, a run's curve of what it earned is missing or wrong, or comes too late to be paid for."""

import json
import sys
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars
import pytest
from rich.console import Console
from typer.testing import CliRunner

from discreet import ConfigError, Privacy, SetMaximizer
from discreet.cli import app
from discreet.service import run as service
from discreet.service.earned import draw_earned
from discreet.service.run import run_log
from discreet.service.status import status_of
from discreet.turn.problem import Report

VISITORS = 2000
BASE = f"epsilon = 1.0\ndelta = 1e-6\nseed = 1\nhorizon = {VISITORS}\nreport = 0.3\n"
SHOP = BASE + 'items = ["tea", "milk", "soap", "rope"]\nslots = 2\nfeedback = "clicks"\nstream = "iid"\n'
SHOP += 'slates = "decided"\n'
COSTS = BASE + 'learner = "SetMinimizer"\nitems = 3\nfeedback = "bandit"\nslates = "decided"\n'
CLINIC = (
    BASE
    + 'learner = "ContextualBandit"\narms = ["low", "high"]\nfeatures = ["age"]\npropensity = "uniform"\n'
)
PNG = b"\x89PNG\r\n\x1a\n"


@cache
def shop_and_log() -> tuple[SetMaximizer, polars.DataFrame]:
    """A shop that learned from clicks, and the log of what it showed."""
    items = ["tea", "milk", "soap", "rope"]
    both = Privacy(1.0, 1e-6)
    shop = SetMaximizer(items, 2, VISITORS, both, feedback="clicks", stream="iid", report=0.3, seed=1)
    crowd = np.random.default_rng(0)
    shown: list[str] = []
    clicked: list[str | None] = []
    while shop.clock < VISITORS:
        shop.turn()
        tickets = shop.open_many(shop.rounds_until_release)
        names = tickets.decisions.tolist()
        clicks = [slate[0] if crowd.random() < 0.4 else None for slate in names]
        shop.close_many(tickets, clicks)
        shown += [" ".join(slate) for slate in names]
        clicked += clicks
    shop.turn()
    return shop, polars.DataFrame({"slate": shown, "click": clicked})


def run(folder: Path, settings: str, log: polars.DataFrame) -> dict[str, Any]:
    folder.mkdir(exist_ok=True)
    log.write_csv(folder / "log.csv")
    (folder / "run.toml").write_text(settings)
    return run_log(folder / "run.toml", folder / "log.csv", folder / "out", Console(quiet=True))


def test_a_run_writes_what_it_earned_and_draws_it(tmp_path: Path) -> None:
    shop, log = shop_and_log()
    run(tmp_path, SHOP, log)
    kept = json.loads((tmp_path / "out" / "report.json").read_text())["earned"]
    found = shop.report()
    assert kept["visitors"] == found.rounds.tolist()
    assert kept["visitors"][-1] == VISITORS
    assert kept["value"] == found.value.tolist()
    assert kept["standard_deviation"] == found.standard_deviation.tolist()
    assert (tmp_path / "out" / "earned.png").read_bytes().startswith(PNG)


def test_a_run_that_is_stopped_and_gone_on_with_draws_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, log = shop_and_log()
    whole = run(tmp_path / "whole", SHOP, log)

    def killed(*_: Any) -> None:
        raise KeyboardInterrupt

    parts = tmp_path / "parts"
    first = run(parts, SHOP, log.head(700))["earned"]
    with monkeypatch.context() as patch:
        patch.setattr(service, "write_picture", killed)
        with pytest.raises(KeyboardInterrupt):
            run(parts, SHOP, log)
    assert run(parts, SHOP, log) == whole
    for name, entries in first.items():
        assert whole["earned"][name][: len(entries)] == entries
    pictures = [(folder / "out" / "earned.png").read_bytes() for folder in (parts, tmp_path / "whole")]
    assert pictures[0] == pictures[1]
    assert not list((parts / "out").glob(".draft*"))


def test_before_the_first_release_there_is_no_curve(tmp_path: Path) -> None:
    report = run(tmp_path, SHOP, shop_and_log()[1].head(3))
    assert report["earned"] == {"visitors": [], "value": [], "standard_deviation": []}
    assert not (tmp_path / "out" / "earned.png").exists()
    assert "earned" not in status_of(tmp_path / "out")


def test_without_matplotlib_a_run_with_a_report_is_refused_before_anything_is_spent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ConfigError, match="pictures need matplotlib"):
        run(tmp_path, SHOP, shop_and_log()[1])
    assert not (tmp_path / "out").exists()
    without = run(tmp_path, SHOP.replace("report = 0.3\n", ""), shop_and_log()[1])
    assert "earned" not in without


def test_costs_and_arms_are_drawn_too(tmp_path: Path) -> None:
    crowd = np.random.default_rng(3)
    sets = polars.DataFrame({"slate": ["0 1"] * VISITORS, "cost": crowd.uniform(-1, 1, VISITORS)})
    patients = polars.DataFrame(
        {
            "age": crowd.uniform(-1, 1, VISITORS),
            "arm": np.where(crowd.random(VISITORS) < 0.5, "low", "high"),
            "reward": np.ones(VISITORS),
        }
    )
    for name, settings, log in (("costs", COSTS, sets), ("clinic", CLINIC, patients)):
        found = run(tmp_path / name, settings, log)["earned"]
        assert len(found["value"]) > 3
        assert (tmp_path / name / "out" / "earned.png").read_bytes().startswith(PNG)


def test_status_says_what_was_earned_lately(tmp_path: Path) -> None:
    earned = run(tmp_path, SHOP, shop_and_log()[1])["earned"]
    found = status_of(tmp_path / "out")["earned"]
    assert found == {"what": "share who clicked"} | {name: entries[-1] for name, entries in earned.items()}
    shown = CliRunner().invoke(app, ["status", str(tmp_path / "out")]).output
    assert f"{earned['value'][-1]:.4g} ±" in shown


def test_a_block_with_much_noise_does_not_hide_the_others() -> None:
    report = Report(
        np.array([10, 1000, 2000, 3000]), np.array([40.0, 0.4, 0.5, 0.5]), np.array([20, 0.1, 0.1, 0.1])
    )
    low, high = draw_earned(report, "mean reward", 0.0).axes[0].get_ylim()
    assert -0.2 < low < 0.2
    assert 0.7 < high < 1.0
