"""I.i.d. streams: sets chosen greedily from the block before, in doubling blocks.

Each block's set is drawn from the PREVIOUS block's people alone by a sampled path
(discreet/learners/disjoint_paths.py), among the items that the domain still allows: quotas of any
matroid, or what fits a budget. Under a budget cheaper items count more: by their gain for the cost
where the noise is small, and while it is large, only against those that are dearer than the lower
quartile.

Value assumes that people are alike over time; privacy does not, and it is pure.

Guarantee   docs/guarantees/continuous.md, Theorem 3
Runtime     O(rank · n) a held person and release; memory for 20,000 rows of two-byte numbers, 64 MB at most
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from discreet.arrays import Floats
from discreet.engine.coins import Coins
from discreet.engine.flat_state import of_flat
from discreet.engine.plan import Plan, State
from discreet.engine.request import Block
from discreet.errors import ConfigError
from discreet.learners.continuous_maximizer.mode import (
    Family,
    People,
    PointMode,
    PointView,
    built_in_family,
)
from discreet.learners.continuous_maximizer.settings import ContinuousMaximizerSettings
from discreet.learners.disjoint_paths import DisjointPaths
from discreet.optim.constraints import Priced, indicator
from discreet.release.aggregators import Aggregator
from discreet.release.door import Door


@dataclass(frozen=True)
class Tuning:
    """The tuned constant of this mode; no record says what chose it."""

    fine: float = 0.03
    """Share of noise below which knapsacks are filled by density."""


TUNED = Tuning()


@dataclass(frozen=True, eq=False)
class Public:
    """All that releases have produced."""

    point: Floats
    """The set of this block, as zeros and ones."""


class DisjointView(PointView[Public]):
    """A block whose first people are held, for the set of the next block."""

    problem: "DisjointSets"

    def aggregators(self) -> dict[str, Aggregator]:
        return self.problem.disjoint.aggregators(self.index)

    def gather(self, block: Block, answers: People) -> None:
        self.problem.disjoint.add(block, answers.rounds - self.begin, answers.rows)

    def release(
        self, mask_counts: State, hidden: State, block: Block, door: Door
    ) -> tuple[Public, State]:
        domain = self.settings.domain
        prices = self.problem.prices(self.index)
        chosen = self.problem.disjoint.draw(block, door, domain.extensions, prices)
        return Public(indicator(chosen, domain.items)), {}


class DisjointSets(PointMode):
    """Sets from whole worths of people who are alike over time, under any constraint."""

    @classmethod
    def serves(cls, settings: ContinuousMaximizerSettings) -> bool:
        return settings.stream == "iid"

    def check(self) -> None:
        self._family()
        if self.settings.play != "set" or self.settings.bound != "auto":
            raise ConfigError(
                "stream='iid' chooses sets and has no bound: leave out play and bound"
            )

    def _family(self) -> Family:
        """Return what sets are worth to a person; functions that do not say it are refused."""
        found = built_in_family(self.settings.function)
        if found is None:
            raise ConfigError(
                "stream='iid' chooses sets by what they are worth: use Multilinear of a built-in "
                "family, "
                "or stream='drifting'"
            )
        return found

    @cached_property
    def disjoint(self) -> DisjointPaths:
        """Blocks, and how the set of each release is drawn."""
        settings, domain = self.settings, self.settings.domain
        return DisjointPaths(
            settings.privacy,
            settings.rounds,
            candidates=domain.items,
            steps=max(1, domain.rank),
            family=self._family(),
            block=settings.block,
        )

    @cached_property
    def plan(self) -> Plan:
        return self.disjoint.plan(
            "people are alike over time", {"noise_in_people": self.disjoint.noise}
        )

    def start(self) -> tuple[Public, State]:
        chosen = self.settings.domain.best(self.first_point())
        return Public(indicator(chosen, self.settings.domain.items)), {}

    def view(self, public: State, index: int, begin: int, coins: Coins) -> DisjointView:
        return DisjointView(self, of_flat(Public, public), index, begin, coins)

    def prices(self, index: int) -> Floats:
        """Return how much an item's gain counts: a public function of how many people are held."""
        domain, people = self.settings.domain, self.disjoint.held(index)
        if not isinstance(domain, Priced):
            return np.ones(domain.items)
        error = self.disjoint.paths[index].error(people, domain.items)
        return domain.factors("density" if error < TUNED.fine * people else "quartile")
