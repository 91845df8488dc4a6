"""Worlds of people with contexts and of their rewards, for problems/contextual.py."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.errors import ConfigError

Link = Literal["identity", "logistic"]
Rewards = Literal["bernoulli", "gaussian"]

SPREAD = 0.1
"""Standard deviation of Gaussian rewards."""


class People(NamedTuple):
    """Contexts, one row per person, and the expected reward of every arm for each."""

    contexts: Floats
    means: Floats


@dataclass(frozen=True, eq=False)
class World(ABC):
    """Base class of worlds of people with contexts, with rewards between 0 and 1.

    A policy may know the numbers of features and arms, that no feature exceeds `context_bound`
    and, if `context_length` is not None, that no context is longer.
    """

    features: int
    arms: int
    context_bound: float
    context_length: float | None

    @abstractmethod
    def sample(self, count: int, generator: np.random.Generator) -> People:
        """Draw new people."""

    def rewards(self, means: Floats, arms: Integers, generator: np.random.Generator) -> Floats:
        """Draw the rewards of the played arms, 1 or 0."""
        return (generator.random(len(arms)) < means_of(means, arms)).astype(np.float64)


@dataclass(frozen=True, eq=False)
class LinearWorld(World):
    """World with linear means of arms: clip(½ + o + xθ, 0, 1), or σ(o + xθ) (logistic link)."""

    coefficients: Floats
    """θ, one row per arm."""
    offsets: Floats
    """o, one number per arm."""
    link: Link
    reward: Rewards

    @abstractmethod
    def contexts(self, count: int, generator: np.random.Generator) -> Floats:
        """Draw new contexts, one row per person."""

    @property
    def centre(self) -> Floats:
        """The mean context; an arm's mean is linear in the difference from it."""
        return np.zeros(self.features)

    def means(self, contexts: Floats) -> Floats:
        """Return the expected reward of every arm for each context."""
        margins = (contexts - self.centre) @ self.coefficients.T + self.offsets
        if self.link == "logistic":
            return np.asarray(1 / (1 + np.exp(-margins)), dtype=np.float64)
        return np.clip(0.5 + margins, 0.0, 1.0)

    def sample(self, count: int, generator: np.random.Generator) -> People:
        """Draw new people."""
        contexts = self.contexts(count, generator)
        return People(contexts, self.means(contexts))

    def rewards(self, means: Floats, arms: Integers, generator: np.random.Generator) -> Floats:
        """Draw rewards of 1 or 0, or the mean plus Gaussian noise, clipped to [0, 1]."""
        if self.reward == "bernoulli":
            return super().rewards(means, arms, generator)
        played = means_of(means, arms)
        return np.clip(played + generator.normal(0, SPREAD, size=len(played)), 0.0, 1.0)


@dataclass(frozen=True, eq=False)
class SparseWorld(LinearWorld):
    """World with many features, of which a few matter to each arm; no feature exceeds 1.

    Contexts are uniform on [−1, 1]^d. With `correlation` c, a feature is (1 − c) times its own
    value plus c times that of its neighbour. With `chances`, features are ±1 instead, +1 with these
    probabilities.
    """

    correlation: float = 0.0
    chances: Floats | None = None

    @classmethod
    def drawn(
        cls,
        features: int,
        *,
        arms: int = 3,
        relevant: int = 5,
        reward: Rewards = "gaussian",
        link: Link = "identity",
        skewed: bool = False,
        correlation: float = 0.0,
        seed: int = 0,
    ) -> "SparseWorld":
        """Draw coefficients ±U(.5, 1.5) of random features, scaled to Σ|θ| = ½ (logistic: 4).

        Features of a skewed world are +1 with probabilities drawn from U(.05, .3).

        >>> world = SparseWorld.drawn(100, seed=1)
        >>> contexts, means = world.sample(1000, np.random.default_rng(0))
        >>> contexts.shape, means.shape, (world.coefficients != 0).sum(axis=1)
        ((1000, 100), (1000, 3), array([5, 5, 5]))
        """
        if not 1 <= relevant <= features:
            raise ConfigError(
                f"relevant must be between 1 and the {features} features, got {relevant!r}"
            )
        generator = np.random.default_rng(seed)
        strength = 0.5 if link == "identity" else 4.0
        coefficients = np.zeros((arms, features))
        for arm in range(arms):
            chosen = generator.choice(features, relevant, replace=False)
            values = generator.uniform(0.5, 1.5, relevant) * generator.choice([-1.0, 1.0], relevant)
            coefficients[arm, chosen] = values / np.abs(values).sum() * strength
        offsets = generator.normal(0, 0.03 if link == "identity" else 0.12, arms)
        chances = generator.uniform(0.05, 0.3, features) if skewed else None
        return cls(
            features=features,
            arms=arms,
            context_bound=1.0,
            context_length=None,
            coefficients=coefficients,
            offsets=offsets,
            link=link,
            reward=reward,
            correlation=correlation,
            chances=chances,
        )

    @property
    def centre(self) -> Floats:
        """Zero, or the mean 2p − 1 of skewed features."""
        return np.zeros(self.features) if self.chances is None else 2 * self.chances - 1

    def contexts(self, count: int, generator: np.random.Generator) -> Floats:
        """Draw new contexts, one row per person."""
        if self.chances is not None:
            return np.where(generator.random((count, self.features)) < self.chances, 1.0, -1.0)
        own = generator.uniform(-1, 1, size=(count, self.features))
        if self.correlation == 0:
            return own
        return (1 - self.correlation) * own + self.correlation * np.roll(own, 1, axis=1)


@dataclass(frozen=True, eq=False)
class DenseWorld(LinearWorld):
    """World with few features, all of which matter; contexts are uniform on the unit sphere."""

    @classmethod
    def drawn(
        cls,
        features: int,
        arms: int,
        *,
        reward: Rewards = "bernoulli",
        link: Link = "identity",
        seed: int = 0,
    ) -> "DenseWorld":
        """Draw coefficients in a random direction, of length .15√d (logistic link: 1.2√d).

        >>> world = DenseWorld.drawn(10, 5, seed=1)
        >>> [round(float(length), 3) for length in np.linalg.norm(world.coefficients, axis=1)]
        [0.474, 0.474, 0.474, 0.474, 0.474]
        """
        generator = np.random.default_rng(seed)
        length, spread = (0.15, 0.05) if link == "identity" else (1.2, 0.25)
        coefficients = generator.standard_normal((arms, features))
        lengths = np.linalg.norm(coefficients, axis=1, keepdims=True)
        return cls(
            features=features,
            arms=arms,
            context_bound=1.0,
            context_length=1.0,
            coefficients=coefficients * (length * np.sqrt(features) / lengths),
            offsets=generator.normal(0, spread, arms),
            link=link,
            reward=reward,
        )

    def contexts(self, count: int, generator: np.random.Generator) -> Floats:
        """Draw new contexts, one row per person."""
        drawn = generator.standard_normal((count, self.features))
        return np.asarray(drawn / np.linalg.norm(drawn, axis=1, keepdims=True), dtype=np.float64)


@dataclass(frozen=True, eq=False)
class TableWorld(World):
    """World of labelled rows, drawn with replacement: an arm's reward is 1 for the row's label."""

    rows: Floats
    labels: Integers

    @classmethod
    def of(cls, rows: Floats, labels: Integers, *, context_bound: float) -> "TableWorld":
        """Make one arm per label 0, 1, 2, …; `context_bound` must not be computed from the rows.

        >>> TableWorld.of(np.eye(3), np.array([0, 1, 1]), context_bound=1.0).arms
        2
        """
        if len(rows) != len(labels) or len(rows) == 0:
            raise ConfigError(
                f"a table needs one label per row, got {len(rows)} rows, {len(labels)} labels"
            )
        return cls(
            features=rows.shape[1],
            arms=int(labels.max()) + 1,
            context_bound=context_bound,
            context_length=None,
            rows=np.clip(rows, -context_bound, context_bound),
            labels=labels,
        )

    def sample(self, count: int, generator: np.random.Generator) -> People:
        """Draw rows of the table, with replacement."""
        chosen = generator.integers(len(self.rows), size=count)
        means = np.zeros((count, self.arms))
        means[np.arange(count), self.labels[chosen]] = 1.0
        return People(self.rows[chosen], means)


def digits() -> TableWorld:
    """Return handwritten digits: 64 grey values, divided by 16, 10 arms. Needs scikit-learn."""
    from sklearn.datasets import load_digits

    table = load_digits()
    return TableWorld.of(table.data / 16.0, table.target.astype(np.int64), context_bound=1.0)


def wine() -> TableWorld:
    """Return wines of three growers: 13 measurements, three arms. Needs scikit-learn."""
    from sklearn.datasets import load_wine

    table = load_wine()
    return TableWorld.of(_scaled(table.data), table.target.astype(np.int64), context_bound=1.0)


def breast_cancer() -> TableWorld:
    """Return benign and malignant tumours: 30 measurements, two arms. Needs scikit-learn."""
    from sklearn.datasets import load_breast_cancer

    table = load_breast_cancer()
    return TableWorld.of(_scaled(table.data), table.target.astype(np.int64), context_bound=1.0)


def _scaled(rows: Floats) -> Floats:
    """Scale every feature to [0, 1]; the table's ranges stand for publicly known ranges."""
    low, high = rows.min(axis=0), rows.max(axis=0)
    return np.asarray((rows - low) / (high - low), dtype=np.float64)


def means_of(means: Floats, arms: Integers) -> Floats:
    """Return the expected rewards of the played arms, one per person."""
    return np.asarray(means[np.arange(len(arms)), arms], dtype=np.float64)
