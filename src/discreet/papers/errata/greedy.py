"""Errata of continuous greedy (DPCG), its curvature variant and its online form DPMFW (SET).

References  Sadeghi, Fazel (2021), "Differentially Private Monotone Submodular Maximization Under
            Matroid and Knapsack Constraints"
"""

from math import ceil, log, sqrt

import numpy as np

from discreet.budget.conversion import epsilon_of
from discreet.papers.errata.erratum import Erratum
from discreet.papers.printed.dpcg import Calibration

__all__ = [
    "curvature_reads_the_data_without_noise",
    "online_trees_have_too_few_levels",
    "the_appendix_takes_the_root_of_the_sensitivity",
]

PAPER = "SET"


def online_trees_have_too_few_levels() -> Erratum:
    """Count the released nodes that contain the first leaf of a tree over T = 1000."""
    horizon = 1000
    released = set()
    for time in range(1, horizon + 1):
        left = time
        while left:  # the node that ends here, then those of the remaining prefix
            size = left & -left
            released.add((left - size, left))
            left -= size
    above_first = sum(first == 0 for first, _ in released)
    most = max(time.bit_count() for time in range(1, horizon + 1))
    printed = ceil(log(horizon))
    return Erratum(
        "⌈ln T⌉ draws of noise make up a sum, and a leaf is in ⌈ln T⌉ nodes (FTRL template, DPMFW)",
        "⌊log₂T⌋ + 1 draws and nodes; the printed scale has room for them if T ≥ 3",
        {"⌈ln T⌉": printed, "nodes above a leaf": above_first, "nodes in a sum": most},
        above_first > printed and most > printed and above_first == horizon.bit_length(),
    )


def the_appendix_takes_the_root_of_the_sensitivity() -> Erratum:
    """Compare σ of Theorem 1 with the σ that has the root over Δ.

    Δ = 100, |V| = 300 items, K = 6 steps, ε = 1, δ = 1e-6. A person moves a gradient by at most
    √|V|·Δ in l_2, in each of K steps.
    """
    sensitivity = 100.0
    items = 300
    steps = 6
    delta = 1e-6
    proved = sensitivity * Calibration("gaussian", "printed", items, 1.0, delta).scale(steps)
    as_set = proved / sqrt(sensitivity)
    moved = sensitivity * sqrt(items)
    given = [epsilon_of(steps * (moved / sigma) ** 2 / 2, delta) for sigma in (proved, as_set)]
    return Erratum(
        "setting σ = 2cK√(|V|Δ)/ε (appendix 1, after Theorem 1)",
        "σ = 2cK√|V|·Δ/ε, as in Theorem 1: the root is over |V| only",
        {
            "σ of Theorem 1": proved,
            "σ as set": as_set,
            "ε of Theorem 1": given[0],
            "ε as set": given[1],
        },
        given[1] > 1 > given[0],
    )


def curvature_reads_the_data_without_noise() -> Erratum:
    """Show that one person who wants the first or the second of two sites determines the choice.

    ℓ_i = F(V) − F(V∖i) is 1 for the wanted site and 0 for the other, so that ℓᵀv ≥ λ = 1 leaves one
    feasible point, the wanted site, for any noise of the gradients.
    """
    points = [np.array([1.0, 0.0]), np.array([0.0, 1.0])]
    feasible = []
    for wanted in (0, 1):
        least_gains = [
            float(wanted in {0, 1}) - float(wanted in {0, 1} - {site}) for site in (0, 1)
        ]
        products = [float(np.dot(least_gains, point)) for point in points]
        feasible.append([place for place, product in enumerate(products) if product >= 1])
    return Erratum(
        "the curvature variant is as private as its gradients",
        "noise for ℓ, and for the choice among guesses",
        {"site shown if the first is wanted": feasible[0][0], "if the second is": feasible[1][0]},
        feasible == [[0], [1]],
    )
