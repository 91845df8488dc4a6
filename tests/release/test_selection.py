"""If these fail, a choice gives away more about a person than it was charged for."""

from collections.abc import Iterable
from fractions import Fraction
from itertools import product

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from discreet.budget.privacy import Charge, pure, zcdp
from discreet.errors import ConfigError
from discreet.release import kernels
from discreet.release.aggregators import Rows
from discreet.release.randomness import seeded_bits
from discreet.release.selection import INTEGER_SLACK, Selection
from laws import epsilon_of, zcdp_of
from laws import selection_law as law

ALPHA = 1e-6


def test_the_computed_exponential_is_as_good_as_proven(generator: np.random.Generator) -> None:
    with mpmath.workprec(200):
        around = [int(kernels.LN2) * times + off for times in (1, 40, 80) for off in (-1, 0, 1)]
        corners = [0, 1, 2**50 - 1, 2**50, 2**57, 2**63 - 1, *around]
        for units in [*corners, *generator.integers(0, 2**63, 20_000, dtype=np.uint64).tolist()]:
            mantissa, halvings = kernels.exponential(np.uint64(units))
            computed = mpmath.mpf(int(mantissa)) * mpmath.mpf(2) ** (-62 - int(halvings))
            error = abs(computed / mpmath.exp(-mpmath.mpf(units) / 2**57) - 1)
            assert error <= kernels.EXPONENTIAL_ERROR


@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=8), st.floats(1e-12, 60))
def test_weights_are_those_of_the_integer_law(scores: list[int], rate: float) -> None:
    selection = Selection.at_rate(rate, span=1)
    high, low = selection.weights(np.array(scores, dtype=np.int64))
    with mpmath.workprec(300):
        for score, top, bottom in zip(scores, high, low, strict=True):
            exponent = mpmath.mpf(selection.units) * (max(scores) - score) / 2**57
            ideal = max(mpmath.mpf(2) ** 40, mpmath.mpf(2) ** 100 * mpmath.exp(-exponent))
            weight = (int(top) << 64) + int(bottom)
            assert ideal * (1 - 2.0**-39) <= weight <= ideal * (1 + 2.0**-48)


BASES = [
    [0, 0, 0],
    [0, 1, 3],
    [0, 5, 400],
    [0, 39, 40, 41],
    [0, 10**6, 2 * 10**6],
    [-(2**40), 0, 2**40],
]


@pytest.mark.parametrize("scores", BASES)
@pytest.mark.parametrize("rate", [0.001, 0.3, 1.0, 2.0])
def test_no_neighbour_changes_the_law_by_more_than_the_charge(
    scores: list[int], rate: float
) -> None:
    """Exhaustive: every change within the span, also where weights underflow to the floor."""
    selection = Selection.at_rate(rate, span=2)
    here = law(selection, scores)

    def law_after(change: Iterable[int]) -> list[Fraction]:
        return law(selection, [score + step for score, step in zip(scores, change, strict=True)])

    for change in product([-1, 0, 1], repeat=len(scores)):
        loss = epsilon_of(here, law_after(change))
        assert loss <= selection.charge("pure").amount * (1 + 1e-12)
    worst = [1, *[-1] * (len(scores) - 1)]
    for extreme in (worst, [-step for step in worst]):
        loss = zcdp_of(here, law_after(extreme))
        assert loss <= selection.charge("zcdp").amount * (1 + 1e-9)


def test_the_charge_is_within_a_percent_of_the_largest_loss() -> None:
    """The check above can fail: at two candidates the range is nearly attained."""
    selection = Selection.at_rate(0.5, span=2)
    here = law(selection, [0, 40])
    there = law(selection, [1, 39])
    assert epsilon_of(here, there) > 0.99 * selection.charge("pure").amount


def test_unavailable_candidates_do_not_enter_the_maximum() -> None:
    selection = Selection.at_rate(1.0, span=2)
    probabilities = law(selection, [0, 1, 1000], [True, True, False])
    assert probabilities[2] == 0
    assert probabilities[:2] == law(selection, [0, 1])


@pytest.mark.parametrize(
    ("budget", "draws"), [(zcdp(0.02), 1), (zcdp(0.02), 10**6), (pure(1.0), 7), (pure(0.001), 1000)]
)
def test_the_budget_pays_for_exactly_the_draws_planned(budget: Charge, draws: int) -> None:
    gains = Rows((5,), norm=float("inf"), nonnegative=True, levels=2**20)
    selection = Selection.for_budget(budget, gains, draws=draws)
    assert selection.span == gains.span
    total = selection.charge(budget.measure).amount * draws
    assert 0.99 * budget.amount <= total <= budget.amount


def test_a_budget_too_small_for_integers_is_refused() -> None:
    with pytest.raises(ConfigError, match="rate"):
        Selection.for_budget(pure(INTEGER_SLACK / 2), Rows((2,)), draws=1)
    with pytest.raises(ConfigError, match="span"):
        Selection.at_rate(1.0, span=0)


@pytest.mark.statistical
def test_draws_follow_the_law() -> None:
    """A χ² test at level α of 50,000 draws among five candidates."""
    selection = Selection.at_rate(0.7, span=2)
    scores = [0, 1, 2, 5, 3]
    bits = seeded_bits(21, 0)
    draws = [selection.draw(np.array(scores), bits) for _ in range(50_000)]
    counts = np.bincount(draws, minlength=5)
    expected = np.array([float(chance) for chance in law(selection, scores)]) * counts.sum()
    assert stats.chisquare(counts, expected).pvalue > ALPHA


@pytest.mark.parametrize("scores", [[], [0, 1]])
def test_a_selection_without_candidates_is_refused(scores: list[int]) -> None:
    none = np.zeros(len(scores), dtype=bool)
    with pytest.raises(ConfigError, match="candidate"):
        Selection.at_rate(1.0, span=1).weights(np.array(scores, dtype=np.int64), none)
