"""Full information, i.i.d. streams: greedy on fresh data, in doubling blocks.

Blocks double. Each block's slate is chosen from the PREVIOUS block's visitors alone, greedily, by a
sampled path (discreet/learners/disjoint_paths.py): each visitor is in one release only, and a
visitor's gains along a slate add up to at most 1, so the whole budget goes into every slot. The
guarantee of this mode is pure.

Value assumes that visitors are alike over time; privacy does not.

Guarantee   docs/guarantees/sets.md, Theorem 2
Runtime     O(k·n) per held visitor and release; memory for 20,000 rows of two-byte numbers, 64 MB at most
"""

from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

from discreet.arrays import Integers, Mask
from discreet.engine.coins import Coins
from discreet.engine.flat_state import of_flat
from discreet.engine.plan import Plan, State
from discreet.engine.request import Batch, Block
from discreet.errors import ConfigError
from discreet.functions.sets import SetFunctions
from discreet.learners.disjoint_paths import DisjointPaths
from discreet.learners.set_maximizer.catalogue import Catalogue
from discreet.learners.set_maximizer.mode import SetMode
from discreet.learners.set_maximizer.preferences import (
    People,
    PreferenceView,
    SlateState,
    people_of,
)
from discreet.release.aggregators import Aggregator
from discreet.release.door import Door


@dataclass(eq=False, slots=True)
class Visitors:
    """Whole preferences, and the places of their rounds in the block."""

    places: Integers
    people: People


class DisjointView(PreferenceView[SlateState]):
    """A block whose visitors are held, and from whom the next slate is drawn."""

    problem: "DisjointGreedy"

    @property
    def learns_on(self) -> bool:
        """The visitors of this block say already what a new item is worth to them."""
        return self.step is not None

    def aggregators(self) -> dict[str, Aggregator]:
        return self.problem.disjoint.aggregators(self.index)

    def read(self, batch: Batch) -> Visitors:
        return Visitors(batch.rounds - self.begin, people_of(batch, self.settings))

    def gather(self, block: Block, answers: Visitors) -> None:
        self.problem.disjoint.add(block, answers.places, np.asarray(answers.people))

    def release(
        self, mask_counts: State, hidden: State, block: Block, door: Door
    ) -> tuple[SlateState, State]:
        catalogue = self.public.catalogue.next()
        slate = self.problem.disjoint.draw(block, door, partial(_left, catalogue.active))
        return SlateState(catalogue, np.array(slate, dtype=np.int64)), {}


class DisjointGreedy(SetMode):
    """Slates chosen greedily from the block before; for whole preferences and i.i.d. streams."""

    @classmethod
    def serves(cls, settings: Any) -> bool:
        return bool(settings.feedback == "full" and settings.stream == "iid")

    def check(self) -> None:
        self._family  # noqa: B018  refuses callables

    @property
    def _family(self) -> SetFunctions:
        """What a slate is worth to a visitor, by their row."""
        if self.settings.functions is None:
            raise ConfigError(
                "stream='iid' holds visitors as rows: choose a built-in function, "
                "or stream='drifting' for callables"
            )
        return self.settings.functions

    @cached_property
    def disjoint(self) -> DisjointPaths:
        """Blocks, and how the slate of each release is drawn."""
        settings = self.settings
        return DisjointPaths(
            settings.privacy,
            settings.rounds,
            candidates=settings.room,
            steps=settings.slots,
            family=self._family,
            block=settings.block,
        )

    @cached_property
    def plan(self) -> Plan:
        why = "whole preferences of visitors who are alike over time"
        return self.disjoint.plan(why, {"noise_in_visitors": self.disjoint.noise})

    def start(self) -> tuple[SlateState, State]:
        return SlateState(Catalogue.first(self.settings), self.first_slate()), {}

    def view(self, public: State, index: int, begin: int, coins: Coins) -> DisjointView:
        return DisjointView(self, of_flat(SlateState, public), index, begin, coins)


def _left(active: Mask, chosen: list[int]) -> Mask:
    """Return what is not on the slate yet."""
    left = active.copy()
    left[chosen] = False
    return left
