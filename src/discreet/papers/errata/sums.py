"""Errata of "Differentially Private Online Submodular Minimization" (MIN).

References  Cardoso, Cummings (2019)
"""

from itertools import combinations, product
from math import log2, sqrt

import numpy as np

from discreet.papers.errata.erratum import Erratum
from discreet.papers.printed import bandit_submod_prftl, submod_prftl, tbap

__all__ = [
    "costs_exploration_needs_a_long_horizon",
    "estimates_are_longer_than_their_bound",
    "lemma_6_drops_the_length_of_a_point",
    "proofs_swap_shape_and_scale",
    "subgradients_move_further_than_their_bound",
    "the_last_sum_leaves_without_noise",
    "the_tree_gives_twice_epsilon",
    "theorem_6_needs_submodular_functions",
    "theorem_7_prints_a_square",
    "theorem_9_prints_too_small_a_power",
]

PAPER = "MIN"


def the_tree_gives_twice_epsilon() -> Erratum:
    """Compare the density of all released nodes for z_1 = μ and z_1 = −μ, far above both."""
    horizon = 8
    epsilon = 1.0
    bound = 1.0
    scale = tbap.printed_scale(bound, horizon, epsilon)
    above_first = horizon.bit_length()  # nodes of 1, 2, 4 and 8 leaves; all other vectors are zero
    seen = 100.0

    def log_density(first: float) -> float:
        return -above_first * abs(seen - first) / scale

    ratio = log_density(bound) - log_density(-bound)
    return Erratum(
        "TBAP is ε-differentially private for vectors of length at most μ (Theorem 10)",
        "one vector replaced by its opposite moves each node by 2μ: noise for 2μ gives ε",
        {"claimed": epsilon, "log density ratio": ratio},
        ratio > 1.9 * epsilon,
    )


def the_last_sum_leaves_without_noise() -> Erratum:
    """Run the box literally on T = 8 vectors: no node on the last path is a left child."""
    vectors = np.random.default_rng(1).uniform(-1, 1, size=(8, 3)) / sqrt(3)
    nodes = tbap.gamma_nodes(3, tbap.printed_scale(1.0, 8, 1.0), seed=0)
    tree = tbap.TreeSums(3, 8, nodes, reading="literal")
    errors = np.linalg.norm([tree.add(row) for row in vectors] - vectors.cumsum(axis=0), axis=1)
    return Erratum(
        "every released sum is noisy, also at t = T = 2^h",
        "the root of the tree needs noise as a left child does",
        {"error of the sum before": float(errors[-2]), "error of the last sum": float(errors[-1])},
        bool(errors[-1] < 1e-12 and (errors[:-1] > 0.1).all()),
    )


def proofs_swap_shape_and_scale() -> Erratum:
    """Compute the moments of the length of a vector with density ∝ exp(−‖γ‖/s).

    The length has density ∝ r^(d−1)·exp(−r/s): a Gamma law of shape d and scale s.
    """
    from scipy.integrate import quad

    dimension = 10
    scale = tbap.printed_scale(4.0, 100_000, 1.0)

    def moment(power: int) -> float:
        integral = quad(lambda r: r ** (dimension - 1 + power) * np.exp(-r), 0, 200)[0]
        return float(integral) * scale**power

    mean = moment(1) / moment(0)
    deviation = sqrt(moment(2) / moment(0) - mean**2)
    swapped = sqrt(scale) * dimension  # of Gamma(shape s, scale d), which has the same mean
    return Erratum(
        "lengths are Gamma distributed with scale n and shape (⌈ln T⌉ + 1)G/ε (proof of Theorem 5)",
        "shape n and scale (⌈log₂T⌉ + 1)G/ε: the density in the box already has this law",
        {"mean": mean, "deviation": deviation, "deviation as claimed": swapped},
        abs(deviation - sqrt(dimension) * scale) < 1e-6 * scale
        and abs(deviation / swapped - 1) > 0.5,
    )


def subgradients_move_further_than_their_bound() -> Erratum:
    """Find the largest distance of two subgradients of functions of three items.

    All submodular functions with values −1, 0 and 1 are enumerated.
    """
    chains = {chain for chain in _chains_of_submodular_functions() if max(map(abs, chain)) <= 1}
    subgradients = np.diff(np.array(sorted(chains), dtype=np.float64), axis=1)
    gaps = np.linalg.norm(subgradients[:, None] - subgradients[None], axis=2)
    longest = float(np.linalg.norm(subgradients, axis=1).max())
    printed = submod_prftl.printed_constants(100).length
    return Erratum(
        "noise for L = 4M hides one person's subgradient (Theorem 6)",
        "two subgradients are up to 4√2·M apart: noise for that change gives ε",
        {"L": printed, "longest subgradient": longest, "longest change": float(gaps.max())},
        bool(gaps.max() > printed),
    )


def _chains_of_submodular_functions() -> set[tuple[int, ...]]:
    """Return (f(∅), f({0}), f({0, 1}), f({0, 1, 2})) of each function."""
    items = 3
    subsets = [
        frozenset(chosen)
        for size in range(items + 1)
        for chosen in combinations(range(items), size)
    ]
    place = {subset: number for number, subset in enumerate(subsets)}
    values = np.array(list(product((-1, 0, 1), repeat=len(subsets))))
    submodular = np.ones(len(values), dtype=bool)
    for subset in subsets:
        free = sorted(set(range(items)) - subset)
        for one, other in combinations(free, 2):
            apart = values[:, place[subset | {one}]] + values[:, place[subset | {other}]]
            together = values[:, place[subset | {one, other}]] + values[:, place[subset]]
            submodular &= apart >= together
    along = [place[frozenset(range(size))] for size in range(items + 1)]
    return {tuple(int(value) for value in row) for row in values[submodular][:, along]}


def estimates_are_longer_than_their_bound() -> Erratum:
    """Enumerate all outcomes (i, coin) of one round at x = 0, with costs of 1."""
    items = 10
    constants = bandit_submod_prftl.printed_constants(items, 10**9)
    gamma = constants.exploration
    printed = constants.length
    order = np.arange(items)
    chances = bandit_submod_prftl.chain_chances(np.zeros(items), order, gamma)
    lengths = [
        float(np.abs(bandit_submod_prftl.estimate(order, chances, shown, heads, 1.0)).max())
        for shown in range(items + 1)
        for heads in (False, True)
    ]
    given = bandit_submod_prftl.sound_change(items, gamma) / printed
    return Erratum(
        "one-point estimates have length at most L = 4Mn/√γ (Theorem 8)",
        "4Mn/√γ is a root mean square; the sure bound is 2M(n + 1)/γ, a change 4M(n + 1)/γ",
        {"L": printed, "longest": max(lengths), "ε where 1 is claimed": given},
        max(lengths) > printed,
    )


def costs_exploration_needs_a_long_horizon() -> Erratum:
    """Compute γ = n^(3/2)/T^(1/3), which is a probability only for T ≥ n^4.5."""
    items = 50
    horizon = 10**6
    gamma = items**1.5 / horizon ** (1 / 3)
    return Erratum(
        "γ = n^(3/2)/T^(1/3) for any n and T (Theorem 9)",
        "γ is a probability from T = n^4.5 on; below that it is clipped to 1",
        {"γ at n = 50, T = 10⁶": gamma, "least T": items**4.5},
        gamma > 1 and items**1.5 / (items**4.5) ** (1 / 3) <= 1 + 1e-9,
    )


def theorem_6_needs_submodular_functions() -> Erratum:
    """Compute the ε for f(S) = M if |S| is even, −M if odd, against −f, with noise for L = 4M.

    30 items, T = 1024, M = 1.
    """
    items = 30
    horizon = 1024
    order = np.arange(items)
    gradient = submod_prftl.subgradient(lambda chosen: 1.0 - 2.0 * (len(chosen) % 2), order)
    longest = float(np.linalg.norm(gradient))
    printed = submod_prftl.printed_constants(horizon).length
    given = tbap.sound_scale(2 * longest, horizon, 1.0) / tbap.printed_scale(printed, horizon, 1.0)
    return Erratum(
        "ε-private for any functions with range [−M, M], submodular or not, and any L (Theorem 6)",
        "submodular functions, as in Theorem 7, or subgradients that are clipped: others are up "
        "to 2M√n long",
        {"L": printed, "longest subgradient": longest, "ε where 1 is claimed": given},
        longest > printed,
    )


def theorem_7_prints_a_square() -> Erratum:
    """Compare the last line of the proof for M and for 2M."""
    doubled = submod_prftl.regret_bound(10, 10**6, 1.0, bound=2.0)
    ratio = doubled / submod_prftl.regret_bound(10, 10**6, 1.0, bound=1.0)
    return Erratum(
        "regret O(nM² ln^1.5(T)√T/ε) with H = M√T (Theorem 7)",
        "the printed H = M√T gives a bound that is linear in M",
        {"power of M": log2(ratio)},
        abs(log2(ratio) - 1) < 1e-9,
    )


def theorem_9_prints_too_small_a_power() -> Erratum:
    """Compare the last line of the proof for n and for 2n, with T so large that γ ≤ 1."""
    horizon = 10**30
    items = 1000
    bounds = [bandit_submod_prftl.regret_bound(count, horizon, 1.0) for count in (items, 2 * items)]
    power = log2(bounds[1] / bounds[0])
    return Erratum(
        "regret Õ(MnT^(2/3)/ε) (Theorem 9)",
        "the last line of the proof gives n^(3/2)",
        {"power of n": power},
        power > 1.49,
    )


def lemma_6_drops_the_length_of_a_point() -> Erratum:
    """Compare the least ⟨α, x⟩ over the cube with −‖α‖₂, for α = (−1, …, −1)."""
    items = 16
    least = float(np.minimum(-np.ones(items), 0.0).sum())
    return Erratum(
        "|⟨α, x⟩| ≤ ‖α‖₂ for points x of the cube (Equation (1))",
        "the Cauchy–Schwarz step has the factor ‖x‖₂, up to √n on the cube",
        {"‖α‖₂": sqrt(items), "largest |⟨α, x⟩|": -least},
        -least > sqrt(items),
    )
