"""If these fail, draws that follow from each other cost more than was planned for all of them."""

from typing import Any

import numpy as np
import pytest

from discreet.budget.privacy import pure
from discreet.engine.statistics import Draws, Interactive
from discreet.errors import BudgetError
from discreet.release.aggregators import OneChoice
from discreet.release.selection import Selection
from engine.statistics.blocks import next_release, nobody

CHOICE = OneChoice((3,))
DRAW = Selection.for_budget(pure(0.5), CHOICE, draws=1)


def two_draws() -> Interactive[OneChoice]:
    return Interactive("favourites", CHOICE, (Draws(DRAW, 2, "pure"),))


def test_people_pay_for_all_draws_of_their_block_and_for_no_other() -> None:
    statistic = two_draws()
    assert statistic.is_apart
    assert [statistic.cohort(number) for number in range(3)] == [0, 1, 2]
    each = DRAW.charge("pure").amount
    assert statistic.charge(0) == statistic.charge(9) == statistic.spent
    assert 2 * each <= statistic.spent.amount <= 1.0 + 1e-12


def test_nothing_is_drawn_before_the_mode_draws() -> None:
    after = next_release(two_draws(), 0, {"kept": 1}, {"sum": 2})
    assert not after.result.door.opened
    assert (after.public, after.hidden) == ({"kept": 1}, {"sum": 2})


def test_a_draw_beyond_those_reserved_is_refused() -> None:
    people, door = next_release(two_draws(), 0, {}, {}).result
    for _ in range(2):
        door.select(DRAW, people)
    with pytest.raises(BudgetError):
        door.select(DRAW, people)


def test_draws_read_the_people_of_the_block() -> None:
    def crowd(aggregator: Any, aggregate: Any) -> None:
        aggregator.add(aggregate, np.full(1000, 2))

    people, door = next_release(two_draws(), 0, {}, {}, crowd).result
    # Another choice has a chance of 2 · exp(−1000 · rate), with rate = 1/4.
    assert door.select(DRAW, people) == 2
    empty, _ = next_release(two_draws(), 0, {}, {}, nobody).result
    assert not empty.values.any()


def test_mechanisms_are_part_of_the_calibration() -> None:
    once = Draws(DRAW, 1, "pure")
    others = [
        two_draws(),
        Interactive("favourites", CHOICE, (once,)),
        Interactive("favourites", CHOICE, (once, once)),
        Interactive("favourites", CHOICE, (once,), (2**16,)),
        Interactive("x", CHOICE, (once,)),
    ]
    assert len({repr(each.constants) for each in others}) == 5
