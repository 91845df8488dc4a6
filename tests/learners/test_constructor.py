"""If these fail, a learner is made with other settings than its signature shows."""

from dataclasses import MISSING, fields
from inspect import Parameter, signature
from typing import Any

import pytest

from discreet import Hedge, Privacy, RunningSum, SetMaximizer, SetSelector
from discreet.errors import ConfigError
from discreet.learners.homes import HOMES
from discreet.learners.registry import learner_named

KINDS: list[Any] = [*(learner_named(name) for name in HOMES), SetSelector]
NOT_SETTINGS = {"privacy", "journal", "checkpoint", "engine"}
every_kind = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)


@every_kind
def test_a_signature_and_its_settings_have_the_same_parameters_and_defaults(kind: Any) -> None:
    """What a user reads in an editor is what the learner is made with."""
    of_settings = {field.name: field for field in fields(kind.settings_type)}
    for name, parameter in signature(kind).parameters.items():
        if name in NOT_SETTINGS:
            continue
        field = of_settings[name]
        if parameter.default is Parameter.empty:
            continue
        assert field.default is not MISSING, name
        given = kind.settings_type.translated({name: parameter.default})[name]
        is_made = isinstance(given, type)  # a family that needs no settings, by its class
        assert (given() if is_made else given) == field.default, name


@every_kind
def test_parameters_after_privacy_are_keywords(kind: Any) -> None:
    parameters = signature(kind).parameters
    places = list(parameters)
    later = places[places.index("privacy") + 1 :]
    assert all(parameters[name].kind is Parameter.KEYWORD_ONLY for name in later)


def test_a_learner_is_made_from_its_settings_by_the_same_constructor() -> None:
    shop = SetMaximizer(["tea", "milk", "soap"], 2, 1000, Privacy(1.0), stream="iid", seed=1)
    again = SetMaximizer.from_settings(shop.settings)
    assert again.settings == shop.settings
    assert again.labels == ["tea", "milk", "soap"]


def test_a_wrong_call_is_refused_by_python_and_a_setting_of_others_with_the_reason() -> None:
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'privacy'"):
        SetMaximizer(3, 2, 1000)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="unexpected keyword argument 'colour'"):
        SetMaximizer(3, 2, 1000, Privacy(1.0), colour="red")  # type: ignore[call-arg]
    with pytest.raises(ConfigError, match="stream is no setting here: leave it out, nothing is"):
        Hedge(3, 1000, Privacy(1.0), stream="iid")  # type: ignore[call-arg]


@every_kind
def test_settings_of_another_learner_are_refused_in_one_line(kind: Any) -> None:
    other = (
        Hedge(3, 100, Privacy(1.0))
        if kind is RunningSum
        else RunningSum(2, 100, Privacy(1.0), bound=1.0)
    )
    with pytest.raises(ConfigError, match=f"{kind.__name__} takes {kind.__name__}Settings, got"):
        kind(other.settings)


def test_a_setting_beside_settings_is_refused_with_the_remedy() -> None:
    settings = Hedge(3, 100, Privacy(1.0)).settings
    with pytest.raises(ConfigError, match="seed is part of the settings: change it there"):
        Hedge(settings, seed=3)  # type: ignore[call-arg]
