"""If these fail, streaming optimisation is compared with something that was never printed."""

from math import e, inf, log, sqrt
from typing import Any

import numpy as np
import pytest

from discreet.budget.privacy import Privacy
from discreet.errors import ConfigError
from discreet.losses import CallableLoss, LogisticLoss
from discreet.optim.domains import LpBall
from discreet.papers.noise import generalised_gaussian
from discreet.papers.printed import lp_geometry
from discreet.papers.printed import streaming_frank_wolfe as algorithm_1
from discreet.papers.printed import streaming_frank_wolfe_l1 as algorithm_2
from discreet.papers.printed.lp_geometry import Constants
from discreet.papers.printed.promise import AnyNoise
from discreet.release.randomness import seeded_bits

pytestmark = pytest.mark.filterwarnings(
    "ignore::discreet.papers.printed.promise.PrintedNoiseWarning"
)

SAMPLES, FEATURES = 21, 4
GENERATOR = np.random.default_rng(1)
ROWS = GENERATOR.uniform(-0.5, 0.5, size=(SAMPLES, FEATURES))
TARGETS = ROWS @ [0.8, -0.4, 0.0, 0.2] + GENERATOR.normal(0, 0.1, SAMPLES)


def slope(point: np.ndarray, number: int) -> np.ndarray:
    """Return ∇f of a sample, for squared loss."""
    gradient: np.ndarray = 2 * (ROWS[number] @ point - TARGETS[number]) * ROWS[number]
    return gradient


def lowest(direction: np.ndarray, p: float, radius: float) -> np.ndarray:
    """Return the point of an l_p ball, p > 1, with the least product with a direction."""
    if p == inf:
        return np.asarray(-radius * np.sign(direction))
    q = p / (p - 1)
    sizes = np.abs(direction) ** (q - 1)
    length = np.linalg.norm(direction, q) ** (q - 1)
    return np.asarray(-radius * np.sign(direction) * sizes / length)


def prefix_noise(nodes: np.ndarray) -> np.ndarray:
    """Return the noise of sums, from that of the nodes that end there."""
    of_sum = [np.zeros(FEATURES)]
    for time, node in enumerate(nodes, 1):
        of_sum.append(of_sum[time & (time - 1)] + node)
    return np.array(of_sum[1:])


def printed_box(p: float, radius: float, noises: np.ndarray, weights: str) -> np.ndarray:
    """Algorithm 1 by the recursion or by Eq. (1), line by line."""
    points = [np.zeros(FEATURES), np.zeros(FEATURES)]  # θ_0 and θ_1
    direction, total = np.zeros(FEATURES), np.zeros(FEATURES)
    for t in range(1, SAMPLES + 1):
        newest, before = slope(points[t], t - 1), slope(points[t - 1], t - 1)
        if weights == "recursion":
            direction = newest if t == 1 else newest + (1 - 1 / (t + 1)) * (direction - before)
            noisy = direction + noises[t - 1] / (t + 1)
        elif weights == "equation":
            total = total + (t + 1) * newest - t * before
            noisy = (total + noises[t - 1]) / (t + 1)
        else:
            total = total + t * newest - (t - 1) * before
            noisy = (total + noises[t - 1]) / t
        points.append(points[t] + (lowest(noisy, p, radius) - points[t]) / (t + 1))
    return np.array(points[2:])


@pytest.mark.parametrize("weights", ["equation", "recursion", "unbiased"])
@pytest.mark.parametrize(
    ("p", "radius"), [(1.2, 1.0), (1.5, 2.0), (2.0, 0.5), (5.0, 2.0), (inf, 2.0)]
)
def test_points_are_those_of_the_printed_box(
    p: float, radius: float, weights: algorithm_1.Weights
) -> None:
    ball = LpBall(FEATURES, p, radius)
    found = algorithm_1.play(
        ROWS, TARGETS, ball, 1.0, 1e-3, noise="none", weights=weights
    ).decisions
    assert np.allclose(found, printed_box(p, radius, np.zeros((SAMPLES, FEATURES)), weights))
    assert max(np.linalg.norm(point, p) for point in found) <= radius * (1 + 1e-9)


@pytest.mark.parametrize("noise", ["printed", "lemma", "corrected"])
def test_noise_is_drawn_as_printed_by_the_lemma_or_corrected(noise: algorithm_1.Noise) -> None:
    """p = 1.5, radius 2: L = 6, β = 2, D = 4, so βD + L = 14; m = 6 levels; κ = 2."""
    ball, epsilon, delta = LpBall(FEATURES, 1.5, 2.0), 50.0, 1e-3
    sigma = sqrt(8 * 36 * min(2, e**2 * (log(4) - 1)) * log(6000)) * 14 / epsilon
    order = 3.0 if noise == "corrected" else min(2, log(4) - 1)
    drawn = sqrt(sigma) if noise == "lemma" else sigma
    nodes = generalised_gaussian(FEATURES, drawn, order, seeded_bits(7, 0), draws=SAMPLES)
    found = algorithm_1.play(ROWS, TARGETS, ball, epsilon, delta, noise=noise, seed=7).decisions
    assert np.allclose(found, printed_box(1.5, 2.0, prefix_noise(nodes), "equation"))


def test_regularity() -> None:
    assert lp_geometry.printed_regularity(1.5, 100) == (2.0, 2.0, 1.0)
    assert lp_geometry.printed_regularity(1.01, 100) == pytest.approx(
        (e**2 * (log(100) - 1), log(100) - 1, 1.0)
    )
    assert lp_geometry.corrected_regularity(1.01, 100) == pytest.approx(
        (e**2 * (log(100) - 1), log(100), 1.0)
    )
    assert lp_geometry.corrected_regularity(1.5, 100) == (2.0, 3.0, 1.0)
    assert lp_geometry.corrected_regularity(4.0, 16) == pytest.approx((4.0, 2.0, 2.0))
    for p in (1.0, 1.05, 1.5, 2.0):
        sound, corrected = (
            lp_geometry.sound_regularity(p, 50),
            lp_geometry.corrected_regularity(p, 50),
        )
        assert sound.kappa <= corrected.kappa * (1 + 1e-9)
        assert sound.order >= 2
    with pytest.raises(
        ConfigError, match=r"printed index of the smooth norm is -0\.31 for dimension 2"
    ):
        lp_geometry.printed_regularity(1.5, 2)


@pytest.mark.parametrize("p", [1.05, 1.3, 1.8])
def test_the_smooth_norm_is_near_and_smooth(p: float) -> None:
    """On random points: ‖x‖_q ≤ ‖x‖₊ ≤ √(κ/κ₊)·‖x‖_q, and ½‖·‖₊² bends by at most κ₊."""
    generator = np.random.default_rng(3)
    dual = p / (p - 1)
    for choose in (lp_geometry.sound_regularity, lp_geometry.corrected_regularity):
        kappa, order, factor = choose(p, 30)
        for _ in range(50):
            point, step = generator.normal(size=(2, 30)) * generator.choice([0.1, 1.0], size=30)
            smooth, own = factor * np.linalg.norm(point, order), np.linalg.norm(point, dual)
            assert own <= smooth * (1 + 1e-9)
            assert smooth <= sqrt(kappa / (order - 1)) * own * (1 + 1e-9)
            around = (
                np.linalg.norm(point + step, order) ** 2 + np.linalg.norm(point - step, order) ** 2
            )
            bend = around / 2 - np.linalg.norm(point, order) ** 2
            assert bend <= (order - 1) * np.linalg.norm(step, order) ** 2 * (1 + 1e-9)


def test_sound_noise_costs_the_budget() -> None:
    kappa, reach, horizon = 2.0, 8.0, 1000
    sigma = algorithm_1.sound_deviation(kappa, reach, horizon, 1.0, 1e-6)
    # A person is in ten nodes, each moved by at most 2(βD + L).
    assert 10 * algorithm_1.node_zcdp(kappa, reach, sigma) == pytest.approx(
        Privacy(1.0, 1e-6).budget.rho
    )
    printed = algorithm_1.printed_deviation(kappa, reach, horizon, 1.0, 1e-6)
    assert 11 * algorithm_1.node_zcdp(kappa, reach, printed) == pytest.approx(
        1 / (4 * 11 * log(11e6))
    )


def test_samples_beyond_the_bound_move_a_sound_sum_no_further_than_those_at_the_bound() -> None:
    """The first person's features are a thousand or a million times too long."""
    ball = LpBall(FEATURES, 1.5)
    rows = ROWS.copy()
    longer = ROWS.copy()
    rows[0] *= 1e3
    longer[0] *= 1e6
    one = algorithm_1.play(rows, TARGETS, ball, 1e6, 1e-3).decisions
    other = algorithm_1.play(longer, TARGETS, ball, 1e6, 1e-3).decisions
    assert np.allclose(one, other, atol=1e-3)


def test_a_callable_loss_gives_the_points_of_an_equal_built_in_loss() -> None:
    ball = LpBall(FEATURES, 1.5)
    targets = (TARGETS > 0).astype(float)

    def by_hand(point: np.ndarray, row: np.ndarray, target: float) -> np.ndarray:
        return np.asarray((1 / (1 + np.exp(-row @ point)) - target) * row)

    settings: dict[str, Any] = {"noise": "none", "constants": Constants(1.0, 0.25, 2.0)}
    built_in = algorithm_1.play(ROWS, targets, ball, 1.0, 1e-3, loss=LogisticLoss(), **settings)
    loss = CallableLoss(by_hand)
    called = algorithm_1.play(ROWS, targets, ball, 1.0, 1e-3, loss=loss, **settings)
    assert np.allclose(built_in.decisions, called.decisions)
    with pytest.raises(ConfigError, match=r"p must be above 1, got 1: Algorithm 2"):
        algorithm_1.play(ROWS, TARGETS, LpBall(FEATURES, 1), 1.0, 1e-3)


def test_risk_bounds_by_hand() -> None:
    constants, kappa, sigma, alpha = Constants(1.0, 0.5, 2.0), 3.0, 5.0, 0.1  # βD + G = 3
    sampling = 2 * (sqrt(6 * e) + 8 * sqrt(4 * log(2 * 16 / alpha))) * 2 * 3
    failing = log(2 * 16 * 4 / alpha)
    noise = 2 * 4 * sigma * sqrt(9 + 2 * sqrt(9 * failing) + 18 * failing)
    bound = algorithm_1.risk_bound(8, constants, kappa, 9, 16, sigma, alpha)
    assert bound == pytest.approx(sampling / sqrt(8) + (log(8) + 1) * 2 / 16 + log(8) / 8 * noise)
    strong = algorithm_1.strongly_convex_risk_bound(
        8, constants, kappa, 9, 16, sigma, alpha, convexity=0.5, interior=2.0
    )
    assert strong == pytest.approx(9 * (sampling**2 / 9 + (noise + 1) ** 2 * log(16) ** 2 / 81))
    whole = 8 * 2 * 3 * sqrt(log(8 * 9 * 16 / alpha)) + 16 * 2 * 2 * log(
        4 * 9 * 16 / alpha
    ) / 0.5 * sqrt(log(16) * log(1000))
    corner = algorithm_2.risk_bound(8, constants, 9, 16, 0.5, 1e-3, alpha)
    assert corner == pytest.approx(3 * (2 + whole) / 3)
    strong = algorithm_2.strongly_convex_risk_bound(
        8, constants, 9, 16, 0.5, 1e-3, alpha, convexity=0.5, interior=2.0
    )
    assert strong == pytest.approx((2 + whole) ** 2 / 2)


# --- p = 1


@pytest.mark.parametrize("radius", [1.0, 2.0])
def test_corners_are_those_of_the_printed_box(radius: float) -> None:
    epsilon, delta = 2000.0, 1e-3
    diameter, reach = 2 * radius, 2 * 2 * radius + 2 * (radius + 1)
    generator = np.random.default_rng([5, 11])
    points, direction, expected = [np.zeros(FEATURES)] * 2, np.zeros(FEATURES), []
    for t in range(1, SAMPLES + 1):
        newest, before = slope(points[t], t - 1), slope(points[t - 1], t - 1)
        direction = newest if t == 1 else newest + (1 - 1 / (t + 1)) * (direction - before)
        scale = 4 * diameter * reach * sqrt(log(SAMPLES) * log(1 / delta)) / (epsilon * sqrt(t))
        noise = generator.laplace(0, scale, size=2 * FEATURES)
        values = [radius * direction[j] + noise[j] for j in range(FEATURES)]
        values += [-radius * direction[j] + noise[FEATURES + j] for j in range(FEATURES)]
        best = int(np.argmin(values))
        corner = np.zeros(FEATURES)
        corner[best % FEATURES] = radius if best < FEATURES else -radius
        points.append(points[t] + (corner - points[t]) / (t + 1))
        expected.append(points[-1])
    ball = LpBall(FEATURES, 1.0, radius)
    found = algorithm_2.play(ROWS, TARGETS, ball, epsilon, delta, noise="printed", seed=5)
    assert np.allclose(found.decisions, expected)


def test_sound_corners_cost_the_budget() -> None:
    """Scores ±R·S_j/t move by R·2C/t either way: a range of 2DC/t."""
    horizon, reach, diameter = 50, 3.0, 2.0
    spent = 0.0
    for time in range(1, horizon + 1):
        rate = algorithm_2.sound_rate(time, reach, diameter, horizon, 1.0, 1e-6)
        spent += (rate * 2 * diameter * reach / time) ** 2 / 8
    assert spent == pytest.approx(Privacy(1.0, 1e-6).budget.rho)


def test_sound_corners_learn_and_printed_ones_do_not() -> None:
    generator = np.random.default_rng(2)
    rows = generator.uniform(-1, 1, size=(4000, 3))
    targets = rows @ [0.0, 0.9, 0.0]
    ball = LpBall(3, 1)
    noises: tuple[AnyNoise, ...] = ("printed", "sound", "none")
    errors = {}
    for noise in noises:
        played = algorithm_2.play(rows, targets, ball, 5.0, 1e-6, noise=noise)
        errors[noise] = np.abs(played.decisions[-1] - [0, 0.9, 0]).sum()
    assert errors["none"] < 0.1 < errors["sound"] < errors["printed"]


def test_what_was_not_printed_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"p must be 1, got 1.5: Algorithm 1"):
        algorithm_2.play(ROWS, TARGETS, LpBall(FEATURES, 1.5), 1.0, 1e-3)
