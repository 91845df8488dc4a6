"""Full information, i.i.d. streams: greedy on fresh data, in doubling blocks.

Blocks double. Each block's slate is chosen from the PREVIOUS block's visitors alone, greedily, by a sampled
path (discreet/learners/fresh_paths.py): each visitor is in one release only, and a visitor's gains along a
slate add up to at most 1, so the whole budget goes into every slot. The guarantee of this mode is pure.

Value assumes that visitors are alike over time; privacy does not.

Guarantee   docs/guarantees/sets.md, Theorem 2
Runtime     O(k·n) a held visitor and release; memory for 20,000 rows of two-byte numbers, 64 MB at most
"""

from functools import cached_property, partial
from typing import Any

import numpy as np

from discreet.arrays import Mask
from discreet.errors import ConfigError
from discreet.learners.fresh_paths import FreshPaths
from discreet.learners.set_maximizer.mode import ConstantSlate
from discreet.release.door import Door
from discreet.release.gathering import Gathering
from discreet.turn.plan import Plan, State
from discreet.turn.questions import Batch, Block

__all__ = ["FreshGreedy"]


class FreshGreedy(ConstantSlate):
    """Slates chosen greedily from the block before; for whole preferences and i.i.d. streams."""

    @classmethod
    def serves(cls, settings: Any) -> bool:
        return bool(settings.feedback == "full" and settings.stream == "iid")

    def check(self) -> None:
        if self.settings.functions is None:
            raise ConfigError(
                "stream='iid' holds visitors as rows: choose a built-in function, "
                "or stream='drifting' for callables"
            )

    @cached_property
    def fresh(self) -> FreshPaths:
        """Blocks, and how the slate of each release is drawn."""
        settings, family = self.settings, self.settings.functions
        assert family is not None
        return FreshPaths(
            settings.privacy,
            settings.rounds,
            candidates=settings.room,
            steps=settings.slots,
            family=family,
            block=settings.block,
        )

    @cached_property
    def plan(self) -> Plan:
        why = "whole preferences of visitors who are alike over time"
        return self.fresh.plan(why, {"noise_in_visitors": self.fresh.noise})

    def learns_on(self, public: State) -> bool:
        """The visitors of this block say already what a new item is worth to them."""
        return self.step(public["turns"], public) is not None

    def start(self) -> tuple[State, State]:
        return self.first_catalogue() | {"slate": self.first_slate(), "index": 0}, {}

    def gatherings(self, public: State) -> dict[str, Gathering]:
        return self.fresh.gatherings(public["index"])

    def gather(self, public: State, block: Block, batch: Batch) -> None:
        self.fresh.add(block, batch.rounds - batch.begin, np.asarray(self.people(batch)))

    def release(
        self, public: State, tally: State, kept: State, block: Block, door: Door
    ) -> tuple[State, State]:
        catalogue = self.next_catalogue(public)
        slate = self.fresh.draw(block, door, partial(_left, catalogue["living"]))
        return catalogue | {"slate": np.array(slate, dtype=np.int64), "index": door.index + 1}, {}


def _left(living: Mask, chosen: list[int]) -> Mask:
    """What is not on the slate yet."""
    left = living.copy()
    left[chosen] = False
    return left
