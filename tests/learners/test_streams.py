"""If these fail, docs/understand/streams.md guarantees more value than a learner retains.

Every run has a fixed seed; the floors leave room for other draws.
"""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from discreet import ConfigError, ContinuousMaximizer, Hedge, Privacy, SetMaximizer, SetMinimizer
from discreet.domains import UniformMatroid
from ways_of_learning import compare

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "understand" / "streams.md").read_text()
BUDGET = {"epsilon": 1.0, "delta": 1e-6}
WORLDS = range(8000, 8003)
SLATES = {"items": 30, "slots": 3, "horizon": 10_000}
CLICKS = {"items": 20, "slots": 3, "horizon": 50_000}
SETTINGS: dict[str, tuple[str, dict[str, Any]]] = {
    "set_maximizer_full": ("set_maximizer", SLATES | {"feedback": "full"}),
    "set_maximizer_clicks": ("set_maximizer", CLICKS | {"feedback": "clicks"}),
    "set_maximizer_bandit": ("set_maximizer", CLICKS | {"feedback": "bandit", "horizon": 100_000}),
    "set_minimizer_full": ("set_minimizer", {"feedback": "full", "items": 10, "horizon": 10_000}),
    "set_minimizer_bandit": (
        "set_minimizer",
        {"feedback": "bandit", "items": 10, "horizon": 100_000},
    ),
    "continuous_maximizer": ("continuous_set", SLATES),
    "streaming": (
        "streaming_passing",
        {"kind": "plain", "p": "2", "dimension": 10, "horizon": 10_000},
    ),
    "hedge": ("hedge", {"actions": 10, "horizon": 10_000}),
}
SHARES: dict[tuple[str, str], dict[str, float]] = {
    ("set_maximizer_full", "drifting"): {
        "iid": 0.85,
        "drift": 0.8,
        "exchange": 0.7,
        "alternate": 0.8,
    },
    ("set_maximizer_full", "iid"): {"iid": 0.9},
    ("set_maximizer_clicks", "drifting"): {
        "iid": 0.85,
        "drift": 0.7,
        "exchange": 0.7,
        "alternate": 0.6,
    },
    ("set_maximizer_clicks", "iid"): {"iid": 0.85},
    ("set_maximizer_bandit", "drifting"): {
        "iid": 0.75,
        "drift": 0.75,
        "exchange": 0.75,
        "alternate": 0.5,
    },
    ("set_maximizer_bandit", "iid"): {"iid": 0.75},
    ("set_minimizer_full", "drifting"): {
        "iid": 0.7,
        "drift": 0.7,
        "exchange": 0.7,
        "alternate": 0.4,
    },
    ("set_minimizer_bandit", "drifting"): {"iid": 0.7, "drift": 0.7, "exchange": 0.7},
    ("set_minimizer_bandit", "iid"): {"iid": 0.7},
    ("continuous_maximizer", "drifting"): {
        "iid": 0.85,
        "drift": 0.8,
        "exchange": 0.7,
        "alternate": 0.8,
    },
    ("continuous_maximizer", "iid"): {"iid": 0.9},
}
"""Least share of the gain of the best fixed decision over the start."""
LOSSES: dict[str, dict[str, float]] = {
    "streaming": {"iid": 0.2, "drift": 0.4, "exchange": 0.4, "alternate": 0.35},
    "hedge": {"iid": 0.25, "drift": 0.25, "exchange": 0.25, "alternate": 0.25},
}
"""Largest loss, between the best fixed decision (0) and the start (1)."""


def mean_value(name: str, data: str, **word: str) -> float:
    """Return the mean value over the worlds in which there is something to gain."""
    group, setting = SETTINGS[name]
    settings = setting | BUDGET | word | {"data": data}
    results = [compare(group, settings, seed, True) for seed in WORLDS]
    return float(np.mean([result["auto"] for result in results if result]))


@pytest.mark.parametrize(
    ("name", "word", "data"), [(*key, data) for key, floors in SHARES.items() for data in floors]
)
def test_a_setting_retains_the_share_on_the_page(name: str, word: str, data: str) -> None:
    assert mean_value(name, data, word=word) >= SHARES[name, word][data]


@pytest.mark.parametrize(
    ("name", "data"), [(name, data) for name, most in LOSSES.items() for data in most]
)
def test_a_learner_without_the_setting_loses_no_more_than_the_page_says(
    name: str, data: str
) -> None:
    assert mean_value(name, data) <= LOSSES[name][data]


def rows_of_page() -> dict[tuple[str, str], list[str]]:
    """Return the cells of the tables by name and setting."""
    rows = {}
    for line in PAGE.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| `") and len(cells) == 6:
            rows[cells[0].strip("`"), cells[1].strip("`")] = cells[2:]
    return rows


def test_the_page_has_the_tested_floors_and_the_measured_figures() -> None:
    floors = SHARES | {(name, "–"): most for name, most in LOSSES.items()}
    rows = rows_of_page()
    assert rows.keys() == floors.keys()
    measured = json.loads((ROOT / "benchmarks" / "results" / "ways.json").read_text())["streams"]
    for (name, word), cells in rows.items():
        for data, cell in zip(("iid", "drift", "exchange", "alternate"), cells, strict=True):
            match = re.fullmatch(r"(−?[\d.]+)(?: \(([\d.]+)\))?", cell)
            assert match is not None, cell
            shown, floor = match.groups()
            figure = measured[f"{name}/{'none' if word == '–' else word}/{data}"]["mean"]
            where = (name, word, data)
            assert float(shown.replace("−", "-")) == pytest.approx(figure, abs=0.0051), where
            assert (floor and float(floor)) == floors[name, word].get(data), where


def learner(kind: type, **more: Any) -> Any:
    privacy = Privacy(1.0, 1e-6)
    if kind is SetMaximizer:
        return SetMaximizer(5, 2, 1000, privacy, **more)
    if kind is SetMinimizer:
        return SetMinimizer(5, 1000, privacy, **more)
    return ContinuousMaximizer(UniformMatroid(5, 2), 1000, privacy, **more)


@pytest.mark.parametrize("kind", [SetMaximizer, SetMinimizer, ContinuousMaximizer])
def test_unknown_values_are_refused_with_the_remedy(kind: type) -> None:
    with pytest.raises(
        ConfigError, match="stream must be drifting or iid or adversarial, got 'windy'"
    ):
        learner(kind, stream="windy")


@pytest.mark.parametrize(
    ("kind", "feedback"),
    [
        (SetMaximizer, {"feedback": "clicks"}),
        (SetMaximizer, {"feedback": "bandit"}),
        (SetMinimizer, {"feedback": "bandit"}),
        (ContinuousMaximizer, {}),
    ],
)
def test_adversarial_is_refused_with_an_alternative_if_no_bound_is_known(
    kind: type, feedback: dict[str, str]
) -> None:
    with pytest.raises(
        ConfigError, match=r"^stream='adversarial' is not offered here.*: use stream='drifting'"
    ):
        learner(kind, stream="adversarial", **feedback)


def test_hedge_has_no_such_setting() -> None:
    with pytest.raises(ConfigError, match="stream is no setting here"):
        Hedge(3, 100, Privacy(1.0, 1e-6), stream="adversarial")  # type: ignore[call-arg]


@pytest.mark.parametrize("kind", [SetMaximizer, SetMinimizer, ContinuousMaximizer])
def test_the_guarantee_states_the_assumption_of_value(kind: type) -> None:
    text = " ".join(str(learner(kind).guarantee).split())
    assert "reacts neither to decisions nor to the ends of blocks" in text
    assert "privacy does not" in text


def test_the_bound_of_experts_assumes_nothing() -> None:
    text = " ".join(str(Hedge(3, 100, Privacy(1.0, 1e-6)).guarantee).split())
    assert "an adversary may have seen every earlier decision" in text
