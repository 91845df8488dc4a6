"""If these fail, private experts are compared with something that was never printed."""

from math import exp, log, sqrt

import numpy as np
import pytest
from scipy import stats

from discreet.errors import ConfigError
from discreet.papers.printed.hedge import play, rate

from .law import ALPHA

pytestmark = pytest.mark.filterwarnings(
    "ignore::discreet.papers.printed.promise.PrintedNoiseWarning"
)


def test_the_rate_is_the_printed_one() -> None:
    assert rate(1.0, 1e-6, 100_000) == pytest.approx(1 / sqrt(32 * 100_000 * log(1e6)))


@pytest.mark.statistical
def test_a_draw_follows_the_exponential_mechanism() -> None:
    """20,000 draws after one round with different gains; a rate 10 % off would be detected."""
    gains = np.zeros((20_001, 2))
    gains[0, 0] = 1.0
    epsilon = 1.5 / rate(1.0, 1e-6, len(gains))
    played = play(gains, epsilon, 1e-6, noise="printed", seed=1)
    first_action = int((played.decisions[1:] == 0).sum())
    assert stats.binomtest(first_action, 20_000, 1 / (1 + exp(-1.5))).pvalue > ALPHA
    assert stats.binomtest(first_action, 20_000, 1 / (1 + exp(-1.35))).pvalue < ALPHA


def test_the_best_action_is_found_without_privacy_and_rarely_with_it() -> None:
    gains = np.random.default_rng(1).random((5_000, 4)) * [0.4, 1.0, 0.6, 0.2]
    assert (play(gains, 1e4, 1e-6, noise="printed").decisions == 1).mean() > 0.95
    assert (play(gains, 1.0, 1e-6, noise="printed").decisions == 1).mean() < 0.45


def test_all_rounds_of_a_block_have_one_action() -> None:
    actions = play(np.zeros((1_003, 50)), 1.0, 1e-6, block=10, seed=2).decisions
    assert len(actions) == 1_003
    assert (actions[:1_000].reshape(100, 10) == actions[:1_000:10, None]).all()
    assert 60 < np.count_nonzero(np.diff(actions)) <= 100


def test_the_same_seed_plays_the_same() -> None:
    gains = np.random.default_rng(1).random((100, 5))
    first, same, other = (play(gains, 1.0, 1e-6, seed=seed).decisions for seed in (3, 3, 4))
    assert (first == same).all()
    assert (first != other).any()


def test_what_was_not_printed_is_refused() -> None:
    with pytest.raises(ConfigError, match="published noise needs delta > 0, got 0"):
        rate(1.0, 0.0, 10)
    with pytest.raises(ConfigError, match="gains must be a table of numbers with at least one row"):
        play(np.zeros((0, 3)), 1.0, 1e-6, noise="printed")
    with pytest.raises(ConfigError, match="block must be a whole number, between 1 and"):
        play(np.zeros((5, 3)), 1.0, 1e-6, block=0)
