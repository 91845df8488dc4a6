"""One exponential mechanism a step, composed: the plain way, for comparison and for small ranks.

Guarantee   docs/guarantees/selector.md, Theorem 3
Runtime     one pass over the people a step
References  Mitrovic, Bun, Krause, Karbasi (2017), "Differentially Private Submodular Maximization"
"""

from dataclasses import dataclass, field
from functools import cached_property
from math import inf
from typing import Any

import numpy as np

from discreet.arrays import Floats
from discreet.budget.privacy import Charge
from discreet.learners.set_selector.mode import HeldMode, selection_error
from discreet.learners.set_selector.values import value_of
from discreet.release.door import Door
from discreet.release.gathering import HeldRows, Rows
from discreet.release.gathering.gain_path import Chain
from discreet.release.selection import Selection
from discreet.turn.plan import State
from discreet.turn.problem import Block

__all__ = ["Greedy"]

LEVELS = 2**20
"""How many integer steps a gain of 1 has."""


@dataclass(frozen=True)
class GainsOnTop:
    """What each item adds, in [0, 1] and times its price, to what people have reached along a path."""

    chain: Chain
    path: tuple[int, ...]
    prices: Floats = field(repr=False)

    def __call__(self, rows: Any) -> Floats:
        state, reached = self.chain.begin(rows), np.zeros(len(rows))
        for item in self.path:
            reached = np.maximum(reached, self.chain.worth(rows, state, item))
            state = self.chain.take(rows, state, item)
        return np.clip(self.chain.worths(rows, state) - reached[:, None], 0.0, 1.0) * self.prices


class Greedy(HeldMode):
    """As many draws as the rank, each of which pays its part."""

    @cached_property
    def gains(self) -> Rows:
        """One gain for each item, from 0 to 1."""
        items = self.settings.domain.items
        return Rows((items,), norm=inf, nonnegative=True, levels=LEVELS)

    @cached_property
    def budget(self) -> Charge:
        """In the measure that selects more sharply."""
        return max(self.settings.privacy.budgets, key=lambda budget: self._selection(budget).rate)

    def _selection(self, budget: Charge) -> Selection:
        share = 1 - self.settings.report
        return Selection.for_budget(budget * share, self.gains, draws=self.settings.domain.rank)

    @property
    def charge_measure(self) -> str:
        return self.budget.measure

    @cached_property
    def selection(self) -> Selection:
        return self._selection(self.budget)

    @property
    def charge(self) -> Charge:
        paid = self.selection.charge(self.budget.measure) * self.settings.domain.rank
        return paid if self.value_noise is None else paid + self.value_noise.charge

    @property
    def error(self) -> float:
        domain = self.settings.domain
        return selection_error(domain.rank, domain.items, self.selection.rate * LEVELS)

    @property
    def why(self) -> str:
        return (
            f"{self.settings.domain.rank} draws, each paid for: expected to fall short by {self.error:.0f} "
            f"of {self.settings.count} people"
        )

    @property
    def constants(self) -> tuple[Any, ...]:
        return (self.selection, LEVELS, self.value_noise)

    def release(
        self, public: State, tally: State, kept: State, block: Block, door: Door
    ) -> tuple[State, State]:
        people, held = block["people"], block["people"].gathering
        assert isinstance(held, HeldRows)
        prices = self.prices(self.error)
        chosen: list[int] = []
        while len(chosen) < self.settings.domain.rank and (left := self.extensions(chosen)).any():
            gains = GainsOnTop(self.chain, tuple(chosen), prices)
            chosen.append(door.select(self.selection, held.total(people, gains, self.gains), left))
        value = value_of(door, self.value_noise, people, self.chain, chosen)
        return {"chosen": np.array(chosen, dtype=np.int64), "value": value}, {}
