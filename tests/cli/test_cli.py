"""If these fail, a newcomer's first minute goes wrong."""

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import polars
import pytest
from typer.testing import CliRunner, Result

import discreet
from discreet import DiscreetError, FileJournal
from discreet.audit.report import Size
from discreet.cli import app
from discreet.engine.codec import fingerprint
from discreet.simulate.planning.search import Effort

DISCREET = [sys.executable, "-c", "from discreet.cli import main; main()"]
"""The command line in a process of its own."""


def test_the_demo_prints_a_table_and_a_guarantee_and_writes_a_picture(tmp_path: Path) -> None:
    result = CliRunner().invoke(
        app, ["demo", "--people", "4000", "--out", str(tmp_path), "--seed", "1"]
    )
    assert result.exit_code == 0, result.output
    assert "the best 5 items, beforehand" in result.output
    assert "share of the value" in result.output
    assert "of the value that a shop without privacy earns" in result.output
    assert "SIMULATED" in result.output
    assert json.loads((tmp_path / "demo.json").read_text())["visitors"] == 4000
    assert (tmp_path / "demo.png").read_bytes().startswith(b"\x89PNG")


def test_the_demo_prints_json(tmp_path: Path) -> None:
    options = ["--story", "regression", "--people", "3000", "--out", str(tmp_path), "--json"]
    command = ["demo", *options]
    assert json.loads(CliRunner().invoke(app, command).output)["sellers"] == 3000


@pytest.mark.parametrize(
    ("story", "message"),
    [
        ("opera", "story must be display or regression, got 'opera'"),
    ],
)
def test_an_unknown_story_is_refused_in_one_line(story: str, message: str) -> None:
    result = CliRunner().invoke(app, ["demo", "--story", story])
    assert (result.exit_code, result.stderr) == (2, f"discreet: {message}\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--epsilon", "-1"], "epsilon must be a number between"),
        (["--people", "0"], "horizon must be a whole number"),
        (["--people", "0", "--story", "display"], "horizon must be a whole number"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_two(
    arguments: list[str], message: str, tmp_path: Path
) -> None:
    command = [*DISCREET, "demo", "--story", "regression", "--out", str(tmp_path), *arguments]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 2
    assert result.stderr.startswith("discreet: ")
    assert message in result.stderr
    assert result.stderr.count("\n") == 1


def test_a_warning_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "sum.toml").write_text("""
        learner = "RunningSum"
        epsilon = 1.0
        delta = 0.5
        horizon = 40
        bound = 1.0
        columns = ["a"]
    """)
    (tmp_path / "log.csv").write_text("a\n" + "1\n" * 40)
    files = [tmp_path / "sum.toml", "--data", tmp_path / "log.csv", "--out", tmp_path / "out"]
    command = [*DISCREET, "run", *map(str, files)]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    assert result.stderr.startswith("discreet: delta = 0.5 is more than 1/40, ")
    assert result.stderr.count("\n") == 1


def test_plan_says_what_a_budget_buys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("discreet.simulate.planning.search.EFFORTS", (Effort(2, 1),))
    monkeypatch.setattr("discreet.simulate.planning.search.STEPS", 7)
    options = ["--items", "20", "--slots", "3", "--rounds", "2000", "--stream", "iid"]
    arguments = ["plan", "display", *options]
    plan = json.loads(CliRunner().invoke(app, [*arguments, "--json"]).output)
    assert 0.3 < plan["expected_share"] <= 1.01
    assert plan["facts"]["releases"] > 1
    assert plan["epsilon_for_90_percent"] is not None
    assert "share of the value" in CliRunner().invoke(app, arguments).output


def test_run_publishes_coefficients_and_goes_on(tmp_path: Path) -> None:
    generator = np.random.default_rng(0)
    rows = generator.uniform(-0.5, 0.5, size=(3000, 2))
    lines = [f"{a},{b},{0.6 * a - 0.4 * b + 0.1}" for a, b in rows]
    settings = """
        learner = "StreamingLearner"
        epsilon = 1.0
        delta = 1e-6
        horizon = 3000
        seed = 1
        features = ["a", "b"]
        target = "y"
        feature_bound = 1.0
        target_bound = 1.0
        intercept = true
        domain = "LpBall"
    """
    (tmp_path / "model.toml").write_text(settings)
    for count in (1200, 3000):
        (tmp_path / "log.csv").write_text("\n".join(["a,b,y", *lines[:count]]) + "\n")
        report = run(tmp_path / "model.toml", tmp_path / "log.csv", tmp_path / "out")
    assert report["samples"] == 3000
    assert abs(report["coefficients"]["a"] - 0.6) < 0.1
    assert abs(report["intercept"] - 0.1) < 0.1
    decisions = decisions_in(tmp_path / "out")
    assert [line["release"] for line in decisions] == list(range(report["releases"] + 1))
    assert decisions[-1]["coefficients"] == report["coefficients"]

    (tmp_path / "model.toml").write_text(settings.replace('"a", "b"', '"b", "a"'))
    refused = invoke_run(tmp_path / "model.toml", tmp_path / "log.csv", tmp_path / "out")
    assert refused.exit_code == 2
    assert "reads the columns a, b, y: go on with those" in refused.output

    (tmp_path / "model.toml").write_text(settings.replace('"a", "b"', '"a", "c"'))
    refused = invoke_run(tmp_path / "model.toml", tmp_path / "log.csv", tmp_path / "other")
    assert refused.exit_code == 2
    assert "the log lacks the columns c" in refused.output
    assert not (tmp_path / "other").exists()


def test_run_learns_a_set_of_least_cost(tmp_path: Path) -> None:
    (tmp_path / "costs.toml").write_text("""
        learner = "SetMinimizer"
        epsilon = 1.0
        delta = 1e-6
        horizon = 600
        seed = 1
        items = ["tea", "milk"]

        [function]
        kind = "MinusModular"
        family = "ConcaveOverModular"
    """)
    (tmp_path / "log.csv").write_text("\n".join(["a,b,c,d", *["0.1,0.5,0.9,0.1"] * 600]) + "\n")
    report = run(tmp_path / "costs.toml", tmp_path / "log.csv", tmp_path / "out")
    assert report["chances"]["tea"] > 0.9 > 0.1 > report["chances"]["milk"]


SHOP = """
learner = "SetMaximizer"
epsilon = 1.0
delta = 1e-6
horizon = 3000
items = ["tea", "milk", "soap", "rope"]
slots = 2
"""


def invoke_run(config: Path, log: Path, out: Path) -> Result:
    return CliRunner().invoke(
        app, ["run", str(config), "--data", str(log), "--out", str(out), "--json"]
    )


def run(config: Path, log: Path, out: Path) -> Any:
    result = invoke_run(config, log, out)
    assert result.exit_code == 0, result.output
    return json.loads(result.output)


def decisions_in(folder: Path) -> list[dict[str, Any]]:
    """The lines of a run's decisions.jsonl."""
    return [json.loads(line) for line in (folder / "decisions.jsonl").read_text().splitlines()]


def write_log(folder: Path, rows: int = 3000) -> tuple[Path, Path]:
    generator = np.random.default_rng(0)
    tastes = np.where(generator.random((rows, 1)) < 0.5, [0.9, 0.1, 0.7, 0.1], [0.1, 0.8, 0.1, 0.1])
    config = folder / "shop.toml"
    log = folder / "log.csv"
    config.write_text(SHOP)
    polars.DataFrame(tastes, schema=["tea", "milk", "soap", "rope"]).write_csv(log)
    return config, log


def test_run_learns_from_a_log(tmp_path: Path) -> None:
    config, log = write_log(tmp_path)
    config.write_text(SHOP + "seed = 1\n")
    report = run(config, log, tmp_path / "out")
    assert set(report["slate"]) == {"tea", "milk"}
    assert report["visitors"] == 3000
    decisions = decisions_in(tmp_path / "out")
    assert [line["release"] for line in decisions] == list(range(report["releases"] + 1))


def test_a_killed_run_goes_on_and_repeats_nothing(tmp_path: Path) -> None:
    """The run is killed three times; each release has one line, and no line ever changes."""
    config, log = write_log(tmp_path)
    out = tmp_path / "out"
    command = [*DISCREET, "run", str(config), "--data", str(log), "--out", str(out)]
    seen: dict[int, str] = {}

    def collect() -> None:
        if (out / "decisions.jsonl").exists():
            for line in (out / "decisions.jsonl").read_text().split("\n")[:-1]:  # whole lines only
                assert seen.setdefault(json.loads(line)["release"], line) == line

    for releases in (3, 17, 30):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while process.poll() is None and len(seen) < releases:
            time.sleep(0.002)
            collect()
        process.kill()
        process.wait()
    assert subprocess.run(command, capture_output=True, check=False).returncode == 0
    collect()
    assert sorted(seen) == list(range(35))
    assert json.loads((out / "report.json").read_text())["visitors"] == 3000


def test_a_log_that_grows_is_read_on_and_nobody_counts_twice(tmp_path: Path) -> None:
    """Three runs over a growing log end in the same state as one run over all of it."""
    states = []
    for lengths in ((150, 150, 250), (250,)):
        folder = tmp_path / str(len(lengths))
        folder.mkdir()
        for rows in lengths:
            config, log = write_log(folder, rows=3000)
            config.write_text(SHOP + "block = 100\nseed = 1\n")
            polars.read_csv(log).head(rows).write_csv(log)
            assert run(config, log, folder / "out")["visitors"] == rows
        snapshot = FileJournal(folder / "out" / "state").latest()
        assert snapshot is not None
        assert snapshot.rounds.clock == 250
        assert (snapshot.index, snapshot.begin) == (2, 200)
        # The open block is in the file.
        assert any(np.any(values) for values in snapshot.block.values())
        block = {name: values.tolist() for name, values in snapshot.block.items()}
        states.append((block, fingerprint(snapshot.public), fingerprint(snapshot.hidden)))
    assert states[0] == states[1]


def test_run_reads_slates_and_clicks(tmp_path: Path) -> None:
    config = tmp_path / "shop.toml"
    log = tmp_path / "log.parquet"
    config.write_text(SHOP + 'feedback = "clicks"\nstream = "iid"\nslates = "decided"\n')
    polars.DataFrame({"slate": ["tea milk"] * 500, "click": ["tea", None] * 250}).write_parquet(log)
    assert run(config, log, tmp_path / "out")["visitors"] == 500


@pytest.mark.parametrize(
    ("text", "data", "message"),
    [
        ("slots = [", "log.csv", "is not TOML"),
        ("slots = 2", "log.csv", "lack epsilon, delta, items"),
        (SHOP.replace("horizon = 3000", ""), "log.csv", "horizon must be a whole number"),
        (SHOP + "colour = 1", "log.csv", "unknown key 'colour', did you mean columns?"),
        (SHOP, "nothing.csv", "nothing.csv does not exist"),
        (SHOP.replace("SetMaximizer", "Wizard"), "log.csv", "got 'Wizard'"),
        (
            SHOP + 'feedback = "bandit"',
            "log.csv",
            'the settings lack slates = "decided", if the log has what',
        ),
        (
            SHOP + 'feedback = "bandit"\nslates = "decided"',
            "log.csv",
            "the log lacks the columns slate, reward",
        ),
    ],
)
def test_a_run_that_cannot_start_is_refused_in_one_line(
    tmp_path: Path, text: str, data: str, message: str
) -> None:
    config, _ = write_log(tmp_path, rows=10)
    config.write_text(text)
    result = invoke_run(config, tmp_path / data, tmp_path / "out")
    assert result.exit_code == 2
    assert result.stderr.startswith("discreet: ")
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_a_settings_file_that_is_no_text_is_refused_in_one_line(tmp_path: Path) -> None:
    config, log = write_log(tmp_path, rows=10)
    config.write_bytes(b"\xff\xfe77.75")
    result = invoke_run(config, log, tmp_path / "out")
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
    assert "77.75" not in result.stderr


def test_an_output_folder_that_is_a_file_is_refused_in_one_line(tmp_path: Path) -> None:
    config, log = write_log(tmp_path, rows=10)
    (tmp_path / "file").write_text("")
    result = invoke_run(config, log, tmp_path / "file")
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
    assert "File exists" in result.stderr


def test_version() -> None:
    result = CliRunner().invoke(app, ["--version"])
    assert (result.exit_code, result.output) == (0, f"discreet {discreet.__version__}\n")


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (DiscreetError("slots is wrong"), 2, "discreet: slots is wrong\n"),
        (
            PermissionError(13, "Permission denied", "/data/log.csv"),
            2,
            "discreet: /data/log.csv: Permission denied\n",
        ),
        (
            UnicodeDecodeError("utf-8", b"Jane 77.75", 0, 1, "no"),
            2,
            "discreet: a file that should be text is not (utf-8)\n",
        ),
        (KeyboardInterrupt(), 130, "discreet: stopped\n"),
        (
            ModuleNotFoundError("No module named 'polars'", name="polars"),
            2,
            "discreet: polars is missing: pip install 'discreet[tables]'\n",
        ),
    ],
)
def test_every_error_of_a_command_is_one_line(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, error: BaseException, code: int, message: str
) -> None:
    def fail(*_: Any) -> None:
        raise error

    monkeypatch.setattr("discreet.runs.run.run_log", fail)
    result = invoke_run(tmp_path / "shop.toml", tmp_path / "log.csv", tmp_path / "out")
    assert (result.exit_code, result.stderr) == (code, message)


def test_a_bug_shows_no_variables(tmp_path: Path) -> None:
    """A traceback with locals would print people's rows."""
    program = """
import discreet.runs.run
def broken(config, data, out, console):
    rows = ["Jane " + str(7.25 + 70.5)]
    raise RuntimeError("a bug")
discreet.runs.run.run_log = broken
from discreet.cli import main
main()
"""
    command = [sys.executable, "-c", program, "run", "shop.toml", "--data", "log.csv"]
    result = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert result.returncode == 1
    assert "RuntimeError: a bug" in result.stderr
    assert "77.75" not in result.stdout + result.stderr


@pytest.mark.parametrize(("fine", "code"), [(True, 0), (False, 1)])
def test_an_audit_that_finds_something_fails(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, fine: bool, code: int
) -> None:
    passed: dict[str, Any] = {}

    def run_audit(names: list[str], **settings: Any) -> dict[str, Any]:
        passed.update(settings, names=names)
        return {"rows": [], "ok": fine}

    monkeypatch.setattr("discreet.audit.report.run_audit", run_audit)
    arguments = ["audit", "Hedge", "RunningSum", "--pairs", "5", "--out", str(tmp_path), "--json"]
    result = CliRunner().invoke(app, arguments)
    assert (result.exit_code, json.loads(result.output)) == (code, {"rows": [], "ok": fine})
    assert passed.pop("console").quiet
    assert passed == {
        "names": ["Hedge", "RunningSum"],
        "out": tmp_path,
        "size": Size(5, 60),
        "epsilon": 3.0,
        "delta": 1e-6,
        "seed": 0,
        "engine": None,
    }
