"""Hedge as printed: private experts, one action per round by the exponential mechanism.

    in round t = 1 … T:
        draw action a with probability ∝ exp(η · sum of its gains so far)
        see the gains g_t of all actions, each in [0, 1]

Symbols     η the rate, T the horizon, g_t a row of `gains`
Printed     η = ε/√(32 T ln(1/δ)) and a draw every round
Verdict     private as printed, with more noise than needed (ε = 0.195 where 1 is claimed)
Sound       the largest rate that (ε, δ) allows, `sound_rate`
Runtime     O(n) per round for n actions
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
    """Return the printed η = ε/√(32 T ln(1/δ)) for T draws.

    The draws have range 2η each and cost T·η²/2 = ε²/(64 ln(1/δ)) of zCDP: no more than (ε, δ)
    allows for ε ≤ 48 ln(1/δ), and only a twentieth of it at (1, 1e-6).

    >>> f"{rate(1.0, 1e-6, 100_000):.6f}"
    '0.000150'
    """
    needs_delta(delta)
    if horizon <= 0:
        raise ConfigError(f"horizon must be above 0 for the published rate, got {horizon!r}")
    return epsilon / sqrt(32 * horizon * log(1 / delta))


def sound_rate(epsilon: float, delta: float, horizon: int) -> float:
    """Return the largest η whose T − 1 draws of range 2η after the first cost at most (ε, δ).

    >>> f"{sound_rate(1.0, 1e-6, 100_000):.6f}"
    '0.000698'
    """
    draws = max(1, horizon - 1)
    if delta == 0:
        return epsilon / (2 * draws)
    return sqrt(2 * Privacy(epsilon, delta).budget.rho / draws)


@cache
def epsilon_spent(epsilon: float, delta: float, horizon: int) -> float:
    """Return the ε that the printed draws cost at this δ: T·(2η)²/8 of zCDP.

    >>> f"{epsilon_spent(1.0, 1e-6, 100_000):.3f}"
    '0.195'
    """
    return epsilon_of(horizon * rate(epsilon, delta, horizon) ** 2 / 2, delta)


def regret_bound(actions: int, horizon: int, eta: float) -> float:
    """Regret bound of Theorem 3, ηT + ln N/η, for gains in [0, 1]; the largest regret is T.

    >>> round(regret_bound(100, 100_000, rate(1.0, 1e-6, 100_000)))
    30635
    """
    return eta * horizon + log(actions) / eta


VERDICT = Verdict(
    private=True,
    text="T draws of range 2η cost ε²/(64 ln(1/δ)) of zCDP, a twentieth of what (1, 1e-6) allows",
    epsilon=epsilon_spent(1.0, 1e-6, 100_000),
)


class Expert(Protocol):
    """An online algorithm that draws an action and then sees the gains of all actions."""

    @property
    def chances(self) -> Floats:
        """Probability of each action."""

    def draw(self, generator: np.random.Generator) -> int:
        """Draw an action."""

    def feed(self, gains: Floats) -> None:
        """Add the gains of a round, one per action."""


class HedgeExpert:
    """One copy of Hedge: draws an action with probability ∝ exp(η · sum of its gains)."""

    def __init__(self, actions: int, eta: float) -> None:
        self.sums = np.zeros(actions)
        self._rate = eta

    @property
    def chances(self) -> Floats:
        """Probability of each action."""
        weights = np.exp(self._rate * (self.sums - self.sums.max()))
        return np.asarray(weights / weights.sum(), dtype=np.float64)

    def draw(self, generator: np.random.Generator) -> int:
        """Draw an action."""
        return int(generator.choice(len(self.sums), p=self.chances))

    def feed(self, gains: Floats) -> None:
        """Add the gains of a round, one per action, clipped to [0, 1]."""
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
    """Run Hedge and return the action of every round.

    Parameters
    ----------
    gains
        Gains in [0, `bound`], one row per round and one column per action.
    block
        Number of rounds that share an action: 1 is as printed. A longer block has the same rate and
        fewer draws: it is faster and at least as private.

    Examples
    --------
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
    """Return the action of every round: the loop of the module's docstring."""
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
    """Write the cumulative weights exp(rate · sum) of the actions into `weights`."""
    highest = sums.max()  # subtracted first, so that no weight exceeds 1
    total = 0.0
    for index in range(sums.size):
        total += np.exp(rate * (sums[index] - highest))
        weights[index] = total


@compiled
def draw(weights: Floats) -> int:
    """Draw an action with probability ∝ its weight; `weights` are cumulative."""
    drawn: int = np.searchsorted(weights, weights[-1] * np.random.random(), side="right")
    return drawn
