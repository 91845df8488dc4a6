"""Base classes of the modes of `SetSelector`: one block of people, and one release."""

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, ClassVar

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.budget.guarantee import Wording
from discreet.engine.declarations import DecisionForm, Promise, Questions, Readings, Stored
from discreet.engine.mode import Mode
from discreet.engine.phase import Phase
from discreet.engine.phases import Scheduled
from discreet.engine.request import Request
from discreet.engine.schedule import EqualBlocks
from discreet.engine.statistics import Statistic
from discreet.learners.answers import Entry
from discreet.learners.labels import names_by_number
from discreet.learners.set_selector.settings import SetSelectorSettings


@dataclass(frozen=True, eq=False)
class Public(Stored):
    """Public state: the chosen set; empty before the release."""

    growing = (("chosen", "trace"), ("value",))

    chosen: Integers
    """The items, in the order in which they were drawn."""
    value: Floats
    """The worth of the set to all people, and its standard deviation; empty if not released."""
    trace: Floats | None = None
    """The worth of the set up to each item, where that was released."""
    counts: Floats | None = None
    """The noisy number of people per public cell, where that was released."""

    def shape(self, mode: "SelectorMode", index: int) -> "Public":
        return mode.released_shape() if index else mode.first


class SelectorPhase(Phase[Public]):
    """Phase of the only block of a selection."""

    mode: "SelectorMode"

    def decide(self, rounds: Integers, request: Request) -> Integers:
        chosen = self.public.chosen
        return np.broadcast_to(chosen, (len(rounds), len(chosen)))

    def readings(self) -> Readings:
        settings = self.mode.settings
        names = names_by_number(settings.domain.items, settings.labels)
        return Readings({"chosen": [names[item] for item in self.public.chosen.tolist()]})


class SelectorMode(Mode):
    """Base class of the modes that choose one set from the records of many people.

    Parameters
    ----------
    settings
        The settings of the selector.
    in_parts
        Whether all people come at once, in partitions that may stay where they are, as
        `SetSelector.fit` reads them; otherwise there is one row per round, as in audits.
    """

    promise = Promise(
        "selector.md",
        neighbours="replace one person's whole record",
        words=Wording("record", "the chosen set", "set", streams=False),
        retry="fit() again commits this choice, and reads no people",
    )
    decisions = DecisionForm("numbers")
    settings: SetSelectorSettings
    rows_phase: ClassVar[type[SelectorPhase]]
    """The phase for one row per round."""
    parts_phase: ClassVar[type[SelectorPhase]]
    """The phase for people in partitions."""

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
        phase = self.parts_phase if self.in_parts else self.rows_phase
        blocks = EqualBlocks(count, count)
        return Scheduled.one(phase, blocks, self.people, constants=self.constants)

    @property
    def constants(self) -> tuple[object, ...]:
        """What the state depends on besides settings and the noise."""
        return ()

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

    def released_shape(self) -> Public:
        """Return the layout of the state after the release."""
        return self.first

    @property
    def questions(self) -> Questions:
        return Questions(in_rounds=not self.in_parts)

    @property
    def answer(self) -> Entry:
        family = self.settings.family
        if family is None:
            return Entry(None)
        return Entry(np.full(family.width(self.settings.domain.items), np.nan))
