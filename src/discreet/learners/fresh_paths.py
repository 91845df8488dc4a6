"""Sets chosen from fresh data: blocks double, and each block's set is drawn from the block before, greedily.

The set is drawn along a sampled path (discreet/release/sampled.py): each person is kept by a secret coin, and
items are drawn among those kept. A person's gains along a path add up to at most 1, so the whole budget goes
into every step; and each person is in one release only, whatever the horizon. What is paid is pure.

At most `held` people of a block are held, the first ones; later ones of that block are not used (their share
of the choice would not change it).

Guarantee   docs/guarantees/sets.md, Theorem 3
"""

from dataclasses import dataclass
from functools import cached_property
from math import ceil
from typing import Any, Literal

from discreet.budget.privacy import Charge, Privacy
from discreet.release.gathering import HeldRows
from discreet.release.sampled import SampledPath
from discreet.turn.plan import Plan, paid_by_cohorts
from discreet.turn.schedule import DoublingBlocks

__all__ = ["LEVELS", "FreshPaths"]

MOST_ROWS, MOST_NUMBERS = 20_000, 2**25
"""How many people, and how many of their numbers, are held at most."""
LEVELS = 2**16
"""How many integer steps a worth of 1 has."""
FIRST = 8
"""The people of the first block, in units of what the noise of a set is worth."""


@dataclass(frozen=True)
class FreshPaths:
    """The doubling blocks of a learner, and the path along which each one's set is drawn.

    Parameters
    ----------
    candidates, steps
        How many items there are, and how many are drawn at most.
    width
        How many numbers describe one person.
    """

    privacy: Privacy
    rounds: int
    candidates: int
    steps: int
    width: int
    block: int | Literal["auto"] = "auto"

    @cached_property
    def budget(self) -> Charge:
        """What a person pays in their one release: pure, whatever δ is granted."""
        return self.privacy.budgets[0]

    @cached_property
    def paths(self) -> list[SampledPath]:
        """How the set of each release is drawn."""
        return [self._path(max(1, self.held(index))) for index in range(self.schedule.releases)]

    def _path(self, people: int) -> SampledPath:
        return SampledPath.for_budget(
            self.budget.amount, people=people, steps=self.steps, candidates=self.candidates
        )

    @cached_property
    def noise(self) -> float:
        """How many people's whole gains the noise of a draw is worth, in a small block."""
        small = self._path(1)
        return 1 / (small.chance * small.exponent)

    @cached_property
    def schedule(self) -> DoublingBlocks:
        usual = max(1, min(ceil(FIRST * self.steps * self.noise), self.rounds // 8))
        return DoublingBlocks(self.rounds, usual if self.block == "auto" else self.block, last=False)

    def held(self, index: int) -> int:
        """How many people of a block are held."""
        if index >= self.schedule.releases:
            return 0
        begin = self.schedule.end(index - 1) if index else 0
        return min(MOST_ROWS, max(1, MOST_NUMBERS // self.width), self.schedule.end(index) - begin)

    def gathering(self, index: int) -> HeldRows:
        """What holds the people of a block."""
        return HeldRows((self.held(index), self.width))

    def plan(self, facts: dict[str, Any]) -> Plan:
        """A set after every block, paid by the people of that block alone."""
        paths = self.paths
        return Plan.scheduled(
            self.schedule,
            lambda index: paths[index].charge,
            paid_by_cohorts(self.privacy, [path.charge for path in paths]),
            cohort=lambda index: index,
            facts=facts | {"releases": self.schedule.releases},
            constants=(*paths, LEVELS, MOST_ROWS, MOST_NUMBERS),
        )
