"""The incumbent slate: posterior gains around it, greedy completion, and single-slot exchanges."""

from dataclasses import dataclass

import numpy as np

from discreet.arrays import Floats, Integers, Mask
from discreet.learners.set_maximizer.incumbent_search.posterior import Gains, Posterior


@dataclass(frozen=True)
class Incumbent:
    """A slate, and the posterior gains of all items behind the rest of it: one row per slot."""

    slate: Integers
    gains: Gains

    @classmethod
    def of(cls, posterior: Posterior, slate: Integers) -> "Incumbent":
        """Return a slate with the posterior gains around it."""
        rests = [np.delete(slate, slot) for slot in range(len(slate))]
        return cls(slate, posterior.gains(rests))

    @property
    def own(self) -> Floats:
        """Posterior mean gain of each shown item behind the rest of the slate."""
        return np.asarray(self.gains.means[np.arange(len(self.slate)), self.slate])

    @property
    def own_variances(self) -> Floats:
        """Posterior variance of the gain of each shown item behind the rest of the slate."""
        return np.asarray(self.gains.variances[np.arange(len(self.slate)), self.slate])

    @property
    def better(self) -> Floats:
        """Posterior mean gain of each single-slot exchange over the incumbent slate."""
        return np.asarray(self.gains.means - self.own[:, None])


def greedy_slate(posterior: Posterior, prefix: Integers, active: Mask, slots: int) -> Integers:
    """Return the active items of the prefix, filled up greedily by posterior mean gain."""
    slate = prefix[active[prefix]].tolist()
    while len(slate) < slots:
        means: Floats = posterior.gains([slate]).means[0]
        means[~active] = -np.inf
        means[slate] = -np.inf
        slate.append(int(np.argmax(means)))
    return np.array(slate, dtype=np.int64)


def climbed(
    posterior: Posterior, slate: Integers, active: Mask, *, steps: int, caution: float
) -> Integers:
    """Return the slate after at most `steps` exchanges, the best single slot first.

    Each exchange is better by at least `caution` posterior standard deviations.
    """
    incumbent = Incumbent.of(posterior, slate)
    for _ in range(steps):
        deviations = np.sqrt(incumbent.gains.variances + incumbent.own_variances[:, None])
        better = incumbent.better - caution * deviations
        better[:, incumbent.slate] = -1.0
        better[:, ~active] = -1.0
        slot, item = np.unravel_index(int(better.argmax()), better.shape)
        if better[slot, item] <= 0:
            break
        changed = incumbent.slate.copy()
        changed[slot] = item
        incumbent = Incumbent.of(posterior, changed)
    return incumbent.slate
