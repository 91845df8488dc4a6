"""If these fail, points are compared with an unprinted algorithm, or its verdict is wrong."""

from math import log, sqrt
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

from discreet.domains import Knapsack, UniformMatroid
from discreet.errors import ConfigError
from discreet.functions import BudgetAllocation, Multilinear
from discreet.papers.printed import continuous
from discreet.papers.printed.continuous import (
    copies_for,
    epsilon_spent,
    noise_scale,
    run,
    stiffness_for,
)

pytestmark = pytest.mark.filterwarnings(
    "ignore::discreet.papers.printed.promise.PrintedNoiseWarning"
)

PEOPLE = np.random.default_rng(3).random((11, 3)) * 0.9


def drawn_nodes(monkeypatch: pytest.MonkeyPatch) -> list[tuple[float, np.ndarray]]:
    """Record the scale of every node's noise, and replace the noise by known numbers."""
    recorded: list[tuple[float, np.ndarray]] = []
    generator = np.random.default_rng(8)

    def known(dimension: int, scale: float, bits: Any, *, draws: int) -> np.ndarray:
        recorded.append((scale, generator.normal(size=(draws, dimension))))
        return recorded[-1][1]

    monkeypatch.setattr(continuous, "l2_gamma", known)
    return recorded


def click_gradient(row: np.ndarray, point: np.ndarray) -> np.ndarray:
    others = [np.prod([1 - row[b] * point[b] for b in range(3) if b != a]) for a in range(3)]
    return np.asarray(row * np.array(others))


def nodes_of(time: int) -> list[int]:
    """Return the ends of the nodes of the sum of the first `time` vectors: 13 = 8 + 4 + 1."""
    ends = []
    end = 0
    for bit in reversed(range(time.bit_length())):
        if time >> bit & 1:
            end += 1 << bit
            ends.append(end)
    return ends


def transcribed(
    noise: list[np.ndarray], copies: int, stiffness: float, bound: float
) -> list[np.ndarray]:
    """Return the points of the box, line by line, for click probabilities and one item in all."""
    played: list[list[np.ndarray]] = [[np.full(3, 1 / 3)] for _ in range(copies)]
    gradients: list[list[np.ndarray]] = [[] for _ in range(copies)]
    points = []
    for time, row in enumerate(PEOPLE, start=1):
        vectors = [copy[-1] for copy in played]
        points.append(np.sum(vectors, axis=0) / copies)
        for k in range(copies):
            before = sum(vectors[:k], np.zeros(3)) / copies
            seen = click_gradient(row, before)
            gradients[k].append(-seen * min(1, bound / np.linalg.norm(seen)))
        for k in range(copies):
            noisy = sum(gradients[k]) + sum(noise[end - 1][k] for end in nodes_of(time))

            def objective(w: np.ndarray, noisy: Any = noisy, k: int = k) -> float:
                return float(
                    noisy @ w + stiffness / 2 * sum(np.sum((w - old) ** 2) for old in played[k])
                )

            fits = {"type": "ineq", "fun": lambda w: 1 - w.sum()}
            found = minimize(
                objective, np.full(3, 0.3), bounds=[(0, 1)] * 3, constraints=[fits], tol=1e-12
            )
            played[k].append(found.x)
    return points


@pytest.mark.parametrize("noise", ["printed", "sound"])
def test_points_are_those_of_the_box(noise: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    nodes = drawn_nodes(monkeypatch)
    settings: dict[str, Any] = {"copies": 3, "stiffness": 2.5, "bound": 0.7}
    played = run(PEOPLE, Multilinear(), UniformMatroid(3, 1), 1.5, noise=noise, **settings)
    assert {scale for scale, _ in nodes} == {noise_scale(0.7, 11, 0.5, noise)}
    expected = transcribed([noise_of_node for _, noise_of_node in nodes], 3, 2.5, 0.7)
    np.testing.assert_allclose(played.decisions, expected, atol=2e-4)
    assert np.ptp(played.decisions, axis=0).max() > 0.1  # the noise moves points far enough


def test_the_constants_are_the_printed_ones() -> None:
    assert copies_for(10**4) == round((10**4 / 257.5) ** 0.25) == 2
    assert noise_scale(2.0, 1000, 0.5, "printed") == 2 * 11 / 0.5  # ⌈log₂ 1000⌉ = 10
    assert noise_scale(2.0, 1000, 0.5) == pytest.approx(sqrt(2) * 2 * 10 / 0.5)
    assert stiffness_for(9, 100, 0.25) == pytest.approx(sqrt(9 * log(100) ** 2.5 / 25))


@pytest.mark.parametrize("horizon", [4, 7, 8])
def test_the_computed_epsilon_is_reached_by_two_people(horizon: int) -> None:
    """The first person is in nodes 1, 2, 4, …; far out each has a loss of √2·G in every copy."""
    copies = 2
    epsilon = 1.0
    bound = 0.5
    scale = noise_scale(bound, horizon, epsilon / copies, "printed")
    here = bound * np.array([1.0, 0.0])
    there = bound * np.array([0.0, 1.0])
    far = here + 1e6 * (here - there)  # a released node far out
    loss = (np.linalg.norm(far - there) - np.linalg.norm(far - here)) / scale
    nodes = [end for end in range(1, horizon + 1) if end & (end - 1) == 0]
    assert copies * len(nodes) * loss == pytest.approx(epsilon_spent(epsilon, horizon), rel=1e-6)
    assert epsilon_spent(epsilon, horizon) > epsilon


def test_without_privacy_the_best_amounts_are_found() -> None:
    people = np.tile([0.1, 0.8, 0.3], (200, 1))
    points = run(
        people, BudgetAllocation(), Knapsack((1.0, 2.0, 1.0), 2.0), 1e9, stiffness=0.2, block=2
    ).decisions
    assert points[-1].round(1).tolist() == [0.0, 1.0, 0.0]
    assert (points @ [1.0, 2.0, 1.0] <= 2 + 1e-9).all()


def test_equal_seeds_give_equal_runs() -> None:
    first, same, other = (
        run(PEOPLE, Multilinear(), UniformMatroid(3, 1), 9.0, seed=s).decisions for s in (1, 1, 2)
    )
    assert (first == same).all()
    assert (first != other).any()


@pytest.mark.parametrize(
    "wrong",
    [{"noise": "less"}, {"copies": 0}, {"bound": 0.0}, {"block": 0}, {"epsilon": 0.0}],
    ids=str,
)
def test_invalid_settings_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        run(PEOPLE, Multilinear(), UniformMatroid(3, 1), **({"epsilon": 1.0} | wrong))
