"""If these fail, coefficients leave their domain, or are not the best ones in it."""

from collections.abc import Callable
from math import inf

import numpy as np
import pytest

from discreet.errors import ConfigError
from discreet.optim.domains import Box, LpBall, Simplex

AnyDomain = LpBall | Box | Simplex
DOMAINS: list[AnyDomain] = [
    *(LpBall(4, p, radius=0.7) for p in (1, 1.2, 1.5, 2, 3, inf)),
    Box(4, -0.2, 0.9),
    Simplex(4, total=1.3),
]


def inside(domain: AnyDomain, generator: np.random.Generator, count: int = 400) -> np.ndarray:
    """Return points of the domain, many of them on its boundary."""
    if isinstance(domain, Simplex):
        return np.asarray(generator.dirichlet(np.full(4, 0.5), size=count) * domain.total)
    if isinstance(domain, Box):
        points = generator.uniform(-0.6, 1.3, size=(count, 4))
        return np.clip(points, domain.low, domain.high)
    points = generator.normal(size=(count, 4)) * generator.choice([0.01, 1.0], size=(count, 4))
    lengths = np.linalg.norm(points, domain.p, axis=1, keepdims=True)
    shares = generator.choice([0.5, 1.0], size=(count, 1))
    return np.asarray(points / lengths * domain.radius * shares)


@pytest.mark.parametrize("domain", DOMAINS, ids=repr)
def test_corners_and_projections_are_the_best_points_of_the_domain(
    domain: AnyDomain, generator: np.random.Generator
) -> None:
    points = inside(domain, generator)
    for _ in range(10):
        vector = generator.normal(size=4) * generator.choice([0.1, 1.0, 10.0])
        corner = domain.corner(vector)
        nearest = domain.project(vector)
        assert corner @ vector <= (points @ vector).min() + 1e-9
        distances = np.linalg.norm(points - vector, axis=1)
        assert np.linalg.norm(nearest - vector) <= distances.min() + 1e-7
        assert np.allclose(domain.project(nearest), nearest, atol=1e-9)
        assert np.allclose(domain.project(corner), corner, atol=1e-9)
        from_corner = np.linalg.norm(points - corner, axis=1)
        assert from_corner.max() <= domain.diameter(2) + 1e-9


def regulariser(domain: AnyDomain, x: np.ndarray) -> float:
    """Return ψ(x), by the formula in the domain's docstring."""
    if isinstance(domain, Simplex):
        shares = np.maximum(x / domain.total, 1e-300)
        return float(domain.total**2 * np.sum(shares * np.log(shares)))
    if isinstance(domain, Box):
        return float(np.sum((x - (domain.low + domain.high) / 2) ** 2) / 2)
    if domain.p <= 2:
        return float(np.linalg.norm(x, domain.p) ** 2 / (2 * (domain.p - 1)))
    return float(np.sum(x**2) / 2)


@pytest.mark.parametrize("domain", DOMAINS, ids=repr)
def test_the_leader_minimises_the_regularised_total(
    domain: AnyDomain, generator: np.random.Generator
) -> None:
    if isinstance(domain, LpBall) and domain.p == 1:
        pytest.skip("the entropy of a mixture of corners is no function of the point: next test")
    points = inside(domain, generator)
    for stiffness in (0.3, 3.0, 30.0):
        vector = generator.normal(size=4)
        leader = domain.lead(vector, stiffness)
        assert np.allclose(domain.project(leader), leader, atol=1e-8)
        least = min(vector @ x + stiffness * regulariser(domain, x) for x in points)
        assert vector @ leader + stiffness * regulariser(domain, leader) <= least + 1e-9
    largest = max(regulariser(domain, x) for x in points)
    assert largest - regulariser(domain, domain.start()) <= domain.spread + 1e-9


def test_the_entropic_leader_of_the_l1_ball_mixes_corners() -> None:
    ball = LpBall(2, 1, radius=2.0)
    mixture = np.exp(-np.array([1.0, -3.0, -1.0, 3.0]) / (0.5 * 2.0))
    mixture /= mixture.sum()
    corners = np.array([ball.corner_at(number) for number in range(ball.corners)])
    assert np.allclose(ball.lead(np.array([1.0, -3.0]), 0.5), mixture @ corners)
    assert np.allclose(ball.lead(np.array([1e6, 0.0]), 1e-3), [-2.0, 0.0])


@pytest.mark.parametrize("domain", DOMAINS, ids=repr)
def test_the_expected_length_of_noise_is_right(
    domain: AnyDomain, generator: np.random.Generator
) -> None:
    lengths = [domain.dual_norm(generator.normal(size=4)) ** 2 for _ in range(4000)]
    assert np.mean(lengths) <= 1.05 * domain.noise_square <= 3 * np.mean(lengths)


@pytest.mark.parametrize("domain", DOMAINS, ids=str)
def test_the_reach_is_one_on_the_boundary_only(
    domain: AnyDomain, generator: np.random.Generator
) -> None:
    assert domain.reach(domain.start()) == 0.0
    far = domain.project(generator.normal(size=4) * 100)
    on_boundary = 0.0 if isinstance(domain, Simplex) else 1.0  # all of a simplex is boundary
    assert domain.reach(far) == pytest.approx(on_boundary)
    assert domain.reach((far + domain.start()) / 2) == pytest.approx(on_boundary / 2)


def test_extreme_numbers_stay_in_the_domain() -> None:
    assert np.allclose(LpBall(2, 1).project(np.array([1e300, 1e300])), [0.5, 0.5])
    assert np.allclose(Simplex(2).project(np.array([1e17, 0.0])), [1.0, 0.0])
    assert LpBall(3, 1.01).dual_norm(np.array([3000.0, 10.0, 1.0])) == pytest.approx(3000.0)
    assert np.linalg.norm(LpBall(3, 1.01).lead(np.full(3, 1e-4), 1e-3)) > 0
    assert np.abs(LpBall(3, 400, 0.1).project(np.full(3, 0.15))).max() <= 0.1
    assert np.array_equal(LpBall(3, 400, 10).project(np.full(3, 9.0)), np.full(3, 9.0))


@pytest.mark.parametrize(
    "make",
    [
        lambda: LpBall(0),
        lambda: LpBall(2, 0.5),
        lambda: LpBall(2, radius=0.0),
        lambda: LpBall(2, float("nan")),
        lambda: Box(2, 1.0, 1.0),
        lambda: Box(2, 0.0, inf),
        lambda: Simplex(2, total=-1.0),
    ],
)
def test_empty_and_unbounded_domains_are_refused(make: Callable[[], AnyDomain]) -> None:
    with pytest.raises(ConfigError):
        make()
