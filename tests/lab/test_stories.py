"""If these fail, what a demo shows is not what was computed."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from discreet import Privacy
from discreet.lab.progress import Report
from discreet.lab.stories.bundle.results import compute_bundle
from discreet.lab.stories.bundle.showing import tell_bundle
from discreet.lab.stories.display import results as display_results
from discreet.lab.stories.display.results import compute_display
from discreet.lab.stories.display.showing import draw_display
from discreet.lab.stories.page import Page
from discreet.lab.stories.totals.results import AFRESH, compute_totals, deviations

USUAL = Privacy(1.0, 1e-6)


class Watched:
    """A bar that remembers what it was told."""

    def __init__(self) -> None:
        self.totals: dict[str, int] = {}
        self.passed: dict[str, int] = {}

    @contextmanager
    def __call__(self, label: str, total: int) -> Iterator[Report]:
        self.totals[label] = total
        self.passed[label] = 0

        def report(count: int) -> None:
            self.passed[label] += count

        yield report


@pytest.fixture
def short_curves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(display_results, "MOST_VISITORS", 500)


@pytest.mark.usefixtures("short_curves")
def test_the_display_story_computes_shares_and_what_was_spent(tmp_path: Path) -> None:
    bar = Watched()
    result = compute_display(1500, USUAL, seed=1, bar=bar, workers=1)
    assert bar.passed == bar.totals
    assert bar.totals["visitors"] == 1500 * 7
    shares = result.shares
    assert shares["no privacy, whole preferences, i.i.d."] > shares["published constants"]
    assert shares["discreet, whole preferences, i.i.d."] > 0.3
    assert result.spent["published constants"] < 0.1
    assert max(result.spent.values()) <= 1.0
    assert "no privacy, whole preferences, i.i.d." not in result.spent
    assert all(run.visitors[-1] == 1500 and run.earned[-1] == run.value for run in result.runs.values())
    report = json.loads(json.dumps(result.report()))
    assert report["share"] == shares
    assert set(report["share_against_epsilon"]["clicks, i.i.d."]) == {"0.1", "0.3", "1.0", "3.0"}
    assert report["simulated"] is True
    Page.opened(tmp_path, "demo", Console(quiet=True)).show(report, [], draw_display(result))
    assert (tmp_path / "demo.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.usefixtures("short_curves")
def test_without_a_delta_the_published_constants_are_left_out() -> None:
    result = compute_display(600, Privacy(5.0), seed=1, workers=1)
    assert "published constants" not in result.runs
    assert result.guarantee.delta == 0


def test_the_bundle_story_follows_a_bundle_as_it_forms(tmp_path: Path) -> None:
    bar = Watched()
    result = compute_bundle(3000, USUAL, seed=1, bar=bar)
    assert bar.passed == bar.totals == {"visitors": 4 * 3000}
    followed = result.runs["discreet, whole costs, drifting"]
    assert len(result.points) == len(followed.visitors) - 1
    assert (result.points[0] == 0.5).all()  # before anything was released
    assert result.hindsight <= min(result.costs.values())
    assert result.shares["discreet, whole costs, drifting"] > 0.3
    assert next(iter(result.report()["cost"])) == "published, whole costs (not private)"
    told = tell_bundle(500, USUAL, tmp_path, seed=1, console=Console(quiet=True))
    assert json.loads((tmp_path / "demo.json").read_text())["cost"] == told["cost"]
    assert (tmp_path / "demo.png").read_bytes().startswith(b"\x89PNG")


def test_the_totals_story_publishes_a_total_for_every_shopper() -> None:
    bar = Watched()
    result = compute_totals(250, USUAL, seed=1, bar=bar)
    assert bar.passed == bar.totals == {"shoppers": 250}
    assert result.published.shape == result.truth.shape == (250, 4)
    off = result.published[-1] - result.truth[-1]
    assert np.abs(off).max() < 6 * result.standard_deviation
    assert result.report()["true"]["groceries"] == result.truth[-1, 0]


def test_every_mechanism_has_a_curve_and_none_is_worse_than_noise_for_every_total() -> None:
    releases = np.array([1, 100, 10_000])
    with_delta = deviations(USUAL, releases)
    assert list(with_delta) == ["tree", "honaker", "toeplitz", "fresh", AFRESH]
    assert all(curve[-1] <= with_delta[AFRESH][-1] for curve in with_delta.values())
    without = deviations(Privacy(1.0), releases)
    assert list(without) == ["tree", "honaker", "fresh", AFRESH]
    assert all(curve[-1] <= without[AFRESH][-1] for curve in without.values())
