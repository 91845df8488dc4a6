"""If these fail, users without matplotlib wait for a traceback, or a picture hides its point."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from rich.console import Console

from discreet import ConfigError, Privacy
from discreet.papers.reproduce import reproduce
from discreet.simulate.demo import display, regression
from discreet.simulate.demo.display import tell_display
from discreet.simulate.demo.regression import tell_regression
from discreet.simulate.problems.display import Run

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@pytest.fixture
def without_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)


@pytest.mark.usefixtures("without_matplotlib")
@pytest.mark.parametrize("tell", [tell_display, tell_regression], ids=["display", "regression"])
def test_a_demo_is_refused_before_anything_is_simulated(
    tell: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def simulate(*learners: Any) -> None:
        raise AssertionError("this takes minutes")

    monkeypatch.setattr(sys.modules[tell.__module__], "warm_up", simulate)
    with pytest.raises(
        ConfigError, match=r"pictures need matplotlib: pip install 'discreet\[lab\]'"
    ):
        tell(1000, Privacy(1.0, 1e-6), tmp_path / "demo", seed=1, console=Console(quiet=True))
    assert not (tmp_path / "demo").exists()


@pytest.mark.usefixtures("without_matplotlib")
def test_tables_are_refused_before_anything_is_simulated(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="pictures need matplotlib"):
        reproduce(["sco-tables"], tmp_path / "tables", console=Console(quiet=True))


def drawn_display(shares: dict[str, float]) -> "Figure":
    """The picture of a shop in which contenders have these shares."""
    visitors = np.array([0, 100_000])
    runs = {
        name: Run(20_000 + 30_000 * share, visitors, np.array([0, 20_000 + 30_000 * share]))
        for name, share in shares.items()
    }
    curves = {
        name: np.array([[0.4, 0.5], [0.7, 0.8], [0.9, 0.9], [1.0, 1.0]]) for name in display.CURVES
    }
    result = display.DisplayResult(100_000, Privacy(1.0, 1e-6), 20_000, 50_000, runs, curves)
    return display._picture(result)


def test_the_picture_of_the_shop_states_what_was_measured() -> None:
    figure = drawn_display(
        {"rewards only": 0.7, "clicks": 0.882, "whole preferences": 0.97, display.PLAIN: 0.98}
    )
    left, right = figure.axes
    title = left.get_title(loc="left").replace("\n", " ")
    assert "keeps 90.0\N{NO-BREAK SPACE}% of the value" in title  # 0.882 of 0.98
    other = right.get_title(loc="left").replace("\n", " ")
    assert "3 shops that see only clicks keep 90\N{NO-BREAK SPACE}% of the value" in other
    assert "45\N{NO-BREAK SPACE}%" in other
    assert len(left.lines) <= 4
    assert left.get_xscale() == right.get_xscale() == "log"
    assert {text.get_text() for text in left.texts} >= {"random items", "private,\nsees clicks"}


def test_the_picture_of_a_shop_that_could_not_learn_says_so() -> None:
    figure = drawn_display(
        {"rewards only": 0.0, "clicks": 0.02, "whole preferences": 0.01, display.PLAIN: 0.05}
    )
    title = figure.axes[0].get_title(loc="left").replace("\n", " ")
    assert title == "100,000 visitors are too few to learn from, even without privacy"


@pytest.mark.parametrize("is_known", [True, False])
def test_the_picture_of_prices_counts_the_ranges_that_hold_the_effect(is_known: bool) -> None:
    effects = np.array([140.0, 30, -90, -50, 15, 30])
    errors = np.array([10.0, 1, 5, 5, 5, 5]) if is_known else np.full(6, np.nan)
    plain = np.array([150.0, 25, -90, -50, 15, 30])
    paths = {
        regression.PUBLISHED: np.array([0.0, 0.4, 0.51]),
        regression.PLAIN: np.array([0.5, 0.52, 0.524]),
    }
    clocks = np.array([300, 5000, 20_000])
    result = regression.RegressionResult(
        20_000, Privacy(1.0, 1e-6), clocks, effects, errors, plain, paths
    )
    left, right = regression._picture(result).axes
    title = left.get_title(loc="left").replace("\n", " ")
    assert "51.0\N{NO-BREAK SPACE}% of the variance of prices" in title
    assert "without privacy, 52.4\N{NO-BREAK SPACE}%" in title
    point = "5 of 6 published ranges" if is_known else "20,000 sellers are too few"
    assert right.get_title(loc="left").startswith(point)
    assert "in thousands" in right.get_xlabel()
    assert "logarithmic" in left.get_xlabel()
