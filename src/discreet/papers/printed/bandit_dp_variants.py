"""Slates from rewards only, the two variants of the appendix: redraw every round, or draw the coins
first.

    B.1     as Algorithm 3 (discreet/papers/printed/bandit_dp.py), but every copy draws again in EVERY round
    B.2     for each round, decide in advance with probability γ that it explores: M rounds in all
            then run Algorithm 3, which explores in these rounds and in no others

Symbols     η the rate, γ the exploration, M how many rounds explore, k slots, n = |U| items, T the horizon
Printed     B.1: η = ε/(k√(32 T ln(k/δ))), γ = Θ(T^(−1/4))
            B.2: η = ε/(k√(32(M + 1) ln(k/δ))), γ = Θ(T^(−1/3)) The constants of γ are not printed:
            the defaults minimise the text's bounds as they are meant. In E[r_i], B.1 prints k³|U|
            and ln(kδ), and k²|U| ln|U| and ln(k/δ) follow; B.2 lacks the root of ln
Corrected   coincides with printed: both errata are in bounds, not in the algorithm
Sound       the largest η that (ε, δ) allows; a draw has range η, since a person feeds one sum of one copy:
            B.1 has T − 1 redraws after the first, B.2 has M. Printed is sound as well, for its η is
            smaller
Runtime     O(k·n) a round; memory O(k·n), and for B.2 O(γT) more
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
    """γ = √(k³ n ln n √(32 ln(k/δ))/(ε√T)), at most 1: where `every_round_bound` is least.

    >>> every_round_exploration(100, 5, 10**6, 1.0, 1e-6), every_round_exploration(4, 1, 10**8, 1.0, 1e-6)
    (1.0, 0.10797...)
    """
    needs_delta(delta)
    cost = slots**3 * items * log(items) * sqrt(32 * log(slots / delta)) / epsilon
    return min(1.0, sqrt(cost / sqrt(horizon)))


def every_round_bound(
    items: int, slots: int, horizon: int, epsilon: float, delta: float, exploration: float
) -> float:
    """k·E[r_i] + γT with E[r_i] ≤ (kn/γ)(ηγT/(kn) + ln n/η): the line before the errata.

    >>> round(every_round_bound(4, 1, 10**8, 1.0, 1e-6, 0.108) / 10**8, 2)     # of the T that can be lost
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
    """B.1: every set that it shows, for any stream of functions from sets to [0, `bound`], adaptive
    or not.

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
    """γ = (4k³ n ln n √ln(k/δ)/(ε√T))^(2/3), at most 1: where `presampled_bound` is least.

    >>> round(presampled_exploration(4, 1, 10**8, 1.0, 1e-6), 3)
    0.041
    """
    needs_delta(delta)
    cost = 4 * slots**3 * items * log(items) * sqrt(log(slots / delta)) / epsilon
    return min(1.0, float((cost / sqrt(horizon)) ** (2 / 3)))


def presampled_rate(epsilon: float, delta: float, slots: int, explorations: int) -> float:
    """The printed η = ε/(k√(32(M + 1) ln(k/δ))).

    >>> f"{presampled_rate(1.0, 1e-6, 5, 999):.6f}"
    '0.000285'
    """
    return hedge.rate(epsilon / slots, delta / slots, explorations + 1)


def presampled_bound(
    items: int, slots: int, horizon: int, epsilon: float, delta: float, exploration: float
) -> float:
    """8k³ n ln n √ln(k/δ)·√(T/γ)/ε + γT: the printed bound, with the root that its own proof has.

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
    """B.2: every set that it shows, for any stream of functions from sets to [0, `bound`], adaptive
    or not.

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
