"""If these fail, points are compared with an algorithm that was never printed, or its verdict is
wrong.
"""

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
    """Every node's noise as it is asked for, with its scale: known numbers stand in for it."""
    asked: list[tuple[float, np.ndarray]] = []
    generator = np.random.default_rng(8)

    def known(dimension: int, scale: float, words: Any, *, draws: int) -> np.ndarray:
        asked.append((scale, generator.normal(size=(draws, dimension))))
        return asked[-1][1]

    monkeypatch.setattr(continuous, "l2_gamma", known)
    return asked


def click_gradient(row: np.ndarray, point: np.ndarray) -> np.ndarray:
    others = [np.prod([1 - row[b] * point[b] for b in range(3) if b != a]) for a in range(3)]
    return row * np.array(others)


def nodes_of(time: int) -> list[int]:
    """The ends of the nodes that make up the sum of the first `time` vectors: 13 = 8 + 4 + 1."""
    ends, end = [], 0
    for bit in reversed(range(time.bit_length())):
        if time >> bit & 1:
            end += 1 << bit
            ends.append(end)
    return ends


def transcribed(
    noise: list[np.ndarray], copies: int, stiffness: float, bound: float
) -> list[np.ndarray]:
    """The box, word by word, for the chance of a click and one item in all."""
    played: list[list[np.ndarray]] = [[np.full(3, 1 / 3)] for _ in range(copies)]
    gradients: list[list[np.ndarray]] = [[] for _ in range(copies)]
    points = []
    for time, row in enumerate(PEOPLE, start=1):
        vectors = [copy[-1] for copy in played]
        points.append(sum(vectors) / copies)
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
    asked = drawn_nodes(monkeypatch)
    settings: dict[str, Any] = {"copies": 3, "stiffness": 2.5, "bound": 0.7}
    found = run(PEOPLE, Multilinear(), UniformMatroid(3, 1), 1.5, noise=noise, **settings).decisions
    assert {scale for scale, _ in asked} == {noise_scale(0.7, 11, 0.5, noise)}
    expected = transcribed([nodes for _, nodes in asked], 3, 2.5, 0.7)
    np.testing.assert_allclose(found, expected, atol=2e-4)
    assert np.ptp(found, axis=0).max() > 0.1  # the noise moves points far enough to tell


def test_constants_are_those_that_are_printed() -> None:
    assert copies_for(10**4) == round((10**4 / 257.5) ** 0.25) == 2
    assert noise_scale(2.0, 1000, 0.5, "printed") == 2 * 11 / 0.5  # ⌈log₂ 1000⌉ = 10
    assert noise_scale(2.0, 1000, 0.5) == pytest.approx(sqrt(2) * 2 * 10 / 0.5)
    assert stiffness_for(9, 100, 0.25) == pytest.approx(sqrt(9 * log(100) ** 2.5 / 25))


@pytest.mark.parametrize("horizon", [4, 7, 8])
def test_what_is_really_spent_is_reached_by_two_people(horizon: int) -> None:
    """The first person lies in nodes 1, 2, 4, …; far out every one of them gives √2·G away, in
    every copy.
    """
    copies, epsilon, bound = 2, 1.0, 0.5
    scale = noise_scale(bound, horizon, epsilon / copies, "printed")
    here, there = bound * np.array([1.0, 0.0]), bound * np.array([0.0, 1.0])
    far = here + 1e6 * (
        here - there
    )  # what one node may show: log density under one person less the other
    given_away = (np.linalg.norm(far - there) - np.linalg.norm(far - here)) / scale
    nodes = [end for end in range(1, horizon + 1) if end & (end - 1) == 0]
    assert copies * len(nodes) * given_away == pytest.approx(
        epsilon_spent(epsilon, horizon), rel=1e-6
    )
    assert epsilon_spent(epsilon, horizon) > epsilon


def test_without_privacy_the_best_amounts_are_found() -> None:
    people = np.tile([0.1, 0.8, 0.3], (200, 1))
    points = run(
        people, BudgetAllocation(), Knapsack((1.0, 2.0, 1.0), 2.0), 1e9, stiffness=0.2, block=2
    ).decisions
    assert points[-1].round(1).tolist() == [0.0, 1.0, 0.0]
    assert (points @ [1.0, 2.0, 1.0] <= 2 + 1e-9).all()


def test_runs_are_repeated_by_their_seed() -> None:
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
def test_what_makes_no_sense_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        run(PEOPLE, Multilinear(), UniformMatroid(3, 1), **({"epsilon": 1.0} | wrong))
