"""A harder world for learners of least-cost sets: costs that are not quadratic.

share = (naive − cost) / (naive − best fixed set)        as in simulate/problems/costs.py
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from discreet.arrays import Floats, Integers


@dataclass(frozen=True)
class ConcaveWorld:
    """World of costs that are not quadratic: needs add up to a limit, and items have values."""

    needs: Floats
    brings: Floats
    limits: Floats

    @classmethod
    def drawn(cls, visitors: int, *, items: int, seed: int) -> "ConcaveWorld":
        """Draw groups of items, and visitors who need items of two groups and know ten items."""
        generator = np.random.default_rng([seed, 9])
        groups = np.arange(items) % max(2, items // 4)
        liking = generator.normal(0.5, 1.0, groups.max() + 1)[groups] + generator.normal(
            0, 0.5, items
        )
        aware = generator.random((visitors, items)) < min(1, 10 / items)
        mine = generator.integers(groups.max() + 1, size=(visitors, 2))
        needed = (groups == mine[:, :1]) | (groups == mine[:, 1:])
        needs = aware * needed * generator.random((visitors, items))
        brings = (liking + generator.normal(0, 0.7, (visitors, items))) * aware / 6
        gained, lost = np.maximum(brings, 0).sum(axis=1), np.maximum(-brings, 0).sum(axis=1)
        size = np.maximum(np.maximum(gained, 0.5 + lost), 1.0)
        return cls(needs, brings / size[:, None], 0.5 / size)

    @property
    def visitors(self) -> int:
        return len(self.needs)

    @property
    def items(self) -> int:
        return int(self.needs.shape[1])

    def met(self, piece: range, releases: int) -> Integers:
        """Return a piece of visitors; they do not depend on the learner's releases."""
        return np.arange(piece.start, piece.stop)

    def costs(self, rows: Integers, chosen: np.ndarray) -> Floats:
        """Return the costs of sets, one per row or one for all, to these visitors."""
        part = slice(int(rows[0]), int(rows[-1]) + 1)
        needed = np.minimum(1, 2 * (self.needs[part] * chosen).sum(axis=1))
        return np.asarray(self.limits[part] * needed - (self.brings[part] * chosen).sum(axis=1))

    def cost_of(self, chosen: np.ndarray) -> float:
        """Return the cost of a fixed set to all visitors."""
        return float(self.costs(np.arange(self.visitors), chosen).sum())

    @cached_property
    def naive(self) -> float:
        """Least cost of nothing, everything and random sets."""
        half = np.random.default_rng(0).random(self.needs.shape) < 0.5
        random = float(self.costs(np.arange(self.visitors), half).sum())
        return min(0.0, self.cost_of(np.ones(self.items)), random)

    @cached_property
    def best(self) -> float:
        """Least cost of eight local searches that change one item at a time, on some visitors."""
        step = max(1, self.visitors // 20_000)
        some = ConcaveWorld(self.needs[::step], self.brings[::step], self.limits[::step])
        generator, found = np.random.default_rng(1), []
        for start in range(8):
            chosen = generator.random(self.items) < start / 8
            cost = some.cost_of(chosen)
            while True:
                near = [some.cost_of(chosen ^ item) for item in np.eye(self.items, dtype=np.bool_)]
                if min(near) >= cost:
                    break
                cost, change = min(near), int(np.argmin(near))
                chosen = chosen ^ np.eye(self.items, dtype=np.bool_)[change]
            found.append((cost, chosen.tolist()))
        return self.cost_of(np.array(min(found)[1]))

    @cached_property
    def gain(self) -> float:
        """Saving of the best fixed set over the best of nothing, everything and random sets."""
        return self.naive - self.best
