"""Base classes of the modes of `SetSelector`: one block of people, and one release."""

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, ClassVar

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.budget.guarantee import Wording
from discreet.engine.phases import Scheduled
from discreet.engine.problem import Problem
from discreet.engine.request import Request
from discreet.engine.schedule import EqualBlocks
from discreet.engine.statistics import Statistic
from discreet.engine.view import View
from discreet.learners.labels import names_by_number
from discreet.learners.set_selector.settings import SetSelectorSettings


@dataclass(frozen=True, eq=False)
class Public:
    """Public state: the chosen set; empty before the release."""

    chosen: Integers
    """The items, in the order in which they were drawn."""
    value: Floats
    """The worth of the set to all people, and its standard deviation; empty if not released."""
    trace: Floats | None = None
    """The worth of the set up to each item, where that was released."""
    counts: Floats | None = None
    """The noisy number of people per public cell, where that was released."""


class SelectorView(View[Public]):
    """View of the only block of a selection."""

    problem: "SelectorMode"
    growing = (("chosen", "trace"), ("value",))

    def decide(self, rounds: Integers, request: Request) -> Integers:
        chosen = self.public.chosen
        return np.broadcast_to(chosen, (len(rounds), len(chosen)))

    def plain(self) -> dict[str, object]:
        settings = self.problem.settings
        names = names_by_number(settings.domain.items, settings.labels)
        return {"chosen": [names[item] for item in self.public.chosen.tolist()]}


class SelectorMode(Problem):
    """Base class of the modes that choose one set from the records of many people.

    Parameters
    ----------
    settings
        The settings of the selector.
    in_parts
        Whether all people come at once, in partitions that may stay where they are, as
        `SetSelector.fit` reads them; otherwise there is one row per round, as in audits.
    """

    proof = "selector.md"
    neighbours = "replace one person's whole record"
    words = Wording("record", "the chosen set", "set", streams=False)
    retry = "fit() again commits this choice, and reads no people"
    settings: SetSelectorSettings
    rows_view: ClassVar[type[SelectorView]]
    """The view for one row per round."""
    parts_view: ClassVar[type[SelectorView]]
    """The view for people in partitions."""

    def __init__(self, settings: SetSelectorSettings, *, in_parts: bool = False) -> None:
        self.in_parts = in_parts
        super().__init__(settings)

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(type(self), in_parts=self.in_parts), (self.settings,)

    @property
    @abstractmethod
    def people(self) -> Statistic[Any, Any]:
        """What is measured of all people."""

    @property
    @abstractmethod
    def why(self) -> str:
        """The reason for this method, in one sentence with public numbers only."""

    @property
    @abstractmethod
    def error(self) -> float:
        """The predicted error of the choice, in people, from public numbers only."""

    @cached_property
    def phases(self) -> Scheduled:
        count = self.settings.count
        view = self.parts_view if self.in_parts else self.rows_view
        return Scheduled.one(view, EqualBlocks(count, count), self.people)

    @property
    def facts(self) -> dict[str, object]:
        return {"method": self.method, "why": self.why, "error_in_people": self.error}

    @property
    def first(self) -> Public:
        return Public(chosen=np.empty(0, dtype=np.int64), value=np.zeros(0))

    @property
    def method(self) -> str:
        """The name of this mode."""
        return type(self).__name__.lower()

    @property
    def counts_deviation(self) -> float | None:
        """The standard deviation of the noise of each released count; None without counts."""
        return None

    def counts_of(self, public: Public) -> Floats | None:
        """Return the released counts in the shape of the public cells; None without counts."""
        return None

    # --- state ------------------------------------------------------------------------------------

    def blank(self) -> Floats | None:
        family = self.settings.family
        if family is None:
            return None
        return np.full(family.width(self.settings.domain.items), np.nan)
