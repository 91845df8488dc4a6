"""Contextual rivals without privacy, and the base class of rivals that play in blocks.

For comparison only. All rivals are called alike (benchmarks/rivals/contextual.py has the private
ones and what is tried for each), so these take an ε and a δ that they do not use.

LinUCB is ours and not MABWiser's: MABWiser's has no intercept and does not centre rewards, and it
decides row by row. Ours has the rows, the bonus and the blocks of `PrivateLinUCB`, so that the two
differ by noise.

References  Li, Chu, Langford, Schapire (2010), LinUCB
"""

from collections.abc import Iterator

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.simulate.problems.contexts import World


class Uniform:
    """Policy that plays every arm with equal probability and reads nothing: perfectly private."""

    rounds_until_change = 10**9

    def __init__(
        self, world: World, horizon: int, epsilon: float, delta: float, *, seed: int = 0
    ) -> None:
        self._arms = world.arms
        self._generator = np.random.default_rng([seed, 5])

    def decide(self, contexts: Floats) -> Integers:
        """Return random arms."""
        return self._generator.integers(self._arms, size=len(contexts))

    def learn(self, contexts: Floats, arms: Integers, rewards: Floats) -> None:
        """Ignore the rewards."""


class InBlocks:
    """Base class of rivals that play a first block uniformly and fit after every block."""

    def __init__(self, world: World, ends: Iterator[int], seed: int) -> None:
        self.arms = world.arms
        self.generator = np.random.default_rng([seed, 5])
        self.clock = 0
        self._ends = ends
        self._begin, self._end = 0, next(ends)

    @property
    def rounds_until_change(self) -> int:
        """Rounds up to the end of the block."""
        return self._end - self.clock

    @property
    def block(self) -> range:
        """The rounds of this block."""
        return range(self._begin, self._end)

    def decide(self, contexts: Floats) -> Integers:
        """Return random arms in the first block, and then the best arms."""
        if self._begin == 0:
            return self.generator.integers(self.arms, size=len(contexts))
        return np.asarray(self.scores(contexts).argmax(axis=1), dtype=np.int64)

    def learn(self, contexts: Floats, arms: Integers, rewards: Floats) -> None:
        """Gather the rewards, and fit at the end of a block."""
        self.gather(contexts, arms, rewards)
        self.clock += len(arms)
        if self.clock == self._end:
            self.fit()
            self._begin, self._end = self._end, next(self._ends)

    def scores(self, contexts: Floats) -> Floats:
        """Return the score of each arm for each context."""
        raise NotImplementedError

    def gather(self, contexts: Floats, arms: Integers, rewards: Floats) -> None:
        """Add the rewards of these people."""
        raise NotImplementedError

    def fit(self) -> None:
        """Compute the estimates that decide from now on."""
        raise NotImplementedError


def growing(first: int, growth: float) -> Iterator[int]:
    """Return the ends of blocks, each longer than the one before by a factor.

    >>> ends = growing(10, 2.0)
    >>> [next(ends) for _ in range(4)]
    [10, 30, 70, 150]
    """
    end, length = 0, float(max(1, first))
    while True:
        end += max(1, int(length))
        length *= growth
        yield end


class LinUCB(InBlocks):
    """Ridge regression per arm, with a bonus for uncertainty; not private.

    Refitted in slowly growing blocks. The bonus is `width` standard deviations for rewards of
    deviation 1.
    """

    def __init__(
        self,
        world: World,
        horizon: int,
        epsilon: float,
        delta: float,
        *,
        width: float = 0.5,
        ridge: float = 1.0,
        first: int = 2,
        growth: float = 1.1,
        seed: int = 0,
    ) -> None:
        super().__init__(world, growing(first * world.arms, growth), seed)
        self.width = width
        self._grams = np.tile(ridge * np.eye(world.features + 1), (world.arms, 1, 1))
        self._moments = np.zeros((world.arms, world.features + 1))

    def gather(self, contexts: Floats, arms: Integers, rewards: Floats) -> None:
        """Add Gram matrices and moments of centred rewards."""
        rows = _with_one(contexts)
        for arm in range(self.arms):
            mine = rows[arms == arm]
            self._grams[arm] += mine.T @ mine
            self._moments[arm] += mine.T @ (rewards[arms == arm] - 0.5)

    def fit(self) -> None:
        """Solve for the coefficients."""
        self.inverses: Floats = np.asarray(np.linalg.inv(self._grams), dtype=np.float64)
        self.coefficients: Floats = np.einsum("kij,kj->ki", self.inverses, self._moments)

    def scores(self, contexts: Floats) -> Floats:
        """Return the estimate plus the bonus."""
        rows = _with_one(contexts)
        estimates: Floats = rows @ self.coefficients.T
        return estimates + self.width * deviations(rows, self.inverses)


def _with_one(contexts: Floats) -> Floats:
    """Return contexts with a first feature that is always 1."""
    return np.concatenate([np.ones((len(contexts), 1)), contexts], axis=1)


def deviations(rows: Floats, inverses: Floats) -> Floats:
    """Return √(x·G⁻¹·x) of every row and arm."""
    squares = [np.einsum("ij,ij->i", rows @ inverse, rows) for inverse in inverses]
    return np.asarray(np.sqrt(np.maximum(np.stack(squares, axis=1), 0.0)), dtype=np.float64)
