"""If these fail, the curvature variant of DPCG is not the printed one, or is called private."""

from itertools import combinations, product
from math import e
from typing import Any

import numpy as np
import pytest

from discreet.arrays import Floats
from discreet.domains import GraphicMatroid, Knapsack, PartitionMatroid, UniformMatroid
from discreet.errors import ConfigError
from discreet.functions import ClickModel, FacilityLocation
from discreet.papers.printed.curvature import (
    best_mixture,
    curvature_of,
    from_noise,
    run,
    utility_bound,
)
from discreet.papers.printed.dpcg import Calibration
from discreet.papers.printed.population import Population

pytestmark = pytest.mark.filterwarnings(
    "ignore::discreet.papers.printed.promise.PrintedNoiseWarning"
)

PEOPLE = np.array([[0.9, 0.3, 0.0, 0.5], [0.2, 0.6, 0.7, 0.1], [0.4, 0.4, 0.1, 0.8]])
COINS = np.random.default_rng(0)
POLYTOPES: list[tuple[Any, list[list[float]], list[float]]] = [
    (UniformMatroid(4, 2), [[1, 1, 1, 1]], [2]),
    (PartitionMatroid((0, 0, 1, 1), (1, 1)), [[1, 1, 0, 0], [0, 0, 1, 1]], [1, 1]),
    (GraphicMatroid(((0, 1), (1, 2), (2, 0), (2, 3))), [[1, 1, 1, 0]], [2]),
    (Knapsack((1.0, 0.5, 0.4, 0.9), 1.5), [[1.0, 0.5, 0.4, 0.9]], [1.5]),
]
"""Domains, and P besides 0 ≤ v ≤ 1 as rows · v ≤ limits."""


def clicks(row: Floats, chosen: tuple[int, ...]) -> float:
    return float(1 - np.prod([1 - row[item] for item in chosen]))


def linear_part(people: Floats) -> Floats:
    """Return ℓ_i = F(V) − F(V∖i)."""
    everything = (0, 1, 2, 3)
    return np.array(
        [
            sum(
                clicks(row, everything) - clicks(row, tuple(i for i in everything if i != item))
                for row in people
            )
            for item in everything
        ]
    )


def slope(people: Floats, point: Floats) -> Floats:
    """Return ∇f, summed set by set."""
    gradient = np.zeros(4)
    for size in range(5):
        for chosen in combinations(range(4), size):
            chance = np.prod([point[i] if i in chosen else 1 - point[i] for i in range(4)])
            for item in range(4):
                rest = tuple(other for other in chosen if other != item)
                gradient[item] += chance * sum(
                    clicks(row, (*rest, item)) - clicks(row, rest) for row in people
                )
    return gradient


def best_by_program(rows: Any, limits: Any, weights: Floats, linear: Floats, level: float) -> Any:
    from scipy.optimize import linprog

    table = np.vstack([np.array(rows), -linear])
    return linprog(-weights, table, [*limits, -level + 1e-12], bounds=(0, 1), method="highs")


@pytest.mark.parametrize(
    ("domain", "rows", "limits"), POLYTOPES, ids=lambda each: type(each).__name__
)
def test_corners_with_enough_of_the_linear_part_are_the_best(
    domain: Any, rows: Any, limits: Any
) -> None:
    generator = np.random.default_rng(5)
    for _ in range(12):
        weights, linear = generator.normal(size=4), generator.uniform(0, 1, size=4)
        most = -best_by_program(rows, limits, linear, linear, 0.0).fun
        for level in (0.0, 0.3 * most, 0.8 * most, most):
            expected = best_by_program(rows, limits, weights, linear, level)
            found = best_mixture(domain, weights, linear, level)
            assert sum(found.shares) == pytest.approx(1.0)
            assert linear @ found.point >= level - 1e-9
            assert weights @ found.point == pytest.approx(-expected.fun, abs=1e-7)


def test_the_path_is_that_of_the_printed_box() -> None:
    domain, rows, limits = POLYTOPES[0]
    added = np.random.default_rng(2).normal(0, 0.5, size=(3, 4, 4))  # guesses × steps × items
    linear = linear_part(PEOPLE)
    most = -best_by_program(rows, limits, linear, linear, 0.0).fun
    points = []
    for level, noise in zip((0.0, most / 2, most), added, strict=True):
        point = np.zeros(4)
        for row in noise:
            weights = slope(PEOPLE, point) - linear + row
            point = point + best_by_program(rows, limits, weights, linear, level).x / len(noise)
        points.append(point)
    population = Population(PEOPLE, ClickModel(), 4)
    path, chosen = from_noise(population, domain, added, COINS)
    assert min(np.abs(path[-1] - point).max() for point in points) < 1e-6
    assert len(chosen) == 2
    # A single guess leaves no choice.
    for level, noise, point in zip((0.0, most / 2, most), added, points, strict=True):
        if level == 0.0:
            assert from_noise(population, domain, noise[None], COINS)[0][-1] == pytest.approx(point)


def test_curvature_and_bound_by_hand() -> None:
    # F({i}) = 0.9 + 0.2 + 0.4, …; ℓ from the definition
    alone = PEOPLE.sum(axis=0)
    expected = 1 - (linear_part(PEOPLE) / alone).min()
    assert curvature_of(Population(PEOPLE, ClickModel(), 4)) == pytest.approx(expected)
    assert curvature_of(Population(np.zeros((2, 4)), ClickModel(), 4)) == 0.0
    laplace = Calibration("laplace", "printed", 3, 1.0)
    by_hand = (1 - 0.4 / e) * 90 - 2 * 2 * (2 * 5 * 3) * (1 + 1 / 2 + 1 / 3) - 100 * 4 / 10
    assert utility_bound(90, 0.4, 100, UniformMatroid(3, 2), laplace, 5) == pytest.approx(by_hand)


# --- the verdict


def test_neighbours_lead_to_different_sets_for_every_noise() -> None:
    """One person likes the first item or the second: for any noise the set reveals which.

    ℓ is (1, 0) or (0, 1), so under the highest guess only that item can be chosen, and the best of
    all guesses is the one with that item. Enumerated over noise far beyond any draw: ε = ∞.
    """
    first, second = (
        Population(np.array([row]), FacilityLocation(), 2) for row in ([1.0, 0.0], [0.0, 1.0])
    )
    domain = UniformMatroid(2, 1)
    for numbers in product([-1e9, 0.5, 1e9], repeat=4):
        added = np.array(numbers).reshape(2, 1, 2)  # two guesses, one step, two items
        assert from_noise(first, domain, added, COINS)[1] == [0]
        assert from_noise(second, domain, added, COINS)[1] == [1]


def test_the_linear_part_alone_identifies_a_person() -> None:
    """With a guess fixed in advance and no choice among guesses, the path still shows ℓ."""
    domain, weights = UniformMatroid(2, 1), np.array([1e9, -1e9])
    for linear, item in (([1.0, 0.0], 0), ([0.0, 1.0], 1)):
        forced = [
            best_mixture(domain, sign * weights, np.array(linear), level=1.0).point.tolist()
            for sign in (1, -1)
        ]
        assert forced == [[float(place == item) for place in range(2)]] * 2


def test_a_run_chooses_a_feasible_set_and_needs_a_guess() -> None:
    for domain, _, _ in POLYTOPES:
        found = run(
            np.tile(PEOPLE, (9, 1)),
            ClickModel(),
            domain,
            1.0,
            1e-6,
            noise="printed",
            steps=3,
            guesses=3,
            seed=1,
        )
        assert domain.contains(found.chosen)
        assert found.steps == 3
    with pytest.raises(ConfigError, match="guesses must be a whole number, between 1 and"):
        run(
            PEOPLE,
            ClickModel(),
            UniformMatroid(4, 2),
            1.0,
            law="laplace",
            noise="printed",
            guesses=0,
        )
