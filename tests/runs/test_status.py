"""If these fail, the status of a run disturbs it, is wrong, or shows what is not public."""

import json
from pathlib import Path

import numpy as np
import polars
import pytest
from rich.console import Console
from typer.testing import CliRunner

import discreet
from discreet.cli import app
from discreet.runs.run import run_log
from discreet.runs.status import status_of

BASE = "epsilon = 1.0\ndelta = 1e-6\nseed = 1\nhorizon = 400\n"
SUM = BASE + 'learner = "RunningSum"\nbound = 1.0\nblock = 100\ncolumns = ["north", "south"]\n'
SHOP = BASE + 'items = ["tea", "milk", "soap"]\nslots = 2\n'


def begin(folder: Path, settings: str, names: list[str], rows: int) -> Path:
    """Run a learner over a log with this number of rows; return the folder of the run."""
    log = np.random.default_rng(5).random((rows, len(names))) * np.linspace(0.2, 0.9, len(names))
    polars.DataFrame(log, schema=names).write_csv(folder / "log.csv")
    (folder / "run.toml").write_text(settings)
    run_log(folder / "run.toml", folder / "log.csv", folder / "run", Console(quiet=True))
    return folder / "run"


def test_status_has_the_progress_and_the_spent_budget(tmp_path: Path) -> None:
    folder = begin(tmp_path, SUM, ["north", "south"], 250)
    found = status_of(folder)
    report = json.loads((folder / "report.json").read_text())
    assert (found["learner"], found["rounds"], found["horizon"]) == ("RunningSum", 250, 400)
    assert (found["releases"], found["planned_releases"]) == (2, 4)
    assert found["decision"] == {"total": report["total"]}
    assert found["guarantee"] == report["guarantee"]
    assert 0 < found["epsilon_spent"] <= found["epsilon"] == 1.0
    assert found["simulated"]
    assert not found["finished"]
    assert not found["failed"]


def test_a_run_whose_rounds_are_over_is_finished(tmp_path: Path) -> None:
    folder = begin(tmp_path, SHOP, ["tea", "milk", "soap"], 400)
    found = status_of(folder)
    assert found["finished"]
    assert found["decision"]["slate"] == json.loads((folder / "report.json").read_text())["slate"]


def test_a_run_under_way_is_not_disturbed(tmp_path: Path) -> None:
    folder = begin(tmp_path, SUM, ["north", "south"], 250)
    running = discreet.load(folder / "state")  # locked
    before = (folder / "state").read_bytes()
    assert status_of(folder)["rounds"] == 250
    assert (folder / "state").read_bytes() == before
    running.observe_many(np.zeros((50, 2)))
    assert running.release_if_due()  # a learner that was fenced off could not commit this
    assert status_of(folder)["releases"] == 3
    running.detach()


def test_status_shows_nothing_of_the_open_block(tmp_path: Path) -> None:
    """Two runs whose open blocks differ have the same status until the next release."""
    shown = []
    for name, last in (("one", 0.0), ("other", 1.0)):
        (tmp_path / name).mkdir()
        folder = begin(tmp_path / name, SUM, ["north", "south"], 200)
        learner = discreet.load(folder / "state")
        learner.observe_many(np.full((30, 2), last))
        learner.save(folder / "state")
        learner.detach()
        shown.append(status_of(folder))
    states = [(tmp_path / name / "run" / "state").read_bytes() for name in ("one", "other")]
    assert states[0] != states[1]
    assert shown[0] == shown[1]
    assert shown[0]["rounds"] == 230


def test_the_command_prints_a_table_or_json(tmp_path: Path) -> None:
    folder = begin(tmp_path, SUM, ["north", "south"], 250)
    table = CliRunner().invoke(app, ["status", str(folder)]).output
    assert "A run of RunningSum" in table
    assert "250 of 400" in table
    assert "2 of 4" in table
    assert "at delta = 1e-06" in table
    assert "now: total" in table
    assert "not finished" in table
    printed = CliRunner().invoke(app, ["status", str(folder), "--json"]).output
    assert json.loads(printed) == status_of(folder)


def spoiled(folder: Path, how: str) -> Path:
    """Damage the folder of a run; return the path that is then asked for."""
    if how == "missing":
        return folder / "nowhere"
    if how == "a file":
        return folder / "state"
    if how == "no state":
        (folder / "state").unlink()
    elif how == "no columns":
        (folder / "columns.json").unlink()
    elif how == "torn columns":
        (folder / "columns.json").write_text('["nor')
    else:
        (folder / "state").write_bytes(b"DISCREET")
    return folder


@pytest.mark.parametrize(
    ("how", "message"),
    [
        (
            "missing",
            "is not the folder of a run (it has no columns.json): `discreet run` makes one",
        ),
        ("a file", "is not the folder of a run (it has no columns.json)"),
        ("no state", "is not the folder of a run (it has no state)"),
        ("no columns", "is not the folder of a run (it has no columns.json)"),
        (
            "torn columns",
            "columns.json is not what a run wrote: restore it from a copy",
        ),
        ("torn state", "state is truncated: restore it from where it was copied"),
    ],
)
def test_a_folder_without_a_run_is_refused_in_one_line(
    tmp_path: Path, how: str, message: str
) -> None:
    folder = spoiled(begin(tmp_path, SUM, ["north", "south"], 100), how)
    result = CliRunner().invoke(app, ["status", str(folder)])
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
    assert message in result.stderr
