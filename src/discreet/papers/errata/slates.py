"""Errata of "Differentially Private Online Submodular Maximization" (MAX).

References  Perez-Salazar, Cummings (2021), text and supplement
"""

from math import log, log2, sqrt

from discreet.papers.errata.erratum import Erratum, gaussian_delta
from discreet.papers.printed import bandit_dp, bandit_dp_variants

__all__ = [
    "gaussian_noise_is_never_pure",
    "slates_exploration_exceeds_one",
    "the_direct_bound_has_a_negative_root",
    "theorem_8_prints_too_small_a_power",
]

PAPER = "MAX"


def slates_exploration_exceeds_one() -> Erratum:
    """Compute γ = k((16|U| ln|U|)²/T)^(1/3) for 100 items and 5 slots."""
    items = 100
    slots = 5
    horizon = 10**6
    gamma = slots * ((16 * items * log(items)) ** 2 / horizon) ** (1 / 3)
    least = slots**3 * (16 * items * log(items)) ** 2
    return Erratum(
        "explore with probability γ (Algorithm 3)",
        "γ is a probability from the least T on; below that it is clipped to 1",
        {"γ at T = 10⁶": gamma, "least T": least},
        gamma > 1 and bandit_dp.printed_exploration(items, slots, int(least * 1.01)) < 1,
    )


def theorem_8_prints_too_small_a_power() -> Erratum:
    """Compute 16k³|U| ln|U|√(ln(k/δ)T/γ)/ε for k and for 4k: the printed γ grows with k."""
    items = 100
    horizon = 10**30

    def learning(slots: int) -> float:
        gamma = bandit_dp.printed_exploration(items, slots, horizon)
        return 16 * slots**3 * items * log(items) * sqrt(horizon / gamma)

    power = log2(learning(20) / learning(5)) / 2
    return Erratum(
        "regret O((k(|U| ln|U|)^(1/3))²T^(2/3)√ln(k/δ)/ε) (Theorem 8)",
        "the printed γ, inserted into the proof, gives k^(5/2)",
        {"power of k": power},
        abs(power - 2.5) < 1e-9,
    )


def the_direct_bound_has_a_negative_root() -> Erratum:
    """Compute ln(kδ) of Appendix B.1 at k = 5, δ = 1e-6, and E[r_i] from the line before it."""
    slots = 5
    items = 100
    horizon = 10**9
    epsilon = 1.0
    delta = 1e-6
    gamma = 0.5
    whole = bandit_dp_variants.every_round_bound(items, slots, horizon, epsilon, delta, gamma)
    learning = slots**3 * items * sqrt(32 * horizon * log(slots / delta)) / (epsilon * gamma)
    printed = slots * (learning + epsilon * slots * sqrt(horizon) / sqrt(32 * log(slots / delta)))
    return Erratum(
        "E[r_i] ≤ k³|U|√(32T ln(kδ))/(εγ) + … (Appendix B.1)",
        "ln(k/δ), and k²|U| ln|U| in place of k³|U|, follow from the line before",
        {
            "ln(kδ)": log(slots * delta),
            "its own line, added up": whole,
            "as printed with ln(k/δ)": printed + gamma * horizon,
        },
        log(slots * delta) < 0 and abs(whole / (printed + gamma * horizon) - 1) > 0.01,
    )


def gaussian_noise_is_never_pure() -> Erratum:
    """Compute δ of Gaussian noise at a large ε: it is above 0 for every σ."""
    epsilon = 10.0
    deltas = {
        f"δ at ε = 10, σ = {sigma:g}": gaussian_delta(epsilon, 1 / sigma)
        for sigma in (0.5, 1.0, 2.0)
    }
    return Erratum(
        "PFTAL, with Gaussian noise, is (ε, 0)-differentially private (Theorem 10, Lemma 6)",
        "the noise of PFTAL itself, with a Gamma-distributed length, is pure",
        deltas,
        all(delta > 0 for delta in deltas.values()),
    )
