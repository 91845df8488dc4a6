"""If these fail, a person's costs are misread."""

from typing import Any

import numpy as np
import pytest

import functions_reference as reference
from discreet.errors import ConfigError, OutOfBounds
from discreet.functions import (
    ClickModel,
    ConcaveOverModular,
    FacilityLocation,
    GraphCut,
    MinusModular,
    WeightedCoverage,
    check_set_function,
)
from discreet.functions.sets import SetFunction

EDGES = ((0, 1), (1, 2), (4, 0), (3, 4))


def cut(row: np.ndarray, chosen: list[int], directed: bool) -> float:
    cuts = [
        (a in chosen and b not in chosen) or (not directed and b in chosen and a not in chosen)
        for a, b in EDGES
    ]
    return float(np.dot(row, cuts))


PLAIN: list[tuple[Any, Any, int]] = [
    (ClickModel(), reference.click_model, 5),
    (FacilityLocation(), reference.facility_location, 5),
    (ConcaveOverModular("cap"), reference.capped, 5),
    (ConcaveOverModular("sqrt"), reference.square_root, 5),
    (WeightedCoverage(reference.COVERS), reference.coverage, 4),
    (GraphCut(EDGES), lambda row, chosen: cut(row, chosen, False), 4),
    (GraphCut(EDGES, directed=True), lambda row, chosen: cut(row, chosen, True), 4),
]
FAMILIES = PLAIN + [
    (
        MinusModular(inner),
        lambda row, chosen, plain=plain, width=width: (
            plain(row[:width], chosen) - row[width:][chosen].sum()
        ),
        width + 5,
    )
    for inner, plain, width in PLAIN[2:]
]


@pytest.mark.parametrize(
    ("functions", "plain", "width"),
    FAMILIES,
    ids=lambda value: repr(value)[:40] if hasattr(value, "along") else "",
)
def test_one_pass_over_a_row_is_a_chain_of_values(
    functions: Any, plain: Any, width: int, crowd: np.random.Generator
) -> None:
    rows = crowd.dirichlet(np.ones(width), size=9)
    assert functions.width(5) == width
    admitted, fine = functions.admit(rows, 5)
    assert fine.all()
    assert np.allclose(admitted, rows)
    order = crowd.permutation(5)
    steps = functions.along(rows, order)
    for row, step in zip(rows, steps, strict=True):
        person = SetFunction(lambda chosen, row=row: plain(row, chosen.tolist()))
        assert np.allclose(step, person.along(order, bound=2.0))
        assert (
            check_set_function(
                lambda chosen, row=row: plain(row, chosen.tolist()), 5, bound=2.0, monotone=False
            )
            == []
        )


@pytest.mark.parametrize(
    ("functions", "plain", "width"),
    FAMILIES,
    ids=lambda value: repr(value)[:40] if hasattr(value, "along") else "",
)
@pytest.mark.parametrize("odd", [-1.0, 7.0, np.nan, np.inf, 1e300])
def test_one_person_never_changes_how_another_is_read(
    functions: Any, plain: Any, width: int, odd: float, crowd: np.random.Generator
) -> None:
    rows = crowd.dirichlet(np.ones(width), size=9) * (1 + 5e-13)
    other = rows.copy()
    other[0, 0] = odd
    here, there = functions.admit(rows, 5)[0], functions.admit(other, 5)[0]
    order = crowd.permutation(5)
    assert np.array_equal(here[1:], there[1:])
    assert np.array_equal(functions.along(here, order)[1:], functions.along(there, order)[1:])


def test_the_compiled_cut_is_a_matrix_product(crowd: np.random.Generator) -> None:
    edges = crowd.integers(0, 30, size=(80, 2))
    edges = edges[edges[:, 0] != edges[:, 1]]
    rows, order = crowd.random((6, len(edges))), crowd.permutation(30)
    rank = np.argsort(order)
    signs = np.zeros((len(edges), 30))
    for number, (a, b) in enumerate(edges):
        first, second = (a, b) if rank[a] < rank[b] else (b, a)
        signs[number, first], signs[number, second] = 1.0, -1.0
    assert np.allclose(GraphCut(tuple(map(tuple, edges.tolist()))).along(rows, order), rows @ signs)


def test_rows_out_of_range_are_clipped_and_told() -> None:
    rows = np.array(
        [
            [0.5, -1.0, 0.0, 0.2],
            [np.nan, 0.0, 1.0, 0.0],
            [0.5, 0.2, -3.0, np.inf],
            [1.0, 0.0, 1e300, -1e300],
        ]
    )
    admitted, fine = MinusModular(GraphCut(((0, 1), (1, 0)))).admit(rows, 2)
    assert admitted.tolist() == [
        [0.5, 0.0, 0.0, 0.2],
        [0.0] * 4,
        [0.0] * 4,
        [1.0, 0.0, 1e100, -1e100],
    ]
    assert fine.tolist() == [False] * 4


def test_a_callable_that_fails_or_leaves_its_range_costs_at_most_its_bound() -> None:
    order = np.arange(3)
    assert SetFunction(lambda chosen: 1 / 0).along(order, 1.0).tolist() == [0.0] * 3
    assert SetFunction(lambda chosen: float("nan")).along(order, 1.0).tolist() == [0.0] * 3
    assert SetFunction(lambda chosen: 50.0 * len(chosen) - 20).along(order, 1.0).tolist() == [
        2.0,
        0.0,
        0.0,
    ]
    with pytest.raises(OutOfBounds):
        SetFunction("not a function")  # type: ignore[arg-type]


@pytest.mark.parametrize("edges", [(), ((0, 0),), ((0, 9),), ((-1, 0),)])
def test_edges_that_do_not_fit_are_refused(edges: Any) -> None:
    with pytest.raises(ConfigError, match="edges"):
        GraphCut(edges).width(3)


def test_a_cost_that_is_not_submodular_is_found() -> None:
    assert check_set_function(lambda chosen: len(chosen) ** 2 / 25, 5, monotone=False)[
        0
    ].startswith("not submodular")
    assert check_set_function(lambda chosen: -float(len(chosen)), 5, monotone=False) == [
        "not bounded: a set is worth more than 1 or less than -1"
    ]
