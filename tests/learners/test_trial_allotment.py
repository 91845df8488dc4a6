"""If these fail, rounds of a block make other trials than planned, or cannot be attributed."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet import ConfigError
from discreet.learners.trial_allotment import Shuffle, TrialAllotment


@settings(max_examples=60)
@given(st.integers(1, 3000), st.binary(min_size=16, max_size=16))
def test_a_shuffle_is_a_permutation_alone_and_among_others(length: int, key: bytes) -> None:
    shuffle = Shuffle(length, key)
    images = shuffle.of(np.arange(length))
    assert np.array_equal(np.sort(images), np.arange(length))
    assert [shuffle.of_one(number) for number in range(min(length, 20))] == images[:20].tolist()


def test_trials_are_spread_over_the_whole_block() -> None:
    """α = 10⁻⁶: each tenth of the block has its share of trials, up to 4.9 standard deviations."""
    for key in (bytes(16), b"sixteen byte key", bytes(range(16))):
        tried = np.flatnonzero(Shuffle(200_000, key).of(np.arange(200_000)) < 20_000)
        counts = np.histogram(tried, 10, (0, 200_000))[0]
        assert np.abs(counts - 2000).max() < 4.9 * 2000**0.5


def test_huge_blocks_need_no_more_memory_and_rounds_beyond_the_end_begin_again() -> None:
    allotment = TrialAllotment(np.array([3, 5]), 2**40, b"sixteen byte key")
    rounds = np.array([0, 1, 2**40 - 1])
    assert allotment.of(rounds).tolist() == [allotment.of_one(int(round)) for round in rounds]
    assert allotment.of_one(2**40) == allotment.of_one(0)


def test_each_trial_is_made_as_often_as_allotted() -> None:
    allotment = TrialAllotment(np.array([4, 0, 7]), 50, b"sixteen byte key")
    assert np.bincount(allotment.of(np.arange(50)), minlength=4).tolist() == [4, 0, 7, 39]
    assert allotment.rest == 39
    for counts in ([51], [-1, 3]):
        with pytest.raises(ConfigError, match="do not fit"):
            TrialAllotment(np.array(counts), 50, bytes(16))
