"""Sets chosen from disjoint blocks: blocks double, and each set is drawn from the block before.

The set is drawn greedily along a sampled path (discreet/release/sampled_path.py): a secret coin
samples each person, and items are drawn by the gains of those sampled. A person's gains along a
path add up to at most 1, so the whole budget goes into every step; and each person is in one
release only, whatever the horizon. The cost is pure.

Only the first `held` people of a block are held; later ones of that block are not used, because
they would hardly change the choice.

Guarantee   docs/guarantees/sets.md, Theorem 2
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import ceil
from operator import attrgetter
from typing import Literal

import numpy as np

from discreet.arrays import Floats, Mask
from discreet.budget.privacy import Charge, Privacy, pure
from discreet.engine.schedule import DoublingBlocks
from discreet.engine.statistics import Opened, Undrawn
from discreet.functions.chains import FamilyChain
from discreet.functions.sets import SetFunctions
from discreet.limits import MOST_ROUNDS
from discreet.release.aggregators import HeldRows
from discreet.release.aggregators.gain_path import GainPath
from discreet.release.sampled_path import SampledPath

MOST_ROWS = 20_000
"""Largest number of people held."""
MOST_NUMBERS = 2**25
"""Largest number of numbers held of all people."""
LEVELS = 2**16
"""Number of integer steps in a value of 1."""
MOST_DOUBLINGS = MOST_ROUNDS.bit_length() + 1
"""Upper bound on the number of blocks."""
FIRST = 8
"""People of the first block, in units of the noise of a set (benchmarks/display.py)."""


@dataclass(frozen=True)
class DisjointPaths(Undrawn[HeldRows]):
    """The doubling blocks of a learner, and the path along which the set of each is drawn."""

    privacy: Privacy
    rounds: int
    """The horizon."""
    candidates: int
    """Number of items."""
    steps: int
    """Largest number of items drawn into a set."""
    family: SetFunctions
    """Value of a set to a person, by the person's row."""
    block: int | Literal["auto"] = "auto"
    """Rounds of the first block."""

    name = "people"

    @cached_property
    def budget(self) -> Charge:
        """Cost of a release for one person: pure, whatever δ is granted."""
        return self.privacy.apart(self.blocks)[0]

    @cached_property
    def blocks(self) -> int:
        """Number of blocks that one person may pay for, if rounds name their person.

        The more blocks a budget is divided among, the less each may cost, hence the longer and the
        fewer they are: this is the least number that is enough.
        """
        most = min(self.privacy.contributions, MOST_DOUBLINGS) if self.privacy.keyed else 1
        enough = (blocks for blocks in range(1, most) if self._schedule(blocks).releases <= blocks)
        return next(enough, MOST_ROUNDS)

    @cached_property
    def paths(self) -> list[SampledPath]:
        """The sampled path of each release."""
        people = [max(1, self.held(index)) for index in range(self.schedule.releases)]
        return [self._path(each, self.budget) for each in people]

    def _path(self, people: int, budget: Charge) -> SampledPath:
        """Return the sampled path for a block of `people` people."""
        return SampledPath.for_budget(
            budget.amount, people=people, steps=self.steps, candidates=self.candidates
        )

    @cached_property
    def noise(self) -> float:
        """Noise of a draw in a small block, in units of one person's whole gain."""
        return self._noise(self.budget)

    def _noise(self, budget: Charge) -> float:
        small = self._path(1, budget)
        return 1 / (small.chance * small.exponent)

    @cached_property
    def schedule(self) -> DoublingBlocks:
        """The blocks."""
        return self._schedule(self.blocks)

    def _schedule(self, blocks: int) -> DoublingBlocks:
        """Return the schedule if one person may pay for `blocks` blocks."""
        if self.block != "auto":
            return DoublingBlocks(self.rounds, self.block, last=False)
        noise = self._noise(self.privacy.apart(blocks)[0])
        usual = max(1, min(ceil(FIRST * self.steps * noise), self.rounds // 8))
        return DoublingBlocks(self.rounds, usual, last=False)

    def held(self, index: int) -> int:
        """Return the number of people of a block that are held."""
        if index >= self.schedule.releases:
            return 0
        begin = self.schedule.end(index - 1) if index else 0
        return min(MOST_ROWS, max(1, MOST_NUMBERS // self._width), self.schedule.end(index) - begin)

    @property
    def _width(self) -> int:
        """Length of a person's row."""
        return self.family.width(self.candidates)

    # --- the statistic ----------------------------------------------------------------------------

    @cached_property
    def aggregator(self) -> HeldRows:
        """The aggregator for adding rows, which does not depend on the size of the block."""
        return HeldRows((0, self._width))

    def aggregator_at(self, number: int) -> HeldRows:
        """Return the aggregator that holds the people of the block before release `number`."""
        return HeldRows((self.held(number), self._width))

    def charge(self, number: int) -> Charge:
        return self.paths[number].charge

    @property
    def spent(self) -> Charge:
        return max(
            (path.charge for path in self.paths), key=attrgetter("amount"), default=pure(0.0)
        )

    @property
    def constants(self) -> tuple[object, ...]:
        return (*self.paths, LEVELS, MOST_ROWS, MOST_NUMBERS)

    def drawn(
        self,
        number: int,
        opened: Opened,
        left: Callable[[list[int]], Mask],
        prices: Floats | None = None,
    ) -> list[int]:
        """Return the items of the next set, in the order in which they are drawn.

        Parameters
        ----------
        number
            The number of the release.
        opened
            What was released: `released[self]`.
        left
            Returns which items may follow those drawn so far.
        prices
            Factor of each item's gain; 1 by default.
        """
        people, door = opened
        prices = np.ones(self.candidates) if prices is None else prices
        gains = GainPath(people, FamilyChain(self.family), prices, LEVELS)
        return door.select_path(self.paths[number], gains, left)
