"""If these fail, the picture of an audit hides what an attacker can show."""

from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from discreet import ConfigError, pictures
from discreet.audit import report

pytest.importorskip("matplotlib", reason="Matplotlib is not installed")


def row(learner: str, mode: str, miss: float, *, epsilon: float = 3.0, caught: bool = False) -> Any:
    """The audit of a mode in which the attack misses this share of runs without a false alarm."""
    attacked = {
        "epsilon": 0.5,
        "caught": caught,
        "false_alarms": [0.0, 0.0, 1.0],
        "misses": [1.0, miss, 0.0],
    }
    return {
        "learner": learner,
        "mode": mode,
        "epsilon": epsilon,
        "delta": 1e-6,
        "attack": attacked,
    }


def title_of(rows: list[Any]) -> str:
    figure = report.draw_trade_offs(rows)
    return figure.get_suptitle().replace("\n", " ").replace("\N{NO-BREAK SPACE}", " ")


def test_the_title_compares_the_attack_with_the_limit_and_with_a_guess() -> None:
    rows = [row("Hedge", "hedge", 0.9), row("Hedge", "pure", 0.5), row("RunningSum", "sum", 0.8)]
    title = title_of(rows)
    assert "in at most 75 % of the runs; the guarantee allows 95 %" in title
    panels = report.draw_trade_offs(rows).axes
    assert len(panels) == 2
    assert panels[0].texts[0].get_text() == "pure, the worst of 2 modes"
    assert all(len(panel.lines) <= 3 for panel in panels)


def test_the_title_says_when_more_is_shown_than_is_allowed() -> None:
    assert "MORE OFTEN THAN IS ALLOWED: in 95 %" in title_of([row("Hedge", "a", 0.1, caught=True)])


def test_a_lucky_attack_on_few_runs_is_not_called_a_breach() -> None:
    title = title_of([row("Hedge", "hedge", 0.5, epsilon=0.1)])
    assert "in 75 % of the runs, by luck: 52 % is allowed" in title


def test_an_audit_without_matplotlib_is_refused_before_anything_is_audited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse() -> None:
        raise ConfigError("pictures need matplotlib")

    monkeypatch.setattr(pictures, "require_matplotlib", refuse)
    with pytest.raises(ConfigError, match="pictures need matplotlib"):
        report.run_audit(
            ["hedge"],
            size=report.Size(pairs=1, runs=8),
            epsilon=3.0,
            delta=1e-6,
            seed=0,
            out=tmp_path / "audit",
            console=Console(quiet=True),
        )
    assert not (tmp_path / "audit").exists()
