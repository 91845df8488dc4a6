"""I.i.d. streams: greedy sets from disjoint, doubling blocks.

Blocks double. The set of a block is drawn from the people of the *previous* block alone, along a
sampled path (discreet/learners/disjoint_paths.py), among the items that the domain still allows:
the quotas of a matroid, or the budget of a knapsack. Under a budget, gains are multiplied by a
factor that falls with the cost: the gain per cost if the noise is small; otherwise only items
dearer than the lower quartile are discounted.

Value assumes that people are alike over time; privacy does not, and it is pure.

Guarantee   docs/guarantees/continuous.md, Theorem 3
Runtime     O(rank · n) per held person and release; memory for 20,000 rows of two-byte numbers, at
            most 64 MB
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from discreet.arrays import Floats
from discreet.engine.phases import Scheduled
from discreet.engine.request import Block
from discreet.engine.statistics import Released
from discreet.errors import ConfigError
from discreet.learners.continuous_maximizer.mode import (
    Family,
    People,
    PointMode,
    PointPhase,
    built_in_family,
)
from discreet.learners.disjoint_paths import DisjointPaths
from discreet.optim.constraints import Priced, indicator


@dataclass(frozen=True)
class Tuning:
    """The tuned constant of this mode; no record says what chose it."""

    fine: float = 0.03
    """Noise per person below which knapsacks are filled by gain per cost."""


TUNED = Tuning()


@dataclass(frozen=True, eq=False)
class Public:
    """Everything that releases have produced."""

    point: Floats
    """Indicator of the set of this block."""


class DisjointPhase(PointPhase[Public]):
    """A block whose first people are held: the set of the next block is drawn from them."""

    mode: "DisjointSets"

    def gather(self, block: Block, answers: People) -> None:
        people = self.mode.disjoint
        people.aggregator.add(people.of(block), answers.rounds - self.at.begin, answers.rows)

    def update(self, released: Released) -> Public:
        domain = self.settings.domain
        prices = self.mode.prices(self.at.index)
        paths = self.mode.disjoint
        chosen = paths.drawn(self.at.number, released[paths], domain.extensions, prices)
        return Public(indicator(chosen, domain.items))


class DisjointSets(PointMode):
    """Greedy sets from the previous block, under any constraint; for i.i.d. streams."""

    def check(self) -> None:
        self._family()
        if self.settings.play != "set" or self.settings.bound != "auto":
            raise ConfigError(
                "stream='iid' chooses sets and has no bound: leave out play and bound"
            )

    def _family(self) -> Family:
        """Return the family of set functions of people's rows; other functions are refused."""
        family = built_in_family(self.settings.function)
        if family is None:
            raise ConfigError(
                "stream='iid' chooses sets by their value: use Multilinear of a built-in family, "
                "or stream='drifting'"
            )
        return family

    @cached_property
    def disjoint(self) -> DisjointPaths:
        """The doubling blocks, and the sampled path of each release."""
        settings = self.settings
        domain = settings.domain
        return DisjointPaths(
            settings.privacy,
            settings.rounds,
            candidates=domain.items,
            steps=max(1, domain.rank),
            family=self._family(),
            block=settings.block,
        )

    @cached_property
    def phases(self) -> Scheduled:
        return Scheduled.one(DisjointPhase, self.disjoint.schedule, self.disjoint)

    @property
    def facts(self) -> dict[str, object]:
        return {
            "method": "disjoint-sets",
            "why": "people are alike over time",
            "block": self.disjoint.schedule.first,
            "noise_in_people": self.disjoint.noise,
            "releases": self.disjoint.schedule.releases,
        }

    @property
    def first(self) -> Public:
        chosen = self.settings.domain.best(self.first_point())
        return Public(indicator(chosen, self.settings.domain.items))

    def prices(self, index: int) -> Floats:
        """Return the factor of each item's gain: a public function of the number of held people."""
        domain = self.settings.domain
        if not isinstance(domain, Priced):
            return np.ones(domain.items)
        people = self.disjoint.held(index)
        error = self.disjoint.paths[index].error(people, domain.items)
        return domain.factors("density" if error < TUNED.fine * people else "quartile")
