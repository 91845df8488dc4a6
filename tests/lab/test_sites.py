"""If these fail, the demo shows other sites than were computed, or homes can be read off its files."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from typer.testing import CliRunner

from discreet import ConfigError, Privacy
from discreet.cli import app
from discreet.lab.progress import Report
from discreet.lab.selection import City, value_to
from discreet.lab.stories.sites.results import OPEN, PUBLISHED, STRICTER, WITHOUT, compute_sites


def test_the_sites_story_computes_what_each_choice_is_worth_to_the_same_people() -> None:
    passed: dict[str, int] = {}

    @contextmanager
    def watching(label: str, total: int) -> Iterator[Report]:
        passed[label] = total

        def report(count: int) -> None:
            passed[label] -= count

        yield report

    result = compute_sites(2000, Privacy(1.0, 1e-6), seed=1, bar=watching)
    assert passed == {"choices": 0}
    shares = result.shares
    assert shares[WITHOUT] == 1
    assert shares[PUBLISHED] < 0.8 < shares[STRICTER] < shares[OPEN] < 1.05
    worths = City.drawn(2000, seed=1).worths
    for opened in result.choices.values():
        assert len(set(opened.chosen)) == 10
        assert opened.value == pytest.approx(value_to(worths, opened.chosen))
    assert [result.choices[name].protection for name in (WITHOUT, STRICTER)] == ["none", "epsilon = 0.1"]
    assert result.guarantee.epsilon_spent <= 1
    report = json.loads(json.dumps(result.report()))
    assert report["share"] == shares
    assert report["chosen"][OPEN] == [list(result.sites[site]) for site in result.choices[OPEN].chosen]
    assert len(json.dumps(report)) < 10_000  # homes stay out of it


def test_the_sites_story_prints_a_table_and_a_guarantee_and_writes_a_picture(tmp_path: Path) -> None:
    arguments = ["demo", "--story", "sites", "--people", "500", "--out", str(tmp_path), "--seed", "1"]
    result = CliRunner().invoke(app, [*arguments, "--delta", "0"])
    assert result.exit_code == 0, result.output
    assert "DPCG, as published" in result.output
    assert "share kept" in result.output
    assert "public cells" in result.output
    assert json.loads((tmp_path / "demo.json").read_text())["people"] == 500
    assert (tmp_path / "demo.png").read_bytes().startswith(b"\x89PNG")


def test_a_city_that_does_not_fit_is_refused() -> None:
    with pytest.raises(ConfigError, match="people must be"):
        compute_sites(10**7, Privacy(1.0), seed=1)
