"""If these fail, whoever looks at a run disturbs it, is told something wrong, or sees what is
not public.
"""

import json
from pathlib import Path
from typing import Any

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
    """A run over so many rows of a log."""
    log = np.random.default_rng(5).random((rows, len(names))) * np.linspace(0.2, 0.9, len(names))
    polars.DataFrame(log, schema=names).write_csv(folder / "log.csv")
    (folder / "run.toml").write_text(settings)
    run_log(folder / "run.toml", folder / "log.csv", folder / "run", Console(quiet=True))
    return folder / "run"


def test_a_run_says_how_far_it_is_and_what_it_spent(tmp_path: Path) -> None:
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


def test_a_run_that_is_going_on_is_not_disturbed(tmp_path: Path) -> None:
    folder = begin(tmp_path, SUM, ["north", "south"], 250)
    running = discreet.load(folder / "state")  # locked
    before = (folder / "state").read_bytes()
    assert status_of(folder)["rounds"] == 250
    assert (folder / "state").read_bytes() == before
    running.observe_many(np.zeros((50, 2)))
    assert running.release_if_due()  # only whoever was not fenced off can commit this
    assert status_of(folder)["releases"] == 3
    running.detach()


def test_nothing_but_what_is_public_is_shown(tmp_path: Path) -> None:
    """Two runs whose open blocks differ, and nothing released since: the same status."""
    shown = []
    for name, last in (("one", 0.0), ("other", 1.0)):
        (tmp_path / name).mkdir()
        folder = begin(tmp_path / name, SUM, ["north", "south"], 200)
        going_on = discreet.load(folder / "state")
        going_on.observe_many(np.full((30, 2), last))
        going_on.save(folder / "state")
        going_on.detach()
        shown.append(status_of(folder))
    states = [(tmp_path / name / "run" / "state").read_bytes() for name in ("one", "other")]
    assert states[0] != states[1]
    assert shown[0] == shown[1]
    assert shown[0]["rounds"] == 230


def test_the_command_prints_a_table_or_json(tmp_path: Path) -> None:
    folder = begin(tmp_path, SUM, ["north", "south"], 250)
    told = CliRunner().invoke(app, ["status", str(folder)]).output
    for part in (
        "A run of RunningSum",
        "250 of 400",
        "2 of 4",
        "at delta = 1e-06",
        "now: total",
        "not finished",
    ):
        assert part in told
    assert json.loads(
        CliRunner().invoke(app, ["status", str(folder), "--json"]).output
    ) == status_of(folder)


def spoiled(folder: Path, how: str) -> Any:
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
            "columns.json is not what a run wrote: restore it from where it was copied",
        ),
        ("torn state", "state is truncated: restore it from where it was copied"),
    ],
)
def test_what_is_no_run_is_refused_in_one_line(tmp_path: Path, how: str, message: str) -> None:
    folder = spoiled(begin(tmp_path, SUM, ["north", "south"], 100), how)
    result = CliRunner().invoke(app, ["status", str(folder)])
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
    assert message in result.stderr
