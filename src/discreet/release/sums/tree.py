"""Running sums over a tree of noisy partial sums.

The leaves of a binary tree hold the vectors. A node is noised once, when its last leaf arrives;
prefix t is the sum of the nodes named by the 1-bits of t. A leaf lies in at most N.bit_length()
released nodes, which share the budget. At t = 2^h the root itself is a noisy node, so the total
always carries noise; an unfinished node is never released.

Right children are noised too, and each node is averaged with the sum of its two children, with the
optimal weights (Honaker's estimate): the node of height h then has variance σ²/(2 − 2^−h), at the
price of the plain tree.

Guarantee   docs/guarantees/sums.md, Theorem 2
Runtime     two noise vectors per step on average, log₂ N + 1 at most; state O(d · log N)
References  Chan, Shi, Song (2011); Dwork, Naor, Pitassi, Rothblum (2010); Honaker (2015)
"""

from dataclasses import dataclass

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.budget.privacy import Charge
from discreet.release.aggregators.base import Aggregator
from discreet.release.noise import Noise, noise_for
from discreet.release.sums.prefix_sum import Noised, State, Stream


@dataclass(frozen=True)
class TreeSum:
    """A calibrated tree: each node is noised when its last leaf arrives; prefixes add nodes up.

    Guarantee   docs/guarantees/sums.md, Theorem 2
    """

    aggregator: Aggregator
    noise: Noise
    height: int
    """The largest number of nodes at a time, one per height."""

    name = "honaker"
    has_cohorts = False

    @classmethod
    def calibrate(cls, budget: Charge, stream: Stream) -> "TreeSum":
        """Return the tree with σ = s₂·√(height/2ρ) (zCDP) or scale = s₁·height/ε (pure).

        A leaf lies in at most height = N.bit_length() nodes.
        """
        height = stream.releases.bit_length()
        levels, noise = noise_for(budget / height, stream.aggregator, stream.room)
        return cls(stream.aggregator.on_grid(levels), noise, height)

    @property
    def _node(self) -> Charge:
        """Price of one node."""
        return self.noise.charge(self.aggregator.sensitivity(self.noise.norm))

    def spent(self, releases: int) -> Charge:
        """Price of the nodes of the first person, which end at 1, 2, 4, …; nobody is in more."""
        return self._node * releases.bit_length()

    def charge(self, index: int) -> Charge:
        """Price of one node at releases 1, 2, 4, …, and 0 at all others."""
        is_power_of_two = index & (index + 1) == 0
        return self._node * is_power_of_two

    def variance(self, releases: int) -> float:
        """σ² · Σ 1/(2 − 2^−h) over the heights h of the nodes in the prefix."""
        heights = [height for height in range(releases.bit_length()) if releases >> height & 1]
        return self.noise.variance * sum(1 / (2 - 2.0**-height) for height in heights)

    def step_variance(self, releases: int) -> float:
        """Bound σ² · (number of nodes that end at this release).

        One node is added and its descendants are removed; averaging a node with its children
        correlates them, which lowers the variance of the difference.
        """
        return self.noise.variance * (releases & -releases).bit_length()

    def covariance(self, releases: Integers) -> Floats:
        counts = releases.tolist()
        shared = [[_shared(min(one, other), max(one, other)) for other in counts] for one in counts]
        return self.noise.variance * np.array(shared).reshape(len(counts), len(counts))

    def start(self) -> tuple[State, State]:
        nodes = np.zeros((self.height, self.aggregator.size))
        return {"prefix": nodes[0], "nodes": nodes}, {"steps": 0, "nodes": nodes.astype(np.int64)}

    def step(
        self, public: State, hidden: State, addend: Integers, noised: Noised
    ) -> tuple[State, State]:
        count = hidden["steps"] + 1
        height = (count & -count).bit_length() - 1
        estimates = public["nodes"].copy()
        sums = hidden["nodes"].copy()
        exact = addend
        estimate = noised(self.noise, exact).astype(np.float64)
        for level in range(height):
            exact = exact + sums[level]
            own = 1 / (2 - 2.0 ** -(level + 1))
            estimate = own * noised(self.noise, exact) + (1 - own) * (estimate + estimates[level])
        estimates[:height] = 0  # the new node includes these
        sums[:height] = 0
        estimates[height] = estimate
        sums[height] = exact
        above = [level for level in range(height + 1, count.bit_length()) if count >> level & 1]
        prefix = sum(estimates[level] for level in [*above, height])
        return {"prefix": prefix, "nodes": estimates}, {"steps": count, "nodes": sums}


def _shared(count: int, later: int) -> float:
    """The covariance of two prefixes, per unit variance of a node's own noise.

    Both prefixes contain the nodes above the first bit in which their numbers differ. All other
    nodes of the earlier prefix lie below one node of the later prefix, which is averaged with its
    children, and they with theirs.
    """
    # 1 + the height of that node; 0 if the prefixes are the same.
    apart = (count ^ later).bit_length()
    shared = 0.0
    for height in range(count.bit_length()):
        if count >> height & 1:
            below = range(height + 1, apart)
            left = np.prod([1 - 1 / (2 - 2.0**-level) for level in below])
            shared += float(left) / (2 - 2.0**-height)
    return shared
