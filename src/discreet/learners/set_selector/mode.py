"""What the methods of `SetSelector` share: people who come in, prices, and the one release."""

from abc import abstractmethod
from functools import cached_property
from math import log
from typing import Any

import numpy as np

from discreet.arrays import Floats, Integers, Mask
from discreet.arrivals.feedback import as_rows
from discreet.budget.privacy import Charge
from discreet.decide.constraints import Priced
from discreet.errors import ConfigError
from discreet.learners.labels import labels_of
from discreet.learners.set_selector.settings import SetSelectorSettings
from discreet.release.gathering import Gathered, Gathering, HeldRows, Rows
from discreet.release.noise import Once
from discreet.turn.coins import Coins
from discreet.turn.plan import Plan, State, Step, paid_by_cohorts
from discreet.turn.problem import Asked, Batch, Problem

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

    def rows_of(self, batch: Batch) -> tuple[Floats, Mask]:
        """One admitted row a person, and whose could be read."""
        family, items = self.settings.function, self.settings.domain.items
        rows = as_rows(batch, family.width(items))
        admitted = family.admit(rows, items)[0]
        return admitted, np.asarray(np.isfinite(rows).all(axis=1) & np.isfinite(admitted).all(axis=1))

    def blank(self) -> Any:
        return np.full(self.settings.function.width(self.settings.domain.items), np.nan)

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
    """A method that holds people's rows for the release, quantised."""

    def check(self) -> None:
        if self.settings.count * self._width > 2**31:
            raise ConfigError(
                f"{self.settings.count} people with {self._width} numbers do not fit into memory: "
                "select from a sample of them, or use a family with public cells"
            )

    @property
    def _width(self) -> int:
        # One more: whether somebody is there.
        return self.settings.function.width(self.settings.domain.items) + 1

    def gatherings(self, public: State) -> dict[str, Gathering]:
        return {"people": HeldRows((self.settings.count, self._width))}

    def gather(self, public: State, block: dict[str, Gathered], batch: Batch) -> None:
        held = block["people"].gathering
        assert isinstance(held, HeldRows)
        rows, present = self.rows_of(batch)
        marked = np.concatenate([present[:, None].astype(np.float64), np.nan_to_num(rows)], axis=1)
        held.add(block["people"], batch.rounds, marked * present[:, None])


def selection_error(steps: int, candidates: int, rate: float) -> float:
    """How far a path of so many draws at this rate a person falls short, in people."""
    return steps * log(max(2, candidates)) / rate
