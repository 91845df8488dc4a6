"""If these fail, another policy's log teaches a run nothing, is read twice, or ends the run."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars
import pytest
from rich.console import Console
from typer.testing import CliRunner

import discreet
from discreet import ConfigError, Privacy, SetMaximizer
from discreet.cli import app
from discreet.runs.run import run_log

NAMES = ["tea", "milk", "soap", "rope", "None"]
SHOP = f"""
epsilon = 1.0
delta = 1e-6
seed = 1
horizon = 3000
items = {NAMES}
slots = 2
stream = "iid"
feedback = "clicks"
"""
UNIFORM = SHOP + 'propensity = "uniform"\n'
COLUMN = SHOP + 'propensity = "p"\nleast_propensity = 0.05\n'
LIKES = np.array([0.05, 0.1, 0.4, 0.3, 0.1])


@pytest.fixture
def shown(generator: np.random.Generator) -> tuple[Any, Any]:
    """Uniform slates and first clicks; soap and rope are liked most."""
    slates = np.argsort(generator.random((4000, 5)), axis=1)[:, :2]
    hits = generator.random(slates.shape) < LIKES[slates]
    clicks = np.where(hits.any(axis=1), slates[np.arange(4000), hits.argmax(axis=1)], -1)
    return slates, clicks


def log_of(shown: tuple[Any, Any], **more: Any) -> polars.DataFrame:
    slates, clicks = shown
    columns = {
        "slate": [" ".join(NAMES[item] for item in slate) for slate in slates],
        "click": [None if click < 0 else NAMES[click] for click in clicks],
    }
    return polars.DataFrame(columns | more)


def run(
    folder: Path, settings: str, log: polars.DataFrame, name: str = "log.csv"
) -> dict[str, Any]:
    log.write_csv(folder / name)
    (folder / "run.toml").write_text(settings)
    return run_log(folder / "run.toml", folder / name, folder / "out", Console(quiet=True))


def warmed(
    shown: tuple[Any, Any], propensity: Any = "uniform", least: float | None = None
) -> SetMaximizer:
    """Return a learner that Python code warm-started from the same log."""
    learner = SetMaximizer(
        NAMES, 2, 3000, Privacy(1.0, 1e-6), feedback="clicks", stream="iid", seed=1
    )
    rows = [
        ([NAMES[item] for item in slate], None if click < 0 else NAMES[click])
        for slate, click in zip(*shown, strict=True)
    ]
    learner.warm_start(rows, propensity, least_propensity=least)
    return learner


def test_a_log_of_another_policy_is_one_warm_start(tmp_path: Path, shown: tuple[Any, Any]) -> None:
    report = run(tmp_path, UNIFORM, log_of(shown))
    same = warmed(shown)
    assert report["slate"] == same.decision["slate"]
    assert set(report["slate"]) == {"soap", "rope"}
    assert (report["visitors"], report["releases"], report["warm_start_rows"]) == (0, 1, 4000)
    assert report["guarantee"] == str(same.guarantee)
    lines = [
        json.loads(line) for line in (tmp_path / "out" / "decisions.jsonl").read_text().splitlines()
    ]
    assert [line["release"] for line in lines] == [0, 1]
    assert "warm_start_rows" not in lines[0]
    assert lines[1]["warm_start_rows"] == 4000
    assert lines[1]["slate"] == report["slate"]


def test_propensities_are_read_from_a_column_of_numbers_or_lists(
    tmp_path: Path, shown: tuple[Any, Any]
) -> None:
    report = run(tmp_path, COLUMN, log_of(shown, p=["0.2 0.2", "[0.2, 0.2]", "0.2", "0.2"] * 1000))
    assert report["slate"] == warmed(shown, [0.2] * 4000, 0.05).decision["slate"]


def test_rewards_of_slates_are_read_too(tmp_path: Path, shown: tuple[Any, Any]) -> None:
    log = log_of(shown).with_columns(reward=(shown[1] >= 0).astype(float))
    report = run(tmp_path, UNIFORM.replace("clicks", "bandit"), log)
    assert set(report["slate"]) == {"soap", "rope"}


def test_the_same_command_again_reads_no_row_again(tmp_path: Path, shown: tuple[Any, Any]) -> None:
    report = run(tmp_path, UNIFORM, log_of(shown))
    assert run(tmp_path, UNIFORM, log_of(shown)) == report
    with pytest.raises(
        ConfigError, match="a log of 4000 rows was read before, and this one has 3999"
    ):
        run(tmp_path, UNIFORM, log_of(shown).head(3999))


def test_a_run_goes_on_with_its_own_decisions_and_from_python(
    tmp_path: Path, shown: tuple[Any, Any], generator: np.random.Generator
) -> None:
    run(tmp_path, UNIFORM, log_of(shown))
    same = warmed(shown)
    slates = []
    clicks = []
    for _ in range(same.rounds_until_release + 20):
        ticket = same.open()
        slate = np.array([NAMES.index(name) for name in ticket.decision])
        hits = generator.random(2) < LIKES[slate]
        clicks.append(int(slate[hits.argmax()]) if hits.any() else -1)
        slates.append(slate)
        same.close(ticket, None if clicks[-1] < 0 else NAMES[clicks[-1]])
    own = log_of((np.array(slates), np.array(clicks)))
    report = run(tmp_path, SHOP + 'slates = "decided"\n', own, "own.csv")
    assert report["releases"] == same.releases == 2
    assert report["visitors"] == len(slates)
    assert report["warm_start_rows"] == 4000
    again: Any = discreet.load(tmp_path / "out" / "state")
    assert again.decision == same.decision
    assert again.log_rows == 4000
    assert np.array_equal(again.act(), same.act())
    again.detach()


def test_no_row_can_make_a_log_refused(tmp_path: Path) -> None:
    malformed = ["[" * 2000, "", "tea", "wine beer", '{"tea": 1}', "[1, [2]]"]
    log = polars.DataFrame(
        {"slate": malformed, "click": ["tea", None, "wine", "", "[", "7"], "p": malformed}
    )
    assert run(tmp_path, COLUMN, log)["warm_start_rows"] == 6


def test_a_missing_click_is_no_click_on_an_item_of_that_name(tmp_path: Path) -> None:
    log = polars.DataFrame({"slate": ["None tea"] * 1000, "click": [None] * 1000})
    report = run(tmp_path, UNIFORM.replace("epsilon = 1.0", "epsilon = 1e3"), log)
    assert report["warm_start_rows"] == 1000
    learner: Any = discreet.load(tmp_path / "out" / "state")
    assert learner.snapshot().public["posterior.means"][0].max() < 0.01
    learner.detach()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            SHOP,
            'lack slates = "decided", if the log has what this run decided; or propensity = '
            '"uniform"',
        ),
        (UNIFORM + 'slates = "decided"', "not both"),
        (
            UNIFORM + "least_propensity = 0.1",
            'least_propensity is for a column of propensities, not for "uni',
        ),
        (
            SHOP + 'propensity = "p"',
            "lack least_propensity: a public number, the least probability that any item",
        ),
        (SHOP + 'propensity = "click"\nleast_propensity = 0.1', "propensity must be a column, or"),
        (SHOP + 'propensity = "p"\nleast_propensity = 0', "least_propensity must be above 0"),
        (SHOP + 'propensity = "q"\nleast_propensity = 0.1', "the log lacks the columns q"),
        (
            SHOP + 'slates = "decided"\nleast_propensity = 0.1',
            "least_propensity is for another policy",
        ),
        (
            UNIFORM + 'expert = "swap"',
            "unknown key 'expert'",
        ),
        (SHOP.replace("clicks", "full") + 'propensity = "uniform"', "propensity is for feedback"),
    ],
)
def test_settings_that_do_not_fit_are_refused_in_one_line_before_anything_is_spent(
    tmp_path: Path, settings: str, message: str
) -> None:
    (tmp_path / "run.toml").write_text(settings)
    polars.DataFrame({"slate": ["tea milk"], "click": ["tea"], "p": ["0.2"]}).write_csv(
        tmp_path / "log.csv"
    )
    out = tmp_path / "out"
    options = ["--data", str(tmp_path / "log.csv"), "--out", str(out)]
    result = CliRunner().invoke(app, ["run", str(tmp_path / "run.toml"), *options])
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1), result.output
    assert message in result.stderr
    assert not out.exists()


def test_a_warm_start_that_is_killed_is_made_once(tmp_path: Path) -> None:
    (tmp_path / "shop.toml").write_text(UNIFORM)
    (tmp_path / "log.csv").write_text("slate,click\n" + "tea milk,tea\nsoap rope,\n" * 10)
    program = Path(__file__).with_name("killing.py")
    result = subprocess.run(
        [sys.executable, program, tmp_path, "nothing", "5"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    results = json.loads(result.stdout)
    assert results["broken"] == [], result.stderr
    assert results["killed"] > 10
    assert results["ways"] > 4
