"""Whole preferences, i.i.d. streams: greedy slates from disjoint, doubling blocks.

Blocks double. The slate of a block is chosen greedily from the visitors of the *previous* block
alone, along a sampled path (discreet/learners/disjoint_paths.py). Each visitor is in one release,
and the gains of a visitor along a slate add up to at most 1, so each slot is chosen with the whole
budget. The guarantee of this mode is pure.

Value assumes that visitors are alike over time; privacy does not.

Guarantee   docs/guarantees/sets.md, Theorem 2
Runtime     O(k·n) per held visitor and release; memory for 20,000 rows of two-byte numbers, at most
            64 MB
"""

from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from discreet.arrays import Integers, Mask
from discreet.engine.phases import Scheduled
from discreet.engine.request import Batch, Block
from discreet.engine.statistics import Released
from discreet.errors import ConfigError
from discreet.functions.sets import SetFunctions
from discreet.learners.disjoint_paths import DisjointPaths
from discreet.learners.set_maximizer.catalogue import Catalogue
from discreet.learners.set_maximizer.preferences import (
    People,
    PreferenceMode,
    PreferencePhase,
    SlateState,
)


@dataclass(eq=False, slots=True)
class Visitors:
    """Whole preferences of visitors, and the positions of their rounds in the block."""

    places: Integers
    people: People


class DisjointPhase(PreferencePhase[SlateState]):
    """A block whose visitors are held: the next slate is drawn from them."""

    mode: "DisjointGreedy"

    @property
    def learns_on(self) -> bool:
        """Whether a release follows: visitors of this block have gains for a new item already."""
        return self.mode.phases.is_released(self.at.index)

    def read(self, batch: Batch) -> Visitors:
        return Visitors(batch.rounds - self.at.begin, self.mode.answer.read(batch))

    def gather(self, block: Block, answers: Visitors) -> None:
        people = self.mode.disjoint
        people.aggregator.add(people.of(block), answers.places, np.asarray(answers.people))

    def update(self, released: Released) -> SlateState:
        catalogue = self.public.catalogue.next()
        paths = self.mode.disjoint
        remaining = partial(_remaining, catalogue.active)
        slate = paths.drawn(self.at.number, released[paths], remaining)
        return SlateState(catalogue, np.array(slate, dtype=np.int64))


class DisjointGreedy(PreferenceMode):
    """Greedy slates from the previous block; for whole preferences of i.i.d. streams."""

    def check(self) -> None:
        """Refuse callables: visitors are held as rows."""
        self._family()

    def _family(self) -> SetFunctions:
        """Return the family of set functions of the visitors' rows; callables are refused."""
        if self.settings.functions is None:
            raise ConfigError(
                "stream='iid' holds visitors as rows: choose a built-in function, "
                "or stream='drifting' for callables"
            )
        return self.settings.functions

    @cached_property
    def disjoint(self) -> DisjointPaths:
        """The doubling blocks, and the sampled path of each release."""
        settings = self.settings
        return DisjointPaths(
            settings.privacy,
            settings.rounds,
            candidates=settings.room,
            steps=settings.slots,
            family=self._family(),
            block=settings.block,
        )

    @cached_property
    def phases(self) -> Scheduled:
        return Scheduled.one(DisjointPhase, self.disjoint.schedule, self.disjoint)

    @property
    def facts(self) -> dict[str, object]:
        return {
            "method": "disjoint-greedy",
            "why": "whole preferences of visitors who are alike over time",
            "block": self.disjoint.schedule.first,
            "noise_in_visitors": self.disjoint.noise,
            "releases": self.disjoint.schedule.releases,
        }

    @property
    def first(self) -> SlateState:
        return SlateState(Catalogue.first(self.settings), self.first_slate())


def _remaining(active: Mask, chosen: list[int]) -> Mask:
    """Return the active items that are not on the slate yet."""
    remaining = active.copy()
    remaining[chosen] = False
    return remaining
