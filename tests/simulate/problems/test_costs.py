"""If these fail, regret is measured against the wrong set."""

from itertools import chain, combinations

import numpy as np
import pytest

from discreet.errors import ConfigError
from discreet.functions import GraphCut, MinusModular
from discreet.simulate.problems.costs import BundleWorld
from discreet.simulate.problems.least_cut import least_cut


def all_sets(items: int) -> list[tuple[int, ...]]:
    return list(chain.from_iterable(combinations(range(items), size) for size in range(items + 1)))


def value(function: MinusModular, row: np.ndarray, chosen: np.ndarray, items: int) -> float:
    order = np.concatenate([chosen, np.setdiff1d(np.arange(items), chosen)]).astype(np.int64)
    return float(function.along(row[None], order)[0][chosen].sum())


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_maximum_flow_finds_the_least_cut(seed: int, directed: bool) -> None:
    generator = np.random.default_rng(seed)
    items = 9
    edges = np.array(
        [pair for pair in combinations(generator.permutation(items), 2) if generator.random() < 0.4]
    )
    weights = generator.random(len(edges))
    modular = generator.normal(0, 1.2, size=items)
    function = MinusModular(GraphCut(tuple(map(tuple, edges.tolist())), directed))
    row = np.concatenate([weights, -modular])
    cut = least_cut(edges, weights, modular, directed=directed)
    best = min(
        value(function, row, np.array(chosen, dtype=np.int64), items) for chosen in all_sets(items)
    )
    assert value(function, row, cut, items) == pytest.approx(best, abs=1e-7)
    with pytest.raises(ConfigError, match="negative"):
        least_cut(edges, -weights, modular)


def test_costs_of_a_bundle_world_are_those_of_its_set_functions() -> None:
    world = BundleWorld.drawn(12_000, items=6, seed=5)
    rows = world.rows(9_990, 10_010)
    assert rows.shape == (20, len(world.edges) + 6)
    chosen = np.array([0, 2, 3])
    expected = [value(world.function, row, chosen, 6) for row in rows]
    assert np.allclose(world.costs(rows, np.isin(np.arange(6), chosen).astype(float)), expected)
    every = [world.cost_of(np.array(subset, dtype=np.int64)) for subset in all_sets(6)]
    assert world.cost_of(world.best) == pytest.approx(min(every), rel=1e-6)
    assert all(
        abs(value(world.function, rows[0], np.array(subset, dtype=np.int64), 6)) <= 1 + 1e-9
        for subset in all_sets(6)
    )
    assert world.naive <= 0
