"""If these fail, replicas disagree about a decision, or a crash can re-roll one."""

from hashlib import blake2b

import numpy as np
import pytest
from scipy import stats

from discreet.engine.coins import Coin, Coins, scattered, scattered_one
from discreet.errors import ConfigError

KEY = b"k" * 16


def test_coins_depend_on_key_and_round_only() -> None:
    faces = [Coin(KEY, round).below(1000) for round in range(300)]
    assert faces == [Coin(KEY, round).below(1000) for round in range(300)]
    assert len(set(faces)) > 200
    assert faces != [Coin(b"x" * 16, round).below(1000) for round in range(300)]
    assert all(0 <= Coin(KEY, round).uniform() < 1 for round in range(300))


def test_many_rounds_at_once_throw_the_coins_of_each() -> None:
    """A round has one number per key, in any order, together or one by one."""
    rounds = np.array([7, 3, 1023, 1024, 1025, 2**40, 2**62, 3])
    together = Coins(KEY).uniform(rounds)
    alone = [float(Coins(KEY).uniform(np.array([round]))[0]) for round in rounds.tolist()]
    assert together.tolist() == alone
    back = Coins(KEY)
    assert [float(back.uniform(rounds[place : place + 1])[0]) for place in range(8)] == alone
    assert back.uniform(rounds[::-1]).tolist() == alone[::-1]
    assert Coins(KEY).below(6, rounds).tolist() == [int(number * 6) for number in alone]
    assert ((together >= 0) & (together < 1)).all()
    assert Coins(KEY).below(6, rounds[:0]).tolist() == Coins(KEY).uniform(rounds[:0]).tolist() == []


def test_no_two_rounds_and_no_two_keys_share_a_coin() -> None:
    rounds = np.concatenate([np.arange(5000), np.arange(2**40, 2**40 + 5000)])
    numbers = np.concatenate([Coins(KEY).uniform(rounds), Coins(b"x" * 16).uniform(rounds)])
    assert len(np.unique(numbers)) == 20_000


def test_shuffles_of_one_key_and_round_are_the_same_everywhere() -> None:
    """The function is frozen: decisions of a saved run must not change with a version."""
    shuffles = [Coin(KEY, 1).generator().permutation(6).tolist() for _ in range(2)]
    assert shuffles[0] == shuffles[1]
    for round in (5, 6):
        expected = int.from_bytes(_first_bits(round), "little") % 10**6
        assert Coin(KEY, round).below(10**6) == expected


def _first_bits(round: int) -> bytes:
    """Return the first 64 bits of a round's coins."""
    place = round.to_bytes(8, "little") + (0).to_bytes(8, "little")
    return blake2b(place, digest_size=8, key=KEY).digest()


@pytest.mark.statistical
def test_coins_and_scattered_bits_are_fair() -> None:
    """Chi-square test at α = 10⁻⁶ with a fixed key; it catches a bias of a few per cent."""
    faces = Coins(KEY).below(10, np.arange(20_000))
    assert stats.chisquare(np.bincount(faces, minlength=10)).pvalue > 1e-6
    digits = scattered(b"sixteen byte key", np.arange(100_000)) % np.uint64(10)
    assert stats.chisquare(np.bincount(digits.astype(np.int64), minlength=10)).pvalue > 1e-6


def test_scattered_bits_of_one_number_are_those_of_many() -> None:
    numbers = np.array([0, 1, 2, 10**6, 2**62])
    assert scattered(KEY, numbers).tolist() == [
        scattered_one(KEY, number) for number in numbers.tolist()
    ]
    assert not np.array_equal(scattered(KEY, numbers), scattered(b"x" * 16, numbers))


@pytest.mark.parametrize("sides", [0, -1, 2**63 + 1])
def test_a_coin_has_at_least_one_side(sides: int) -> None:
    with pytest.raises(ConfigError, match="sides"):
        Coin(KEY, 0).below(sides)
