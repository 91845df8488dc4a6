"""If these fail, sets are compared with an unprinted algorithm, or its verdict is wrong."""

from math import ceil, e, log, sqrt
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

from discreet.budget.conversion import rho_of
from discreet.domains import (
    GraphicMatroid,
    Knapsack,
    LaminarMatroid,
    OracleMatroid,
    PartitionMatroid,
    UniformMatroid,
)
from discreet.errors import ConfigError
from discreet.functions import Multilinear
from discreet.papers.printed import dpmfw
from discreet.papers.printed.dpmfw import (
    copies_for,
    epsilon_spent,
    noise_scale,
    rate_for,
    run,
    sets_of,
)
from discreet.papers.printed.entropic import entropic_leaders

pytestmark = pytest.mark.filterwarnings(
    "ignore::discreet.papers.printed.promise.PrintedNoiseWarning"
)

PEOPLE = np.random.default_rng(4).random((13, 3)) * 0.9
DOMAINS = [
    UniformMatroid(3, 1),
    PartitionMatroid((0, 0, 1), (1, 1)),
    Knapsack((1.0, 2.0, 0.5), 1.5),
]


def fits(domain: Any) -> list[dict[str, Any]]:
    rows = {"UniformMatroid": [([1, 1, 1], 1)], "PartitionMatroid": [([1, 1, 0], 1)]}
    found = rows.get(type(domain).__name__, [([1.0, 2.0, 0.5], 1.5)])
    return [
        {"type": "ineq", "fun": lambda x, c=costs, b=budget: b - x @ c} for costs, budget in found
    ]


def led(domain: Any, scores: np.ndarray) -> np.ndarray:
    """Return the argmin of −⟨scores, x⟩ + Σ x ln x by a general solver; too dear items get 0."""
    tops = [
        (1e-12, 1e-12 if isinstance(domain, Knapsack) and item == 1 else 1) for item in range(3)
    ]

    def objective(x: np.ndarray) -> float:
        return float(-scores @ x + np.sum(x * np.log(np.maximum(x, 1e-300))))

    solution = minimize(
        objective, [0.2, 1e-12, 0.2], bounds=tops, constraints=fits(domain), tol=1e-14
    )
    return np.asarray(solution.x)


@pytest.mark.parametrize("domain", DOMAINS, ids=lambda domain: type(domain).__name__)
def test_leaders_have_the_least_of_loss_and_entropy(domain: Any) -> None:
    scores = np.random.default_rng(5).normal(size=(12, 3)) * np.repeat([0.5, 2, 5], 4)[:, None]
    found = entropic_leaders(domain, scores)
    for row, point in zip(scores, found, strict=True):
        np.testing.assert_allclose(point, led(domain, row), atol=2e-4)


MATROIDS = [
    LaminarMatroid(((0, 1, 2), (0, 1)), (2, 1), 5),
    LaminarMatroid(((0, 1), (2, 3)), (0, 1), 5),
    GraphicMatroid(((0, 1), (1, 2), (2, 0), (2, 3), (3, 0))),
    # parallel edges, and a loop
    GraphicMatroid(((0, 1), (0, 1), (1, 2), (2, 2), (2, 3))),
    OracleMatroid(5, lambda chosen: len(chosen) <= 2 and chosen != [0, 1]),
]


@pytest.mark.parametrize("domain", MATROIDS, ids=lambda domain: type(domain).__name__)
def test_leaders_of_other_matroids_are_inside_and_optimal(domain: Any) -> None:
    """The objective is concave, so x is optimal if no feasible v is better along its slope.

    At x the slope of ⟨scores, x⟩ − Σ x ln x is scores − 1 − ln x, and no v of the polytope may have
    a larger product with it than x has. Where x is tiny, the slope is as large as it may be.
    """
    for scale in (0.5, 2.0, 5.0):
        scores = np.random.default_rng(5).normal(size=(4, 5)) * scale + 0.5
        for row, point in zip(scores, entropic_leaders(domain, scores), strict=True):
            assert domain.is_inside(point)
            some = point > 1e-9
            assert (some == domain.extensions([])).all()
            slope = np.where(some, row - 1 - np.log(np.maximum(point, 1e-300)), -1.0)
            best = domain.vertex(slope) * (slope > 0)
            assert slope @ best <= slope @ point + 1e-6


@pytest.mark.parametrize(
    "domain", [MATROIDS[0], MATROIDS[2]], ids=lambda domain: type(domain).__name__
)
def test_leaders_of_other_matroids_stay_finite_far_out(domain: Any) -> None:
    found = entropic_leaders(domain, np.array([[1e9, 0, -1e9, 5, 5], [-1e9] * 5, [1e9] * 5]))
    assert np.isfinite(found).all()
    assert all(domain.is_inside(point) for point in found)
    assert found[:, 0] == pytest.approx([1, 0, found[2, 1]])


def test_leaders_stay_finite_far_out() -> None:
    found = entropic_leaders(
        UniformMatroid(3, 1), np.array([[1e9, 0, -1e9], [-1e9] * 3, [1e9] * 3])
    )
    expected = np.array([[1, 0, 0], [0, 0, 0], [1 / 3] * 3])
    np.testing.assert_allclose(found, expected, atol=1e-6)


class Known:
    """Generator of known numbers instead of noise, which records the requested laws."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, float, int]] = []
        self.drawn: list[np.ndarray] = []
        self._generator = np.random.default_rng(6)

    def _next(self, law: str, scale: float, size: tuple[int, int]) -> np.ndarray:
        self.requests.append((law, scale, size[0]))
        self.drawn.append(self._generator.normal(size=size))
        return self.drawn[-1]

    def laplace(self, middle: float, scale: float, size: tuple[int, int]) -> np.ndarray:
        return self._next("laplace", scale, size)

    def normal(self, middle: float, scale: float, size: tuple[int, int]) -> np.ndarray:
        return self._next("gaussian", scale, size)


def led_by_one(scores: np.ndarray) -> np.ndarray:
    """Return the leader where Σx ≤ 1: x = e^(score − 1) if that fits, else ∝ e^score."""
    free = np.exp(scores - 1)
    if free.sum() <= 1:
        return np.asarray(free)
    weights = np.exp(scores - scores.max())
    return np.asarray(weights / weights.sum())


@pytest.mark.parametrize("law", ["laplace", "gaussian"])
@pytest.mark.parametrize("noise", ["printed", "sound"])
def test_points_are_those_of_the_box(law: Any, noise: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    known = Known()
    copies = 2
    rate = 0.8
    bound = 0.6
    monkeypatch.setattr(
        dpmfw,
        "seeded_bits",
        lambda seed, index: type("RandomBits", (), {"floats": lambda self: known})(),
    )
    domain = UniformMatroid(3, 1)
    settings: dict[str, Any] = {"copies": copies, "bound": bound}
    found = run(
        PEOPLE, Multilinear(), domain, 1.0, 1e-3, law=law, noise=noise, rate=rate, **settings
    ).decisions

    scale = noise_scale(3, 13, 1.0, 1e-3, law=law, noise=noise, **settings)
    assert {request[:2] for request in known.requests} == {(law, scale)}
    # 13 is 1101 in binary: three nodes, four levels
    draws = {"printed": ceil(log(13)), "sound": 4}[noise]
    drawn = iter(known.drawn)
    losses = np.zeros((copies, 3))
    nodes: dict[int, np.ndarray] = {}
    noisy = losses + next(drawn).sum(axis=0).reshape(copies, 3)
    for time, row in enumerate(PEOPLE, start=1):
        vectors = [led_by_one(-rate * noisy[copy]) for copy in range(copies)]
        np.testing.assert_allclose(found[time - 1], sum(vectors) / copies, atol=1e-6)
        for copy in range(copies):
            point = sum(vectors[:copy], np.zeros(3)) / copies
            rest = [np.prod([1 - row[b] * point[b] for b in range(3) if b != a]) for a in range(3)]
            losses[copy] -= np.clip(row * rest, 0, bound)
        nodes[time] = next(drawn)[0]
        here, left = np.zeros(copies * 3), time
        while left:  # the nodes that end at 13, 12 and 8, say
            here += nodes[left]
            left &= left - 1
        padding = next(drawn)
        assert len(padding) == max(0, draws - time.bit_count())
        noisy = losses + (here + padding.sum(axis=0)).reshape(copies, 3)


def test_every_sum_carries_equally_much_noise_where_levels_suffice() -> None:
    class Ones(Known):
        def _next(self, law: str, scale: float, size: tuple[int, int]) -> np.ndarray:
            return np.ones(size)

    bits: Any = type("RandomBits", (), {"floats": lambda self: Ones()})()
    sound = dpmfw.PaddedTree(1, "laplace", 1.0, (15).bit_length(), bits)
    assert {float(sound.next()[0]) for _ in range(16)} == {4.0}
    printed = dpmfw.PaddedTree(1, "laplace", 1.0, ceil(log(15)), bits)
    counts = [float(printed.next()[0]) for _ in range(16)]
    # ⌈ln 15⌉ = 3, but the sum of 15 consists of four nodes
    assert (min(counts), max(counts)) == (3.0, 4.0)


def test_the_constants_are_the_printed_ones() -> None:
    assert copies_for(10) == 4
    assert rate_for(7, 50, 0.5) == pytest.approx(sqrt(log(7) / 50) / 0.5)
    printed = noise_scale(3, 20, 0.5, 1 / e, copies=8, noise="printed", bound=2.0)
    assert printed == pytest.approx(2 * 2 * 3 * log(20) * 4 / 0.5)  # √(2·8·ln e) = 4
    printed = noise_scale(4, 20, 0.5, 1 / e, copies=2, law="gaussian", noise="printed", bound=3.0)
    assert printed == pytest.approx(sqrt(4) * 3 * log(20) * 4 * sqrt(log(2 * log(20) * e)) / 0.5)
    sound = noise_scale(3, 20, 1.0, 1e-6, copies=8)
    assert sound == pytest.approx(sqrt(3 * 8 * 5 / (2 * rho_of(1.0, 1e-6))))


@pytest.mark.parametrize("law", ["laplace", "gaussian"])
def test_the_verdict_holds_in_its_stated_range(law: Any) -> None:
    for horizon in (3, 4, 5, 6, 7, 8, 16, 10**4, 10**6):
        for items, copies in ((1, 1), (100, copies_for(horizon))):
            for delta in (1e-2, 1e-6, 1e-12):
                for epsilon in (0.01, 1.0, 3 * log(1 / delta)):
                    spent = epsilon_spent(items, horizon, epsilon, delta, copies=copies, law=law)
                    assert spent <= epsilon


def test_one_round_as_printed_has_no_noise_at_all() -> None:
    assert noise_scale(5, 1, 1.0, 1e-6, copies=1, noise="printed") == 0


@pytest.mark.parametrize("domain", DOMAINS, ids=lambda domain: type(domain).__name__)
def test_points_and_sets_are_feasible_and_without_privacy_good(domain: Any) -> None:
    people = np.tile([0.2, 0.9, 0.4], (100, 1))
    points = run(
        people, Multilinear(), domain, 1e9, 1e-6, copies=4, rate=1.0, noise="printed", block=2
    ).decisions
    sets = sets_of(domain, points, seed=1)
    assert all(domain.is_inside(point) for point in points)
    assert all(domain.contains(chosen[chosen >= 0].tolist()) for chosen in sets)
    wanted = {"UniformMatroid": [1], "PartitionMatroid": [1, 2], "Knapsack": [0, 2]}[
        type(domain).__name__
    ]
    assert sets[-1][sets[-1] >= 0].tolist() == wanted


@pytest.mark.parametrize(
    "wrong",
    [{"noise": "less"}, {"law": "uniform"}, {"copies": 0}, {"block": 0}, {"delta": 0.0}],
    ids=str,
)
def test_what_was_not_printed_is_refused(wrong: dict[str, Any]) -> None:
    settings: dict[str, Any] = {"epsilon": 1.0, "delta": 1e-6} | wrong
    with pytest.raises(ConfigError):
        run(PEOPLE, Multilinear(), UniformMatroid(3, 1), **settings)
