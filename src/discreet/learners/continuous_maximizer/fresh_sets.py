"""I.i.d. streams: sets chosen greedily from the block before, in doubling blocks.

Each block's set is drawn from the PREVIOUS block's people alone by a sampled path
(discreet/learners/fresh_paths.py), among the items that the domain still allows: quotas of any matroid,
or what fits a budget. Under a budget cheaper items count more: by their gain for the cost where the noise is
small, and while it is large, only against those that are dearer than the lower quartile.

Value assumes that people are alike over time; privacy does not, and it is pure.

Guarantee   docs/guarantees/continuous.md, Theorem 3
Runtime     O(rank · n) a held person and release; memory for 20,000 rows of two-byte numbers, 64 MB at most
"""

from functools import cached_property
from typing import Any

import numpy as np

from discreet.arrays import Floats
from discreet.arrivals.continuous import Multilinear
from discreet.arrivals.sampled_sets import SampledSets
from discreet.decide.constraints import Priced, indicator
from discreet.errors import ConfigError
from discreet.learners.continuous_maximizer.mode import PointMode
from discreet.learners.fresh_paths import FreshPaths
from discreet.release.door import Door
from discreet.release.gathering import Gathering
from discreet.turn.plan import Plan, State
from discreet.turn.questions import Batch, Block

__all__ = ["FreshSets"]

FINE = 0.03
"""Below this share of noise, knapsacks are filled by density."""


class FreshSets(PointMode):
    """Sets from whole worths of people who are alike over time, under any constraint."""

    @classmethod
    def serves(cls, settings: Any) -> bool:
        return bool(settings.stream == "iid")

    def check(self) -> None:
        settings, function = self.settings, self.settings.function
        if not isinstance(function, Multilinear) or isinstance(function.family, SampledSets):
            raise ConfigError(
                "stream='iid' chooses sets by what they are worth: use Multilinear of a built-in family, "
                "or stream='drifting'"
            )
        if settings.play != "set" or settings.bound != "auto":
            raise ConfigError("stream='iid' chooses sets and has no bound: leave out play and bound")

    @cached_property
    def fresh(self) -> FreshPaths:
        """Blocks, and how the set of each release is drawn."""
        settings, domain, function = self.settings, self.settings.domain, self.settings.function
        assert isinstance(function, Multilinear)
        assert not isinstance(function.family, SampledSets)
        return FreshPaths(
            settings.privacy,
            settings.rounds,
            candidates=domain.items,
            steps=max(1, domain.rank),
            family=function.family,
            block=settings.block,
        )

    @cached_property
    def plan(self) -> Plan:
        return self.fresh.plan("people are alike over time", {"noise_in_people": self.fresh.noise})

    def start(self) -> tuple[State, State]:
        chosen = self.settings.domain.best(self.first_point())
        return {"point": indicator(chosen, self.settings.domain.items), "index": 0}, {}

    def gatherings(self, public: State) -> dict[str, Gathering]:
        return self.fresh.gatherings(public["index"])

    def gather(self, public: State, block: Block, batch: Batch) -> None:
        for rounds, rows in self.people(batch):
            self.fresh.add(block, rounds - batch.begin, rows)

    def release(
        self, public: State, tally: State, kept: State, block: Block, door: Door
    ) -> tuple[State, State]:
        domain = self.settings.domain
        chosen = self.fresh.draw(block, door, domain.extensions, self._prices(door.index))
        return {"point": indicator(chosen, domain.items), "index": door.index + 1}, {}

    def _prices(self, index: int) -> Floats:
        """How much an item's gain counts: a public function of how many people are held."""
        domain, people = self.settings.domain, self.fresh.held(index)
        if not isinstance(domain, Priced):
            return np.ones(domain.items)
        error = self.fresh.paths[index].error(people, domain.items)
        return domain.factors("density" if error < FINE * people else "quartile")
