"""Moments for a ridge regression per arm: contexts times themselves and times rewards.

A person's context z is scaled to a length of at most 1, and the reward u, in [−1, 1], with it. The
person contributes to the slot of the arm played

    (pack(zzᵀ)/√2, u·z)

Two people of the same arm differ by at most 2, as much as the moments u·z alone: the second moments
add nothing. Two people of different arms differ by at most √3, in two slots. The arm is personal
data, because it follows from the context.

Guarantee   docs/guarantees/aggregators.md, Lemma 9
Runtime     O(d²) per person, one compiled pass
"""

from dataclasses import dataclass
from math import isqrt, sqrt

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.errors import ConfigError
from discreet.release.aggregators.base import Aggregate, as_shape, check_levels, products
from discreet.release.aggregators.gram import unpacked
from discreet.release.aggregators.rounded import Rounded


@dataclass(frozen=True)
class Moments(Rounded):
    """Sums of second moments of contexts, and of contexts times rewards, in one slot per person.

    Parameters
    ----------
    shape
        (slots, packed second moments and moments together); `Moments.of` computes it.
    levels
        The number of integer steps up to 1.

    Examples
    --------
    >>> moments = Moments.of(slots=2, size=2, levels=10**6)
    >>> people = moments.empty()
    >>> contexts = np.array([[0.6, 0.8], [0.0, 0.5]])
    >>> moments.add(people, contexts, rewards=np.array([1.0, -1.0]), slots=np.array([1, 1]))
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
            raise ConfigError(f"shape must be (slots, numbers per slot), got {self.shape}")
        if self.width < 1 or self.width * (self.width + 3) // 2 != self.shape[1]:
            raise ConfigError(
                f"a slot must hold a packed triangle and a vector, got {self.shape}: use Moments.of"
            )
        check_levels(self.levels)

    @classmethod
    def of(cls, slots: int, size: int, levels: int = 1) -> "Moments":
        """Return the aggregator for `slots` arms and contexts of `size` numbers."""
        return cls((slots, size * (size + 3) // 2 if size > 0 else 0), levels)

    @property
    def width(self) -> int:
        """The dimension of the contexts."""
        return (isqrt(8 * self.shape[1] + 9) - 3) // 2

    @property
    def entries(self) -> int:
        return self.shape[1]

    @property
    def cells(self) -> int:
        return min(2, self.shape[0]) * self.entries

    def add(self, aggregate: Aggregate, contexts: Floats, rewards: Floats, slots: Integers) -> None:
        """Scale, multiply, quantise and add one context and reward per person, in the slot given.

        Slot −1 adds nothing, and neither does a context or reward that is not finite.
        """
        people = len(rewards)
        if not len(contexts) == people == len(slots):
            raise ConfigError("every person must have one context, one reward and one slot")
        contexts = np.ascontiguousarray(contexts, dtype=np.float64).reshape(people, self.width)
        rewards = np.ascontiguousarray(rewards, dtype=np.float64)
        slots = np.ascontiguousarray(slots, dtype=np.int64)
        unit = self.unit
        aggregate.additions += 1
        products.add_moments(contexts, rewards, slots, unit, aggregate.values)

    def parted(self, totals: Floats) -> tuple[Floats, Floats]:
        """Split totals into a matrix of second moments and a vector of moments per slot."""
        packed = self.shape[1] - self.width
        return unpacked(totals[:, :packed] * sqrt(2)), totals[:, packed:]
