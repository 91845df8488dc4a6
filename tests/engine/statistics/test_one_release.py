"""If these fail, a block is released with other noise than its people pay for."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from discreet.budget.privacy import Charge, pure, zcdp
from discreet.engine.statistics import Occasion, OneRelease
from discreet.errors import BudgetError
from discreet.release.aggregators import OneChoice
from discreet.release.door import Door
from discreet.release.noise import DiscreteGaussian, DiscreteLaplace
from discreet.release.randomness import seeded_bits
from engine.statistics.blocks import exact, next_release, nobody, releases

BUDGETS = [pure(0.5), zcdp(0.02)]


def votes(budget: Charge = BUDGETS[0]) -> OneRelease[OneChoice]:
    return OneRelease.for_budget("votes", budget, OneChoice((3,)))


@pytest.mark.parametrize("budget", BUDGETS, ids=repr)
def test_each_person_pays_what_moving_a_vote_costs_and_no_more_than_the_budget(
    budget: Charge,
) -> None:
    """A person who changes a vote moves two counts by one: l₁ = 2, l₂² = 2."""
    statistic = votes(budget)
    levels = statistic.aggregator.levels
    noise = statistic.calibrated.noise
    if isinstance(noise, DiscreteLaplace):
        cost = Fraction(2 * levels, noise.scale)
    else:
        assert isinstance(noise, DiscreteGaussian)
        cost = Fraction(2 * levels**2, 2 * noise.sigma**2)
    for number in (0, 1, 10**6):
        charge = statistic.charge(number)
        assert charge.measure == budget.measure
        assert cost <= exact(charge) <= cost * Fraction(1 + 2**-47)
        assert exact(charge) <= exact(budget)
    assert statistic.spent == statistic.charge(0)


def test_each_block_is_paid_for_by_its_own_people_alone() -> None:
    statistic = votes()
    assert statistic.is_apart
    assert [statistic.cohort(number) for number in range(4)] == [0, 1, 2, 3]


def test_sums_are_in_the_units_of_peoples_numbers_and_blocks_do_not_mix() -> None:
    """With the same random bits, releases with and without people differ by the people."""

    def two(aggregator: Any, aggregate: Any) -> None:
        aggregator.add(aggregate, np.array([1, 1]))

    with_people = releases(votes(), [two, nobody])
    without = releases(votes(), [nobody, nobody])
    moved = [one.result - other.result for one, other in zip(with_people, without, strict=True)]
    assert np.allclose(moved[0], [0, 2, 0])
    assert np.allclose(moved[1], 0)


def test_noise_is_as_large_as_stated_to_people_who_plan_with_it() -> None:
    statistic = votes()
    assert statistic.variance == statistic.standard_deviation**2
    steps = statistic.calibrated.noise.variance**0.5
    assert statistic.standard_deviation == pytest.approx(steps * statistic.aggregator.grid)


def test_a_release_leaves_the_state_of_others_with_its_name_as_it_is() -> None:
    """A report per block and a running report have one name, and one state."""
    public, hidden = {"rows": np.ones(2)}, {"steps": 3}
    after = next_release(votes(), 0, public, hidden)
    assert after.public == public
    assert after.hidden == hidden
    assert votes().start() == votes().layout(5) == ({}, {})


def test_a_block_cannot_be_released_twice_for_one_payment() -> None:
    statistic = votes()
    block = statistic.aggregator.empty()
    door = Door(seeded_bits(1, 0), statistic.charge(0), 0)
    statistic.release(Occasion(0, 0, 1), {}, {}, block, door)
    with pytest.raises(BudgetError):
        statistic.release(Occasion(0, 0, 1), {}, {}, block, door)


def test_name_and_noise_are_part_of_the_calibration() -> None:
    other = OneRelease("other", votes().calibrated)
    constants = {repr(each.constants) for each in (votes(), other, votes(pure(0.4)))}
    assert len(constants) == 3
