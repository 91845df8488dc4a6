"""BanditDP, Appendices B.1 and B.2 as printed: redraw every round, or draw all coins first.

    B.1     as Algorithm 3 (discreet/papers/printed/bandit_dp.py), but every copy draws again in
            EVERY round
    B.2     for each round, decide in advance with probability γ that it explores: M rounds in all
            then run Algorithm 3, which explores in exactly these rounds

Symbols     η the rate, γ the exploration, M the number of exploring rounds, k slots, n = |U| items,
            T the horizon
Printed     B.1: η = ε/(k√(32 T ln(k/δ))), γ = Θ(T^(−1/4))
            B.2: η = ε/(k√(32(M + 1) ln(k/δ))), γ = Θ(T^(−1/3))
            The constants of γ are not printed: the defaults minimise the text's bounds as they are
            meant. In E[r_i], B.1 prints k³|U| and ln(kδ) where k²|U| ln|U| and ln(k/δ) follow; B.2
            lacks the root of ln. Both errata are in bounds, not in the algorithm
Verdict     private as printed, both variants: the printed η is smaller than the sound one
Sound       the largest η that (ε, δ) allows; a draw has range η, since a person feeds one sum of
            one copy: B.1 has T − 1 redraws after the first, B.2 has M
Runtime     O(k·n) per round; memory O(k·n), and for B.2 O(γT) more
References  Perez-Salazar, Cummings (2021), supplement, Appendices B.1 and B.2
"""

from math import log, sqrt

import numpy as np

from discreet.papers.printed import fi_dp, hedge
from discreet.papers.printed.arguments import checked
from discreet.papers.printed.bandit_dp import BanditDp, calibrated, epsilon_spent
from discreet.papers.printed.episode import Arrivals, Episode, meet
from discreet.papers.printed.promise import Noise, needs_delta
from discreet.papers.printed.verdict import Verdict

# --- B.1


def every_round_exploration(
    items: int, slots: int, horizon: int, epsilon: float, delta: float
) -> float:
    """Return the γ ≤ 1 that minimises `every_round_bound`: √(k³ n ln n √(32 ln(k/δ))/(ε√T)).

    >>> every_round_exploration(100, 5, 10**6, 1.0, 1e-6)
    1.0
    >>> every_round_exploration(4, 1, 10**8, 1.0, 1e-6)
    0.10797...
    """
    needs_delta(delta)
    cost = slots**3 * items * log(items) * sqrt(32 * log(slots / delta)) / epsilon
    return min(1.0, sqrt(cost / sqrt(horizon)))


def every_round_bound(
    items: int, slots: int, horizon: int, epsilon: float, delta: float, exploration: float
) -> float:
    """Regret bound k·E[r_i] + γT with E[r_i] ≤ (kn/γ)(ηγT/(kn) + ln n/η), before the errata.

    A share of the largest possible regret T:

    >>> round(every_round_bound(4, 1, 10**8, 1.0, 1e-6, 0.108) / 10**8, 2)
    0.22
    """
    eta = fi_dp.rate(epsilon, delta, slots, horizon)
    spread = slots * items / exploration
    return slots * spread * (eta * horizon / spread + log(items) / eta) + exploration * horizon


EVERY_ROUND_VERDICT = Verdict(
    private=True,
    text="T redraws of range η, where the proof counts 2η and k copies a person",
    epsilon=epsilon_spent(100_000, fi_dp.rate(1.0, 1e-6, 5, 100_000), 1e-6),
)


@checked
def play_every_round(
    arrivals: Arrivals,
    items: int,
    slots: int,
    horizon: int,
    epsilon: float,
    delta: float,
    *,
    noise: Noise = "sound",
    exploration: float | None = None,
    bound: float = 1.0,
    seed: int = 0,
) -> Episode:
    """Run variant B.1 on a stream of set functions with values in [0, `bound`].

    The stream may be fixed or adaptive.

    >>> episode = play_every_round([lambda chosen: float(2 in chosen)] * 50, 4, 2, 50, 1.0, 1e-6)
    >>> len({tuple(shown) for shown in episode.sets}) > 5
    True
    """
    gamma = exploration
    if gamma is None:
        gamma = every_round_exploration(items, slots, horizon, epsilon, delta)
    eta, guarantee = calibrated(
        noise, epsilon, delta, horizon - 1, lambda: fi_dp.rate(epsilon, delta, slots, horizon)
    )
    generator = np.random.default_rng([seed, 7])
    learner = BanditDp(items, slots, eta, gamma, generator, redraws_always=True)
    return meet(learner, arrivals, horizon, guarantee, bound=bound)


# --- B.2


def presampled_exploration(
    items: int, slots: int, horizon: int, epsilon: float, delta: float
) -> float:
    """Return the γ ≤ 1 that minimises `presampled_bound`: (4k³ n ln n √ln(k/δ)/(ε√T))^(2/3).

    >>> round(presampled_exploration(4, 1, 10**8, 1.0, 1e-6), 3)
    0.041
    """
    needs_delta(delta)
    cost = 4 * slots**3 * items * log(items) * sqrt(log(slots / delta)) / epsilon
    return min(1.0, float((cost / sqrt(horizon)) ** (2 / 3)))


def presampled_rate(epsilon: float, delta: float, slots: int, explorations: int) -> float:
    """Return the printed η = ε/(k√(32(M + 1) ln(k/δ))).

    >>> f"{presampled_rate(1.0, 1e-6, 5, 999):.6f}"
    '0.000285'
    """
    return hedge.rate(epsilon / slots, delta / slots, explorations + 1)


def presampled_bound(
    items: int, slots: int, horizon: int, epsilon: float, delta: float, exploration: float
) -> float:
    """Regret bound 8k³ n ln n √ln(k/δ)·√(T/γ)/ε + γT, with the root of the text's own proof.

    >>> round(presampled_bound(4, 1, 10**8, 1.0, 1e-6, 0.041) / 10**8, 2)
    0.12
    """
    learning = 8 * slots**3 * items * log(items) * sqrt(log(slots / delta)) / epsilon
    return learning * sqrt(horizon / exploration) + exploration * horizon


PRESAMPLED_VERDICT = Verdict(
    private=True,
    text="M redraws of range η, M known before the first person comes",
    epsilon=epsilon_spent(999, presampled_rate(1.0, 1e-6, 5, 999), 1e-6),
)


@checked
def play_presampled(
    arrivals: Arrivals,
    items: int,
    slots: int,
    horizon: int,
    epsilon: float,
    delta: float,
    *,
    noise: Noise = "sound",
    exploration: float | None = None,
    bound: float = 1.0,
    seed: int = 0,
) -> Episode:
    """Run variant B.2 on a stream of set functions with values in [0, `bound`].

    The stream may be fixed or adaptive.

    >>> stream = [lambda chosen: float(2 in chosen)] * 50
    >>> episode = play_presampled(stream, 4, 2, 50, 1.0, 1e-6, exploration=0.1)
    >>> len({tuple(shown) for shown in episode.sets}) < 15
    True
    """
    gamma = exploration
    if gamma is None:
        gamma = presampled_exploration(items, slots, horizon, epsilon, delta)
    generator = np.random.default_rng([seed, 8])
    explore_at = np.flatnonzero(generator.random(horizon) < gamma)
    redraws = len(explore_at)
    eta, guarantee = calibrated(
        noise, epsilon, delta, redraws, lambda: presampled_rate(epsilon, delta, slots, redraws)
    )
    learner = BanditDp(items, slots, eta, gamma, generator, explore_at=explore_at)
    return meet(learner, arrivals, horizon, guarantee, bound=bound)
