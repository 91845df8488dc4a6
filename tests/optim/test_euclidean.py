"""If these fail, points between vertices are led to the wrong place, or too freely."""

from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

from discreet.domains import GraphicMatroid, Knapsack, PartitionMatroid, UniformMatroid
from discreet.optim.euclidean import Euclidean, is_projected_onto

DOMAINS = [
    UniformMatroid(4, 2),
    PartitionMatroid((0, 0, 1, 1), (1, 1)),
    Knapsack((1.0, 2.0, 1.5, 0.5), 2.0),
]
ROWS: dict[str, list[tuple[list[float], float]]] = {
    "UniformMatroid": [([1, 1, 1, 1], 2)],
    "PartitionMatroid": [([1, 1, 0, 0], 1), ([0, 0, 1, 1], 1)],
    "Knapsack": [([1, 2, 1.5, 0.5], 2)],
}


@pytest.mark.parametrize("domain", DOMAINS, ids=lambda domain: type(domain).__name__)
def test_the_leader_has_the_least_of_loss_and_distance(domain: Any) -> None:
    led, generator = Euclidean(domain), np.random.default_rng(1)
    fits = [
        {"type": "ineq", "fun": lambda x, c=costs, b=budget: b - np.dot(c, x)}
        for costs, budget in ROWS[type(domain).__name__]
    ]
    for _ in range(8):
        total, stiffness = generator.normal(size=4) * 3, float(generator.uniform(0.5, 4))

        def lost(x: np.ndarray, total: Any = total, stiffness: float = stiffness) -> float:
            return float(total @ x + stiffness / 2 * np.sum((x - led.start()) ** 2))

        found = minimize(lost, led.start(), bounds=[(0, 1)] * 4, constraints=fits, tol=1e-12)
        np.testing.assert_allclose(led.lead(total, stiffness), found.x, atol=1e-4)


@pytest.mark.parametrize("domain", DOMAINS, ids=lambda domain: type(domain).__name__)
def test_no_point_is_farther_than_the_spread(domain: Any) -> None:
    led, generator = Euclidean(domain), np.random.default_rng(2)
    farthest = max(
        float(np.sum((domain.vertex(generator.normal(size=4)) - led.start()) ** 2)) / 2
        for _ in range(200)
    )
    assert 0.2 * led.spread < farthest <= led.spread


def test_where_projections_are_cheap_is_known() -> None:
    assert all(is_projected_onto(domain) for domain in DOMAINS)
    assert not is_projected_onto(GraphicMatroid(((0, 1), (1, 2))))
    assert not is_projected_onto(Knapsack(((1.0, 2.0), (2.0, 1.0)), (2.0, 2.0)))
