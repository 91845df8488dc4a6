"""Errata of "Optimal Private Streaming SCO in l_p-geometry …" (SCO).

References  Han et al. (2022), "Optimal Private Streaming SCO in l_p-geometry with Applications in
            High Dimensional Online Decision Making"
"""

from itertools import product
from math import log, log10, sqrt

import numpy as np

from discreet.papers.errata.erratum import Erratum, gaussian_delta, gaussian_epsilon
from discreet.papers.printed import streaming_frank_wolfe as algorithm_1
from discreet.papers.printed import streaming_frank_wolfe_l1 as algorithm_2
from discreet.papers.printed.glm_theory import epsilon_of_warm_up
from discreet.papers.printed.lp_geometry import Constants, corrected_regularity, printed_regularity
from discreet.papers.printed.norm_noise import delta_given
from discreet.papers.printed.tbap import printed_levels

__all__ = [
    "algorithm_2_draws_for_a_continuum",
    "equation_1_is_biased",
    "the_bandit_counts_rounds_for_steps",
    "the_first_sample_weighs_twice",
    "the_gaussian_lemma_needs_a_small_epsilon",
    "the_rate_after_theorem_3_13_lacks_a_square",
    "the_sampler_takes_a_root",
    "the_smooth_norm_has_another_index",
    "theorem_4_9_drops_the_margin",
    "theorem_a_5_lacks_a_square",
]

PAPER = "SCO"


def the_sampler_takes_a_root() -> Erratum:
    """Compute the ε of noise by Lemma 3.2 at p = 2, where it is Gaussian with variance σ."""
    horizon = 2000
    reach = 8.0
    delta = 1 / 2000
    meant = algorithm_1.printed_deviation(1.0, reach, horizon, 1.0, delta)
    nodes = horizon.bit_length()
    drawn_epsilon = gaussian_epsilon(delta, 2 * reach * sqrt(nodes / meant))
    intended = gaussian_epsilon(delta, 2 * reach * sqrt(nodes) / meant)
    return Erratum(
        "‖Z‖₊² follows Γ(d/2, 2σ₊) (Lemma 3.2)",
        "Γ(d/2, 2σ₊²), as in the lemma's proof. The error bounds use the lemma, privacy does not; "
        "noise drawn by it, as in the authors' code, is not private",
        {
            "σ meant": meant,
            "σ by the lemma": sqrt(meant),
            "ε by the lemma": drawn_epsilon,
            "ε meant": intended,
        },
        drawn_epsilon > 1 > intended,
    )


def the_smooth_norm_has_another_index() -> Erratum:
    """Compute δ of the printed noise for gradients that differ equally in every coordinate.

    p = 1.5, d = 5, T = 2000, δ = 1/T: δ of one node at ε/m, and of all 11 nodes above a person at
    ε = 1, with the printed density and σ₊. Definition 2.6, ‖x‖₊² ≤ (κ/κ₊)‖x‖_q², is checked at
    x = (1, …, 1), d = 100.
    """
    p = 1.5
    dimension = 5
    horizon = 2000
    dual = 3.0
    delta = 1 / horizon
    levels = printed_levels(horizon)
    printed = printed_regularity(p, dimension)
    corrected = corrected_regularity(p, dimension)
    length = 2 / algorithm_1.printed_deviation(printed.kappa, 1.0, horizon, 1.0, delta)
    nodes = horizon.bit_length()
    of_node = delta_given(1 / levels, dimension, printed.order, length, dual)
    of_path = delta_given(1.0, dimension, printed.order, length, dual, nodes=nodes)
    mended = delta_given(1.0, dimension, corrected.order, length, dual, nodes=nodes)
    wide = printed_regularity(p, 100)
    ones = np.ones(100)
    ratio = float((np.linalg.norm(ones, wide.order) / np.linalg.norm(ones, dual)) ** 2)
    return Erratum(
        "‖·‖₊ = ‖·‖_{κ₊}, a κ₊-smooth norm (Lemma 3.9), and Algorithm 1 is (ε, δ)-private "
        "(Theorem 3.1)",
        "index κ₊ + 1: l_r is (r − 1)-smooth for r ≥ 2, and with it the printed σ₊ is private",
        {
            "κ₊": printed.order,
            "δ claimed of a node": delta / levels,
            "δ of a node": of_node,
            "δ claimed at ε = 1": delta,
            "δ at ε = 1": of_path,
            "δ with index κ₊ + 1": mended,
            "ratio allowed at d = 100": wide.kappa / wide.order,
            "ratio": ratio,
        },
        of_node > delta / levels and of_path > delta > mended and ratio > wide.kappa / wide.order,
    )


def the_gaussian_lemma_needs_a_small_epsilon() -> Erratum:
    """Find the largest ε with an exact δ of at most the lemma's, for κ = 1, σ² = 2 ln(1/δ)s²/ε²."""
    largest = {}
    for delta in (1e-3, 1e-6):
        low = 1.0
        high = 20.0
        for _ in range(50):
            middle = (low + high) / 2
            holds = gaussian_delta(middle, middle / sqrt(2 * log(1 / delta))) <= delta
            low, high = (middle, high) if holds else (low, middle)
        largest[f"largest ε at δ = {delta:g}"] = low
    return Erratum(
        "f + G(0, 2κ ln(1/δ)s²/ε²) is (ε, δ)-private (Lemma 2.7), whatever ε",
        "an ε of at most 8, as in practice; beyond, the noise falls short",
        largest,
        all(epsilon < 10 for epsilon in largest.values()),
    )


def equation_1_is_biased() -> Erratum:
    """Compute the mean of d_t − ∇F(θ_t) over all streams of 6 samples.

    f(θ; x) = (θ − x)²/2 on [−1, 1], with x = 0.2 or 0.6.
    """
    samples = 6
    mean_sample = 0.4
    biases = {}
    for weights in ("equation", "recursion", "unbiased"):
        gaps = [
            _last_gap(stream, weights, mean_sample)
            for stream in product((0.2, 0.6), repeat=samples)
        ]
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
    """Return d_t − ∇F(θ_t) at the end of a stream, without noise."""
    here = before = total = 0.0
    gap = 0.0
    for time, sample in enumerate(stream, 1):
        newer, older, count = algorithm_1.recursive_terms(weights, time)
        total += newer * (here - sample) - older * (before - sample)
        direction = total / count
        gap = direction - (here - mean_sample)
        corner = -1.0 if direction > 0 else 1.0
        before = here
        here = here + (corner - here) / (time + 1)
    return gap


def the_first_sample_weighs_twice() -> Erratum:
    """Compute the change of d_5 for x_1 = 1 against −1, with f(θ; x) = xθ, so β = 0 and L = 1."""
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


def algorithm_2_draws_for_a_continuum() -> Erratum:
    """Compute E max |n_v| = λ·H_N of N independent Laplace numbers.

    d = 10, T = t = 10⁵, D = 1, βD + L = 2, ε = 1.
    """
    scale = algorithm_2.printed_scale(100_000, 2.0, 1.0, 100_000, 1.0, 1e-6)
    largest = [scale * (log(points) + np.euler_gamma) for points in (10**6, 10**12)]
    corners = scale * algorithm_2.harmonic(20)
    return Erratum(
        "∀v ∈ C, sample n_v and take the v with the least ⟨d_t, v⟩ + n_v (Algorithm 2)",
        "noise for the 2d corners of C only, as in the proofs: over all of C it has no largest "
        "value",
        {
            "scores differ by at most": 2.0,
            "largest of 2d corners": corners,
            "of 10⁶ points": largest[0],
            "of 10¹² points": largest[1],
        },
        corners < 2.0 < largest[0] < largest[1],
    )


def the_rate_after_theorem_3_13_lacks_a_square() -> Erratum:
    """Compute the power of ε in the bound of Theorem 3.13, from ε = 10⁻³ and ε = 10⁻⁴."""

    def bound(epsilon: float) -> float:
        return algorithm_2.strongly_convex_risk_bound(
            time=1000,
            constants=Constants(1.0, 1.0, 1.0),
            dimension=100,
            horizon=1000,
            epsilon=epsilon,
            delta=1e-6,
            alpha=0.05,
            convexity=1.0,
            interior=0.5,
        )

    power = log10(bound(1e-4) / bound(1e-3))
    return Erratum(
        "Theorem 3.13 achieves Õ(ln d/t + ln² d/(tε)) (text after it)",
        "ε², as in Table 1 of the paper: the bound has A², and A grows with 1/ε",
        {"power of 1/ε": power},
        power > 1.99,
    )


def theorem_a_5_lacks_a_square() -> Erratum:
    """Compute step (18) of the proof, where (γ/2)√(2μB) has to be at least 3C_2 ln n.

    γ = μ = C_2 = 1, n = 2000.
    """
    logarithm = log(2000)
    needed = 3 * logarithm
    by_power = [sqrt(2 * 18 * logarithm**power) / 2 for power in (1, 2)]
    return Erratum(
        "F(θ_t) − F(θ*) ≤ … + 18C_2² ln n/(γ²μ(t + 1)²) (Theorems 3.8 and A.5)",
        "ln² n, as in the induction of the proof",
        {"needed in step (18)": needed, "with ln n": by_power[0], "with ln² n": by_power[1]},
        by_power[0] < 0.5 * needed and abs(by_power[1] - needed) < 1e-9,
    )


def theorem_4_9_drops_the_margin() -> Erratum:
    """Compute the proof's sum of a_t = √(C_in/t) over rounds with a gap of at most a_t, at ν = 5.

    Two arms with θ* = ±0.1, contexts uniform in [−1, 1]: a gap of 0.2|X|, so that P(gap ≤ h) = 5h.
    T = 10⁵, t_0 = 186, M = β = C_in = 1, α = 0.05.
    """
    horizon = 100_000
    warm_up = 186
    arms = 2
    slope = 0.1
    alpha = 0.05
    reaches = 1 / np.sqrt(np.arange(warm_up + 1, horizon + 1))
    expected = float(np.sum(reaches * np.minimum(1.0, reaches / (2 * slope))))
    printed = log(horizon) + 2 * sqrt(log(horizon) * log(4 / alpha))
    return Erratum(
        "Regret(T) ≤ t_0 + M²β²C_in ln T + 2Mβ√(C_in ln T ln(4/α)) (Theorem 4.9)",
        "νM²β²C_in ln T, as in the last line of the proof, and K·t_0 for the warm-up of K arms",
        {
            "expected after the warm-up": expected,
            "printed for that": printed,
            "rounds of the warm-up": arms * warm_up,
            "counted": warm_up,
        },
        expected > printed,
    )


def the_bandit_counts_rounds_for_steps() -> Erratum:
    """Compute the ε of line 17 with K = 5, t_0 = 186: an arm's sample 187 goes to step 931."""
    arms = 5
    warm_up = 186
    horizon = 100_000
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
