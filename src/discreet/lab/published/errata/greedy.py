"""Errata of the private continuous greedy (DPCG), its curvature variant and its online form (DPMFW).

References  Sadeghi, Fazel (2021), "Differentially Private Monotone Submodular Maximization Under Matroid and
            Knapsack Constraints"
"""

from math import ceil, log, sqrt

import numpy as np

from discreet.lab.published.errata.erratum import Erratum
from discreet.lab.published.streaming_frank_wolfe_l1 import harmonic

__all__ = [
    "curvature_reads_the_data_without_noise",
    "online_trees_have_too_few_levels",
    "the_greedy_bound_needs_more_people",
]

PAPER = "SET"


def online_trees_have_too_few_levels() -> Erratum:
    """How many released nodes the first leaf of a tree over T = 1000 is in, counted one by one."""
    horizon = 1000
    released = set()
    for time in range(1, horizon + 1):
        left = time
        while left:  # the node that ends here, then those of what is left
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


def the_greedy_bound_needs_more_people() -> Erratum:
    """10⁴ people who gain at most 1 each, 300 sites, 10 to choose, ε = 1, δ = 1e-6; the best number of steps.

    E f ≥ (1 − 1/e)f(x*) − 2R·E‖Y‖_∞ − m_F·R²/2K, with m_F = 10⁴, R = 10 and Δ = 1.
    """
    people, sites, rank, epsilon, delta = 10_000, 300, 10, 1.0, 1e-6
    steps = np.arange(1, 1001)
    smooth = people * rank**2 / (2 * steps)
    laplace = 2 * rank * (2 * steps * sites / epsilon) * harmonic(sites)
    constants = np.sqrt(2 * np.log(1.25 * steps / delta))
    gaussian = 2 * rank * (2 * constants * steps * sqrt(sites) / epsilon) * sqrt(2 * log(2 * sites))
    losses = [float((smooth + noise).min()) for noise in (laplace, gaussian)]
    return Erratum(
        "E f(x) ≥ (1 − 1/e)f(x*) − G − LR²/2K",
        "7.7 million people at these settings for a bound above 0",
        {"most that can be gained": people, "loss with Laplace": losses[0], "loss with Gaussian": losses[1]},
        min(losses) > people,
    )


def curvature_reads_the_data_without_noise() -> Erratum:
    """Two sites, one to choose, one person who wants the first or the second: ℓᵀv ≥ λ = 1 leaves one point.

    ℓ_i = F(V) − F(V∖i) is 1 for the site that is wanted and 0 for the other, so whatever the noise of the
    gradients, the only feasible point is the wanted site.
    """
    points = [np.array([1.0, 0.0]), np.array([0.0, 1.0])]
    feasible = []
    for wanted in (0, 1):
        least_gains = [float(wanted in {0, 1}) - float(wanted in {0, 1} - {site}) for site in (0, 1)]
        feasible.append(
            [place for place, point in enumerate(points) if float(np.dot(least_gains, point)) >= 1]
        )
    return Erratum(
        "the curvature variant is as private as its gradients",
        "noise for ℓ, and for the choice among guesses",
        {"site shown if the first is wanted": feasible[0][0], "if the second is": feasible[1][0]},
        feasible == [[0], [1]],
    )
