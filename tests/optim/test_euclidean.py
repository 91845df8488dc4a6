"""If these fail, the leader is at the wrong point, or its regret bound is wrong."""

import numpy as np
import pytest
from scipy.optimize import minimize

from discreet.arrays import Floats
from discreet.domains import GraphicMatroid, Knapsack, PartitionMatroid, UniformMatroid
from discreet.optim.euclidean import Euclidean, is_projected_onto

Projected = UniformMatroid | PartitionMatroid | Knapsack
DOMAINS: list[Projected] = [
    UniformMatroid(4, 2),
    PartitionMatroid((0, 0, 1, 1), (1, 1)),
    Knapsack((1.0, 2.0, 1.5, 0.5), 2.0),
]
ROWS: dict[str, list[tuple[list[float], float]]] = {
    "UniformMatroid": [([1, 1, 1, 1], 2)],
    "PartitionMatroid": [([1, 1, 0, 0], 1), ([0, 0, 1, 1], 1)],
    "Knapsack": [([1, 2, 1.5, 0.5], 2)],
}
"""The constraints of each domain, as pairs (costs, budget)."""


@pytest.mark.parametrize("domain", DOMAINS, ids=lambda domain: type(domain).__name__)
def test_the_leader_minimises_loss_plus_distance(domain: Projected) -> None:
    polytope = Euclidean(domain)
    start = polytope.start()
    generator = np.random.default_rng(1)
    fits = [
        {"type": "ineq", "fun": lambda x, c=costs, b=budget: b - np.dot(c, x)}
        for costs, budget in ROWS[type(domain).__name__]
    ]
    for _ in range(8):
        total = generator.normal(size=4) * 3
        stiffness = float(generator.uniform(0.5, 4))

        def objective(x: Floats, total: Floats = total, stiffness: float = stiffness) -> float:
            return float(total @ x + stiffness / 2 * np.sum((x - start) ** 2))

        reference = minimize(objective, start, bounds=[(0, 1)] * 4, constraints=fits, tol=1e-12)
        np.testing.assert_allclose(polytope.lead(total, stiffness), reference.x, atol=1e-4)


@pytest.mark.parametrize("domain", DOMAINS, ids=lambda domain: type(domain).__name__)
def test_no_point_is_farther_than_the_spread(domain: Projected) -> None:
    polytope = Euclidean(domain)
    generator = np.random.default_rng(2)
    vertices = [domain.vertex(generator.normal(size=4)) for _ in range(200)]
    farthest = max(float(np.sum((vertex - polytope.start()) ** 2)) / 2 for vertex in vertices)
    assert 0.2 * polytope.spread < farthest <= polytope.spread


def test_domains_with_cheap_projections_are_recognised() -> None:
    assert all(is_projected_onto(domain) for domain in DOMAINS)
    assert not is_projected_onto(GraphicMatroid(((0, 1), (1, 2))))
    assert not is_projected_onto(Knapsack(((1.0, 2.0), (2.0, 1.0)), (2.0, 2.0)))
