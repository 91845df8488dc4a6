"""What the methods of `SetSelector` share: people who come in, prices, and the one release."""

from abc import abstractmethod
from functools import cached_property
from math import log
from typing import Any

import numpy as np

from discreet.arrays import Floats, Integers, Mask
from discreet.arrivals.chains import PresentChain, VoicesChain
from discreet.budget.privacy import Charge
from discreet.decide.constraints import Priced
from discreet.learners.labels import labels_of
from discreet.learners.set_selector.crowd import Crowd
from discreet.learners.set_selector.entrance import marked
from discreet.learners.set_selector.settings import SetSelectorSettings
from discreet.release.gathering import Gathering, HeldRows, Rows
from discreet.release.gathering.gain_path import Chain
from discreet.release.noise import Once
from discreet.turn.coins import Coins
from discreet.turn.plan import Plan, State, Step, paid_by_cohorts
from discreet.turn.problem import Asked, Batch, Block, Problem

__all__ = ["SelectorMode"]

FINE = 0.03
"""Below this share of noise, knapsacks are filled by density."""


class SelectorMode(Problem):
    """A way of choosing one set from many people's records: one block, one release."""

    proof = "selector.md"
    neighbours = "replace one person's whole record"
    settings: SetSelectorSettings

    @property
    @abstractmethod
    def charge(self) -> Charge:
        """What the release costs each person."""

    @property
    @abstractmethod
    def why(self) -> str:
        """Why this method, in a sentence; from public numbers only."""

    @property
    @abstractmethod
    def error(self) -> float:
        """The predicted error of the choice, in people; from public numbers only."""

    @property
    @abstractmethod
    def constants(self) -> tuple[Any, ...]:
        """What the state depends on besides the settings."""

    @cached_property
    def plan(self) -> Plan:
        charge, people = self.charge, self.settings.count
        step = Step(people, charge, cohort=0)
        return Plan(
            lambda index, public: None if index else step,
            paid_by_cohorts(self.settings.privacy, [charge]),
            horizon=people,
            releases=1,
            facts={"method": self.method, "why": self.why, "error_in_people": self.error},
            constants=self.constants,
        )

    @property
    def method(self) -> str:
        """The name of this way."""
        return type(self).__name__.lower()

    # --- people -------------------------------------------------------------------------------------------

    def gather(self, public: State, block: Block, batch: Batch) -> None:
        if isinstance(batch.feedback, Crowd):
            self.enter(block, batch.feedback)
        else:
            self.add(block, batch)

    @abstractmethod
    def add(self, block: Block, batch: Batch) -> None:
        """Add some people, one row each."""

    @abstractmethod
    def enter(self, block: Block, crowd: Crowd) -> None:
        """Add all people, who came in parts."""

    def blank(self) -> Any:
        family = self.settings.family
        return None if family is None else np.full(family.width(self.settings.domain.items), np.nan)

    # --- what is chosen -----------------------------------------------------------------------------------

    def start(self) -> tuple[State, State]:
        return {"chosen": np.empty(0, dtype=np.int64), "value": np.zeros(0)}, {}

    def decide(self, public: State, rounds: Integers, asked: Asked, coins: Coins) -> Any:
        return np.broadcast_to(public["chosen"], (len(rounds), len(public["chosen"])))

    def plain(self, public: State) -> dict[str, Any]:
        names = labels_of(self.settings.domain.items, self.settings.labels).tolist()
        return {"chosen": [names[item] for item in public["chosen"].tolist()]}

    def extensions(self, chosen: list[int]) -> Mask:
        """What may still be added."""
        return self.settings.domain.extensions(chosen)

    def prices(self, error: float) -> Floats:
        """How much an item's gain counts: cheaper ones more, under a knapsack.

        By density where noise is small; while it is large, only what is dearer than the lower quartile counts
        less, because density would follow the noise of the cheapest.
        """
        domain = self.settings.domain
        if not isinstance(domain, Priced):
            return np.ones(domain.items)
        return domain.factors("density" if error < FINE * self.settings.count else "quartile")

    # --- the value, if it is paid for ---------------------------------------------------------------------

    @cached_property
    def value_noise(self) -> Once | None:
        """The noise of the value of what was chosen."""
        share = self.settings.report
        if not share:
            return None
        budgets = self.settings.privacy.budgets
        budget = budgets[0] if self.charge_measure == "pure" else budgets[-1]
        return Once.for_budget(budget * share, Rows((1,), nonnegative=True))

    @property
    @abstractmethod
    def charge_measure(self) -> str:
        """In which measure people pay."""


class HeldMode(SelectorMode):
    """A method that asks people's rows step by step: held in the block, quantised, or in their parts."""

    elsewhere = False
    """Whether people stay in their parts, so that the block holds nobody."""

    @property
    def _width(self) -> int:
        # One more: whether somebody is there.
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


def selection_error(steps: int, candidates: int, rate: float) -> float:
    """How far a path of so many draws at this rate a person falls short, in people."""
    return steps * log(max(2, candidates)) / rate
