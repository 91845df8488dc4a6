"""If these fail, an erratum is reported that the paper does not have, or with wrong numbers."""

from itertools import permutations
from math import ceil, exp, log, pi, sqrt

import numpy as np
import pytest
from scipy import integrate

from discreet.lab.published.errata import ERRATA
from discreet.lab.published.errata.erratum import gaussian_delta

NUMBERS = {
    "the-tree-gives-twice-epsilon": ("log density ratio", 2.0),
    "the-last-sum-leaves-without-noise": ("error of the last sum", 0.0),
    "proofs-swap-shape-and-scale": ("deviation", sqrt(10) * 72),
    "subgradients-move-further-than-their-bound": ("longest change", sqrt(24)),
    "estimates-are-longer-than-their-bound": ("longest", 2 * 11 / (10**1.5 / 1000)),
    "costs-exploration-needs-a-long-horizon": ("γ at n = 50, T = 10⁶", 50**1.5 / 100),
    "theorem-7-prints-a-square": ("power of M", 1.0),
    "theorem-9-prints-too-small-a-power": ("power of n", 1.5),
    "lemma-6-drops-the-length-of-a-point": ("largest |⟨α, x⟩|", 16.0),
    "slates-exploration-exceeds-one": ("least T", 125 * (1600 * log(100)) ** 2),
    "theorem-8-prints-too-small-a-power": ("power of k", 2.5),
    "the-direct-bound-has-a-negative-root": ("ln(kδ)", log(5e-6)),
    "gaussian-noise-is-never-pure": ("δ at ε = 10, σ = 0.5", 9.94e-6),
    "the-sampler-takes-a-root": ("σ meant", sqrt(8 * log(24_000)) * 12 * 8),
    "the-smooth-norm-has-another-index": ("ratio", 100 ** (1 / 3)),
    "the-gaussian-lemma-needs-a-small-epsilon": ("ε + ε²/(4 ln(1/δ))", 10 + 25 / log(1e6)),
    "equation-1-is-biased": ("bias of Eq. (1)", 0.4 / 7),
    "the-first-sample-weighs-twice": ("moved", 4 / 6),
    "the-warm-up-is-longer-than-the-stream": ("least t_0", 1.004e10),
    "the-bandit-counts-rounds-for-steps": ("step", 931.0),
    "curvature-reads-the-data-without-noise": ("if the second is", 1.0),
    "online-trees-have-too-few-levels": ("nodes above a leaf", 10.0),
    "the-greedy-bound-needs-more-people": ("most that can be gained", 10_000.0),
}


def test_every_erratum_has_a_number_here() -> None:
    assert set(NUMBERS) == set(ERRATA)
    assert len(ERRATA) >= 14


@pytest.mark.parametrize("name", sorted(ERRATA))
def test_errata_are_shown_by_the_numbers_that_they_should_have(name: str) -> None:
    found = ERRATA[name]()
    number, value = NUMBERS[name]
    assert found.shown
    assert found.name == name
    assert found.paper in {"MIN", "MAX", "SCO", "SET"}
    assert found.computed[number] == pytest.approx(value, rel=2e-3, abs=1e-12)


def test_deltas_of_gaussian_noise_by_integration() -> None:
    def excess(point: float, change: float, epsilon: float) -> float:
        first = exp(-((point - change) ** 2) / 2)
        return max(0.0, first - exp(epsilon - point**2 / 2)) / sqrt(2 * pi)

    for epsilon, change in ((0.5, 1.0), (2.0, 1.5), (10.0, 1.9)):
        start = epsilon / change + change / 2
        exact = integrate.quad(excess, start, start + 30, args=(change, epsilon))[0]
        assert gaussian_delta(epsilon, change) == pytest.approx(exact, rel=1e-6)


def test_the_farthest_subgradients_belong_to_submodular_functions() -> None:
    """The two of the verdict, completed by hand to functions of three items, are submodular."""
    one = {(): -1, (0,): 1, (1,): -1, (2,): 1, (0, 1): -1, (0, 2): 1, (1, 2): -1, (0, 1, 2): -1}
    other = {(): -1, (0,): -1, (1,): 1, (2,): -1, (0, 1): 1, (0, 2): -1, (1, 2): -1, (0, 1, 2): -1}
    chains = []
    for values in (one, other):
        for first, second, third in permutations(range(3)):
            for before in ((), (third,)):
                single = values[tuple(sorted((*before, first)))] - values[before]
                later = (
                    values[tuple(sorted((*before, first, second)))] - values[tuple(sorted((*before, second)))]
                )
                assert later <= single
        chains.append(np.diff([values[()], values[0,], values[0, 1], values[0, 1, 2]]))
    assert np.linalg.norm(chains[0] - chains[1]) == pytest.approx(sqrt(24))


def test_levels_of_short_streams() -> None:
    """Seven vectors already need three nodes for a sum, where ⌈ln 7⌉ = 2."""
    assert ceil(log(7)) == 2 < (7).bit_count()
