"""Reports of experiments: what was computed is what is written, and a report that was stopped goes on."""

import json
from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner

from discreet import pictures
from discreet.cli import Experiment as Named
from discreet.cli import app
from discreet.lab.published.catalogue import CATALOGUE
from discreet.lab.repeat import Kept
from discreet.lab.reproduce import EXPERIMENTS, keeping, rates, value
from discreet.lab.reproduce.claims import CLAIMS, OURS, PROBLEMS, regret
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
    assert report["verdicts"]["DPCG, curvature"]["epsilon"] == "infinite"
    assert report["verdicts"]["TBAP"]["epsilon"] == pytest.approx(2.0, rel=1e-3)
    assert "the tree gives twice epsilon" in (tmp_path / "report.md").read_text()


def test_errors_fall_with_time_and_runs_reproduce() -> None:
    path = rates_over_time("interior", "none", 1)
    assert path == rates_over_time("interior", "none", 1)
    assert path[-1] < path[0] / 10
    assert errors_over_time("printed", 0)[-1] < errors_over_time("corrected", 0)[-1]


def test_a_number_of_seeds_that_was_asked_for_counts() -> None:
    assert (Ask(seeds=3).runs(10, 2), Ask(quick=True).runs(10, 2), Ask().runs(10, 2)) == (3, 2, 10)


# --- rates


def test_regret_falls_behind_what_trivial_decisions_lose_and_runs_reproduce() -> None:
    lost, trivial = regret("slates", OURS, 3_000, 1)
    assert 0 < lost < trivial / 3
    assert regret("slates", OURS, 3_000, 1) == [lost, trivial]
    printed, same = regret("slates", "FI-DP", 3_000, 1)
    assert same == trivial
    assert printed > trivial / 2


def test_all_rates_are_measured_beside_their_bounds(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    small = {name: replace(problem, quick=(60, 120, 240)) for name, problem in PROBLEMS.items()}
    monkeypatch.setattr(rates, "PROBLEMS", small)
    ask = Ask(quick=True, seeds=1, workers=1, kept=Kept(tmp_path / "done.jsonl"))
    chapter = rates.tell_rates(ask)
    assert chapter.numbers.keys() == CLAIMS.keys() < CATALOGUE.keys()
    for name, found in chapter.numbers.items():
        assert found["bound"] == [CLAIMS[name].bound(horizon) for horizon in (60, 120, 240)]
        assert found["bound_over_most"] == pytest.approx(
            found["bound"][-1] / 240 / small[CLAIMS[name].problem].most
        )
        assert found["printed"]["share"] == found["printed"]["regret"][-1] / found["trivial"][-1]
    write_report([chapter], tmp_path, "Rates")
    assert (tmp_path / "rates.png").stat().st_size > 10_000
    monkeypatch.setattr(rates, "regret", refused)
    assert rates.tell_rates(replace(ask, kept=Kept(tmp_path / "done.jsonl"))).numbers == chapter.numbers


def test_the_theorems_grow_as_they_say() -> None:
    powers = {"√T": 0.5, "T^2/3": 2 / 3, "T^3/4": 0.75, "ln² T": 0.0}
    for claim in CLAIMS.values():
        ratio = claim.bound(10**40) / claim.bound(10**30)  # there logarithms hardly count
        assert ratio == pytest.approx(10 ** (10 * powers[claim.power]), rel=4.0)


def refused(*task: object) -> None:
    raise AssertionError(f"{task} was done before")


# --- value


def test_all_shares_are_measured_and_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    small = {name: replace(problem, quick=(60, 120, 240)) for name, problem in keeping.PROBLEMS.items()}
    monkeypatch.setattr(value, "PROBLEMS", small)
    monkeypatch.setattr(value, "EPSILONS", (1.0, 10.0))
    chapter = value.tell_value(Ask(quick=True, seeds=1, workers=1))
    assert chapter.numbers.keys() == small.keys()
    for name, runs in chapter.numbers.items():
        settings = [(run["who"], run["people"], run["epsilon"]) for run in runs]
        for who in small[name].who:
            assert {(who, people, 1.0) for people in (60, 120, 240)} <= set(settings)
            assert ((who, 120, 10.0) in settings) == (who != "random")
    words = " ".join(part for part in chapter.parts if isinstance(part, str))
    assert "streaming Frank–Wolfe (ε = 9.66 for 1)" in words
    assert "noisier than ε asks for: FI-DP, BanditDP, DPCG, DPMFW." in words
    write_report([chapter], tmp_path, "Value")
    assert (tmp_path / "value.png").stat().st_size > 10_000


@pytest.mark.parametrize(
    ("problem", "people"), [("slates", 3_000), ("costs", 3_000), ("regression", 500), ("sites", 300)]
)
def test_ours_keeps_more_than_what_was_printed(problem: str, people: int) -> None:
    shares = {who: keeping.kept(problem, who, people, 1.0, 900) for who in keeping.PROBLEMS[problem].who}
    assert shares["discreet"] > max(shares["printed"], shares["sound"]) + 0.1
    assert shares["discreet"] <= 1.05


def test_there_is_a_verdict_for_every_algorithm_of_the_papers() -> None:
    assert len(CATALOGUE) == 15
    assert str(CATALOGUE["DPCG, curvature"].verdict).endswith("(ε = ∞ where 1 is claimed)")
    assert CATALOGUE["PFTAL copies"].verdict.epsilon == pytest.approx(2**0.5 * 17 / 18)
