"""If these fail, published algorithms run with other noise than was printed."""

import numpy as np
import pytest
from scipy import stats

from discreet.errors import ConfigError
from discreet.papers.noise import TreeNoise, generalised_gaussian, l2_gamma
from discreet.release.randomness import seeded_bits

ALPHA = 1e-6


@pytest.mark.statistical
def test_many_draws_at_once_have_the_stated_lengths() -> None:
    """4,000 draws; a radius with another shape or scale would be detected."""
    bits = seeded_bits(9, 0)
    lengths = np.linalg.norm(l2_gamma(5, 2.0, bits, draws=4_000), axis=1)
    assert stats.kstest(lengths, stats.gamma(5, scale=2.0).cdf).pvalue > ALPHA
    assert stats.kstest(lengths, stats.gamma(5, scale=2.2).cdf).pvalue < ALPHA
    squares = np.linalg.norm(generalised_gaussian(4, 3.0, 3.0, bits, draws=4_000), 3.0, axis=1) ** 2
    assert stats.kstest(squares, stats.gamma(2, scale=18.0).cdf).pvalue > ALPHA
    assert stats.kstest(squares, stats.gamma(2, scale=6.0).cdf).pvalue < ALPHA


@pytest.mark.statistical
def test_draws_are_centred_and_do_not_depend_on_each_other() -> None:
    draws = l2_gamma(3, 1.0, seeded_bits(9, 1), draws=20_000)
    for column in draws.T:
        assert stats.ttest_1samp(column, 0.0).pvalue > ALPHA
        assert stats.pearsonr(column[1:], column[:-1]).pvalue > ALPHA


def test_one_draw_is_a_vector_and_many_are_rows() -> None:
    assert l2_gamma(3, 1.0, seeded_bits(9, 2)).shape == (3,)
    assert generalised_gaussian(3, 1.0, 2.0, seeded_bits(9, 2), draws=1).shape == (1, 3)
    with pytest.raises(ConfigError, match="norm must be above 0"):
        generalised_gaussian(3, 1.0, 0.0, seeded_bits(9, 2))


def test_a_sum_has_the_noise_of_the_nodes_that_make_it_up() -> None:
    """Comparison with an explicit tree, in pieces, as for long streams."""
    nodes = np.random.default_rng(1).normal(size=(300, 2))
    expected = []
    for time in range(1, 301):
        ends = []
        left = time
        while left:  # the node that ends here, then those of the sum before it
            ends.append(left)
            left &= left - 1
        expected.append(sum(nodes[end - 1] for end in ends))
    tree = TreeNoise(2)
    found = np.concatenate([tree.of_sums(nodes[first : first + 70]) for first in range(0, 300, 70)])
    assert np.allclose(found, expected)
    assert (tree.of_sums(np.zeros((0, 2)))).shape == (0, 2)
