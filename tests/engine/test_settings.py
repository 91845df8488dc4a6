"""If these fail, different settings share a hash, or a wrong setting raises a foreign error."""

import inspect
import json
from math import inf, nan
from typing import Any

import numpy as np
import pytest

from discreet import Hedge, Privacy, RunningSum, SetMaximizer, SetMinimizer, StreamingLearner
from discreet.domains import Box, LpBall
from discreet.engine.settings import Settings
from discreet.errors import ConfigError, StateError
from discreet.functions import ConcaveOverModular, GraphCut, MinusModular, WeightedCoverage
from discreet.learners.base import Learner
from discreet.learners.forced import forced
from discreet.learners.set_maximizer import SetMaximizerSettings
from discreet.losses import HuberLoss, SquaredLoss

USUAL = Privacy(1.0, 1e-6)
REGRESSION: dict[str, Any] = {
    "domain": LpBall(3),
    "loss": SquaredLoss(),
    "horizon": 50,
    "feature_bound": 1.0,
    "target_bound": 1.0,
}
BASES: list[tuple[type[Learner], dict[str, Any]]] = [
    (RunningSum, {"dimension": 2, "horizon": 50, "bound": 1.0}),
    (Hedge, {"actions": 3, "horizon": 50}),
    (SetMaximizer, {"items": 4, "slots": 2, "horizon": 50}),
    (SetMaximizer, {"items": 4, "slots": 2, "horizon": 500, "feedback": "clicks", "stream": "iid"}),
    (SetMinimizer, {"items": 4, "horizon": 50, "function": MinusModular(GraphCut(((0, 1),)))}),
    (SetMinimizer, {"items": 4, "horizon": 500, "feedback": "bandit"}),
    (StreamingLearner, REGRESSION),
]
WRONG = [
    "x", "", None, [], {}, (), True, False, 2.5, -1, 0, object(), b"", b"x", nan, inf, -inf, 1e400,
    10**400, -(10**30), [None], {"kind": "LpBall"}, {"kind": 3}, np.array([1.0, 2.0]),
    np.array([]), np.nan, int, len, ..., 1j, {1, 2},
]  # fmt: skip


def parameters(learner: type[Learner]) -> list[str]:
    return [name for name in inspect.signature(learner.__init__).parameters if name != "self"]


@pytest.mark.parametrize(
    ("learner", "base", "name"),
    [(learner, base, name) for learner, base in BASES for name in parameters(learner)],
    ids=lambda value: (
        value.__name__ if isinstance(value, type) else value if isinstance(value, str) else ""
    ),
)
def test_a_wrong_setting_is_a_config_error_and_nothing_else(
    learner: type[Learner],
    base: dict[str, Any],
    name: str,
    tmp_path: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Every parameter of every learner gets each of thirty wrong values."""
    monkeypatch.chdir(tmp_path)  # a journal called "x" is a journal
    failures = []
    for wrong in WRONG:
        try:
            learner(**({"privacy": USUAL} | base | {name: wrong})).detach()
        except ConfigError as error:
            if "\n" in str(error):
                failures.append(f"{wrong!r}: several lines")
        except StateError as error:
            if name != "journal":  # a path may be no place for a file
                failures.append(f"{wrong!r}: {error}")
        except Exception as error:
            failures.append(f"{wrong!r}: {type(error).__name__}: {str(error)[:80]}")
    assert not failures, f"{name}: " + "; ".join(failures)


NESTED = [
    (lambda wrong: LpBall(wrong), "dimension"),
    (lambda wrong: LpBall(2, wrong), "p"),
    (lambda wrong: LpBall(2, 2, wrong), "radius"),
    (lambda wrong: Box(2, wrong), "low"),
    (lambda wrong: Box(2, 0.0, wrong), "high"),
    (lambda wrong: HuberLoss(wrong), "width"),
    (lambda wrong: ConcaveOverModular(wrong), "curve"),
    (lambda wrong: MinusModular(wrong), "family"),
]


@pytest.mark.parametrize(
    ("make", "name"), NESTED, ids=lambda value: value if isinstance(value, str) else ""
)
def test_a_wrong_part_of_a_setting_is_a_config_error_and_nothing_else(make: Any, name: str) -> None:
    failures = []
    for wrong in WRONG:
        try:
            make(wrong)
        except ConfigError:
            continue
        except Exception as error:
            failures.append(f"{wrong!r}: {type(error).__name__}: {str(error)[:80]}")
    assert not failures, f"{name}: " + "; ".join(failures)


SETTINGS = [
    forced(RunningSum, "honaker", 2, None, USUAL, bound=1.0, norm="inf").settings,
    Hedge(3, 50, Privacy(0.5, contributions=2), bound=7.0, seed=4).settings,
    SetMaximizer(
        ["tea", "milk", "soap"], 2, 50, USUAL, function=ConcaveOverModular("sqrt")
    ).settings,
    SetMaximizer([7, "b"], 1, 50, USUAL, function=WeightedCoverage(((1, 0), (0, 1)))).settings,
    SetMinimizer(
        4, 50, USUAL, function=MinusModular(GraphCut(((0, 1), (2, 3)), directed=True))
    ).settings,
    StreamingLearner(
        **(REGRESSION | {"privacy": USUAL, "domain": LpBall(3, inf), "loss": HuberLoss(0.1)})
    ).settings,
    StreamingLearner(
        **(REGRESSION | {"privacy": USUAL, "domain": Box(3, -2.0, 0.5), "intercept": True})
    ).settings,
]


@pytest.mark.parametrize("settings", SETTINGS, ids=lambda value: type(value).__name__)
def test_settings_are_the_same_in_python_toml_and_json(settings: Settings) -> None:
    kind = type(settings)
    for again in (
        kind.from_toml(settings.to_toml()),
        kind.from_plain(json.loads(json.dumps(settings.as_plain()))),
    ):
        assert again == settings
        assert again.hash == settings.hash
        assert again.to_toml() == settings.to_toml()


@pytest.mark.parametrize("settings", SETTINGS, ids=lambda value: type(value).__name__)
def test_a_hash_does_not_depend_on_how_numbers_print(settings: Settings) -> None:
    kind = type(settings)
    plain = settings.as_plain()
    with np.printoptions(precision=1, threshold=2, suppress=True, legacy="1.13"):
        assert kind.from_plain(plain).hash == settings.hash


def test_any_other_setting_has_another_hash() -> None:
    plain = SETTINGS[2].as_plain()
    changes: list[dict[str, Any]] = [
        {}, {"epsilon": 1.0 + 1e-15}, {"delta": 2e-6}, {"contributions": 2}, {"horizon": 51},
        {"seed": 0}, {"labels": ["tea", "milk", "rope"]}, {"slots": 1}, {"function": "ClickModel"},
        {"stream": "iid"},
    ]  # fmt: skip
    hashes = {SetMaximizerSettings.from_plain(plain | change).hash for change in changes}
    assert len(hashes) == len(changes)


def test_missing_and_unknown_settings_are_named() -> None:
    with pytest.raises(ConfigError, match="the settings lack epsilon, delta, items, slots"):
        SetMaximizerSettings.from_plain({})
    with pytest.raises(ConfigError, match="unknown key 'colour', known are block, bound"):
        SetMaximizerSettings.from_plain(SETTINGS[2].as_plain() | {"colour": "red"})
    with pytest.raises(ConfigError, match="not TOML"):
        SetMaximizerSettings.from_toml("epsilon = ")


def test_labels_may_replace_the_number_of_items() -> None:
    text = 'epsilon = 1.0\ndelta = 0\nhorizon = 9\nslots = 1\nitems = ["tea", "milk"]\n'
    settings = SetMaximizerSettings.from_toml(text)
    assert (settings.items, settings.labels) == (2, ("tea", "milk"))
    assert SetMaximizerSettings.from_toml(settings.to_toml()) == settings


def test_settings_of_another_learner_are_refused() -> None:
    with pytest.raises(ConfigError, match="Hedge takes HedgeSettings, got SetMaximizerSettings"):
        Hedge.from_settings(SETTINGS[2])
