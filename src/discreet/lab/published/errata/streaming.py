"""Errata of "Optimal Private Streaming SCO in l_p-geometry …" (SCO).

References  Han et al. (2022)
"""

from itertools import product
from math import log, sqrt

import numpy as np

from discreet.lab.published import streaming_frank_wolfe as algorithm_1
from discreet.lab.published.errata.erratum import Erratum, gaussian_delta, gaussian_epsilon
from discreet.lab.published.glm_theory import Theory, epsilon_of_warm_up, printed_warm_up_by_theorem
from discreet.lab.published.lp_geometry import printed_regularity

__all__ = [
    "equation_1_is_biased",
    "the_bandit_counts_rounds_for_steps",
    "the_first_sample_weighs_twice",
    "the_gaussian_lemma_needs_a_small_epsilon",
    "the_sampler_takes_a_root",
    "the_smooth_norm_has_another_index",
    "the_warm_up_is_longer_than_the_stream",
]

PAPER = "SCO"


def the_sampler_takes_a_root() -> Erratum:
    """p = 2: Γ(d/2, 2σ) for the squared length is Gaussian noise of variance σ, so ε is exact."""
    horizon, reach, delta = 2000, 8.0, 1 / 2000
    meant = algorithm_1.printed_deviation(1.0, reach, horizon, 1.0, delta)
    nodes = horizon.bit_length()
    drawn_epsilon = gaussian_epsilon(delta, 2 * reach * sqrt(nodes / meant))
    intended = gaussian_epsilon(delta, 2 * reach * sqrt(nodes) / meant)
    return Erratum(
        "‖Z‖₊² follows Γ(d/2, 2σ₊) (Lemma 3.2), and Algorithm 1 is (ε, δ)-private (Theorem 3.1)",
        "Γ(d/2, 2σ₊²), which is the density of the box, gives the stated ε",
        {"σ meant": meant, "σ drawn": sqrt(meant), "ε as drawn": drawn_epsilon, "ε as meant": intended},
        drawn_epsilon > 1 > intended,
    )


def the_smooth_norm_has_another_index() -> Erratum:
    """Definition 2.6 asks ‖x‖₊² ≤ (κ/κ₊)‖x‖_q²; x = (1, …, 1), p = 1.5, d = 100. And ‖·‖₊ at d = 5."""
    printed = printed_regularity(1.5, 100)
    ones = np.ones(100)
    ratio = float((np.linalg.norm(ones, printed.order) / np.linalg.norm(ones, 3.0)) ** 2)
    small = printed_regularity(1.5, 5).order
    pieces = 2 * float(np.linalg.norm([0.5, 0.0], small))
    whole = float(np.linalg.norm([0.5, 0.5], small))
    return Erratum(
        "‖·‖₊ = ‖·‖_{κ₊}, a κ₊-smooth norm (Lemma 3.9)",
        "index κ₊ + 1: l_r is (r − 1)-smooth",
        {
            "ratio allowed": printed.kappa / printed.order,
            "ratio": ratio,
            "‖a‖ + ‖b‖ at d = 5": pieces,
            "‖a + b‖ at d = 5": whole,
        },
        ratio > printed.kappa / printed.order and whole > pieces,
    )


def the_gaussian_lemma_needs_a_small_epsilon() -> Erratum:
    """κ = 1, σ² = 2 ln(1/δ)s²/ε²: the exact δ at ε, which the lemma does not bound."""
    epsilon, delta = 10.0, 1e-6
    change = epsilon / sqrt(2 * log(1 / delta))
    exact = gaussian_delta(epsilon, change)
    return Erratum(
        "f + G(0, 2κ ln(1/δ)s²/ε²) is (ε, δ)-private (Lemma 2.7)",
        "the stated noise gives ε + ε²/(4 ln(1/δ)), close to ε while ε is small",
        {
            "δ claimed": delta,
            "δ": exact,
            "ε": gaussian_epsilon(delta, change),
            "ε + ε²/(4 ln(1/δ))": epsilon + epsilon**2 / (4 * log(1 / delta)),
        },
        exact > delta,
    )


def equation_1_is_biased() -> Erratum:
    """f(θ; x) = (θ − x)²/2 on [−1, 1], x = 0.2 or 0.6: the mean of d_t − ∇F(θ_t) over all streams of 6."""
    samples, mean_sample = 6, 0.4
    biases = {}
    for weights in ("equation", "recursion", "unbiased"):
        gaps = [_last_gap(stream, weights, mean_sample) for stream in product((0.2, 0.6), repeat=samples)]
        biases[weights] = float(np.mean(gaps))
    formula = mean_sample / (samples + 1)  # −∇F(θ_0)/(t + 1), ∇F(0) = −0.4
    return Erratum(
        "Eq. (1) is the recursion, and unbiased",
        "weights t and t − 1, divided by t, are unbiased",
        {
            "bias of Eq. (1)": biases["equation"],
            "−∇F(θ_0)/(t + 1)": formula,
            "of the recursion": biases["recursion"],
        },
        abs(biases["equation"] - formula) < 1e-12
        and abs(biases["recursion"]) < 1e-12
        and abs(biases["unbiased"]) < 1e-12,
    )


def _last_gap(stream: tuple[float, ...], weights: algorithm_1.Weights, mean_sample: float) -> float:
    """d_t − ∇F(θ_t) at the end of a stream, without noise."""
    here = before = total = 0.0
    gap = 0.0
    for time, sample in enumerate(stream, 1):
        newer, older, count = algorithm_1.recursive_terms(weights, time)
        total += newer * (here - sample) - older * (before - sample)
        direction = total / count
        gap = direction - (here - mean_sample)
        corner = -1.0 if direction > 0 else 1.0
        before, here = here, here + (corner - here) / (time + 1)
    return gap


def the_first_sample_weighs_twice() -> Erratum:
    """f(θ; x) = xθ, so β = 0 and L = 1: how far x_1 = 1 against −1 moves d_5."""
    time = 5

    def direction(first: float) -> float:
        total = 0.0
        for number in range(1, time + 1):
            newer, older, _ = algorithm_1.recursive_terms("recursion", number)
            total += (newer - older) * (first if number == 1 else 0.3)
        return total / (time + 1)

    moved = direction(1.0) - direction(-1.0)
    proof = 2 * (0.0 + 1.0) / (time + 1)
    return Erratum(
        "‖d_t − d_t′‖ ≤ 2(βD + L)/(t + 1) (proof of Theorem 3.11)",
        "the first sample moves d_t by 4L/(t + 1); the stated bound covers it while L ≤ βD",
        {"claimed": proof, "moved": moved},
        moved > 1.9 * proof,
    )


def the_warm_up_is_longer_than_the_stream() -> Erratum:
    """t_0 by the text's own constants, in a world as kind as can be; and what is then left of Theorem 4.9."""
    horizon = 100_000
    least = printed_warm_up_by_theorem(100, horizon, 1.0)
    bound = Theory(100, horizon, 1.0, 1e-6).regret_bound(least)
    return Erratum(
        "t_0 = O(ln(dT) ln T/ε²) pulls of each arm (Theorems 4.8 and 4.9)",
        "a horizon above K·t_0; the constants that the order hides are large",
        {"T": horizon, "least t_0": least, "regret bound": bound},
        least > 5e7 and bound > horizon,
    )


def the_bandit_counts_rounds_for_steps() -> Erratum:
    """Line 17 with K = 5 arms and t_0 = 186: an arm's sample 187 is fed to step 931."""
    arms, warm_up, horizon = 5, 186, 100_000
    given = epsilon_of_warm_up(arms, warm_up, horizon, 1.0, 1e-6)
    alone = epsilon_of_warm_up(1, warm_up, horizon, 1.0, 1e-6)
    return Erratum(
        "update θ by the t-th step of Algorithm 2 (line 17), (ε, δ)-joint privacy (Theorem 4.6)",
        "an arm's own count of samples as the number of its step",
        {
            "step": arms * warm_up + 1,
            "samples": warm_up + 1,
            "ε of the warm-up": given,
            "ε with one arm": alone,
        },
        given > 1 > alone,
    )
