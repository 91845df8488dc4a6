"""If these fail, a run's curve of the earned value is missing or wrong, or refused too late."""

import itertools
import json
import sys
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars
import pytest
from rich.console import Console
from typer.testing import CliRunner

from discreet import ConfigError, ContextualBandit, Privacy, SetMaximizer
from discreet.cli import app
from discreet.engine.readings import Report
from discreet.learners.log_adapter import log_adapter_of
from discreet.records.table import LogTable
from discreet.runs import run as service
from discreet.runs.earned import draw_earned
from discreet.runs.run import run_log
from discreet.runs.status import status_of

VISITORS = 2000
BASE = f"epsilon = 1.0\ndelta = 1e-6\nseed = 1\nhorizon = {VISITORS}\nreport = 0.3\n"
SHOP = f"""
{BASE}
items = ["tea", "milk", "soap", "rope"]
slots = 2
feedback = "clicks"
stream = "iid"
slates = "decided"
"""
COSTS = BASE + 'learner = "SetMinimizer"\nitems = 3\nfeedback = "bandit"\nslates = "decided"\n'
CLINIC = f"""
{BASE}
learner = "ContextualBandit"
arms = ["low", "high"]
features = ["age"]
propensity = "uniform"
"""
PNG = b"\x89PNG\r\n\x1a\n"


@cache
def shop_and_log() -> tuple[SetMaximizer, polars.DataFrame]:
    """A shop that learned from clicks, and the log of its slates."""
    items = ["tea", "milk", "soap", "rope"]
    privacy = Privacy(1.0, 1e-6)
    shop = SetMaximizer(
        items, 2, VISITORS, privacy, feedback="clicks", stream="iid", report=0.3, seed=1
    )
    generator = np.random.default_rng(0)
    shown: list[str] = []
    clicked: list[str | None] = []
    while shop.clock < VISITORS:
        shop.release_if_due()
        tickets = shop.open_many(shop.rounds_until_release)
        names = tickets.decisions.tolist()
        clicks = [slate[0] if generator.random() < 0.4 else None for slate in names]
        shop.close_many(tickets, clicks)
        shown += [" ".join(slate) for slate in names]
        clicked += clicks
    shop.release_if_due()
    return shop, polars.DataFrame({"slate": shown, "click": clicked})


def run(folder: Path, settings: str, log: polars.DataFrame) -> dict[str, Any]:
    folder.mkdir(exist_ok=True)
    log.write_csv(folder / "log.csv")
    (folder / "run.toml").write_text(settings)
    return run_log(folder / "run.toml", folder / "log.csv", folder / "out", Console(quiet=True))


def test_a_run_writes_and_draws_the_earned_value(tmp_path: Path) -> None:
    shop, log = shop_and_log()
    run(tmp_path, SHOP, log)
    earned = json.loads((tmp_path / "out" / "report.json").read_text())["earned"]
    report = shop.report()
    assert earned["visitors"] == report.rounds.tolist()
    assert earned["visitors"][-1] == VISITORS
    assert earned["value"] == report.value.tolist()
    assert earned["standard_deviation"] == report.standard_deviation.tolist()
    assert (tmp_path / "out" / "earned.png").read_bytes().startswith(PNG)


@pytest.mark.parametrize("simulated", [False, True])
def test_the_picture_of_a_seeded_run_says_that_nothing_is_protected(simulated: bool) -> None:
    rounds = np.array([100, 200])
    report = Report(rounds, np.array([0.1, 0.2]), np.full(2, 0.01), simulated=simulated)
    (axes,) = draw_earned(report, "share who clicked").axes
    shown = " ".join(text.get_text() for text in axes.texts)
    assert ("nothing is protected" in shown.replace("\n", " ")) == simulated


def test_a_seeded_learner_marks_its_report_and_that_of_a_log_of_another_policy() -> None:
    shop, _ = shop_and_log()
    assert shop.report().simulated
    adapter = log_adapter_of("ContextualBandit").from_plain(
        {name: value for name, value in tomllib.loads(CLINIC).items() if name != "learner"}
    )
    estimated = adapter.estimated(shop.report())
    assert estimated is not None
    assert estimated.simulated


def test_a_run_that_was_stopped_draws_the_same_curve(
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
    for name in ("visitors", "value", "standard_deviation"):
        assert whole["earned"][name][: len(first[name])] == first[name]
    pictures = [
        (folder / "out" / "earned.png").read_bytes() for folder in (parts, tmp_path / "whole")
    ]
    assert pictures[0] == pictures[1]
    assert not list((parts / "out").glob(".draft*"))


def test_before_the_first_release_there_is_no_curve(tmp_path: Path) -> None:
    report = run(tmp_path, SHOP, shop_and_log()[1].head(3))
    assert {name: entries for name, entries in report["earned"].items() if name != "means"} == {
        "visitors": [],
        "value": [],
        "standard_deviation": [],
    }
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
    generator = np.random.default_rng(3)
    sets = polars.DataFrame(
        {"slate": ["0 1"] * VISITORS, "cost": generator.uniform(-1, 1, VISITORS)}
    )
    patients = polars.DataFrame(
        {
            "age": generator.uniform(-1, 1, VISITORS),
            "arm": np.where(generator.random(VISITORS) < 0.5, "low", "high"),
            "reward": np.ones(VISITORS),
        }
    )
    for name, settings, log in (("costs", COSTS, sets), ("clinic", CLINIC, patients)):
        found = run(tmp_path / name, settings, log)["earned"]
        assert len(found["value"]) > 3
        assert (tmp_path / name / "out" / "earned.png").read_bytes().startswith(PNG)


def test_status_has_the_newest_earned_value(tmp_path: Path) -> None:
    earned = run(tmp_path, SHOP, shop_and_log()[1])["earned"]
    found = status_of(tmp_path / "out")["earned"]
    means = earned.pop("means")
    assert found == {"what": "share who clicked", "means": means} | {
        name: entries[-1] for name, entries in earned.items()
    }
    shown = CliRunner().invoke(app, ["status", str(tmp_path / "out")]).output
    assert f"{earned['value'][-1]:.4g} ±" in shown


def test_a_block_with_much_noise_does_not_hide_the_others() -> None:
    report = Report(
        np.array([10, 1000, 2000, 3000]),
        np.array([40.0, 0.4, 0.5, 0.5]),
        np.array([20, 0.1, 0.1, 0.1]),
    )
    low, high = draw_earned(report, "of visitors").axes[0].get_ylim()
    assert -0.2 < low < 0.2
    assert 0.7 < high < 1.0


def test_the_title_states_what_is_earned_now_and_what_was_at_first() -> None:
    report = Report(
        np.array([100, 2000, 9000]), np.array([0.3, 0.5, 0.612]), np.array([0.05, 0.02, 0.004])
    )
    (axes,) = draw_earned(report, "of visitors").axes
    title = axes.get_title(loc="left")
    assert title == "The mean reward is 0.6120 ± 0.0080, and was 0.30 ± 0.10 at first"
    assert "logarithmic" in axes.get_xlabel()


# --- a log of another policy ----------------------------------------------------------------------

ARMS = 5
PEOPLE = 40_000
DOSES = (
    f"epsilon = 3.0\ndelta = 1e-6\nseed = 1\nhorizon = {PEOPLE}\nreport = 0.5\n"
    f'learner = "ContextualBandit"\narms = {ARMS}\nfeatures = ["age"]\n'
)


def doses(worth: Any, *, uniform: bool, seed: int) -> tuple[polars.DataFrame, np.ndarray]:
    """Return a log of random arms, and the value of each arm for each person."""
    generator = np.random.default_rng(seed)
    age = generator.uniform(-1, 1, PEOPLE)
    worths = np.stack([np.broadcast_to(worth(arm, age), PEOPLE) for arm in range(ARMS)], axis=1)
    chances = np.full((PEOPLE, ARMS), 1 / ARMS)
    if not uniform:  # older people were given the first arm more often
        chances[:, 0] = np.where(age > 0, 0.6, 0.2)
        chances[:, 1:] = (1 - chances[:, :1]) / (ARMS - 1)
    arms = (generator.random((PEOPLE, 1)) > chances.cumsum(axis=1)).sum(axis=1)
    rows = np.arange(PEOPLE)
    log = {
        "age": age,
        "arm": arms,
        "reward": (generator.random(PEOPLE) < worths[rows, arms]).astype(float),
        "propensity": chances[rows, arms],
    }
    return polars.DataFrame(log), worths


def decided(settings: str, log: polars.DataFrame) -> np.ndarray:
    """Return the arms that a run with these settings decides for the people of this log."""
    adapter = log_adapter_of("ContextualBandit").from_plain(
        {name: value for name, value in tomllib.loads(settings).items() if name != "learner"}
    )
    clinic: Any = ContextualBandit.from_settings(adapter.settings)
    table = LogTable(log)
    arms = []
    columns = adapter.columns(log.columns)
    while clinic.clock < PEOPLE:
        clinic.release_if_due()
        rows = table[clinic.clock : clinic.clock + clinic.rounds_until_release]
        tickets = clinic.open_many(adapter.contexts(rows, columns))
        clinic.close_many(tickets, adapter.feedback(rows, columns, tickets))
        arms.append(tickets.decisions)
    return np.concatenate(arms)


@pytest.mark.parametrize("uniform", [True, False])
@pytest.mark.parametrize("world", ["all alike, .55", "all alike, .1", "arms differ"])
def test_a_run_over_another_policys_log_estimates_what_its_decisions_would_have_earned(
    tmp_path: Path, uniform: bool, world: str
) -> None:
    """The error is below four standard deviations in every block, and below 0.05 over all."""
    worth = {
        "all alike, .55": lambda arm, age: 0.55,
        "all alike, .1": lambda arm, age: 0.1,
        "arms differ": lambda arm, age: 0.5 + (0.4 if arm == 2 else -0.4) * age,
    }[world]
    log, worths = doses(worth, uniform=uniform, seed=2)
    settings = DOSES + 'propensity = "propensity"\nleast_propensity = 0.1\n'
    if uniform:
        settings = DOSES + 'propensity = "uniform"\n'
    earned = run(tmp_path, settings, log)["earned"]
    arms = decided(settings, log)
    truth = worths[np.arange(PEOPLE), arms]
    edges = [0, *earned["visitors"]]
    assert edges[-1] > 0.95 * PEOPLE
    means = np.array([truth[a:b].mean() for a, b in itertools.pairwise(edges)])
    value = np.array(earned["value"])
    deviation = np.array(earned["standard_deviation"])
    assert (np.abs(value - means) < 4 * deviation).all()
    weights = 1 / deviation**2
    mean_error = float((weights * (value - means)).sum() / weights.sum())
    assert abs(mean_error) < 4 / np.sqrt(weights.sum()) < 0.05
    shown = status_of(tmp_path / "out")["earned"]
    assert (shown["value"], shown["means"]) == (earned["value"][-1], earned["means"])
    assert "by the declared propensities" in shown["means"]


def test_a_run_does_not_change_the_propensity_of_its_log(tmp_path: Path) -> None:
    log, _ = doses(lambda arm, age: 0.55, uniform=False, seed=2)
    settings = DOSES + 'propensity = "propensity"\nleast_propensity = 0.1\n'
    run(tmp_path, settings, log.head(2000))
    with pytest.raises(
        ConfigError, match=r"reads a log with least_propensity = 0\.1: go on with that"
    ):
        run(tmp_path, settings.replace("0.1\n", "0.2\n"), log)
