"""If these fail, something secret becomes public that was not aggregated, not paid for, or not
noised.
"""

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

GAINS = Rows(3, norm=inf, nonnegative=True, levels=1)
SELECTION = Selection.at_rate(0.25, GAINS.span)


def door(amount: float, index: int = 0) -> Door:
    return Door(seeded_bits(1, index), pure(amount), index)


def test_a_door_gives_no_more_than_was_reserved() -> None:
    scores, counts = GAINS.empty(), OneChoice(3).empty()
    passage = door(1.01)
    passage.select(SELECTION, scores)
    passage.select(SELECTION, scores)
    sums = calibrate(Privacy(1.0), Stream(OneChoice(3), releases=4))
    for again in (
        lambda: passage.select(SELECTION, scores),
        lambda: passage.add_noise(DiscreteLaplace(10), counts),
        lambda: passage.prefix(sums, *sums.start(), sums.aggregator.empty()),
    ):
        with pytest.raises(BudgetError, match="plan it"):
            again()


def test_a_passage_pays_for_what_the_gathering_says_and_in_the_measure_that_was_reserved() -> None:
    wide, narrow = Rows(1, levels=10).empty(), Rows(1, nonnegative=True, levels=10).empty()
    assert door(0.11).add_noise(DiscreteLaplace(100), narrow).shape == (1,)
    with pytest.raises(BudgetError):
        door(0.11).add_noise(DiscreteLaplace(100), wide)  # moves twice as far
    with pytest.raises(BudgetError, match=r"\(pure\) left and the next draw costs .* \(zcdp\)"):
        door(1e3).add_noise(DiscreteGaussian(100), narrow)
    concentrated = Door(seeded_bits(1, 0), zcdp(1e3), 0)
    with pytest.raises(BudgetError):
        concentrated.add_noise(DiscreteLaplace(100), narrow)


def test_a_refused_passage_draws_nothing() -> None:
    passage = door(0.001)
    with pytest.raises(BudgetError):
        passage.select(SELECTION, GAINS.empty())
    with pytest.raises(ConfigError, match="candidate"):
        door(1.0).select(SELECTION, GAINS.empty(), np.zeros(3, dtype=bool))
    assert not passage.opened
    passage = door(1.0)
    passage.select(SELECTION, GAINS.empty())
    assert passage.opened


def test_every_number_gets_noise_of_its_own() -> None:
    table = OneChoice((3, 1))
    noisy = door(1.0).add_noise(DiscreteLaplace(100), table.holding(np.array([[5], [1005], [5]])))
    assert noisy.shape == (3, 1)
    assert noisy[0, 0] != noisy[2, 0]


@pytest.mark.parametrize("secret", [np.array([1]), [1], 1, None, np.array([0.123]), "gathered"])
def test_a_door_takes_only_what_was_gathered(secret: Any) -> None:
    sums = calibrate(Privacy(1.0), Stream(OneChoice(1), releases=4))
    passage = door(10.0)
    for pass_it in (
        lambda: passage.add_noise(DiscreteLaplace(100), secret),
        lambda: passage.select(SELECTION, secret),
        lambda: passage.prefix(sums, *sums.start(), secret),
    ):
        with pytest.raises(ConfigError, match="takes what was gathered"):
            pass_it()
    assert not passage.opened


def test_held_rows_do_not_pass() -> None:
    with pytest.raises(ConfigError, match="not for release"):
        door(10.0).add_noise(DiscreteLaplace(100), HeldRows((2, 2)).empty())
    with pytest.raises(ConfigError, match="not for release"):
        door(10.0).select(SELECTION, HeldRows((2, 2)).empty())


def test_a_selection_takes_what_it_was_calibrated_for() -> None:
    coarse = Rows(3, norm=inf, nonnegative=True, levels=2)
    with pytest.raises(ConfigError, match="span"):
        door(10.0).select(SELECTION, coarse.empty())
    table = Rows((3, 3), norm=inf, nonnegative=True, levels=1)
    with pytest.raises(ConfigError, match="one row of int64"):
        door(10.0).select(SELECTION, table.empty())
    assert door(10.0).select(SELECTION, table.empty().part(1)) in (0, 1, 2)


def test_a_running_sum_takes_what_its_own_gathering_added_up() -> None:
    sums = calibrate(Privacy(1.0), Stream(OneChoice(2), releases=4))
    for other in (OneChoice(2).empty(), Rows(2).empty()):
        with pytest.raises(ConfigError, match="its own gathering"):
            door(10.0).prefix(sums, *sums.start(), other)


def test_a_sum_steps_once_a_turn() -> None:
    """Later steps are paid by earlier ones: a second step from the same state would be free.

    And averaging many of them would take the noise away.
    """
    sums = calibrate(Privacy(1.0), Stream(OneChoice(2), releases=4), "honaker")
    passage, nobody = door(10.0), sums.aggregator.empty()
    passage.prefix(sums, *sums.start(), nobody)
    with pytest.raises(BudgetError, match="one step a turn"):
        passage.prefix(sums, *sums.start(), nobody)


def test_noise_lands_on_the_values_that_were_gathered() -> None:
    """The same words, with and without people: the difference is the people, exactly."""
    counts = OneChoice(4)
    people = counts.holding(np.array([7, 0, 3, 1000]))
    noisy, noise = (
        door(1.0).add_noise(DiscreteLaplace(50), each) for each in (people, counts.empty())
    )
    assert (noisy - noise).tolist() == [7, 0, 3, 1000]
    assert isinstance(people, Aggregate)
