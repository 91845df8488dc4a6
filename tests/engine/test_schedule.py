"""If these fail, releases come at other times, or more often, than was planned and paid for."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.budget.ledger import Spending
from discreet.budget.privacy import Privacy, pure, zcdp
from discreet.engine.plan import Plan, paid_by_cohorts
from discreet.engine.schedule import DoublingBlocks, EqualBlocks, ListedBlocks, Segments
from discreet.errors import ConfigError


@given(st.integers(1, 500), st.integers(1, 600), st.booleans())
def test_equal_blocks_cover_every_round_once(horizon: int, block: int, last: bool) -> None:
    schedule = EqualBlocks(horizon, block, last)
    ends = [schedule.end(index) for index in range(schedule.releases)]
    ending = [round for round in range(1, horizon + 1) if round % block == 0 or round == horizon]
    assert ends == [round for round in ending if last or round < horizon]


@given(st.integers(1, 5000), st.integers(1, 50), st.booleans())
def test_doubling_blocks_double_until_the_horizon(horizon: int, first: int, last: bool) -> None:
    schedule = DoublingBlocks(horizon, first, last)
    ends = [schedule.end(index) for index in range(schedule.releases)]
    expected: list[int] = []
    end = 0
    size = first
    while end < horizon:
        end = min(end + size, horizon)
        size *= 2
        expected.append(end)
    assert ends == (expected if last else expected[:-1])


@given(st.lists(st.integers(1, 20), max_size=8), st.integers(0, 30))
def test_listed_blocks_come_one_after_another(lengths: list[int], more: int) -> None:
    if sum(lengths) + more < 1:
        return
    schedule = ListedBlocks(sum(lengths) + more, tuple(lengths))
    assert schedule.releases == len(lengths)
    assert [schedule.end(index) for index in range(len(lengths))] == [
        sum(lengths[: index + 1]) for index in range(len(lengths))
    ]


@given(st.integers(1, 6), st.integers(1, 8))
def test_segments_go_on_for_ever_without_gaps(block: int, blocks: int) -> None:
    schedule = Segments(block * blocks, block)
    ends = []
    places = []
    end = 0
    for number in range(4):
        for position in range(schedule.length(number)):
            end += block
            ends.append(end)
            places.append((number, position))
    assert [schedule.end(index) for index in range(len(ends))] == ends
    assert [schedule.segment(index) for index in range(len(ends))] == places
    assert end == block * blocks * 15


@pytest.mark.parametrize("horizon", [0, -5, 2.5, True, "many"])
def test_a_horizon_is_a_whole_number_of_rounds(horizon: Any) -> None:
    for make in (EqualBlocks, DoublingBlocks, lambda rounds: ListedBlocks(rounds, ())):
        with pytest.raises(ConfigError, match="horizon must be a whole number"):
            make(horizon)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Segments(5, 2), "multiple"),
        (lambda: ListedBlocks(5, (3, 3)), "do not fit"),
        (lambda: ListedBlocks(5, (3, 0)), "do not fit"),
    ],
)
def test_blocks_that_do_not_fit_are_refused(make: Any, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        make()


def test_plans_that_differ_in_any_constant_have_different_calibrations() -> None:
    def plan(schedule: Any, spent: float = 1.0, *constants: Any) -> str:
        total = Spending(pure(spent))
        return Plan(None, total, 9, None, constants=(schedule, *constants)).calibration

    threes = EqualBlocks(9, 3)
    fours = EqualBlocks(9, 4)
    calibrations = [plan(threes), plan(fours), plan(threes, 0.5), plan(threes, 1.0, 7)]
    assert len(set(calibrations)) == 4
    assert plan(threes) == plan(EqualBlocks(9, 3))


def test_cohorts_pay_the_largest_charge_of_each_measure() -> None:
    charges = [pure(0.2), zcdp(0.01), pure(0.5), zcdp(0.02)]
    spent = paid_by_cohorts(Privacy(1.0, 1e-6), charges)
    assert (spent.everyone.amount, spent.pure, spent.zcdp) == (0.0, 0.5, 0.02)
    assert paid_by_cohorts(Privacy(1.0), []).everyone == pure(0.0)
