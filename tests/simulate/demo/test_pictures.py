"""If these fail, users without matplotlib wait for a simulation that ends in a traceback."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from discreet import ConfigError, Privacy, pictures
from discreet.papers.reproduce import reproduce
from discreet.simulate.demo.display import tell_display
from discreet.simulate.demo.regression import tell_regression


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


def test_a_figure_is_saved_without_a_display_and_leaves_nothing_behind(tmp_path: Path) -> None:
    import matplotlib

    backend = matplotlib.rcParams._get("backend")
    figure, (left, right) = pictures.panels(2, (6, 3))
    left.plot([0, 20_000], [0.0, 1.0], label="a line")
    pictures.mark_level(left, 0.5, "half")
    pictures.count_people(left)
    pictures.add_legend(left, loc="lower right")
    pictures.open_frame(right)
    pictures.save(figure, tmp_path / "picture.png")
    assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")
    assert matplotlib.rcParams._get("backend") == backend
