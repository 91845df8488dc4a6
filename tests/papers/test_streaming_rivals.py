"""If these fail, streaming learners are compared with rivals that were never printed."""

from dataclasses import replace
from math import ceil, inf, log, sqrt

import numpy as np
import pytest
from scipy.optimize import minimize

from discreet.errors import ConfigError
from discreet.optim.domains import LpBall
from discreet.papers.printed.lp_geometry import Constants
from discreet.papers.rivals.streaming import RIVALS, Euclidean, descent
from discreet.papers.rivals.streaming.descent import local_md, noisy_sgd
from discreet.papers.rivals.streaming.problem import mean_gradient
from discreet.release.randomness import seeded_bits
from discreet.simulate.problems.regression import Regression


def world(p: float, radius: float = 1.0, samples: int = 60) -> Regression:
    drawn = Regression.drawn(samples, 4, p, seed=2)
    return replace(drawn, domain=LpBall(4, p, radius))


@pytest.mark.parametrize("p", [1.0, 1.5, 2.0, 4.0, inf])
@pytest.mark.parametrize("radius", [0.5, 2.0])
def test_every_rival_stays_in_balls_of_every_shape(p: float, radius: float) -> None:
    problem = world(p, radius)
    for name, rival in RIVALS.items():
        if name == "local_md" and p > 2:
            continue
        coefficients = rival(problem, 1.0, 1e-3, 1.0, 1)
        assert np.isfinite(coefficients).all(), name
        assert np.linalg.norm(coefficients, p) <= radius * (1 + 1e-6), name


@pytest.mark.parametrize(
    ("name", "p", "pace"),
    [
        ("published", 1.5, 1.0),
        ("published", 1.0, 1.0),
        ("published_by_lemma", inf, 1.0),
        ("noisy_sfw", 1.5, 1.0),
        ("noisy_sgd", inf, 10.0),
        ("noisy_sgd", 1.5, 10.0),
        ("local_md", 1.5, 100.0),
        ("local_md", 1.0, 300.0),
    ],
)
def test_with_negligible_noise_rivals_find_the_coefficients(
    name: str, p: float, pace: float
) -> None:
    problem = Regression.drawn(150 if name == "noisy_sgd" else 300, 4, p, seed=2)
    assert problem.suboptimality(RIVALS[name](problem, 1e6, 1e-3, pace, 1)) < 0.15


def test_balls_for_which_nothing_is_printed_are_refused() -> None:
    with pytest.raises(ConfigError, match="LocalMD is printed for 1 ≤ p ≤ 2"):
        RIVALS["local_md"](world(3.0), 1.0, 1e-3, 1.0, 1)


def test_euclidean_constants_bound_those_of_the_ball() -> None:
    generator = np.random.default_rng(1)
    for p in (1.0, 1.3, 2.0, 3.0, inf):
        ball = LpBall(6, p)
        plane = Euclidean.of(ball, Constants(1.0, 1.0, 2.0))
        for _ in range(50):
            vector = generator.normal(size=6) * generator.choice([0.0, 1.0], size=6)
            row = vector / max(np.linalg.norm(vector, ball.dual), 1e-12)
            point = vector / max(np.linalg.norm(vector, p), 1e-12)
            assert np.linalg.norm(row) <= plane.lipschitz + 1e-9  # a gradient of dual norm 1
            # xxᵀ is smooth in l_p with constant 1
            assert np.linalg.norm(row) ** 2 <= plane.smoothness + 1e-9
            assert 2 * np.linalg.norm(point) <= plane.diameter + 1e-9


@pytest.mark.parametrize("p", [1.0, 1.4, 2.0, 3.0, inf])
def test_projections_are_the_nearest_points(p: float) -> None:
    generator = np.random.default_rng(3)
    ball = LpBall(5, p, 0.7)
    for _ in range(10):
        point = generator.normal(size=5)
        nearest = point.copy()
        descent.project_onto_ball(nearest, p, 0.7)
        assert np.allclose(nearest, ball.project(point), atol=1e-6)
    inside = np.full(5, 0.01)
    projected = inside.copy()
    descent.project_onto_ball(projected, p, 0.7)
    assert (projected == inside).all()


def test_noisy_sfw_takes_the_stated_steps() -> None:
    """The box line by line, with the same draws of noise."""
    from discreet.papers.noise import generalised_gaussian

    problem, epsilon, delta = world(1.5, samples=64), 30.0, 1e-3
    bits = seeded_bits(5, 0)
    eta = log(64) / 16
    sigma_0 = sqrt(32 * 2 * 16 * log(1000)) / (64 * epsilon)
    sigma = sqrt(32 * 2 * (2 * 2) ** 2 * eta**2 * log(1000) / (64 * epsilon**2))
    here = np.zeros(4)
    direction = mean_gradient(problem, slice(0, 32), here) + generalised_gaussian(
        4, sigma_0, 3.0, bits
    )
    for step in range(8):
        before, here = here, here + eta * (problem.domain.corner(direction) - here)
        batch = slice(32 + 4 * step, 36 + 4 * step)
        newest, older = mean_gradient(problem, batch, here), mean_gradient(problem, batch, before)
        direction = (1 - eta) * (direction + newest - older) + eta * newest
        direction = direction + generalised_gaussian(4, sigma, 3.0, bits)
    assert np.allclose(RIVALS["noisy_sfw"](problem, epsilon, delta, 1.0, 5), here)


def test_a_mirror_step_minimises_what_is_printed() -> None:
    """⟨g + λ∇h(x), y⟩ + D_h(y, x)/γ over the trust region, by a general solver."""
    p, reach, pull, length = 1.5, 0.8, 2.0, 0.3
    generator = np.random.default_rng(4)
    here, gradient = generator.normal(size=3) * 0.2, generator.normal(size=3)

    def bowl(point: np.ndarray) -> float:
        return float(np.linalg.norm(point, p)) ** 2 / (2 * (p - 1))

    slope = descent.mirror_map(here, p)
    numeric = [(bowl(here + 1e-6 * axis) - bowl(here - 1e-6 * axis)) / 2e-6 for axis in np.eye(3)]
    assert np.allclose(slope, numeric, atol=1e-6)

    def worth(point: np.ndarray) -> float:
        linear = float((gradient + pull * slope) @ point)
        return linear + (bowl(point) - float(slope @ point)) / length

    found = LpBall(3, p, reach).lead(-((1 - length * pull) * slope - length * gradient), 1.0)
    limit = {"type": "ineq", "fun": lambda point: reach - np.linalg.norm(point, p)}
    best = minimize(
        worth, np.full(3, 0.1), constraints=[limit], options={"maxiter": 500, "ftol": 1e-12}
    )
    assert worth(found) <= best.fun + 1e-6


def test_local_md_has_the_stated_phases(monkeypatch: pytest.MonkeyPatch) -> None:
    phases: list[tuple[slice, descent.Phase]] = []

    def record(
        problem: Regression, part: slice, centre: np.ndarray, phase: descent.Phase, luck: object
    ) -> np.ndarray:
        phases.append((part, phase))
        return centre

    monkeypatch.setattr(descent, "_mirror_descent", record)
    local_md(world(1.5, samples=64), 2.0, 1e-3, 1.0, 1)
    eta = 2 / 4 * min(1 / sqrt(0.5 * 64), 2 / sqrt(4 * log(1000)))
    assert [part.stop - part.start for part, _ in phases] == [32, 16, 8, 4, 2, 1]
    assert [part.start for part, _ in phases] == [0, 32, 48, 56, 60, 62]
    for number, (_, phase) in enumerate(phases, 1):
        count = 64 >> number
        batch = min(count, ceil(max(sqrt(count / log(4)), sqrt(2))))
        assert phase.batch == batch
        assert phase.steps == max(1, (count // batch) ** 2)
        assert phase.reach == pytest.approx(2 * 4 * eta / 16**number * count * 0.5)
        assert phase.pull == pytest.approx(2 * 16**number / (eta * count))
        assert phase.sigma == pytest.approx(100 * 4 * 4 ** (1 / 6) * sqrt(log(1000)) / (batch * 2))


def test_noisy_sgd_has_a_certified_epsilon_below_twice_the_claimed_one() -> None:
    """n² steps, each on one sample drawn uniformly, with σ = 2L√(2 ln(1/δ))/ε for changes of 2L."""
    dp_accounting = pytest.importorskip("dp_accounting")
    from dp_accounting.rdp import RdpAccountant

    samples, delta, epsilon = 500, 1e-3, 1.0
    noise = dp_accounting.GaussianDpEvent(sqrt(8 * log(1 / delta)) / epsilon / 2)
    step = dp_accounting.SampledWithoutReplacementDpEvent(samples, 1, noise)
    accountant = RdpAccountant(neighboring_relation=dp_accounting.NeighboringRelation.REPLACE_ONE)
    accountant.compose(dp_accounting.SelfComposedDpEvent(step, samples**2))
    assert 1.6 < accountant.get_epsilon(delta) < 1.85


def test_noisy_sgd_uses_the_step_and_the_noise_that_are_printed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    arguments: dict[str, float] = {}

    def record(
        rows: object,
        targets: object,
        steps: int,
        length: float,
        sigma: float,
        p: float,
        radius: float,
    ) -> np.ndarray:
        arguments.update(steps=steps, length=length, sigma=sigma, p=p, radius=radius)
        return np.zeros(4)

    monkeypatch.setattr(descent, "_noisy_descent", record)
    noisy_sgd(world(inf, radius=2.0, samples=50), 0.5, 1e-3, 3.0, 1)
    lipschitz = 6.0  # L = 2(R + 1)
    diameter = 4.0 * 2  # D = 2R, times √4 in l_2
    least = min(1 / sqrt(50), 0.5 / sqrt(4 * log(1000)))
    assert arguments == pytest.approx(
        {
            "steps": 2500,
            "length": 3 * diameter / (lipschitz * 50) * least,
            "sigma": sqrt(8 * log(1000)) * lipschitz / 0.5,
            "p": inf,
            "radius": 2.0,
        }
    )
