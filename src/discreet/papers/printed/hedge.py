"""Private experts as printed: one action a round, drawn by the exponential mechanism.

    in round t = 1 … T:
        draw action a with probability ∝ exp(η · sum of its gains so far)
        see the gains g_t of all actions, each in [0, 1]

Symbols     η the rate, T the horizon, g_t a row of `gains`
Printed     η = ε/√(32 T ln(1/δ)) and a draw every round
Sound       the largest rate that (ε, δ) allows, `sound_rate`; printed is sound too, and far more careful
References  Perez-Salazar, Cummings (2021), "Differentially Private Online Submodular Maximization",
            Algorithm 1;
            Freund, Schapire (1997), "A Decision-Theoretic Generalization of On-Line Learning"
"""

from functools import cache
from math import log, sqrt
from typing import Protocol

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.budget.conversion import epsilon_of
from discreet.budget.privacy import Privacy
from discreet.compiled import compiled
from discreet.errors import ConfigError
from discreet.papers.printed.arguments import checked
from discreet.papers.printed.lp_geometry import finite
from discreet.papers.printed.promise import Noise, Played, needs_delta, promise
from discreet.papers.printed.verdict import Verdict


def rate(epsilon: float, delta: float, horizon: float) -> float:
    """The printed η = ε/√(32 T ln(1/δ)), T being how often an action is drawn.

    The T draws have range 2η each and cost T·η²/2 = ε²/(64 ln(1/δ)) of zCDP: no more than (ε, δ)
    allows as long as ε ≤ 48 ln(1/δ), and at (1, 1e-6) only a twentieth of it.

    >>> f"{rate(1.0, 1e-6, 100_000):.6f}"
    '0.000150'
    """
    needs_delta(delta)
    if horizon <= 0:
        raise ConfigError(
            f"the published rate needs at least one round, got a horizon of {horizon!r}"
        )
    return epsilon / sqrt(32 * horizon * log(1 / delta))


def sound_rate(epsilon: float, delta: float, horizon: int) -> float:
    """The largest η whose T − 1 draws after the first, of range 2η each, cost no more than (ε, δ).

    >>> f"{sound_rate(1.0, 1e-6, 100_000):.6f}"
    '0.000698'
    """
    draws = max(1, horizon - 1)
    if delta == 0:
        return epsilon / (2 * draws)
    return sqrt(2 * Privacy(epsilon, delta).budget.rho / draws)


@cache
def epsilon_spent(epsilon: float, delta: float, horizon: int) -> float:
    """What the printed draws really cost at this delta: T·(2η)²/8 of zCDP.

    >>> f"{epsilon_spent(1.0, 1e-6, 100_000):.3f}"
    '0.195'
    """
    return epsilon_of(horizon * rate(epsilon, delta, horizon) ** 2 / 2, delta)


def regret_bound(actions: int, horizon: int, eta: float) -> float:
    """Theorem 3: ηT + ln N/η, for gains in [0, 1].

    >>> round(regret_bound(100, 100_000, rate(1.0, 1e-6, 100_000)))     # there is T to lose
    30635
    """
    return eta * horizon + log(actions) / eta


VERDICT = Verdict(
    private=True,
    text="T draws of range 2η cost ε²/(64 ln(1/δ)) of zCDP, a twentieth of what (1, 1e-6) allows",
    epsilon=epsilon_spent(1.0, 1e-6, 100_000),
)


class Expert(Protocol):
    """Draws an action, then sees what all of them gain."""

    @property
    def chances(self) -> Floats:
        """Of every action."""

    def draw(self, generator: np.random.Generator) -> int:
        """An action."""

    def feed(self, gains: Floats) -> None:
        """What every action gains."""


class HedgeExpert:
    """One copy of the algorithm: an action with probability ∝ exp(η · its gains so far), each in
    [0, 1].
    """

    def __init__(self, actions: int, eta: float) -> None:
        self.sums = np.zeros(actions)
        self._rate = eta

    @property
    def chances(self) -> Floats:
        """Of every action."""
        weights = np.exp(self._rate * (self.sums - self.sums.max()))
        return np.asarray(weights / weights.sum(), dtype=np.float64)

    def draw(self, generator: np.random.Generator) -> int:
        """An action."""
        return int(generator.choice(len(self.sums), p=self.chances))

    def feed(self, gains: Floats) -> None:
        """What every action gains."""
        self.sums += np.clip(finite(gains), 0.0, 1.0)


@checked
def play(
    gains: Floats,
    epsilon: float,
    delta: float,
    *,
    noise: Noise = "sound",
    bound: float = 1.0,
    block: int = 1,
    seed: int = 0,
) -> Played:
    """The action of every round, for gains in [0, `bound`] with a row for every round.

    An action is kept for `block` rounds: 1 is as printed. A longer block has the same rate and
    fewer draws: it is faster and at least as private.

    >>> gains = np.tile([0.2, 0.9, 0.4], (1000, 1))
    >>> played = play(gains, 1.0, 1e-6)
    >>> bool((played.decisions == 1).mean() > 0.5)
    True
    >>> played.guarantee
    'sound noise: DP with ε = 1, δ = 1e-06 (simulated: seeded, in floating point)'
    """
    rows = np.ascontiguousarray(np.clip(finite(gains) / bound, 0.0, 1.0), dtype=np.float64)
    eta = (rate if noise == "printed" else sound_rate)(epsilon, delta, len(rows))
    guarantee = promise(noise, epsilon, delta, lambda: epsilon_spent(epsilon, delta, len(rows)))
    return Played(_play(rows, eta, block, seed), guarantee)


# Below: compiled.


@compiled
def _play(gains: Floats, rate: float, block: int, seed: int) -> Integers:
    """The loop of the module's docstring."""
    np.random.seed(seed)
    rounds, actions = gains.shape
    sums = np.zeros(actions)
    weights = np.empty(actions)
    chosen = np.empty(rounds, np.int64)
    action = 0
    for round in range(rounds):
        if round % block == 0:
            weigh(sums, rate, weights)
            action = draw(weights)
        chosen[round] = action
        for other in range(actions):
            sums[other] += gains[round, other]
    return chosen


@compiled
def weigh(sums: Floats, rate: float, weights: Floats) -> None:
    """Weights exp(rate · sum), added up along the actions."""
    highest = sums.max()  # taken off first: no weight exceeds 1
    total = 0.0
    for index in range(sums.size):
        total += np.exp(rate * (sums[index] - highest))
        weights[index] = total


@compiled
def draw(weights: Floats) -> int:
    """An action, with probability ∝ its weight; `weights` are added up."""
    drawn: int = np.searchsorted(weights, weights[-1] * np.random.random(), side="right")
    return drawn
