"""If these fail, a person's costs are misread."""

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
    CostFunctions,
    FacilityLocation,
    GraphCut,
    MinusModular,
    WeightedCoverage,
    check_set_function,
)
from discreet.functions.sets import SetFunction

EDGES = ((0, 1), (1, 2), (4, 0), (3, 4))
Reference = Callable[[np.ndarray, list[int]], float]
"""The cost of a set to one person, by a plain formula."""


def cut(row: np.ndarray, chosen: list[int], directed: bool) -> float:
    """Return the weight of the edges that leave the chosen items."""
    cuts = [
        (a in chosen and b not in chosen) or (not directed and b in chosen and a not in chosen)
        for a, b in EDGES
    ]
    return float(np.dot(row, cuts))


def minus_modular(family: Reference, width: int) -> Reference:
    """Return the reference of `MinusModular`: the family's numbers come first in a row."""

    def cost(row: np.ndarray, chosen: list[int]) -> float:
        return family(row[:width], chosen) - float(row[width:][chosen].sum())

    return cost


PLAIN: list[tuple[Any, Reference, int]] = [
    (ClickModel(), reference.click_model, 5),
    (FacilityLocation(), reference.facility_location, 5),
    (ConcaveOverModular("cap"), reference.capped, 5),
    (ConcaveOverModular("sqrt"), reference.square_root, 5),
    (WeightedCoverage(reference.COVERS), reference.coverage, 4),
    (GraphCut(EDGES), lambda row, chosen: cut(row, chosen, False), 4),
    (GraphCut(EDGES, directed=True), lambda row, chosen: cut(row, chosen, True), 4),
]
MINUS_MODULAR: list[tuple[Any, Reference, int]] = [
    (MinusModular(inner), minus_modular(cost, width), width + 5) for inner, cost, width in PLAIN[2:]
]
every_family = pytest.mark.parametrize(
    ("functions", "cost", "width"),
    PLAIN + MINUS_MODULAR,
    ids=lambda value: repr(value)[:40] if hasattr(value, "along") else "",
)


@every_family
def test_one_pass_over_a_row_gives_the_gains_of_a_chain_of_sets(
    functions: CostFunctions, cost: Reference, width: int, generator: np.random.Generator
) -> None:
    rows = generator.dirichlet(np.ones(width), size=9)
    assert functions.width(5) == width
    admitted, fine = functions.admit(rows, 5)
    assert fine.all()
    assert np.allclose(admitted, rows)
    order = generator.permutation(5)

    gains = functions.along(rows, order)

    for row, of_row in zip(rows, gains, strict=True):

        def value(chosen: Integers, row: np.ndarray = row) -> float:
            return cost(row, chosen.tolist())

        assert np.allclose(of_row, SetFunction(value).along(order, bound=2.0))
        assert check_set_function(value, 5, bound=2.0, monotone=False) == []


@every_family
@pytest.mark.parametrize("odd", [-1.0, 7.0, np.nan, np.inf, 1e300])
def test_one_person_never_changes_how_another_is_read(
    functions: CostFunctions,
    cost: Reference,
    width: int,
    odd: float,
    generator: np.random.Generator,
) -> None:
    rows = generator.dirichlet(np.ones(width), size=9) * (1 + 5e-13)
    other = rows.copy()
    other[0, 0] = odd
    here, there = functions.admit(rows, 5)[0], functions.admit(other, 5)[0]
    order = generator.permutation(5)
    assert np.array_equal(here[1:], there[1:])
    assert np.array_equal(functions.along(here, order)[1:], functions.along(there, order)[1:])


def test_the_compiled_cut_equals_a_matrix_product(generator: np.random.Generator) -> None:
    edges = generator.integers(0, 30, size=(80, 2))
    edges = edges[edges[:, 0] != edges[:, 1]]
    rows = generator.random((6, len(edges)))
    order = generator.permutation(30)
    rank = np.argsort(order)
    signs = np.zeros((len(edges), 30))
    for number, (a, b) in enumerate(edges):
        first, second = (a, b) if rank[a] < rank[b] else (b, a)
        signs[number, first] = 1.0
        signs[number, second] = -1.0
    graph = GraphCut(tuple((first, second) for first, second in edges.tolist()))
    assert np.allclose(graph.along(rows, order), rows @ signs)


def test_rows_out_of_range_are_clipped_and_marked() -> None:
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
    raising = SetFunction(lambda chosen: 1 / 0)
    undefined = SetFunction(lambda chosen: float("nan"))
    steep = SetFunction(lambda chosen: 50.0 * len(chosen) - 20)
    assert raising.along(order, 1.0).tolist() == [0.0, 0.0, 0.0]
    assert undefined.along(order, 1.0).tolist() == [0.0, 0.0, 0.0]
    assert steep.along(order, 1.0).tolist() == [2.0, 0.0, 0.0]
    with pytest.raises(OutOfBounds):
        SetFunction("not a function")  # type: ignore[arg-type]


@pytest.mark.parametrize("edges", [(), ((0, 0),), ((0, 9),), ((-1, 0),)])
def test_edges_that_do_not_fit_are_refused(edges: Any) -> None:
    with pytest.raises(ConfigError, match="edges"):
        GraphCut(edges).width(3)


def test_costs_that_are_not_submodular_or_not_bounded_are_reported() -> None:
    of_convex = check_set_function(lambda chosen: len(chosen) ** 2 / 25, 5, monotone=False)
    of_large = check_set_function(lambda chosen: -float(len(chosen)), 5, monotone=False)
    assert of_convex[0].startswith("not submodular")
    assert of_large == ["not bounded: a set is worth more than 1 or less than -1"]
