"""What the methods of `SetSelector` share: people who come in, and the one release."""

from abc import abstractmethod
from functools import cached_property
from typing import Any

import numpy as np

from discreet.arrays import Integers
from discreet.budget.guarantee import Wording
from discreet.budget.privacy import Charge
from discreet.learners.labels import names_by_number
from discreet.learners.set_selector.crowd import Crowd
from discreet.learners.set_selector.settings import SetSelectorSettings
from discreet.turn.coins import Coins
from discreet.turn.flat import FlatProblem
from discreet.turn.plan import Plan, State, Step, paid_by_cohorts
from discreet.turn.questions import Asked, Batch, Block

__all__ = ["SelectorMode"]

FINE = 0.03
"""Below this share of noise, knapsacks are filled by density."""


class SelectorMode(FlatProblem):
    """A way of choosing one set from many people's records: one block, one release."""

    proof = "selector.md"
    neighbours = "replace one person's whole record"
    words = Wording("record", "the chosen set", "set", streams=False)
    growing = (("chosen", "trace"), ("value",))
    retry = "fit() again commits this choice, and reads nobody"
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
            lambda index: None if index else step,
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
        names = names_by_number(self.settings.domain.items, self.settings.labels)
        return {"chosen": [names[item] for item in public["chosen"].tolist()]}
