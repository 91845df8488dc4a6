"""A sampled path: people are kept by a coin, and items drawn one after another among those kept.

Guarantee   docs/guarantees/selector.md, Theorem 2
Runtime     one pass over the kept people a step
"""

from functools import cached_property
from typing import Any

import numpy as np

from discreet.budget.privacy import Charge
from discreet.learners.set_selector.mode import HeldMode
from discreet.learners.set_selector.values import value_of
from discreet.release.door import Door
from discreet.release.gathering.gain_path import GainPath
from discreet.release.sampled import SampledPath
from discreet.turn.plan import State
from discreet.turn.problem import Block

__all__ = ["LEVELS", "Sampled"]

LEVELS = 2**16
"""How many integer steps a worth of 1 has."""


class Sampled(HeldMode):
    """Greedy among people who were kept by a coin; pure, whatever the number of steps."""

    charge_measure = "pure"

    @cached_property
    def path(self) -> SampledPath:
        """Coins and rate with the least predicted error."""
        domain = self.settings.domain
        budget = self.settings.privacy.budgets[0] * (1 - self.settings.report)
        return SampledPath.for_budget(
            budget.amount, people=self.settings.count, steps=domain.rank, candidates=domain.items
        )

    @property
    def charge(self) -> Charge:
        paid = self.path.charge
        return paid if self.value_noise is None else paid + self.value_noise.charge

    @property
    def error(self) -> float:
        return self.path.error(self.settings.count, self.settings.domain.items)

    @property
    def why(self) -> str:
        return (
            f"a person's gains along a path add up to 1, so {self.settings.domain.rank} draws cost hardly "
            f"more than one: expected to fall short by {self.error:.0f} of {self.settings.count} people"
        )

    @property
    def constants(self) -> tuple[Any, ...]:
        return (self.path, LEVELS, self.value_noise)

    def release(
        self, public: State, tally: State, kept: State, block: Block, door: Door
    ) -> tuple[State, State]:
        path = GainPath(block["people"], self.chain, self.prices(self.error), LEVELS)
        chosen = door.select_path(self.path, path, self.extensions)
        value = value_of(door, self.value_noise, block["people"], self.chain, chosen)
        return {"chosen": np.array(chosen, dtype=np.int64), "value": value}, {}
