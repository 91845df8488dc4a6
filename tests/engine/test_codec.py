"""If these fail, settings do not survive JSON or TOML, or a wrong one raises a foreign error."""

import json
import tomllib
from dataclasses import dataclass
from math import inf, nan
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.domains import Box, LpBall, Simplex
from discreet.engine.codec import admitted, as_plain, fingerprint, to_toml
from discreet.errors import ConfigError
from discreet.functions import (
    ClickModel,
    ConcaveOverModular,
    FacilityLocation,
    GraphCut,
    MinusModular,
    WeightedCoverage,
)
from discreet.losses import GeneralisedLinearLoss, HuberLoss, SquaredLoss

Functions = (
    MinusModular | GraphCut | ClickModel | FacilityLocation | ConcaveOverModular | WeightedCoverage
)
Losses = SquaredLoss | HuberLoss | GeneralisedLinearLoss
Domains = LpBall | Box | Simplex

DESCRIBED: list[tuple[Any, Any]] = [
    (Functions, ClickModel()),
    (Functions, ConcaveOverModular("sqrt")),
    (Functions, WeightedCoverage(((1, 0, 1), (0, 1, 1)))),
    (Functions, GraphCut(((0, 1), (1, 2)), directed=True)),
    (Functions, MinusModular(GraphCut(((0, 1),)))),
    (Functions, MinusModular(WeightedCoverage(((1, 0), (0, 1))))),
    (Functions, MinusModular(FacilityLocation())),
    (Losses, SquaredLoss()),
    (Losses, HuberLoss(0.25)),
    (Losses, GeneralisedLinearLoss("log")),
    (Domains, LpBall(3, 1.5, 2.0)),
    (Domains, LpBall(3, inf)),
    (Domains, Box(4, -1.0, 7.0)),
    (Domains, Simplex(5, 2.5)),
]


@pytest.mark.parametrize(("annotation", "value"), DESCRIBED, ids=lambda value: repr(value)[:50])
def test_a_described_value_survives_json_and_toml(annotation: Any, value: Any) -> None:
    plain = as_plain(value)
    for text in (json.loads(json.dumps(plain)), tomllib.loads(to_toml({"value": plain}))["value"]):
        assert admitted(annotation, text, "value") == value
    assert plain["kind"] == type(value).__name__


@pytest.mark.parametrize(("annotation", "value"), DESCRIBED, ids=lambda value: repr(value)[:50])
def test_a_kind_whose_fields_have_defaults_can_be_named(annotation: Any, value: Any) -> None:
    kind = type(value)
    try:
        usual = kind()
    except TypeError:
        for short in (kind, kind.__name__, {"kind": kind.__name__}):
            with pytest.raises(ConfigError, match=r": \w+ lacks "):
                admitted(annotation, short, "value")
        return
    for short in (kind, kind.__name__, {"kind": kind.__name__}):
        assert admitted(annotation, short, "value") == usual


def test_settings_of_a_kind_are_checked_by_name_and_type() -> None:
    with pytest.raises(ConfigError, match="domain: unknown key 'size', known are dim"):
        admitted(Domains, {"kind": "LpBall", "dimension": 3, "size": 2}, "domain")
    with pytest.raises(ConfigError, match=r"dimension must be a whole number, got 2\.5"):
        admitted(Domains, {"kind": "LpBall", "dimension": 2.5}, "domain")
    with pytest.raises(ConfigError, match="domain must be LpBall or Box or Simplex, got"):
        admitted(Domains, {"kind": "Sphere", "dimension": 2}, "domain")


@dataclass(frozen=True)
class Nested:
    """Settings with a field of every type."""

    count: int
    share: float
    mode: Literal["fast", "slow"] | int
    pairs: tuple[tuple[int, float], ...]
    inner: LpBall | Box
    name: str | None = None


@given(
    st.integers(-(2**80), 2**80),
    st.floats(allow_nan=False, allow_infinity=False) | st.just(inf),
    st.sampled_from(["fast", "slow"]) | st.integers(0, 9),
    st.none() | st.text(max_size=20),
    st.lists(st.tuples(st.integers(-9, 9), st.floats(-1e300, 1e300)), max_size=4),
)
def test_any_settings_survive_json_and_toml(
    count: int, share: float, mode: Any, name: str | None, pairs: list[tuple[int, float]]
) -> None:
    """Texts may hold any characters."""
    high = share if -1 < share < 1e100 else 1.0
    value = Nested(count, share, mode, tuple(pairs), Box(2, -1.0, high), name)
    plain = as_plain(value)
    assert admitted(Nested, json.loads(json.dumps(plain)), "value") == value
    assert admitted(Nested, tomllib.loads(to_toml(plain)), "value") == value


@pytest.mark.parametrize(
    "label", ["🍵", "\x7f", "\u2028", 'a"b\\c', "tab\tline\n", "ünïcode", "\x00"]
)
def test_labels_of_any_script_survive_toml(label: str) -> None:
    assert tomllib.loads(to_toml({"labels": [label]})) == {"labels": [label]}


@pytest.mark.parametrize(
    ("annotation", "wrong"),
    [
        (int, [True, 2.5, "3", None, [], {}, b"", nan, object(), np.array([1, 2])]),
        (float, [True, "x", None, [], {}, b"", object(), np.array([1.0, 2.0]), 10**400]),
        (bool, [1, 0, "yes", None, [], 1.0]),
        (str, [1, None, b"x", ["x"]]),
        (Literal["auto"] | int, ["later", 2.5, None, True, ["auto"], np.array(["auto", "auto"])]),
        (tuple[int, ...], [1, "ab", None, {}, [1, "x"], [2.5], object()]),
        (tuple[int, int], [[1], [1, 2, 3], 5]),
        (Domains, [1, "ball", None, [], {}, {"kind": []}, np.array([1.0, 2.0]), object()]),
    ],
)
def test_wrong_types_are_reported_in_one_line(annotation: Any, wrong: list[Any]) -> None:
    for value in wrong:
        with pytest.raises(ConfigError) as caught:
            admitted(annotation, value, "size")
        assert "size" in str(caught.value)
        assert "\n" not in str(caught.value)
        assert len(str(caught.value)) < 400


class Rude:
    """A value all of whose methods raise."""

    def __eq__(self, other: object) -> bool:
        raise RuntimeError

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        raise RuntimeError


@pytest.mark.parametrize(
    "annotation", [int, float, str, Literal["a"], tuple[int, ...], Domains, Functions]
)
def test_a_value_with_code_of_its_own_is_refused_like_any_other(annotation: Any) -> None:
    with pytest.raises(ConfigError, match="got a Rude"):
        admitted(annotation, Rude(), "size")


def test_numbers_of_numpy_are_numbers() -> None:
    assert admitted(int, np.int32(7), "size") == 7
    assert type(admitted(float, np.float32(0.5), "size")) is float
    assert admitted(tuple[float, ...], np.array([1, 2]), "weights") == (1.0, 2.0)
    assert admitted(bool, np.True_, "flag") is True


def test_a_fingerprint_is_of_contents_and_not_of_how_they_print() -> None:
    rows = np.linspace(0, 1, 2000)
    nearly = rows.copy()
    nearly[1000] += 1e-12
    plain = fingerprint({"rows": rows, "share": 0.1 + 0.2})
    with np.printoptions(precision=2, threshold=5, suppress=True):
        assert fingerprint({"rows": rows, "share": 0.1 + 0.2}) == plain
    assert fingerprint({"rows": nearly, "share": 0.1 + 0.2}) != plain
    assert fingerprint({"rows": rows, "share": 0.3}) != plain


def test_values_that_differ_have_different_fingerprints() -> None:
    different: list[Any] = [
        0, 0.0, False, None, "", "0", b"", b"0", [], [[]], [0], {}, {"a": 0}, {"a": None}, -0.0, 1,
        True, nan, inf, np.zeros(1), np.zeros((1, 1)), np.zeros(1, dtype=np.int64), np.zeros(0),
        LpBall(2), LpBall(2, 1.5), Box(2),
    ]  # fmt: skip
    assert len({fingerprint(value) for value in different}) == len(different)
    assert fingerprint("ab", "c") != fingerprint("a", "bc")
    assert fingerprint([1], [2]) != fingerprint([1, 2])
    assert fingerprint({"a": 1, "b": 2}) == fingerprint({"b": 2, "a": 1})
    with pytest.raises(ConfigError, match="got object"):
        fingerprint(object())
