"""If these fail, running sums are compared with an unprinted algorithm."""

from math import ceil, log2

import numpy as np
import pytest
from scipy import stats

from discreet.errors import ConfigError
from discreet.papers.noise import TreeNoise
from discreet.papers.printed import tbap
from discreet.papers.printed.tbap import TreeSums

from .law import ALPHA

pytestmark = pytest.mark.filterwarnings(
    "ignore::discreet.papers.printed.promise.PrintedNoiseWarning"
)


def printed_box(vectors: np.ndarray, noises: list[np.ndarray], *, literal: bool) -> np.ndarray:
    """Algorithm 4 line by line, with a whole tree; nodes are noised in the order of the box."""
    horizon, dimension = vectors.shape
    height = ceil(log2(horizon)) if horizon > 1 else 0
    tree = {
        (level, place): np.zeros(dimension)
        for level in range(height + 1)
        for place in range(2 ** (height - level))
    }  # level 0: leaves; an even place is a left child, except for the root
    waiting = list(noises)
    sums = []
    for time in range(1, horizon + 1):
        path = [(level, (time - 1) >> level) for level in range(height + 1)]
        left_children = [
            number
            for number, (level, place) in enumerate(path)
            if place % 2 == 0 and level < height
        ]
        noised = [] if literal else path
        if left_children:
            noised = path[: left_children[0] + 1]
        for node in path:
            tree[node] = tree[node] + vectors[time - 1]
            if node in noised:
                tree[node] = tree[node] + waiting.pop(0)
        total = np.zeros(dimension)
        for bit in range(height + 1):
            if time >> bit & 1:
                level, place = path[bit]
                left = level == height or place % 2 == 0
                total += tree[level, place if left else place - 1]
        sums.append(total)
    return np.array(sums)


@pytest.mark.parametrize("horizon", [1, 2, 3, 4, 5, 8, 11, 16])
@pytest.mark.parametrize("reading", ["mended", "literal"])
def test_the_streaming_form_releases_the_sums_of_the_box(
    horizon: int, reading: tbap.Reading
) -> None:
    generator = np.random.default_rng(horizon)
    vectors = generator.normal(size=(horizon, 2))
    noises = list(generator.normal(size=(2 * horizon, 2)))
    expected = printed_box(vectors, noises, literal=reading == "literal")
    waiting = list(noises)
    tree = TreeSums(2, horizon, lambda: waiting.pop(0), reading=reading)
    assert np.allclose([tree.add(vector) for vector in vectors], expected)


def test_every_node_is_noised_once_when_it_is_complete() -> None:
    drawn_at: list[int] = []

    def node_noise() -> np.ndarray:
        drawn_at.append(tree.clock)
        return np.zeros(1)

    tree = TreeSums(1, 16, node_noise)
    for _ in range(16):
        tree.add(np.zeros(1))
    assert tree.nodes == 31  # 16 + 8 + 4 + 2 + 1
    draws = [drawn_at.count(time) for time in range(1, 17)]
    assert draws == [1, 2, 1, 3, 1, 2, 1, 4, 1, 2, 1, 3, 1, 2, 1, 5]
    with pytest.raises(ConfigError, match="all 16 vectors of the tree have been added"):
        tree.add(np.zeros(1))


def test_a_tree_of_sums_and_the_noise_of_sums_have_one_law() -> None:
    """`TreeNoise` draws one node per round, which is the last of `TreeSums`' draws."""
    nodes = np.random.default_rng(1).normal(size=(20, 1))
    tree = TreeSums(1, 20, lambda: nodes[tree.clock - 1])
    sums = [tree.add(np.zeros(1)) for _ in range(20)]
    assert np.allclose(sums, TreeNoise(1).of_sums(nodes))


def test_constants() -> None:
    assert tbap.printed_levels(1) == 1
    assert tbap.printed_levels(100_000) == 18
    assert tbap.printed_scale(4.0, 1024, 2.0) == 22.0
    assert tbap.printed_scale(4.0, 1025, 2.0) == 24.0
    assert tbap.sound_scale(8.0, 1024, 2.0) == 44.0
    assert tbap.sound_scale(8.0, 1023, 2.0) == 40.0


@pytest.mark.statistical
def test_first_sums_have_the_printed_noise() -> None:
    """2,000 first sums of noise; a scale 20 % off would be detected."""
    zero = np.zeros((1, 3))
    sums = [
        tbap.play(zero, 2.0, 0.5, noise="printed", seed=seed).decisions for seed in range(2_000)
    ]
    lengths = [float(np.linalg.norm(noise)) for noise in sums]
    assert stats.kstest(lengths, stats.gamma(3, scale=4.0).cdf).pvalue > ALPHA
    assert stats.kstest(lengths, stats.gamma(3, scale=4.8).cdf).pvalue < ALPHA


def test_sound_noise_covers_the_replacement_of_a_person() -> None:
    """No node above a person moves by more than the noise covers, for vectors of any length."""
    horizon, bound = 9, 1.0
    sums = []
    for vector in ([50.0, 0.0], [-1.0, 0.0]):
        rows = np.zeros((horizon, 2))
        rows[0] = vector
        shortened = np.array([tbap.shortened(row, bound) for row in rows])
        sums.append(shortened.cumsum(axis=0))
    moved = np.linalg.norm(sums[0] - sums[1], axis=1).max()
    nodes_above = horizon.bit_length()
    assert moved * nodes_above / tbap.sound_scale(2 * bound, horizon, 1.0) <= 1.0
    assert moved * nodes_above / tbap.printed_scale(bound, horizon, 1.0) > 1.0


def test_the_error_is_within_the_printed_bound() -> None:
    errors = [
        np.linalg.norm(
            tbap.play(np.zeros((32, 4)), 1.0, 1.0, noise="printed", seed=seed).decisions[-2]
        )
        for seed in range(60)
    ]
    assert np.mean(errors) < tbap.error_bound(4, 1.0, 32, 1.0)
    assert np.mean(errors) > tbap.error_bound(4, 1.0, 32, 1.0) / 10
