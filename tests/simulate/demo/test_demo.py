"""If these fail, a demo shows other numbers than were computed."""

import json
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from discreet import Privacy
from discreet.simulate.demo import display, regression
from discreet.tasks import repeat

USUAL = Privacy(1.0, 1e-6)
QUIET = Console(quiet=True)


@pytest.fixture
def in_one_process(monkeypatch: pytest.MonkeyPatch) -> None:
    in_this_process = partial(repeat, workers=1)
    monkeypatch.setattr(display, "repeat", in_this_process)
    monkeypatch.setattr(display, "MOST_VISITORS", 500)


@pytest.mark.usefixtures("in_one_process")
def test_the_shop_has_a_larger_share_the_more_it_sees(tmp_path: Path) -> None:
    report: Any = display.tell_display(4000, USUAL, tmp_path, seed=1, console=QUIET)
    shares = report["share"]
    assert shares["rewards only"] < 0.4 < 0.5 < shares["whole preferences"]
    assert shares["whole preferences"] < shares["whole preferences, no privacy"] < 1.01
    assert report["clicks"]["whole preferences"] < report["hindsight"]
    written = json.loads((tmp_path / "demo.json").read_text())
    assert written["share"] == shares
    assert written["simulated"] is True
    curve = written["share_against_epsilon"]["whole preferences"]
    assert list(curve) == ["0.1", "0.3", "1.0", "3.0"]
    assert curve["0.1"] < curve["3.0"]
    assert (tmp_path / "demo.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.usefixtures("in_one_process")
def test_the_shop_has_a_pure_guarantee_without_a_delta(tmp_path: Path) -> None:
    report = display.tell_display(600, Privacy(5.0), tmp_path, seed=1, console=QUIET)
    assert report["delta"] == 0


def test_flats_are_within_their_bounds_and_large_ones_have_more_rooms() -> None:
    rows, prices = regression.flats(5000, np.random.default_rng(0))
    assert np.linalg.norm(rows, axis=1).max() <= 1 + 1e-12
    assert np.abs(prices).max() <= 1
    assert np.corrcoef(rows[:, 0], rows[:, 1])[0, 1] > 0.85


def test_published_coefficients_come_near_least_squares_and_the_truth(tmp_path: Path) -> None:
    report: Any = regression.tell_regression(60_000, USUAL, tmp_path, seed=1, console=QUIET)
    explained = report["explained"]
    assert explained["least squares"] >= explained["discreet"] > explained["least squares"] - 0.02
    coefficients = report["coefficients"]
    assert all(
        abs(coefficients["least squares"][name] - truth) < 6
        for name, truth in regression.EFFECTS.items()
    )
    assert all(
        abs(coefficients["discreet"][name] - truth) < 40
        for name, truth in regression.EFFECTS.items()
    )
    errors = report["standard_errors"]
    assert all(
        abs(coefficients["discreet"][name] - regression.EFFECTS[name]) < 3 * errors[name]
        for name in errors
    )
    assert errors["balcony"] < 10
    assert errors["size"] > errors["balcony"]  # size is correlated with the number of rooms
    assert json.loads((tmp_path / "demo.json").read_text()) == report
    assert (tmp_path / "demo.png").stat().st_size > 10_000
