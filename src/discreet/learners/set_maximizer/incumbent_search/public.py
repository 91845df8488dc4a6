"""What the screen-and-exchange mode publishes: one state, and the plan of the block people are in.

    log ──► first screening ──► later screening … ──► exchange ⟲ ──► settled
                  ▲                                       │
                  └─ an alarm: the slate earns otherwise ─┘

`Public.phase` is the plan of the block, fixed by the release before it; its class, and the kind of
feedback, say which phase serves the block (`PHASES` in mode.py).
"""

from dataclasses import dataclass
from typing import ClassVar, TypeVar

import numpy as np

from discreet.arrays import Integers
from discreet.errors import StateError
from discreet.learners.set_maximizer.catalogue import Catalogue
from discreet.learners.set_maximizer.incumbent_search.posterior import Posterior
from discreet.learners.set_maximizer.incumbent_search.trials import Trials

NOTHING_CHOSEN = np.zeros(0, dtype=np.int64)


# --- the plans of blocks --------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class FirstScreeningPlan:
    """A block of random slates, before anything is known."""

    stage: ClassVar[int] = 0
    prefix: ClassVar[Integers] = NOTHING_CHOSEN
    length: int
    since: int
    """The round in which this screening began."""
    table: Integers
    """The slates, one per row, that rounds go through again and again."""

    @property
    def items(self) -> tuple[Integers, ...]:
        """All numbers of items in this plan."""
        return (self.table,)

    def check(self, slots: int) -> None:
        """Refuse what no plan can hold for this number of slots."""

    @classmethod
    def blank(cls, slots: int) -> "FirstScreeningPlan":
        """Return an empty plan: it shows the dtypes and shapes that restored plans must have."""
        return cls(0, 0, _no_slates(slots))


@dataclass(frozen=True, eq=False)
class LaterScreeningPlan:
    """A block of more random slates, or of Thompson's choice behind a prefix."""

    length: int
    since: int
    """The round in which this screening began; negative if a log stands for earlier rounds."""
    stage: int
    """Stage of the screening schedule; 0 as long as slates are random."""
    table: Integers
    """The slates, one per row, that rounds go through again and again."""
    prefix: Integers
    """The items that stand first in every slate: leaders that are fixed already."""
    heaviest: float
    """The most that the weights of one slate add up to (rewards)."""

    @property
    def items(self) -> tuple[Integers, ...]:
        """All numbers of items in this plan."""
        return (self.table, self.prefix)

    def check(self, slots: int) -> None:
        """Refuse what no plan can hold for this number of slots."""
        if len(self.prefix) >= slots:
            raise StateError("a prefix leaves no slot free")

    @classmethod
    def blank(cls, slots: int) -> "LaterScreeningPlan":
        """Return an empty plan: it shows the dtypes and shapes that restored plans must have."""
        return cls(0, 0, 0, _no_slates(slots), NOTHING_CHOSEN, 1.0)


ScreeningPlan = FirstScreeningPlan | LaterScreeningPlan


@dataclass(frozen=True, eq=False)
class ExchangePlan:
    """A block of the incumbent slate, and of trials: the incumbent with one slot exchanged."""

    length: int
    trials: Trials

    @property
    def items(self) -> tuple[Integers, ...]:
        """All numbers of items in this plan."""
        return (self.trials.items,)

    def check(self, slots: int) -> None:
        """Refuse what no plan can hold for this number of slots."""
        trials = self.trials
        numbers = np.concatenate([trials.slots, slots - 1 - trials.slots, trials.rounds])
        if (numbers < 0).any() or trials.rounds.sum() > self.length:
            raise StateError("there are no such trials")

    @classmethod
    def blank(cls, slots: int) -> "ExchangePlan":
        """Return an empty plan: it shows the dtypes and shapes that restored plans must have."""
        return cls(0, Trials(NOTHING_CHOSEN, NOTHING_CHOSEN, NOTHING_CHOSEN))


@dataclass(frozen=True, eq=False)
class SettledPlan:
    """A block in which nothing is tried, and nobody is read."""

    length: int

    @property
    def items(self) -> tuple[Integers, ...]:
        """All numbers of items in this plan."""
        return ()

    def check(self, slots: int) -> None:
        """Refuse what no plan can hold for this number of slots."""

    @classmethod
    def blank(cls, slots: int) -> "SettledPlan":
        """Return an empty plan: it shows the dtypes and shapes that restored plans must have."""
        return cls(0)


@dataclass(frozen=True, eq=False)
class LogPlan:
    """A log of another policy, read in no round: it counts as random slates."""

    stage: ClassVar[int] = 0
    prefix: ClassVar[Integers] = NOTHING_CHOSEN
    since: int
    views: float
    """How often each item is expected to stand at each place, rows counted by their weights."""
    length: int = 0

    @property
    def items(self) -> tuple[Integers, ...]:
        """All numbers of items in this plan."""
        return ()

    def check(self, slots: int) -> None:
        """Refuse what no plan can hold for this number of slots."""

    @classmethod
    def blank(cls, slots: int) -> "LogPlan":
        """Return an empty plan: it shows the dtypes and shapes that restored plans must have."""
        return cls(0, 0.0)


BlockPlan = ScreeningPlan | ExchangePlan | SettledPlan | LogPlan
OwnPlan = TypeVar("OwnPlan", bound=BlockPlan)


def _no_slates(slots: int) -> Integers:
    return np.zeros((0, slots), dtype=np.int64)


# --- the state ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class LogFacts:
    """What is public of the log that this learner was warm-started with."""

    rows: int
    least: float
    """Least propensity: lower ones count as this."""
    random: int = 0
    """The rounds of random slates that were planned before the log was read."""


@dataclass(frozen=True)
class Normal:
    """An estimate: its mean and its variance."""

    mean: float
    variance: float


@dataclass(frozen=True, eq=False)
class Public:
    """All that releases and public events have produced."""

    catalogue: Catalogue
    rounds: int
    """Number of rounds that are planned by now."""
    posterior: Posterior
    slate: Integers
    """The incumbent: the best slate that is known."""
    level: float
    """Mean reward of a slate (rewards): the variance of one reward, level · (1 − level),
    follows.
    """
    reference: Normal | None
    """Mean reward of the incumbent (rewards); None before the first exchange block."""
    screened: int
    """Number of rounds that screening has taken so far, this block included."""
    tried: int
    """Number of rounds that were trials of exchange blocks so far, this block included."""
    exchanges: int
    """Number of exchange blocks since the last screening, this block included."""
    log: LogFacts | None
    """What is public of the log of a warm start; None without one."""
    phase: BlockPlan
    """The plan of the block that people are in."""
