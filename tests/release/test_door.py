"""If these fail, a result becomes public that was not aggregated, not paid for, or not noised."""

from math import inf
from typing import Any

import numpy as np
import pytest

from discreet.budget.privacy import Privacy, pure, zcdp
from discreet.errors import BudgetError, ConfigError
from discreet.release.aggregators import Aggregate, HeldRows, OneChoice, Rows
from discreet.release.door import Door
from discreet.release.noise import DiscreteGaussian, DiscreteLaplace
from discreet.release.randomness import seeded_bits
from discreet.release.selection import Selection
from discreet.release.sums.prefix_sum import Stream, calibrate

GAINS = Rows((3,), norm=inf, nonnegative=True, levels=1)
SELECTION = Selection.at_rate(0.25, GAINS.span)


def door(amount: float, index: int = 0) -> Door:
    """A door with this much pure ε reserved."""
    return Door(seeded_bits(1, index), pure(amount), index)


def test_a_door_gives_no_more_than_was_reserved() -> None:
    scores = GAINS.empty()
    counts = OneChoice((3,)).empty()
    sums = calibrate(Privacy(1.0), Stream(OneChoice((3,)), releases=4))
    spent = door(1.01)
    spent.select(SELECTION, scores)
    spent.select(SELECTION, scores)
    for again in (
        lambda: spent.select(SELECTION, scores),
        lambda: spent.add_noise(DiscreteLaplace(10), counts),
        lambda: spent.prefix(sums, *sums.start(), sums.aggregator.empty()),
    ):
        with pytest.raises(BudgetError, match="reserve it in the plan"):
            again()


def test_noise_is_paid_at_the_stated_sensitivity_and_in_the_reserved_measure() -> None:
    wide = Rows((1,), levels=10).empty()
    narrow = Rows((1,), nonnegative=True, levels=10).empty()
    assert door(0.11).add_noise(DiscreteLaplace(100), narrow).shape == (1,)
    with pytest.raises(BudgetError):
        door(0.11).add_noise(DiscreteLaplace(100), wide)  # moves twice as far
    with pytest.raises(BudgetError, match=r"costs .* \(zcdp\) and 1e\+03 \(pure\) is left"):
        door(1e3).add_noise(DiscreteGaussian(100), narrow)
    concentrated = Door(seeded_bits(1, 0), zcdp(1e3), 0)
    with pytest.raises(BudgetError):
        concentrated.add_noise(DiscreteLaplace(100), narrow)


def test_a_refused_draw_opens_no_door() -> None:
    poor = door(0.001)
    with pytest.raises(BudgetError):
        poor.select(SELECTION, GAINS.empty())
    with pytest.raises(ConfigError, match="candidate"):
        door(1.0).select(SELECTION, GAINS.empty(), np.zeros(3, dtype=bool))
    assert not poor.opened
    paid = door(1.0)
    paid.select(SELECTION, GAINS.empty())
    assert paid.opened


def test_every_number_gets_noise_of_its_own() -> None:
    table = OneChoice((3, 1))
    noisy = door(1.0).add_noise(DiscreteLaplace(100), table.holding(np.array([[5], [1005], [5]])))
    assert noisy.shape == (3, 1)
    assert noisy[0, 0] != noisy[2, 0]


@pytest.mark.parametrize("secret", [np.array([1]), [1], 1, None, np.array([0.123]), "text"])
def test_a_door_takes_only_aggregates(secret: Any) -> None:
    sums = calibrate(Privacy(1.0), Stream(OneChoice((1,)), releases=4))
    unopened = door(10.0)
    for use in (
        lambda: unopened.add_noise(DiscreteLaplace(100), secret),
        lambda: unopened.select(SELECTION, secret),
        lambda: unopened.prefix(sums, *sums.start(), secret),
    ):
        with pytest.raises(ConfigError, match="takes aggregates only"):
            use()
    assert not unopened.opened


def test_held_rows_cannot_be_released() -> None:
    with pytest.raises(ConfigError, match="cannot be released"):
        door(10.0).add_noise(DiscreteLaplace(100), HeldRows((2, 2)).empty())
    with pytest.raises(ConfigError, match="cannot be released"):
        door(10.0).select(SELECTION, HeldRows((2, 2)).empty())


def test_a_selection_refuses_scores_that_it_was_not_calibrated_for() -> None:
    coarse = Rows((3,), norm=inf, nonnegative=True, levels=2)
    with pytest.raises(ConfigError, match="span"):
        door(10.0).select(SELECTION, coarse.empty())
    table = Rows((3, 3), norm=inf, nonnegative=True, levels=1)
    with pytest.raises(ConfigError, match="one row of int64"):
        door(10.0).select(SELECTION, table.empty())
    assert door(10.0).select(SELECTION, table.empty().part(1)) in (0, 1, 2)


def test_a_running_sum_takes_aggregates_of_its_own_aggregator_only() -> None:
    sums = calibrate(Privacy(1.0), Stream(OneChoice((2,)), releases=4))
    for other in (OneChoice((2,)).empty(), Rows((2,)).empty()):
        with pytest.raises(ConfigError, match="its own aggregator"):
            door(10.0).prefix(sums, *sums.start(), other)


def test_a_running_sum_steps_once_per_release() -> None:
    """Later steps are paid by earlier ones: a second step from the same state would be free.

    An average of many such steps would remove the noise.
    """
    sums = calibrate(Privacy(1.0), Stream(OneChoice((2,)), releases=4), "honaker")
    nobody = sums.aggregator.empty()
    stepped = door(10.0)
    stepped.prefix(sums, *sums.start(), nobody)
    with pytest.raises(BudgetError, match="one step per release"):
        stepped.prefix(sums, *sums.start(), nobody)


def test_noise_is_added_to_the_aggregated_values() -> None:
    """With the same random bits, the results with and without people differ by the people."""
    counts = OneChoice((4,))
    people = counts.holding(np.array([7, 0, 3, 1000]))
    noisy = door(1.0).add_noise(DiscreteLaplace(50), people)
    noise = door(1.0).add_noise(DiscreteLaplace(50), counts.empty())
    assert (noisy - noise).tolist() == [7, 0, 3, 1000]
    assert isinstance(people, Aggregate)


def test_a_door_that_is_shut_draws_nothing_more() -> None:
    people = OneChoice((2,)).empty()
    for amount in (10.0, 0.0):
        door = Door(seeded_bits(1, 0), pure(amount), 0)
        door.shut()
        with pytest.raises(BudgetError, match="this door is shut"):
            door.add_noise(DiscreteLaplace(10), people)
        assert not door.opened
