"""Private experts as printed: one action a round, drawn by the exponential mechanism.

    in round t = 1 … T:
        draw action a with probability ∝ exp(η · sum of its gains so far)
        see the gains g_t of all actions, each in [0, 1]

Symbols     η the rate, T the horizon, g_t a row of `gains`
Printed     η = ε/√(32 T ln(1/δ)) and a draw every round
Verdict     SOUND for replace-one neighbours, and far more careful than need be (see `rate`)
References  Perez-Salazar, Cummings (2021), "Differentially Private Online Submodular Maximization",
            Algorithm 1;
            Freund, Schapire (1997), "A Decision-Theoretic Generalization of On-Line Learning"
"""

from math import log, sqrt
from typing import Any

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.compiled import compiled
from discreet.errors import ConfigError

__all__ = ["play", "rate"]


def rate(epsilon: float, delta: float, horizon: float) -> float:
    """The printed η = ε/√(32 T ln(1/δ)), T being how often an action is drawn.

    The T draws have range 2η each and cost T·η²/2 = ε²/(64 ln(1/δ)) of zCDP: no more than (ε, δ) allows as
    long as ε ≤ 48 ln(1/δ), and at (1, 1e-6) only a twentieth of it.

    >>> f"{rate(1.0, 1e-6, 100_000):.6f}"
    '0.000150'
    """
    if delta <= 0:
        raise ConfigError(f"the published rate needs delta > 0, got {delta!r}: give one, such as 1e-6")
    if horizon <= 0:
        raise ConfigError(f"the published rate needs at least one round, got a horizon of {horizon!r}")
    return epsilon / sqrt(32 * horizon * log(1 / delta))


def play(gains: Floats, epsilon: float, delta: float, *, block: int = 1, seed: int = 0) -> Integers:
    """The action of every round, for gains in [0, 1] with a row for every round.

    An action is kept for `block` rounds: 1 is as printed. A longer block has the same rate and fewer draws:
    it is faster and at least as private.

    >>> gains = np.tile([0.2, 0.9, 0.4], (1000, 1))
    >>> needlessly_private = play(gains, 1.0, 1e-6)
    >>> bool((needlessly_private == 1).mean() < 0.5)
    True
    >>> hardly_private = play(gains, 1000.0, 1e-6)
    >>> bool((hardly_private == 1).mean() > 0.9)
    True
    """
    if block < 1:
        raise ConfigError(f"block must be at least 1, got {block!r}")
    rows = np.ascontiguousarray(gains, dtype=np.float64)
    actions: Integers = _play(rows, rate(epsilon, delta, len(rows)), block, seed)
    return actions


# Below: compiled.


@compiled
def _play(gains: Any, rate: Any, block: Any, seed: Any) -> Any:
    """The loop of the module's docstring."""
    np.random.seed(seed)
    rounds, actions = gains.shape
    sums = np.zeros(actions)
    chosen = np.empty(rounds, np.int64)
    action = 0
    for round in range(rounds):
        if round % block == 0:
            action = _draw(sums, rate)
        chosen[round] = action
        for other in range(actions):
            sums[other] += gains[round, other]
    return chosen


@compiled
def _draw(sums: Any, rate: Any) -> Any:
    """An index, with probability ∝ exp(rate · its sum)."""
    highest = sums.max()  # taken off first: no weight exceeds 1
    weights = np.empty(sums.size)
    total = 0.0
    for index in range(sums.size):
        total += np.exp(rate * (sums[index] - highest))
        weights[index] = total
    return np.searchsorted(weights, total * np.random.random(), side="right")
