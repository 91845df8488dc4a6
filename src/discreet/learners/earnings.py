"""What a learner earns, published for a share of the budget: the mean reward of each block's people.

A block's people enter the release of what they earned beside that of what they teach, in the same turn, and
pay for both in one measure:

    learned by releases that each read people of their own     so is what they earned, each with its own noise
    learned by a running total                                 so is what they earned: a running total beside

(sets do the one, a contextual bandit first the one, then the other). Rewards are counted in units of how far
they can be from what a missing answer is taken for, so that a missing answer adds nothing.

Guarantee   docs/guarantees/contextual.md, Lemma 4; docs/guarantees/sets.md, Lemma 6;
            docs/guarantees/costs.md, Lemma 2
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from discreet.arrays import Floats
from discreet.budget.privacy import Charge, pure
from discreet.errors import StateError
from discreet.learners.totals import RunningTotal
from discreet.release.door import Door
from discreet.release.gathering import Gathering, PublicCells
from discreet.release.noise import Once
from discreet.turn.flat import FlatProblem
from discreet.turn.plan import State
from discreet.turn.questions import Block
from discreet.turn.readings import Report
from discreet.turn.settings import Settings

__all__ = ["Earner", "Earnings", "Units"]


@dataclass(frozen=True)
class Units:
    """How rewards are counted: as numbers between `low` and `high`, in units of `scale`, from `zero` on.

    A missing one counts as `zero`.
    """

    low: float
    high: float
    scale: float = 1.0
    zero: float = 0.0
    what: str = "mean reward"
    """What reports are of, in words."""

    @property
    def number(self) -> PublicCells:
        """What one person adds: a number in the one cell there is."""
        return PublicCells((1,), self.low, self.high)


@dataclass(frozen=True)
class Earnings:
    """What each block's people earned, released with what they teach."""

    units: Units
    once: Once[PublicCells]
    """The noise of releases that read people of their own: the first `alone`, or all if there is no total."""
    total: RunningTotal[PublicCells] | None = None
    alone: int = 0

    @classmethod
    def by_cohorts(cls, settings: Settings, units: Units) -> "Earnings | None":
        """Every release reads people of its own, who pay the share `report` of ε; None without a report."""
        if not settings.report:
            return None
        budget = pure(settings.epsilon / settings.contributions) * settings.report
        return cls(units, Once.for_budget(budget, units.number))

    # --- what it costs ------------------------------------------------------------------------------------

    def _own(self, index: int) -> Once[PublicCells] | None:
        """The noise of release `index` if it reads people of its own."""
        return self.once if self.total is None or index < self.alone else None

    def charge(self, index: int) -> Charge:
        """What release `index` costs beside what is learned."""
        once = self._own(index)
        return self._running.sum.charge(index - self.alone) if once is None else once.charge

    @property
    def _running(self) -> RunningTotal[PublicCells]:
        assert self.total is not None
        return self.total

    @property
    def spent(self) -> Charge:
        """What anyone pays in all for reports: those of the total, if there is one."""
        if self.total is None:
            return self.charge(0)
        return self.total.sum.spent(self.total.releases)

    @property
    def noise(self) -> float:
        """The standard deviation of what the last block is said to have earned in all, in rewards' units."""
        if self.total is None:
            return _deviation(self.once) * self.units.scale
        steps = self.total.sum.step_variance(max(1, self.total.releases))
        return float(steps**0.5 * self.total.gathering.grid) * self.units.scale

    @property
    def facts(self) -> dict[str, Any]:
        """What a person planning with it would like to know."""
        return {"noise_of_report": self.noise}

    @property
    def constants(self) -> tuple[Any, ...]:
        """All that a state depends on: noise and levels."""
        return (self.once,) if self.total is None else (self.once, self.total.sum)

    # --- the hooks ----------------------------------------------------------------------------------------

    def start(self) -> tuple[State, State]:
        """Public and kept state before the first release."""
        public, kept = ({}, {}) if self.total is None else self.total.start()
        public = public if self.total is None else self.total.named(public)
        return public | {"report": np.zeros((0, 3)), "earned_before": 0.0}, kept

    def gathering(self, index: int) -> Gathering:
        """What the block before release `index` adds up."""
        once = self._own(index)
        return self._running.gathering if once is None else once.gathering

    def add(self, block: Block, rewards: Floats) -> None:
        """Add people's rewards, in units; where a block reads nobody, nothing."""
        if "earned" not in block:
            return
        gathering = block["earned"].gathering
        assert isinstance(gathering, PublicCells)
        gathering.add(block["earned"], np.zeros((len(rewards), 1), dtype=np.int64), rewards)

    def next(
        self, public: State, kept: State, block: Block, door: Door, *, end: int, rounds: int
    ) -> tuple[State, State]:
        """The public and kept state with one more entry: of the block of so many rounds up to round `end`."""
        once = self._own(door.index)
        if once is not None:
            earned, before = float(door.release(once, block["earned"])[0]), 0.0
            deviation = _deviation(once)
        else:
            found = self._running.next(self._running.own(public), kept, block, door)
            earned, before = float(found.values[0]) - public["earned_before"], float(found.values[0])
            deviation = found.step_variance**0.5
            public, kept = public | self._running.named(found.public), kept | found.kept
        entry = [end, earned / rounds, deviation / rounds]
        return public | {"report": np.vstack([public["report"], entry]), "earned_before": before}, kept

    def report(self, public: State) -> Report:
        """The entries so far, in the rewards' own units."""
        rounds, value, deviation = public["report"].T
        units = self.units
        values, deviations = units.zero + units.scale * value, units.scale * deviation
        return Report(rounds.astype(np.int64), values, deviations, units.what)


def _deviation(once: Once[PublicCells]) -> float:
    """The standard deviation of what is released, in units."""
    return once.standard_deviation * once.gathering.bound


class Earner(FlatProblem):
    """A way of learning that may report what it earns."""

    growing: ClassVar[tuple[tuple[str, ...], ...]] = (("report",),)

    @property
    def earnings(self) -> Earnings | None:
        """How it is reported; None if nothing is paid for that."""
        return None

    def report(self, public: State) -> Report:
        if self.earnings is not None:
            return self.earnings.report(public)
        if not self.settings.earns:
            return super().report(public)
        raise StateError("nothing was paid for a report: make the learner with report=0.1, say")
