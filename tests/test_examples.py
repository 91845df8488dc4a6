"""If these fail, the first script that a newcomer copies does not run."""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import discreet
import poll

EXAMPLES = Path(__file__).parent.parent / "examples"
NOTEBOOKS = sorted((EXAMPLES / "notebooks").glob("*.py"))
SOURCE = Path(discreet.__file__).parent.parent


def printed(name: str, people: int, folder: Path) -> str:
    """Run an example; check its picture and its guarantee, and return what it prints."""
    options = ["--people", str(people), "--seed", "1", "--out", str(folder)]
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / f"{name}.py"), *options],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONPATH": str(SOURCE), "MPLBACKEND": "agg"},
    )
    assert done.returncode == 0, done.stderr
    assert (folder / f"{name}.png").read_bytes().startswith(b"\x89PNG")
    assert "ifferential privacy" in done.stdout
    assert "epsilon = 1 of 1" in done.stdout
    return done.stdout


def test_every_example_is_run_here() -> None:
    run = {"bundle", "dosing", "poll", "sites", "totals"}
    assert {path.stem for path in EXAMPLES.glob("*.py")} == run


@pytest.mark.parametrize("name", ["bundle", "dosing", "sites", "totals"])
def test_without_matplotlib_an_example_ends_in_one_line_before_it_learns(
    name: str, tmp_path: Path
) -> None:
    (tmp_path / "matplotlib").mkdir()
    (tmp_path / "matplotlib" / "__init__.py").write_text("raise ImportError\n")
    paths = os.pathsep.join([str(tmp_path), str(SOURCE)])
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / f"{name}.py"), "--out", str(tmp_path / "out")],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONPATH": paths},
    )
    assert done.returncode == 1
    assert done.stderr == "the picture needs matplotlib: pip install 'discreet[lab]'\n"
    assert not done.stdout
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("name", "people", "least"), [("bundle", 20_000, 50), ("dosing", 5000, 40), ("sites", 1000, 80)]
)
def test_an_example_reports_a_share_of_most_of_the_value(
    name: str, people: int, least: float, tmp_path: Path
) -> None:
    (share,) = re.findall(r"(-?[\d.]+)%", printed(name, people, tmp_path))
    assert least < float(share) < 105


def test_published_totals_are_near_the_truth(tmp_path: Path) -> None:
    text = printed("totals", 2000, tmp_path)
    printed_deviations = re.findall(r"(?:of a total is|would be) ([\d.]+)", text)
    deviation, of_separate_releases = map(float, printed_deviations)
    assert deviation < of_separate_releases / 3
    rows = re.findall(r"([\d.,]+) published +([\d.,]+) in truth", text)
    totals = [[float(number.replace(",", "")) for number in row] for row in rows]
    assert len(totals) == 4
    assert all(abs(published - truth) < 6 * deviation for published, truth in totals)
    assert max(abs(published - truth) for published, truth in totals) > 0


def test_a_learner_of_ones_own_shows_the_leader_and_its_guarantee() -> None:
    command = [sys.executable, str(Path(poll.__file__))]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "99.0% of the people were shown option 2" in output
    assert "Differential privacy for one round" in output


def shown_by(script: Path) -> list[object]:
    """Run the cells of a notebook's script, and return what they show: their last values."""
    names: dict[str, object] = {}
    shown = []
    for cell in re.split(r"^# %%.*$", script.read_text(), flags=re.MULTILINE):
        lines = ast.parse(cell).body
        last = lines.pop() if lines and isinstance(lines[-1], ast.Expr) else None
        exec(compile(ast.Module(lines, type_ignores=[]), script.name, "exec"), names)
        if isinstance(last, ast.Expr):
            shown.append(eval(compile(ast.Expression(last.value), script.name, "eval"), names))
    return shown


def test_every_notebook_is_run_here() -> None:
    assert {script.stem for script in NOTEBOOKS} == {"display", "contextual", "regression"}


@pytest.mark.parametrize("script", NOTEBOOKS, ids=lambda script: script.stem)
def test_a_notebook_shows_its_learner_what_it_learned_and_its_guarantee(script: Path) -> None:
    shown = shown_by(script)
    kinds = {type(value).__name__ for value in shown}
    assert "Guarantee" in kinds
    assert kinds & {"SetMaximizer", "ContextualBandit", "StreamingLearner"}
    assert kinds & {"Scores", "Published"}
    ours = [value for value in shown if type(value).__module__.startswith("discreet.")]
    assert all(hasattr(value, "_repr_html_") for value in ours)
