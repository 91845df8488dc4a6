"""If these fail, a newcomer's first minute goes wrong."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from discreet.cli import app


def test_demo_prints_a_table_and_writes_a_picture(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["demo", "--people", "2000", "--out", str(tmp_path), "--seed", "1"])
    assert result.exit_code == 0, result.output
    assert "groceries" in result.output
    assert "Differential privacy" in result.output
    report = json.loads((tmp_path / "demo.json").read_text())
    assert abs(report["published"]["groceries"] - report["true"]["groceries"]) < 6 * report["standard_deviation"]
    assert (tmp_path / "demo.png").read_bytes().startswith(b"\x89PNG")


def test_demo_speaks_json(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["demo", "--people", "200", "--out", str(tmp_path), "--json"])
    assert json.loads(result.output)["people"] == 200


def test_doctor_reports_the_machine() -> None:
    report = json.loads(CliRunner().invoke(app, ["doctor", "--json"]).output)
    assert report["nanoseconds_per_exact_gaussian"] > 0


@pytest.mark.parametrize(
    ("arguments", "message"), [(["--epsilon", "-1"], "epsilon must be finite"), (["--people", "0"], "horizon must be a whole number")]
)
def test_bad_input_is_one_line_and_exit_code_two(arguments: list[str], message: str, tmp_path: Path) -> None:
    program = "from discreet.cli import main; main()"
    result = subprocess.run(
        [sys.executable, "-c", program, "demo", "--out", str(tmp_path), *arguments], capture_output=True, text=True, check=False
    )
    assert result.returncode == 2
    assert result.stderr.startswith("discreet: ")
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
