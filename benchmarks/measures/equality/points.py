"""Runs of points and sets under constraints."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from discreet import ContinuousMaximizer, Privacy
from discreet.domains import Knapsack, PartitionMatroid, UniformMatroid
from discreet.functions import (
    BudgetAllocation,
    ConcaveOfLinear,
    FacilityLocation,
    Gradient,
    Multilinear,
)
from measures.equality.runs import Scenario
from measures.equality.tools import HOW, NAN, PURE, RETURNING, USUAL, made


def points() -> Iterator[Scenario]:
    """All modes of ContinuousMaximizer."""
    items = 8
    shelves = PartitionMatroid((0, 0, 0, 0, 1, 1, 1, 1), (1, 2))
    prices = Knapsack((1.0, 2.0, 2.5, 1.0, 1.5, 0.5, 1.0, 2.0), 3.0)

    def scenario(mode: str, name: str, /, **more: Any) -> Scenario:
        how = {key: more.pop(key) for key in HOW if key in more}
        shape: dict[str, Any] = {"domain": shelves, "horizon": 3000, "privacy": USUAL} | more
        usual = Scenario(
            name=f"ContinuousMaximizer {mode}, {name}",
            make=made(ContinuousMaximizer, **({"mode": mode} | shape)),
            person=lambda generator, round: generator.beta(1, 3, size=items),
            rounds=3000,
            refused=([0.7], "abc", [0.7] * (items - 1) + [NAN], [0.7] * (items - 1) + [1.5]),
            broken=[NAN] * items,
        )
        return replace(usual, **how)

    amounts: dict[str, Any] = {"play": "point", "function": ConcaveOfLinear("log", 3.0)}
    one = UniformMatroid(items, 2)
    shapes: list[tuple[str, dict[str, Any]]] = [
        ("disjoint-sets", {"stream": "iid"}),
        ("quota-sets", {"domain": one}),
        ("vertex", {}),
        ("euclidean", {"domain": one, **amounts}),
    ]
    for mode, shape in shapes:
        yield scenario(mode, "usual", **shape)
        yield scenario(mode, "pure", **shape, privacy=PURE)
        yield scenario(
            mode, "block", **shape, block=100, privacy=Privacy(1.0, 1e-6, contributions=2)
        )
        yield scenario(mode, "labels", **shape, labels=[f"item {place}" for place in range(items)])
        yield scenario(mode, "keyed", **shape, privacy=RETURNING, keyed=True)
        yield scenario(mode, "replay", **shape, replay=True)
        yield scenario(mode, "resumed", **shape, resume=True)
        yield scenario(mode, "single", **shape, single=300)
    yield scenario(
        "quota-sets", "facility location", domain=one, function=Multilinear(FacilityLocation())
    )
    yield scenario("disjoint-sets", "knapsack", stream="iid", domain=prices)
    yield scenario("vertex", "bound", bound=0.5)
    yield scenario("vertex", "points of a knapsack", domain=prices, play="point")
    yield scenario("vertex", "budget", domain=prices, function=BudgetAllocation())
    yield scenario(
        "euclidean", "capped", domain=prices, play="point", function=ConcaveOfLinear("cap")
    )
    wide: dict[str, Any] = {"domain": UniformMatroid(44, 2), "broken": [NAN] * 44, "mode": "auto"}
    wide["person"] = lambda generator, round: generator.beta(1, 3, size=44)
    yield scenario("euclidean", "many items", **wide, **amounts)
    yield scenario("euclidean", "many items, pure", **wide, **amounts, privacy=PURE)
    yield scenario(
        "euclidean", "callable", domain=one, play="point", function=Gradient(_slope, items)
    )


def _slope(point: Any, row: Any) -> Any:
    """The gradient of a concave function of amounts."""
    return row / (1 + row @ point)
