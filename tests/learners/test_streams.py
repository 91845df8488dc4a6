"""If these fail, a page promises value on streams on which a learner keeps less.

The promises are those of docs/streams.md. Every run has a fixed seed; the floors leave room for
other draws.
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
PAGE = (ROOT / "docs" / "streams.md").read_text()
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
"""The least share of what the best fixed decision gains over the start."""
LOSSES: dict[str, dict[str, float]] = {
    "streaming": {"iid": 0.2, "drift": 0.4, "exchange": 0.4, "alternate": 0.35},
    "hedge": {"iid": 0.25, "drift": 0.25, "exchange": 0.25, "alternate": 0.25},
}
"""The most that is lost, between the best fixed decision (0) and the start (1)."""


def mean_value(name: str, data: str, **word: str) -> float:
    group, setting = SETTINGS[name]
    found = [
        compare(group, setting | BUDGET | word | {"data": data}, seed, True) for seed in WORLDS
    ]
    return float(
        np.mean([world["auto"] for world in found if world])
    )  # worlds with something to gain


@pytest.mark.parametrize(
    ("name", "word", "data"), [(*key, data) for key, floors in SHARES.items() for data in floors]
)
def test_a_word_keeps_the_share_that_it_promises(name: str, word: str, data: str) -> None:
    assert mean_value(name, data, word=word) >= SHARES[name, word][data]


@pytest.mark.parametrize(
    ("name", "data"), [(name, data) for name, most in LOSSES.items() for data in most]
)
def test_a_learner_without_a_word_loses_no_more_than_it_promises(name: str, data: str) -> None:
    assert mean_value(name, data) <= LOSSES[name][data]


def rows_of_page() -> dict[tuple[str, str], list[str]]:
    """The cells of the table by name and word."""
    found = {}
    for line in PAGE.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| `") and len(cells) == 6:
            found[cells[0].strip("`"), cells[1].strip("`")] = cells[2:]
    return found


def test_the_page_says_what_is_promised_and_measured() -> None:
    """Every promise that is tested stands on the page, and every measured figure is the
    benchmark's.
    """
    promised = {key: SHARES[key] for key in SHARES} | {
        (name, "–"): most for name, most in LOSSES.items()
    }
    rows = rows_of_page()
    assert rows.keys() == promised.keys()
    measured = json.loads((ROOT / "benchmarks" / "results" / "ways.json").read_text())["streams"]
    for (name, word), cells in rows.items():
        for data, cell in zip(("iid", "drift", "exchange", "alternate"), cells, strict=True):
            shown, floor = re.fullmatch(r"(−?[\d.]+)(?: \(([\d.]+)\))?", cell).groups()  # type: ignore[union-attr]
            figure = measured[f"{name}/{'none' if word == '–' else word}/{data}"]["mean"]
            assert float(shown.replace("−", "-")) == pytest.approx(figure, abs=0.0051), (
                name,
                word,
                data,
            )
            assert (floor and float(floor)) == promised[name, word].get(data)


def learner(kind: type, **more: Any) -> Any:
    privacy = Privacy(1.0, 1e-6)
    if kind is SetMaximizer:
        return SetMaximizer(5, 2, 1000, privacy, **more)
    if kind is SetMinimizer:
        return SetMinimizer(5, 1000, privacy, **more)
    return ContinuousMaximizer(UniformMatroid(5, 2), 1000, privacy, **more)


@pytest.mark.parametrize("kind", [SetMaximizer, SetMinimizer, ContinuousMaximizer])
def test_words_that_are_not_offered_say_what_to_write(kind: type) -> None:
    with pytest.raises(ConfigError, match="write stream='drifting'"):
        learner(kind, stream="any")
    with pytest.raises(
        ConfigError, match="stream must be drifting or iid or adversarial, got 'windy'"
    ):
        learner(kind, stream="windy")


def test_where_no_bound_is_known_the_word_is_refused_and_something_else_is_named() -> None:
    for make in (
        lambda: learner(SetMaximizer, stream="adversarial", feedback="clicks"),
        lambda: learner(SetMaximizer, stream="adversarial", feedback="bandit"),
        lambda: learner(SetMinimizer, stream="adversarial", feedback="bandit"),
        lambda: learner(ContinuousMaximizer, stream="adversarial"),
    ):
        with pytest.raises(
            ConfigError, match=r"^stream='adversarial' is not offered here.*: use stream='drifting'"
        ):
            make()
    with pytest.raises(ConfigError, match="stream is no setting"):
        Hedge(3, 100, Privacy(1.0, 1e-6), stream="adversarial")  # type: ignore[call-arg]


@pytest.mark.parametrize("kind", [SetMaximizer, SetMinimizer, ContinuousMaximizer])
def test_a_configuration_of_before_says_what_to_write(kind: type) -> None:
    made = learner(kind)
    plain = made.settings.as_plain() | {"stream": "any"}
    with pytest.raises(ConfigError, match="write stream='drifting'"):
        type(made.settings).from_plain(plain)


@pytest.mark.parametrize("kind", [SetMaximizer, SetMinimizer, ContinuousMaximizer])
def test_the_guarantee_says_what_value_assumes(kind: type) -> None:
    text = " ".join(str(learner(kind).guarantee).split())
    assert "does not react to what is decided" in text
    assert "privacy does not" in text


def test_the_bound_of_experts_assumes_nothing() -> None:
    text = " ".join(str(Hedge(3, 100, Privacy(1.0, 1e-6)).guarantee).split())
    assert "an adversary may have seen every decision before this round's" in text
