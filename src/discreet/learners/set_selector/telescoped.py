"""A path among all people: items are drawn one after another, and a person is served only once.

Guarantee   docs/guarantees/selector.md, Theorem 4
Runtime     one pass over the people a step
"""

from functools import cached_property
from typing import Any

import numpy as np

from discreet.budget.privacy import Charge
from discreet.errors import ConfigError
from discreet.learners.set_selector.mode import HeldMode
from discreet.learners.set_selector.sampled import LEVELS
from discreet.learners.set_selector.values import value_of
from discreet.release.door import Door
from discreet.release.gathering.gain_path import GainPath
from discreet.release.telescoped import TelescopedPath
from discreet.turn.plan import State
from discreet.turn.problem import Block

__all__ = ["Telescoped"]


class Telescoped(HeldMode):
    """Greedy among all people, in zCDP: for many people, where sampling would be the larger noise."""

    charge_measure = "zcdp"

    @cached_property
    def path(self) -> TelescopedPath:
        """The sharpest path that the budget pays for."""
        if self.settings.privacy.pure:
            raise ConfigError("telescoped paths need delta > 0: ask for it, or use method='sampled'")
        budget = self.settings.privacy.budget * (1 - self.settings.report)
        return TelescopedPath.for_budget(budget.rho, steps=self.settings.domain.rank)

    @property
    def charge(self) -> Charge:
        paid = self.path.charge
        return paid if self.value_noise is None else paid + self.value_noise.charge

    @property
    def error(self) -> float:
        return self.path.error(self.settings.domain.items)

    @property
    def why(self) -> str:
        return (
            f"a person is served once, so {self.settings.domain.rank} draws cost hardly more than a few: "
            f"expected to fall short by {self.error:.0f} of {self.settings.count} people"
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
