"""If these fail, some items are tried more often than others, or a schedule depends on something secret."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import ConfigError
from discreet.learners.trial_schedule import TrialSchedule

KEY = b"sixteen byte key"


@settings(max_examples=100)
@given(st.integers(1, 12), st.integers(1, 12), st.integers(0, 300), st.binary(min_size=16, max_size=16))
def test_every_kind_is_tried_equally_often_in_evenly_spread_rounds(
    kinds: int, cycles: int, more: int, key: bytes
) -> None:
    schedule = TrialSchedule(kinds, cycles, kinds * cycles + more, key)
    found = schedule.among(np.arange(schedule.rounds))
    assert np.bincount(found.kinds, minlength=kinds).tolist() == [cycles] * kinds
    for cycle in range(cycles):
        assert sorted(found.kinds[cycle * kinds : (cycle + 1) * kinds]) == list(range(kinds))
    ends = np.arange(schedule.count + 1) * schedule.rounds // schedule.count
    assert ((ends[:-1] <= found.places) & (found.places < ends[1:])).all()  # one in each stretch


@settings(max_examples=60)
@given(st.integers(1, 9), st.integers(1, 9), st.integers(0, 99), st.lists(st.integers(-5, 250), max_size=30))
def test_any_rounds_in_any_order_are_told_the_same(
    kinds: int, cycles: int, more: int, rounds: list[int]
) -> None:
    """All at once, some of them, or one by one: the same rounds are trials, of the same kinds."""
    schedule = TrialSchedule(kinds, cycles, kinds * cycles + more, KEY)
    whole = schedule.among(np.arange(schedule.rounds))
    kind_of = dict(zip(whole.places.tolist(), whole.kinds.tolist(), strict=True))
    found = schedule.among(np.array(rounds, dtype=np.int64))
    told = {int(place): int(kind) for place, kind in zip(found.places, found.kinds, strict=True)}
    assert told == {place: kind_of[round] for place, round in enumerate(rounds) if round in kind_of}
    for round in rounds:
        alone = schedule.among(np.array([round]))
        assert alone.kinds.tolist() == ([kind_of[round]] if round in kind_of else [])
        assert alone.places.tolist() == ([0] if round in kind_of else [])


def test_another_key_is_another_schedule() -> None:
    one, other = (
        TrialSchedule(5, 40, 2000, key).among(np.arange(2000)) for key in (KEY, b"another long key")
    )
    assert not np.array_equal(one.places, other.places)
    assert not np.array_equal(one.kinds, other.kinds)


def test_huge_blocks_take_no_memory_and_stay_exact() -> None:
    schedule = TrialSchedule(7, 2**20, 2**40, KEY)
    last = np.arange(2**40 - 10**6, 2**40)
    found = schedule.among(last)
    stretch = 2**40 // (7 * 2**20)
    assert abs(len(found.places) - 10**6 // stretch) <= 2
    assert (np.diff(found.places) > 0).all()
    for place in found.places:
        assert len(schedule.among(last[place : place + 1]).kinds) == 1


@pytest.mark.parametrize(("kinds", "cycles", "rounds"), [(3, 4, 11), (2**20, 2**20, 2**60), (0, 1, 5)])
def test_more_trials_than_fit_are_refused(kinds: int, cycles: int, rounds: int) -> None:
    with pytest.raises(ConfigError, match="do not fit"):
        TrialSchedule(kinds, cycles, rounds, KEY)
