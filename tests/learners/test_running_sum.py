"""If these fail, a published total is not the total, or reveals more than was charged."""

from itertools import product
from typing import Any

import numpy as np
import pytest

from discreet import OutOfBounds, Privacy, RunningSum
from discreet.errors import ConfigError
from discreet.learners.forced import forced
from discreet.learners.running_sum.prefixes import FIRST_SEGMENT, Prefixes

USUAL = Privacy(1.0, 1e-6)


def prefixes_of(sums: RunningSum) -> Prefixes:
    problem = RunningSum.problem_for(sums.settings).mode
    assert isinstance(problem, Prefixes)
    return problem


@pytest.mark.parametrize(
    ("method", "privacy"),
    [
        *product(["honaker", "toeplitz", "disjoint", "auto"], [Privacy(1e4, 1e-6)]),
        *product(["honaker", "disjoint", "auto"], [Privacy(1e4)]),
    ],
)
def test_a_running_sum_with_hardly_any_noise_is_the_sum(
    method: str, privacy: Privacy, generator: np.random.Generator
) -> None:
    people = generator.uniform(-0.5, 0.5, size=(20, 2))
    sums = forced(RunningSum, method, 2, 20, privacy, bound=1.0, seed=3)
    published = np.array([sums.add(person) for person in people])
    assert np.abs(published - people.cumsum(axis=0)).max() < 0.3


def test_blocks_release_less_often_and_with_less_noise() -> None:
    often, seldom = (
        RunningSum(1, 1000, USUAL, bound=1.0, block=block, seed=1) for block in (1, 100)
    )
    for sums in (often, seldom):
        for _ in range(1000):
            sums.add([1.0])
    assert (often.releases, seldom.releases) == (1000, 10)
    assert seldom.standard_deviation < 0.8 * often.standard_deviation


@pytest.mark.parametrize("method", ["auto", "honaker", "disjoint"])
@pytest.mark.parametrize(
    "privacy", [Privacy(1e3, 1e-6), Privacy(1e3), Privacy(1e3, 1e-6, contributions=2)]
)
def test_without_a_horizon_the_sum_goes_on_and_nobody_pays_twice(
    method: str, privacy: Privacy
) -> None:
    sums = forced(RunningSum, method, 1, None, privacy, bound=1.0, seed=1)
    people = FIRST_SEGMENT + 2 * FIRST_SEGMENT + 100
    for _ in range(people):
        total = sums.add([1.0])
    assert total[0] == pytest.approx(people, abs=8 * sums.standard_deviation)
    assert sums.standard_deviation < 30
    assert sums.guarantee.planned is None
    assert sums.guarantee.epsilon_spent <= 1e3 * (1 + 1e-9)


def test_people_of_different_segments_are_different_cohorts() -> None:
    tree, disjoint = (
        prefixes_of(forced(RunningSum, method, 1, None, USUAL, bound=1.0))
        for method in ("honaker", "disjoint")
    )
    ends = [0, FIRST_SEGMENT - 1, FIRST_SEGMENT, 3 * FIRST_SEGMENT - 1, 3 * FIRST_SEGMENT]
    begins = [0, 0, FIRST_SEGMENT, FIRST_SEGMENT, 3 * FIRST_SEGMENT]
    assert [tree.total.cohort(index) for index in ends] == begins
    assert [disjoint.total.cohort(index) for index in ends] == ends
    with_end = prefixes_of(forced(RunningSum, "honaker", 1, 100, USUAL, bound=1.0))
    assert with_end.total.cohort(0) is None


def test_few_releases_of_few_numbers_are_paid_by_disjoint_blocks() -> None:
    """At δ > 0 in the pure measure: each person is in one block, and the noise is far smaller."""
    sums = RunningSum(1, 1000, USUAL, bound=1.0, nonnegative=True, block=200)
    assert sums.facts["method"] == "disjoint"
    assert sums.guarantee.total.pure == pytest.approx(1.0, rel=1e-3)
    assert sums.guarantee.total.everyone.amount == 0
    toeplitz = forced(
        RunningSum, "toeplitz", 1, 1000, USUAL, bound=1.0, nonnegative=True, block=200
    )
    for learner in (sums, toeplitz):
        learner.observe_many(np.ones((200, 1)))
        learner.release_if_due()
    assert sums.standard_deviation < toeplitz.standard_deviation / 2


def test_a_vector_of_the_wrong_kind_is_refused_before_the_clock_ticks() -> None:
    sums = RunningSum(2, 10, USUAL, bound=1.0)
    for wrong in ([1.0], [1.0, 2.0, 3.0], "ab", None, [[1.0, 2.0]], object()):
        with pytest.raises(OutOfBounds):
            sums.add(wrong)
    assert sums.clock == 0
    assert sums.add([1.0, 2.0]).shape == (2,)
    assert RunningSum(1, 10, USUAL, bound=1.0).add(0.5).shape == (1,)


def test_a_vector_that_is_not_finite_is_refused_and_can_be_put_right() -> None:
    sums = RunningSum(2, 10, USUAL, bound=1.0)
    with pytest.raises(OutOfBounds, match="finite"):
        sums.add([float("nan"), 1.0])
    assert sums.releases == 0
    assert sums.add([1.0, 1.0]).shape == (2,)


def test_scores_have_the_standard_deviation_of_the_total() -> None:
    sums = RunningSum(2, 10, USUAL, bound=1.0, seed=1)
    assert sums.standard_deviation == 0.0
    sums.add([1.0, 0.0])
    scores = sums.scores()
    assert np.array_equal(scores.values, sums.total)
    assert scores.standard_deviations is not None
    assert scores.standard_deviations.tolist() == [sums.standard_deviation] * 2
    assert sums.decision == {"total": sums.total.tolist()}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"dimension": 0}, "dimension must be a whole number, between 1 and .* got 0"),
        ({"horizon": 0}, "horizon must be a whole number, between 1 and .* got 0"),
        ({"bound": -1.0}, r"bound must be a number between .* got -1\.0"),
        ({"bound": float("nan")}, "bound must be a number between .* got nan"),
        ({"norm": 3}, "norm must be one of 1.0, 2.0, inf, got 3"),
        ({"norm": "two"}, "norm must be a number, got 'two'"),
        ({"block": 0}, "block must be a whole number, at least 1, got 0"),
        ({"nonnegative": 1}, "nonnegative must be true or false, got 1"),
    ],
)
def test_impossible_sums_are_refused_with_their_value(change: dict[str, Any], message: str) -> None:
    usual: dict[str, Any] = {"dimension": 2, "horizon": 10, "privacy": USUAL, "bound": 1.0}
    with pytest.raises(ConfigError, match=message):
        RunningSum(**usual | change)
