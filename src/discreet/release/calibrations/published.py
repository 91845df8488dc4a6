"""Constants as they are printed, each marked sound or unsound for replace-one neighbours.

The tight calibrations live with their mechanisms; docs/guarantees/ compares the two.
"""

from math import ceil, log, log2, sqrt

from discreet.errors import ConfigError

__all__ = ["bandit_exploration", "bandit_rate", "costs_bandit", "costs_full", "hedge_rate", "sets_rate", "tree_noise_scale"]


def hedge_rate(epsilon: float, delta: float, horizon: int) -> float:
    """η = ε / √(32 T ln(1/δ)) for private experts redrawn every round. Sound, and far more careful than need be.

    Its T draws cost only ε²/(64 ln(1/δ)) of zCDP: at (1, 1e-6) a twentieth of what (ε, δ) allows.

    References
    ----------
    Perez-Salazar, Cummings (2021), "Differentially Private Online Submodular Maximization", Algorithm 1.

    >>> f"{hedge_rate(1.0, 1e-6, 100_000):.6f}"
    '0.000150'
    """
    if delta == 0:
        raise ConfigError("the published rate needs delta > 0: give one, or use calibration='tight'")
    return epsilon / sqrt(32 * horizon * log(1 / delta))


def sets_rate(epsilon: float, delta: float, slots: int, horizon: int) -> float:
    """η = ε / (k √(32 T ln(k/δ))) for k ordered copies of private experts redrawn every round. Sound, and hardly learns.

    References
    ----------
    Perez-Salazar, Cummings (2021), "Differentially Private Online Submodular Maximization", Algorithm 2.

    >>> f"{sets_rate(1.0, 1e-6, 5, 100_000):.7f}"
    '0.0000285'
    """
    if delta == 0:
        raise ConfigError("the published rate needs delta > 0: give one, or use calibration='tight'")
    return epsilon / (slots * sqrt(32 * horizon * log(slots / delta)))


def bandit_exploration(items: int, slots: int, horizon: int) -> float:
    """γ = k((16 n ln n)²/T)^(1/3), at most 1. It is 1 for every realistic horizon: 100 items and 5 slots need T ≈ 7·10⁹.

    >>> bandit_exploration(100, 5, 10**6)
    1.0
    """
    return float(min(1.0, slots * ((16 * items * log(max(items, 2))) ** 2 / horizon) ** (1 / 3)))


def bandit_rate(epsilon: float, delta: float, slots: int, horizon: int, exploration: float) -> float:
    """η = ε / (k √(64 γ T ln(k/δ))) for k copies redrawn after each exploring round. Sound while at most 2γT redraws are made.

    References
    ----------
    Perez-Salazar, Cummings (2021), "Differentially Private Online Submodular Maximization", Algorithm 3.
    """
    if delta == 0:
        raise ConfigError("the published rate needs delta > 0: give one, or use calibration='tight'")
    return epsilon / (slots * sqrt(64 * exploration * horizon * log(slots / delta)))


def tree_noise_scale(bound: float, horizon: int, epsilon: float) -> float:
    """Of the l₂-Gamma noise in each node of the tree, L·(⌈log₂T⌉ + 1)/ε. UNSOUND with L the length of one vector: replacing it moves 2L.

    References
    ----------
    Cardoso, Cummings (2019), "Differentially Private Online Submodular Minimization", Algorithm 4.
    """
    return bound * (ceil(log2(horizon)) + 1) / epsilon


def costs_full(horizon: int) -> tuple[float, float]:
    """Regulariser H = √T and length L = 4 of subgradients, for costs in [−1, 1]. UNSOUND: a replacement moves 4√2, not 4.

    References
    ----------
    Cardoso, Cummings (2019), "Differentially Private Online Submodular Minimization", full information.
    """
    return sqrt(horizon), 4.0


def costs_bandit(items: int, horizon: int) -> tuple[float, float, float]:
    """Regulariser H = T^(2/3), exploration γ = n^(3/2)/T^(1/3) (at most 1: T ≥ n^4.5 needed) and length L = 4n/√γ.

    UNSOUND: L is a root mean square; the estimate can be as long as 2(n + 1)/γ, and a replacement moves twice that.

    References
    ----------
    Cardoso, Cummings (2019), "Differentially Private Online Submodular Minimization", bandit feedback.

    >>> [round(value, 2) for value in costs_bandit(10, 10**6)]
    [10000.0, 0.32, 71.13]
    """
    explore = min(1.0, items**1.5 / horizon ** (1 / 3))
    return horizon ** (2 / 3), explore, 4 * items / sqrt(explore)
