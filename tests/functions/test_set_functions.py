"""If these fail, a person's preferences are misread."""

import numpy as np
import pytest

import functions_reference as reference
from discreet import OutOfBounds
from discreet.errors import ConfigError
from discreet.functions import (
    ClickModel,
    ConcaveOverModular,
    FacilityLocation,
    SetFunction,
    WeightedCoverage,
    check_set_function,
)

FAMILIES = [
    (ClickModel(), reference.click_model, 5),
    (FacilityLocation(), reference.facility_location, 5),
    (ConcaveOverModular("cap"), reference.capped, 5),
    (ConcaveOverModular("sqrt"), reference.square_root, 5),
    (WeightedCoverage(reference.COVERS), reference.coverage, 4),
]


@pytest.mark.parametrize(
    ("family", "plain", "width"), FAMILIES, ids=lambda value: type(value).__name__
)
def test_gains_are_differences_of_values(
    family, plain, width: int, crowd: np.random.Generator
) -> None:  # type: ignore[no-untyped-def]
    rows, _ = family.admit(crowd.dirichlet(np.ones(width), size=20), 5)
    assert family.width(5) == width
    covered, chosen = family.begin(rows), []
    for item in (3, 0, 4):
        expected = [
            [plain(row, [*chosen, other]) - plain(row, chosen) for other in range(5)]
            for row in rows
        ]
        free = [other for other in range(5) if other not in chosen]
        assert np.allclose(family.gains(rows, covered)[:, free], np.array(expected)[:, free])
        covered = family.add(rows, covered, item)
        chosen.append(item)


@pytest.mark.parametrize(
    ("family", "plain", "width"), FAMILIES, ids=lambda value: type(value).__name__
)
def test_families_are_monotone_submodular_and_bounded(
    family, plain, width: int, crowd: np.random.Generator
) -> None:  # type: ignore[no-untyped-def]
    row = crowd.dirichlet(np.ones(width))
    assert check_set_function(lambda chosen: plain(row, chosen.tolist()), items=5) == []


def test_rows_out_of_range_are_clipped_and_told() -> None:
    rows, fine = ClickModel().admit(
        np.array([[0.5, 2.0], [0.1, 0.2], [np.nan, 0.3], [-1.0, 0.0]]), 2
    )
    assert rows.tolist() == [[0.5, 1.0], [0.1, 0.2], [0.0, 0.0], [0.0, 0.0]]
    assert fine.tolist() == [False, True, False, False]
    heavy, fine = WeightedCoverage(reference.COVERS).admit(np.array([[1.0, 1.0, 1.0, 1.0]]), 5)
    assert heavy.sum() == pytest.approx(1.0)
    assert not fine[0]


def test_a_callable_is_asked_once_for_each_set() -> None:
    asked: list[int] = []
    person = SetFunction(lambda chosen: asked.append(1) or 0.1 * len(chosen))  # type: ignore[func-returns-value]
    person.gains([0], 4)
    person.gains([0], 4)
    assert len(asked) == 4


@pytest.mark.parametrize(
    "function",
    [lambda chosen: 1 / 0, lambda chosen: float("nan"), lambda chosen: "much", lambda chosen: None],
)
def test_a_callable_that_fails_counts_as_nothing(function) -> None:  # type: ignore[no-untyped-def]
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
def test_what_is_wrong_with_a_callable_is_named(function, problem: str) -> None:  # type: ignore[no-untyped-def]
    assert any(line.startswith(problem) for line in check_set_function(function, items=6))


def test_impossible_families_are_refused() -> None:
    with pytest.raises(ConfigError, match="curve must be"):
        ConcaveOverModular("log")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="covers must have a row"):
        WeightedCoverage(((1, 0),)).width(3)
