"""Streaming Frank–Wolfe l1 as printed (Algorithm 2): convex optimisation in l_1, noisy corners.

    θ_0 = θ_1 = 0
    in round t = 1 … n:
        see x_t
        d_1 = ∇f(θ_1; x_1), and then
        d_t = ∇f(θ_t; x_t) + (1 − 1/(t + 1))(d_{t−1} − ∇f(θ_{t−1}; x_t))
        v_t = the corner v of the l_1 ball with the least ⟨d_t, v⟩ + Laplace noise
        θ_{t+1} = θ_t + (v_t − θ_t)/(t + 1)

Symbols     C the l_1 ball, D its diameter: corners are ±(D/2)e_j; ‖∇f‖_∞ ≤ L, β the smoothness in
            l_1; d features
Printed     Laplace noise of scale 4D(βD + L)√(ln n · ln(1/δ))/(ε√t) for every corner. The box draws
            noise for every v of C; here, as in the proofs, for its corners
Verdict     not private as printed if L > βD: x_1 enters d_t as 2∇f/(t + 1), a change of
            4L/(t + 1), which the proof's 2(βD + L)/(t + 1) covers while L ≤ βD. Report-noisy-max
            costs what the proof says: D, the diameter, bounds the difference between the changes
            of two corners' scores. ln n exceeds Σ 1/t = H_n by enough from n = 3 on
Sound       g_t = t∇f(θ_t; x_t) − (t − 1)∇f(θ_{t−1}; x_t), each coordinate clipped to C = βD + L,
            d_t = mean; corners by the exponential mechanism at rate λ_t = √(2ρt/H_n)/(DC): scores
            change within 2DC/t, so round t costs (λ_t·2DC/t)²/8 = ρ/(t·H_n) of zCDP, and all rounds
            together cost ρ
Runtime     O(d) per round; memory O(d)
References  Han et al. (2022), "Optimal Private Streaming SCO in l_p-geometry with Applications in
            High Dimensional Online Decision Making", Algorithm 2, Theorems 3.11 to 3.13
"""

from math import inf, log, sqrt

import numpy as np

from discreet.arrays import Floats
from discreet.budget.conversion import epsilon_of
from discreet.budget.privacy import Privacy
from discreet.errors import ConfigError
from discreet.losses import CallableLoss, Loss, SquaredLoss
from discreet.optim.domains import LpBall
from discreet.papers.printed.arguments import checked
from discreet.papers.printed.lp_geometry import Constants, regression_constants
from discreet.papers.printed.promise import AnyNoise, Played, needs_delta, promise
from discreet.papers.printed.streaming_frank_wolfe import descended
from discreet.papers.printed.verdict import Verdict


def harmonic(count: int) -> float:
    """H_n = 1 + 1/2 + … + 1/n."""
    return float(np.sum(1 / np.arange(1, count + 1)))


def printed_scale(
    time: int, reach: float, diameter: float, horizon: int, epsilon: float, delta: float
) -> float:
    """Return the printed scale 4D(βD + L)√(ln n · ln(1/δ))/(ε√t); `reach` is βD + L.

    >>> round(printed_scale(100, 2.0, 1.0, 100_000, 1.0, 1e-6), 2)
    10.09
    """
    return 4 * diameter * reach * sqrt(log(horizon) * log(1 / delta)) / (epsilon * sqrt(time))


def sound_rate(
    time: int, reach: float, diameter: float, horizon: int, epsilon: float, delta: float
) -> float:
    """Return the sound rate λ_t = √(2ρt/H_n)/(D(βD + L)); `reach` is βD + L.

    >>> f"{sound_rate(100, 2.0, 1.0, 100_000, 1.0, 1e-6):.3f}"
    '0.317'
    """
    rho = Privacy(epsilon, delta).budget.rho
    return sqrt(2 * rho * time / harmonic(horizon)) / (diameter * reach)


def epsilon_spent(constants: Constants, horizon: int, epsilon: float, delta: float) -> float:
    """Return the ε of the printed noise: each draw is ε_t-private and costs ε_t²/2 of zCDP.

    x_1 moves ⟨d_t, v⟩ by up to s = (D/2)·4L/(t + 1), later people by (D/2)·2(βD + L)/(t + 1),
    scores both ways, so ε_t = 2s/(Laplace scale of t). The person with the larger s counts. First
    with L = βD, then with L ≫ βD:

    >>> round(epsilon_spent(Constants(1.0, 1.0, 1.0), 100_000, 1.0, 1e-6), 2)
    0.56
    >>> round(epsilon_spent(Constants(10.0, 0.1, 1.0), 100_000, 1.0, 1e-6), 2)
    1.16
    """
    if horizon < 2:  # ln 1 = 0: the first corner has no noise
        return inf
    first = printed_scale(1, constants.reach, constants.diameter, horizon, epsilon, delta)
    times = np.arange(1, horizon + 1)
    moved = constants.diameter / 2 * max(4 * constants.lipschitz, 2 * constants.reach) / (times + 1)
    given = 2 * moved / (first / np.sqrt(times))
    return epsilon_of(float(np.sum(given**2)) / 2, delta)


VERDICT = Verdict(
    private=False,
    text="x_1 enters d_t as 2∇f/(t + 1), so if L > βD two first samples of opposite gradients "
    "move scores further than the printed noise covers; it covers all later people",
    epsilon=epsilon_spent(Constants(10.0, 0.1, 1.0), 100_000, 1.0, 1e-6),
)


def _error_bound(
    constants: Constants, dimension: int, horizon: int, epsilon: float, delta: float, alpha: float
) -> float:
    """Return A of Theorem 3.12, with G = 2L."""
    diameter = constants.diameter
    spread = constants.smoothness * diameter + 2 * constants.lipschitz
    sampling = 8 * diameter * spread * sqrt(log(8 * dimension * horizon / alpha))
    noise = 16 * diameter * constants.reach * log(4 * dimension * horizon / alpha) / epsilon
    return sampling + noise * sqrt(log(horizon) * log(1 / delta))


def risk_bound(
    time: int,
    constants: Constants,
    dimension: int,
    horizon: int,
    epsilon: float,
    delta: float,
    alpha: float,
) -> float:
    """Bound of Theorem 3.12 on F(θ_t) − F(θ*): 3(βD² + A)/√(t + 1) with probability 1 − α.

    The largest possible loss here is LD = 1:

    >>> bound = risk_bound(10**6, Constants(1.0, 1.0, 1.0), 100, 10**6, 1.0, 1e-6, 0.05)
    >>> bound > 1
    True
    """
    error = _error_bound(constants, dimension, horizon, epsilon, delta, alpha)
    return 3 * (constants.smoothness * constants.diameter**2 + error) / sqrt(time + 1)


def strongly_convex_risk_bound(
    time: int,
    constants: Constants,
    dimension: int,
    horizon: int,
    epsilon: float,
    delta: float,
    alpha: float,
    *,
    convexity: float,
    interior: float,
) -> float:
    """Bound of Theorem 3.13 for a strongly convex F: 9(βD² + A)²/(γ²μ(t + 1)).

    μ is the convexity, γ the distance of θ* from the boundary (`interior`).

    >>> constants = Constants(1.0, 1.0, 1.0)
    >>> kind = {"convexity": 1.0, "interior": 0.5}
    >>> strongly_convex_risk_bound(10**6, constants, 100, 10**6, 1.0, 1e-6, 0.05, **kind) > 1
    True
    """
    error = _error_bound(constants, dimension, horizon, epsilon, delta, alpha)
    whole = constants.smoothness * constants.diameter**2 + error
    return 9 * whole**2 / (interior**2 * convexity * (time + 1))


@checked
def play(
    features: Floats,
    targets: Floats,
    ball: LpBall,
    epsilon: float,
    delta: float,
    *,
    loss: Loss | CallableLoss | None = None,
    constants: Constants | None = None,
    noise: AnyNoise = "sound",
    pace: float = 1.0,
    seed: int = 0,
) -> Played:
    """Run Algorithm 2 and return θ_2, …, θ_{n+1}, the coefficients after every sample, as rows.

    Parameters
    ----------
    loss
        Loss of a sample; the squared loss by default.
    constants
        L, β and D; by default those of regression with features and targets up to 1.
    pace
        Factor of the steps 1/(t + 1): 1 is as printed.

    Examples
    --------
    >>> features = np.random.default_rng(1).uniform(-1, 1, size=(500, 3))
    >>> played = play(features, features @ [0.5, 0.0, -0.5], LpBall(3, p=1), 1e4, 1e-3)
    >>> bool(np.allclose(played.decisions[-1], [0.5, 0.0, -0.5], atol=0.1))
    True
    """
    if ball.p != 1:
        raise ConfigError(f"p must be 1, got {ball.p!r}: Algorithm 1 is for p > 1")
    known = regression_constants(ball) if constants is None else constants
    samples = len(features)
    needs_delta(delta)
    guarantee = promise(
        noise,
        epsilon,
        delta,
        lambda: epsilon_spent(known, samples, epsilon, delta),
        accepted=("sound", "printed", "none"),
    )
    generator = np.random.default_rng([seed, 11])
    strength = 0.0
    if samples and noise != "none":
        strength_of = printed_scale if noise == "printed" else sound_rate
        strength = strength_of(1, known.reach, known.diameter, samples, epsilon, delta)

    def corner(time: int, total: Floats, count: int) -> Floats:
        scores = ball.radius * np.concatenate([total, -total]) / count
        if noise == "printed":
            scores = scores + generator.laplace(0.0, strength / sqrt(time), size=len(scores))
        elif noise == "sound":
            scores = strength * sqrt(time) * scores - generator.gumbel(size=len(scores))
        return ball.corner_at(int(np.argmin(scores)))

    points = descended(
        features,
        targets,
        SquaredLoss() if loss is None else loss,
        "unbiased" if noise == "sound" else "recursion",
        corner,
        clip=(known.reach, inf) if noise == "sound" else None,
        pace=pace,
    )
    return Played(points, guarantee)
