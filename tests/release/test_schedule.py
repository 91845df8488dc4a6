"""If these fail, releases come at other times, or more often, than was planned and paid for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import ConfigError
from discreet.release.schedule import DoublingBlocks, EqualBlocks, Segments


@given(st.integers(1, 500), st.integers(1, 600), st.booleans())
def test_equal_blocks_cover_every_round_once(horizon: int, block: int, last: bool) -> None:
    schedule = EqualBlocks(horizon, block, last)
    ends = [schedule.end(index) for index in range(schedule.releases)]
    assert ends == [round for round in range(1, horizon + 1) if (round % block == 0 or round == horizon) and (last or round < horizon)]


@given(st.integers(1, 5000), st.integers(1, 50), st.booleans())
def test_doubling_blocks_double_until_the_horizon(horizon: int, first: int, last: bool) -> None:
    schedule = DoublingBlocks(horizon, first, last)
    ends = [schedule.end(index) for index in range(schedule.releases)]
    expected, end, size = [], 0, first
    while end < horizon:
        end, size = min(end + size, horizon), size * 2
        expected.append(end)
    assert ends == (expected if last else expected[:-1])


@given(st.integers(1, 6), st.integers(1, 8), st.booleans())
def test_segments_go_on_for_ever_without_gaps(block: int, blocks: int, growing: bool) -> None:
    schedule = Segments(block * blocks, block, growing)
    ends, places, end = [], [], 0
    for number in range(4):
        size = block * 2**number if growing else block
        for position in range(schedule.length(number)):
            end += size
            ends.append(end)
            places.append((number, position))
    assert [schedule.end(index) for index in range(len(ends))] == ends
    assert [schedule.segment(index) for index in range(len(ends))] == places
    assert end == block * blocks * 15


@pytest.mark.parametrize("horizon", [0, -5, 2.5, True, "many"])
def test_a_horizon_is_a_whole_number_of_rounds(horizon: object) -> None:
    with pytest.raises(ConfigError, match="horizon must be a whole number"):
        EqualBlocks(horizon)  # type: ignore[arg-type]


def test_segments_hold_whole_blocks() -> None:
    with pytest.raises(ConfigError, match="multiple"):
        Segments(5, 2)
