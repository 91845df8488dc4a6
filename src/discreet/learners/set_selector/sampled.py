"""A sampled path: people are kept by a coin, and items drawn one after another among those kept.

Guarantee   docs/guarantees/selector.md, Theorem 2
Runtime     one pass over the kept people a step
"""

from functools import cached_property
from typing import Any

import numpy as np

from discreet.arrays import Floats
from discreet.arrivals.chains import PresentChain, VoicesChain
from discreet.budget.privacy import Charge
from discreet.decide.constraints import Priced
from discreet.learners.set_selector.crowd import Crowd
from discreet.learners.set_selector.entrance import marked
from discreet.learners.set_selector.mode import SelectorMode
from discreet.learners.set_selector.values import value_of
from discreet.release.door import Door
from discreet.release.gathering import Gathering, HeldRows, Rows
from discreet.release.gathering.gain_path import Chain, GainPath
from discreet.release.noise import Once
from discreet.release.sampled import SampledPath
from discreet.turn.plan import State
from discreet.turn.questions import Batch, Block

__all__ = ["Sampled"]

LEVELS = 2**16
"""How many integer steps a worth of 1 has."""
FINE = 0.03
"""Below this share of noise, knapsacks are filled by density."""


class Sampled(SelectorMode):
    """Greedy among people who were kept by a coin; pure, whatever the number of steps.

    People's rows are asked step by step: held in the block, quantised, or in their parts.
    """

    elsewhere = False
    """Whether people stay in their parts, so that the block holds nobody."""

    @cached_property
    def path(self) -> SampledPath:
        """Coins and rate with the least predicted error."""
        domain = self.settings.domain
        budget = self.settings.privacy.budgets[0] * (1 - self.settings.report)
        return SampledPath.for_budget(
            budget.amount, people=self.settings.count, steps=domain.rank, candidates=domain.items
        )

    @cached_property
    def value_noise(self) -> Once[Any] | None:
        """The noise of the value of what was chosen, if it is paid for."""
        share = self.settings.report
        if not share:
            return None
        return Once.for_budget(self.settings.privacy.budgets[0] * share, Rows((1,), nonnegative=True))

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

    @property
    def _width(self) -> int:
        # The last number of a row says whether the row is a person.
        family = self.settings.family
        return 1 if family is None else family.width(self.settings.domain.items) + 1

    @cached_property
    def chain(self) -> Chain:
        """How people see a growing set."""
        family = self.settings.family
        return VoicesChain(self.settings.domain.items) if family is None else PresentChain(family)

    def gatherings(self, public: State) -> dict[str, Gathering]:
        return {"people": HeldRows((self.settings.count, self._width), elsewhere=self.elsewhere)}

    def add(self, block: Block, batch: Batch) -> None:
        held, settings = block["people"].gathering, self.settings
        assert isinstance(held, HeldRows)
        assert settings.family is not None
        held.add(block["people"], batch.rounds, marked(batch, settings.family, settings.domain.items))

    def enter(self, block: Block, crowd: Crowd) -> None:
        held = block["people"].gathering
        assert isinstance(held, HeldRows)
        held.stay(block["people"], crowd.staying(), crowd.run)

    def release(
        self, public: State, tally: State, kept: State, block: Block, door: Door
    ) -> tuple[State, State]:
        path = GainPath(block["people"], self.chain, self._prices(), LEVELS)
        chosen = door.select_path(self.path, path, self.settings.domain.extensions)
        value = value_of(door, self.value_noise, block["people"], self.chain, chosen)
        return {"chosen": np.array(chosen, dtype=np.int64), "value": value}, {}

    def _prices(self) -> Floats:
        """How much an item's gain counts: cheaper ones more, under a knapsack.

        By density where noise is small; while it is large, only what is dearer than the lower quartile counts
        less, because density would follow the noise of the cheapest.
        """
        domain = self.settings.domain
        if not isinstance(domain, Priced):
            return np.ones(domain.items)
        return domain.factors("density" if self.error < FINE * self.settings.count else "quartile")
