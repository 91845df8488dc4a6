"""Sets chosen from fresh data: blocks double, and each block's set is drawn from the block before,
greedily.

The set is drawn along a sampled path (discreet/release/sampled_path.py): each person is kept by a
secret coin, and items are drawn among those kept. A person's gains along a path add up to at most
1, so the whole budget goes into every step; and each person is in one release only, whatever the
horizon. What is paid is pure.

At most `held` people of a block are held, the first ones; later ones of that block are not used
(their share of the choice would not change it).

Guarantee   docs/guarantees/sets.md, Theorem 2
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import ceil
from typing import Any, Literal

import numpy as np

from discreet.arrays import Floats, Integers, Mask
from discreet.budget.privacy import Charge, Privacy
from discreet.engine.plan import Plan, paid_by_cohorts
from discreet.engine.request import Block
from discreet.engine.schedule import DoublingBlocks
from discreet.functions.chains import FamilyChain
from discreet.functions.sets import SetFunctions
from discreet.limits import MOST_ROUNDS
from discreet.release.aggregators import Aggregator, HeldRows
from discreet.release.aggregators.gain_path import GainPath
from discreet.release.door import Door
from discreet.release.sampled_path import SampledPath

MOST_ROWS, MOST_NUMBERS = 20_000, 2**25
"""How many people, and how many of their numbers, are held at most."""
LEVELS = 2**16
"""How many integer steps a worth of 1 has."""
MOST_DOUBLINGS = MOST_ROUNDS.bit_length() + 1
"""More blocks than that there are never."""
FIRST = 8
"""The people of the first block, in units of what the noise of a set is worth
(benchmarks/display.py).
"""


@dataclass(frozen=True)
class DisjointPaths:
    """The doubling blocks of a learner, and the path along which each one's set is drawn.

    Parameters
    ----------
    candidates, steps
        How many items there are, and how many are drawn at most.
    family
        What the set is worth to a person, by their row.
    """

    privacy: Privacy
    rounds: int
    candidates: int
    steps: int
    family: SetFunctions
    block: int | Literal["auto"] = "auto"

    @cached_property
    def budget(self) -> Charge:
        """What a person pays in a release: pure, whatever δ is granted."""
        return self.privacy.apart(self.blocks)[0]

    @cached_property
    def blocks(self) -> int:
        """How many blocks there may be, at most, if rounds name their person: nobody pays more
        often.

        The more there are, the less each may cost, and the longer and the fewer they are: the least
        number that is enough.
        """
        most = min(self.privacy.contributions, MOST_DOUBLINGS) if self.privacy.keyed else 1
        enough = (blocks for blocks in range(1, most) if self._schedule(blocks).releases <= blocks)
        return next(enough, MOST_ROUNDS)

    @cached_property
    def paths(self) -> list[SampledPath]:
        """How the set of each release is drawn."""
        people = [max(1, self.held(index)) for index in range(self.schedule.releases)]
        return [self._path(each, self.budget) for each in people]

    def _path(self, people: int, budget: Charge) -> SampledPath:
        return SampledPath.for_budget(
            budget.amount, people=people, steps=self.steps, candidates=self.candidates
        )

    @cached_property
    def noise(self) -> float:
        """How many people's whole gains the noise of a draw is worth, in a small block."""
        return self._noise(self.budget)

    def _noise(self, budget: Charge) -> float:
        small = self._path(1, budget)
        return 1 / (small.chance * small.exponent)

    @cached_property
    def schedule(self) -> DoublingBlocks:
        return self._schedule(self.blocks)

    def _schedule(self, blocks: int) -> DoublingBlocks:
        """The blocks, if so many pay."""
        if self.block != "auto":
            return DoublingBlocks(self.rounds, self.block, last=False)
        noise = self._noise(self.privacy.apart(blocks)[0])
        usual = max(1, min(ceil(FIRST * self.steps * noise), self.rounds // 8))
        return DoublingBlocks(self.rounds, usual, last=False)

    def held(self, index: int) -> int:
        """How many people of a block are held."""
        if index >= self.schedule.releases:
            return 0
        begin = self.schedule.end(index - 1) if index else 0
        return min(MOST_ROWS, max(1, MOST_NUMBERS // self._width), self.schedule.end(index) - begin)

    @property
    def _width(self) -> int:
        """How many numbers describe one person."""
        return self.family.width(self.candidates)

    def aggregators(self, index: int) -> dict[str, Aggregator]:
        """What holds the people of the block before release `index`."""
        return {"people": HeldRows((self.held(index), self._width))}

    def add(self, block: Block, places: Integers, rows: Floats) -> None:
        """Hold these people, who came in these rounds of the block."""
        self._holding.add(block["people"], places, rows)

    @cached_property
    def _holding(self) -> HeldRows:
        """What holds rows at their places, however many places a block has."""
        return HeldRows((0, self._width))

    def draw(
        self,
        block: Block,
        door: Door,
        left: Callable[[list[int]], Mask],
        prices: Floats | None = None,
    ) -> list[int]:
        """The items of the next set, in the order in which they are drawn.

        `left` says which items may follow those that are drawn already, `prices` how much an item's
        gain counts: 1 for each by default.
        """
        prices = np.ones(self.candidates) if prices is None else prices
        gains = GainPath(block["people"], FamilyChain(self.family), prices, LEVELS)
        return door.select_path(self.paths[door.index], gains, left)

    def plan(self, why: str, facts: dict[str, Any]) -> Plan:
        """A set after every block, paid by the people of that block alone."""
        paths = self.paths
        facts = {"method": "fresh", "why": why, "block": self.schedule.first} | facts
        return Plan.scheduled(
            self.schedule,
            lambda index: paths[index].charge,
            paid_by_cohorts(
                self.privacy, [path.charge for path in paths], blocks=self.schedule.releases
            ),
            cohort=lambda index: index,
            facts=facts | {"releases": self.schedule.releases},
            constants=(*paths, LEVELS, MOST_ROWS, MOST_NUMBERS),
        )
