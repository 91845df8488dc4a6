"""Running sums over disjoint blocks: each block gets its own noise, and prefixes add them up.

Each person enters one release, so every release spends the whole budget, in the measure that needs
less noise. The noise of a prefix grows with the number of releases; for few of them it is the least
of all mechanisms (up to some fifty, where a person moves one public number).

Guarantee   docs/guarantees/sums.md, Theorem 5; docs/guarantees/returning.md, Theorem 2
Runtime     one noise vector per step; state O(d)
References  Dwork, Naor, Pitassi, Rothblum (2010), the simple mechanisms
            McSherry (2009), parallel composition
"""

from dataclasses import dataclass

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.budget.privacy import Charge, Privacy
from discreet.limits import MOST_ROUNDS
from discreet.release.aggregators.base import Aggregator
from discreet.release.noise import CalibratedNoise
from discreet.release.sums.prefix_sum import Noised, State, Stream


@dataclass(frozen=True)
class DisjointSum:
    """A calibrated sum over disjoint blocks: one noise vector per block.

    Guarantee   docs/guarantees/sums.md, Theorem 5
    """

    calibrated: CalibratedNoise[Aggregator]

    name = "disjoint"
    has_cohorts = True

    @classmethod
    def calibrate(cls, privacy: Privacy, stream: Stream, share: float = 1.0) -> "DisjointSum":
        """Return the sum with the least noise per block.

        The noise depends on the number of blocks only if rounds name their person
        (`Privacy.keyed`).
        """
        blocks = MOST_ROUNDS if stream.goes_on else stream.releases
        return cls(
            CalibratedNoise.calibrate(privacy, stream.aggregator, stream.room, share, blocks=blocks)
        )

    @property
    def aggregator(self) -> Aggregator:
        return self.calibrated.aggregator

    def spent(self, releases: int) -> Charge:
        """Price of one release, because nobody is in two blocks."""
        return self.calibrated.charge * (releases > 0)

    def charge(self, index: int) -> Charge:
        """Price of one release, for the people of its block."""
        return self.calibrated.charge

    def variance(self, releases: int) -> float:
        return releases * self.calibrated.noise.variance

    def step_variance(self, releases: int) -> float:
        return self.calibrated.noise.variance

    def covariance(self, releases: Integers) -> Floats:
        shared = np.minimum.outer(releases, releases)
        return np.asarray(shared * self.calibrated.noise.variance, dtype=np.float64)

    def start(self) -> tuple[State, State]:
        return {"prefix": np.zeros(self.aggregator.size)}, {"steps": 0}

    def step(
        self, public: State, hidden: State, addend: Integers, noised: Noised
    ) -> tuple[State, State]:
        released = noised(self.calibrated.noise, addend)
        return {"prefix": public["prefix"] + released}, {"steps": hidden["steps"] + 1}
