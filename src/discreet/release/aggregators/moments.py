"""A context and a reward, in the slot of the arm that was played: all that a ridge regression
needs.

A person's context z is scaled to a length of at most 1 (and the reward u, in [−1, 1], with it), and
in the slot of their arm is entered

    (pack(zzᵀ)/√2, u·z)

Two people of the same arm differ by at most 2, as far as the moments u·z alone: the second moments
cost nothing. People of two arms move two slots, and only √3. The arm is the person's data, as it
follows from their context.

Guarantee   docs/guarantees/aggregators.md, Lemma 9
Runtime     O(d²) a person, one compiled pass
"""

from dataclasses import dataclass
from math import isqrt, sqrt

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.errors import ConfigError
from discreet.release.aggregators.base import Aggregate, as_shape, check_levels, passes
from discreet.release.aggregators.gram import unpacked
from discreet.release.aggregators.rounded import Rounded


@dataclass(frozen=True)
class Moments(Rounded):
    """Second moments of contexts, and contexts times rewards, in one slot a person.

    `shape` is (slots, packed second moments and moments together).

    >>> moments = Moments.of(slots=2, size=2, levels=10**6)
    >>> people = moments.empty()
    >>> moments.add(people, np.array([[0.6, 0.8], [0.0, 0.5]]), np.array([1.0, -1.0]), np.array([1, 1]))
    >>> gram, moment = moments.parted(people.values * moments.grid)
    >>> gram[1].round(3), moment.round(3)
    (array([[0.36, 0.48],
           [0.48, 0.89]]), array([[0. , 0. ],
           [0.6, 0.3]]))
    """

    shape: tuple[int, ...]
    levels: int = 1

    distance = 2.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "shape", as_shape(self.shape))
        if len(self.shape) != 2 or min(self.shape) < 1:
            raise ConfigError(f"moments have slots and numbers in a slot, got {self.shape}")
        if self.width < 1 or self.width * (self.width + 3) // 2 != self.shape[1]:
            raise ConfigError(
                f"moments are a packed triangle and a vector in each slot, got {self.shape}"
            )
        check_levels(self.levels)

    @classmethod
    def of(cls, slots: int, size: int, levels: int = 1) -> "Moments":
        """For so many arms and contexts of so many numbers."""
        return cls((slots, size * (size + 3) // 2 if size > 0 else 0), levels)

    @property
    def width(self) -> int:
        """How many numbers a context has."""
        return (isqrt(8 * self.shape[1] + 9) - 3) // 2

    @property
    def entries(self) -> int:
        return self.shape[1]

    @property
    def cells(self) -> int:
        return min(2, self.shape[0]) * self.entries

    def add(self, aggregate: Aggregate, contexts: Floats, rewards: Floats, slots: Integers) -> None:
        """Scale, multiply, quantise and add one context and reward a person, in their slot (−1
        for none).
        """
        if not len(contexts) == len(rewards) == len(slots):
            raise ConfigError("a person has one context, one reward and one slot")
        contexts = np.ascontiguousarray(contexts, dtype=np.float64).reshape(
            len(rewards), self.width
        )
        rewards = np.ascontiguousarray(rewards, dtype=np.float64)
        slots = np.ascontiguousarray(slots, dtype=np.int64)
        unit = self.unit
        aggregate.additions += 1
        passes.add_moments(contexts, rewards, slots, unit, aggregate.values)

    def parted(self, totals: Floats) -> tuple[Floats, Floats]:
        """Totals as a matrix of second moments and a vector of moments for each slot."""
        packed = self.shape[1] - self.width
        return unpacked(totals[:, :packed] * sqrt(2)), totals[:, packed:]
