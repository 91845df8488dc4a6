"""Reports of experiments: what was computed is what is written, and a report that was stopped goes on."""

import json
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner

from discreet import pictures
from discreet.cli import Experiment as Named
from discreet.cli import app
from discreet.lab.reproduce import EXPERIMENTS
from discreet.lab.reproduce.report import Ask, Chapter, Grid, Picture, print_chapter, write_report
from discreet.lab.reproduce.sco_tables import errors_over_time, rates_over_time


def test_every_experiment_has_a_name_on_the_command_line() -> None:
    assert {name.value for name in Named} == {"all", *EXPERIMENTS}


def test_a_report_has_the_same_words_and_numbers_in_every_form(tmp_path: Path) -> None:
    figure, _ = pictures.panels(1, (2, 2))
    grid = Grid("Errors", ["case", "error", "why"], [["p | 2", "0.1 <", "short"]], brief=(0, 1))
    chapter = Chapter(
        "first", "A chapter", ["Said & done.", grid, Picture("drawn", figure, "A line.")], {"x": 1}
    )
    written = write_report([chapter], tmp_path, "All of it")
    assert sorted(path.name for path in written) == ["drawn.png", "report.html", "report.json", "report.md"]
    assert "| p \\| 2 | 0.1 < | short |" in (tmp_path / "report.md").read_text()
    page = (tmp_path / "report.html").read_text()
    assert "Said &amp; done." in page
    assert "<td>0.1 &lt;</td>" in page
    assert 'src="drawn.png"' in page
    assert json.loads((tmp_path / "report.json").read_text()) == {"first": {"x": 1}}
    paper = StringIO()
    print_chapter(chapter, Console(file=paper, width=80))
    assert "Errors" in paper.getvalue()
    assert "short" not in paper.getvalue()


def test_slips_are_computed_and_written(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["reproduce", "slips", "--out", str(tmp_path), "--json"])
    assert result.exit_code == 0, result.output
    report = json.loads(result.output)["slips"]
    assert len(report["slips_shown"]) >= 12
    assert report["verdicts"]["TBAP"]["epsilon"] == pytest.approx(2.0, rel=1e-3)
    assert "the tree gives twice epsilon" in (tmp_path / "report.md").read_text()


def test_errors_fall_with_time_and_runs_reproduce() -> None:
    path = rates_over_time("interior", "none", 1)
    assert path == rates_over_time("interior", "none", 1)
    assert path[-1] < path[0] / 10
    assert errors_over_time("printed", 0)[-1] < errors_over_time("corrected", 0)[-1]


def test_a_number_of_seeds_that_was_asked_for_counts() -> None:
    assert (Ask(seeds=3).runs(10, 2), Ask(quick=True).runs(10, 2), Ask().runs(10, 2)) == (3, 2, 10)
