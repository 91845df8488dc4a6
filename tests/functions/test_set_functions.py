"""If these fail, a person's preferences are misread."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import functions_reference as reference
from discreet.arrays import Integers
from discreet.errors import ConfigError, OutOfBounds
from discreet.functions import (
    ClickModel,
    ConcaveOverModular,
    FacilityLocation,
    SetFunction,
    SetFunctions,
    WeightedCoverage,
    check_set_function,
)

Reference = Callable[[np.ndarray, list[int]], float]
"""The value of a set to one person, by a plain formula."""

FAMILIES: list[tuple[SetFunctions, Reference, int]] = [
    (ClickModel(), reference.click_model, 5),
    (FacilityLocation(), reference.facility_location, 5),
    (ConcaveOverModular("cap"), reference.capped, 5),
    (ConcaveOverModular("sqrt"), reference.square_root, 5),
    (WeightedCoverage(reference.COVERS), reference.coverage, 4),
]


every_family = pytest.mark.parametrize(
    ("family", "value", "width"), FAMILIES, ids=lambda value: type(value).__name__
)


@every_family
def test_gains_are_differences_of_values(
    family: SetFunctions, value: Reference, width: int, generator: np.random.Generator
) -> None:
    rows, _ = family.admit(generator.dirichlet(np.ones(width), size=20), 5)
    assert family.width(5) == width
    covered = family.begin(rows)
    chosen: list[int] = []
    for item in (3, 0, 4):
        expected = [
            [value(row, [*chosen, other]) - value(row, chosen) for other in range(5)]
            for row in rows
        ]
        free = [other for other in range(5) if other not in chosen]
        assert np.allclose(family.gains(rows, covered)[:, free], np.array(expected)[:, free])
        covered = family.add(rows, covered, item)
        chosen.append(item)


@every_family
def test_families_are_monotone_submodular_and_bounded(
    family: SetFunctions, value: Reference, width: int, generator: np.random.Generator
) -> None:
    row = generator.dirichlet(np.ones(width))
    assert check_set_function(lambda chosen: value(row, chosen.tolist()), items=5) == []


def test_rows_out_of_range_are_clipped_and_marked() -> None:
    rows, fine = ClickModel().admit(
        np.array([[0.5, 2.0], [0.1, 0.2], [np.nan, 0.3], [-1.0, 0.0]]), 2
    )
    assert rows.tolist() == [[0.5, 1.0], [0.1, 0.2], [0.0, 0.0], [0.0, 0.0]]
    assert fine.tolist() == [False, True, False, False]
    heavy, fine = WeightedCoverage(reference.COVERS).admit(np.array([[1.0, 1.0, 1.0, 1.0]]), 5)
    assert heavy.sum() == pytest.approx(1.0)
    assert not fine[0]


def test_a_callable_is_called_once_per_set() -> None:
    calls: list[list[int]] = []

    def value(chosen: Integers) -> float:
        calls.append(chosen.tolist())
        return 0.1 * len(chosen)

    person = SetFunction(value)
    person.gains([0], 4)
    person.gains([0], 4)
    assert len(calls) == 4


@pytest.mark.parametrize(
    "function",
    [lambda chosen: 1 / 0, lambda chosen: float("nan"), lambda chosen: "much", lambda chosen: None],
)
def test_a_callable_that_fails_gains_nothing(function: Any) -> None:
    assert not SetFunction(function).gains([], 3).any()


def test_something_that_is_not_a_callable_is_refused() -> None:
    with pytest.raises(OutOfBounds, match="callable"):
        SetFunction(0.5)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("function", "problem"),
    [
        (lambda chosen: 0.3, "not normalised"),
        (lambda chosen: -0.1 * len(chosen), "not monotone"),
        (lambda chosen: len(chosen) ** 2 / 100, "not submodular"),
        (lambda chosen: float(len(chosen)), "not bounded"),
    ],
)
def test_every_problem_of_a_callable_is_named(
    function: Callable[[Integers], float], problem: str
) -> None:
    assert any(line.startswith(problem) for line in check_set_function(function, items=6))


def test_impossible_families_are_refused() -> None:
    with pytest.raises(ConfigError, match="curve must be"):
        ConcaveOverModular("log")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="covers must have a row"):
        WeightedCoverage(((1, 0),)).width(3)
