"""Public state of the incumbent search: one dataclass, and the plan of the current block.

    log ──► first screening ──► later screening … ──► exchange ⟲ ──► settled
                  ▲                                       │
                  └─ alarm: the incumbent's reward changed ┘

`Public.phase` is the plan of the block, fixed by the release before it. Its class, together with
the kind of feedback, determines the phase that serves the block (`PHASES` in mode.py).
"""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, TypeVar

import numpy as np

from discreet.arrays import Integers
from discreet.engine.declarations import Stored
from discreet.errors import StateError
from discreet.learners.set_maximizer.catalogue import Catalogue
from discreet.learners.set_maximizer.incumbent_search.posterior import Posterior
from discreet.learners.set_maximizer.incumbent_search.trials import Trials

if TYPE_CHECKING:
    from discreet.learners.set_maximizer.incumbent_search.mode import IncumbentSearch

NOTHING_CHOSEN = np.zeros(0, dtype=np.int64)


# --- the plans of blocks --------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class FirstScreeningPlan:
    """Plan of the first block of a screening: random slates."""

    stage: ClassVar[int] = 0
    prefix: ClassVar[Integers] = NOTHING_CHOSEN
    length: int
    since: int
    """The round in which this screening began."""
    table: Integers
    """One slate per row; the rounds cycle through the rows."""

    @property
    def items(self) -> tuple[Integers, ...]:
        """Arrays of all item numbers in this plan, for `Catalogue.check_items`."""
        return (self.table,)

    def check(self, slots: int) -> None:
        """Refuse a plan that is impossible for this number of slots."""

    @classmethod
    def blank(cls, slots: int) -> "FirstScreeningPlan":
        """Return an empty plan with the dtypes and shapes that a restored plan must have."""
        return cls(0, 0, _no_slates(slots))


@dataclass(frozen=True, eq=False)
class LaterScreeningPlan:
    """Plan of a later screening block: random slates, or Thompson sampling behind a prefix."""

    length: int
    since: int
    """The round in which this screening began; negative if a log stands for earlier rounds."""
    stage: int
    """Stage of the screening schedule; 0 as long as slates are random."""
    table: Integers
    """One slate per row; the rounds cycle through the rows."""
    prefix: Integers
    """The first items of every slate: the leaders that are fixed."""
    heaviest: float
    """Largest total weight of one slate (rewards)."""

    @property
    def items(self) -> tuple[Integers, ...]:
        """Arrays of all item numbers in this plan, for `Catalogue.check_items`."""
        return (self.table, self.prefix)

    def check(self, slots: int) -> None:
        """Refuse a plan that is impossible for this number of slots."""
        if len(self.prefix) >= slots:
            raise StateError(f"a prefix must leave at least one of the {slots} slots free")

    @classmethod
    def blank(cls, slots: int) -> "LaterScreeningPlan":
        """Return an empty plan with the dtypes and shapes that a restored plan must have."""
        return cls(0, 0, 0, _no_slates(slots), NOTHING_CHOSEN, 1.0)


ScreeningPlan = FirstScreeningPlan | LaterScreeningPlan


@dataclass(frozen=True, eq=False)
class ExchangePlan:
    """Plan of an exchange block: the incumbent, and trials of it with one slot exchanged."""

    length: int
    trials: Trials

    @property
    def items(self) -> tuple[Integers, ...]:
        """Arrays of all item numbers in this plan, for `Catalogue.check_items`."""
        return (self.trials.items,)

    def check(self, slots: int) -> None:
        """Refuse a plan that is impossible for this number of slots."""
        trials = self.trials
        are_slots = (trials.slots >= 0).all() and (trials.slots < slots).all()
        do_fit = (trials.rounds >= 0).all() and trials.rounds.sum() <= self.length
        if not (are_slots and do_fit):
            raise StateError("trials must exchange slots of the slate, in rounds of their block")

    @classmethod
    def blank(cls, slots: int) -> "ExchangePlan":
        """Return an empty plan with the dtypes and shapes that a restored plan must have."""
        return cls(0, Trials(NOTHING_CHOSEN, NOTHING_CHOSEN, NOTHING_CHOSEN))


@dataclass(frozen=True, eq=False)
class SettledPlan:
    """Plan of a block without trials: no answers are read."""

    length: int

    @property
    def items(self) -> tuple[Integers, ...]:
        """Arrays of all item numbers in this plan, for `Catalogue.check_items`."""
        return ()

    def check(self, slots: int) -> None:
        """Refuse a plan that is impossible for this number of slots."""

    @classmethod
    def blank(cls, slots: int) -> "SettledPlan":
        """Return an empty plan with the dtypes and shapes that a restored plan must have."""
        return cls(0)


@dataclass(frozen=True, eq=False)
class LogPlan:
    """Plan of a log of another policy: it takes no rounds, and counts as random slates."""

    stage: ClassVar[int] = 0
    prefix: ClassVar[Integers] = NOTHING_CHOSEN
    since: int
    """The round in which the screening began; negative, since the log stands for earlier rounds."""
    views: float
    """Expected total weight of the rows that show an item at a given place."""
    length: int = 0

    @property
    def items(self) -> tuple[Integers, ...]:
        """Arrays of all item numbers in this plan, for `Catalogue.check_items`."""
        return ()

    def check(self, slots: int) -> None:
        """Refuse a plan that is impossible for this number of slots."""

    @classmethod
    def blank(cls, slots: int) -> "LogPlan":
        """Return an empty plan with the dtypes and shapes that a restored plan must have."""
        return cls(0, 0.0)


BlockPlan = ScreeningPlan | ExchangePlan | SettledPlan | LogPlan
OwnPlan = TypeVar("OwnPlan", bound=BlockPlan)


def _no_slates(slots: int) -> Integers:
    return np.zeros((0, slots), dtype=np.int64)


# --- the state ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class LogFacts:
    """Public facts about the log of a warm start."""

    rows: int
    least: float
    """Least propensity: lower ones count as this."""
    random: int = 0
    """Number of rounds of random slates that were planned before the log was read."""


@dataclass(frozen=True)
class Normal:
    """An estimate with its variance."""

    mean: float
    variance: float


@dataclass(frozen=True, eq=False)
class Public(Stored):
    """Everything that releases and public events have produced."""

    growing = (  # flat keys of all plans; keys that the plan of the block lacks are ignored
        ("posterior.contexts", "posterior.means", "posterior.precisions"),
        ("phase.trials.slots", "phase.trials.items", "phase.trials.rounds"),
        ("phase.table",),
        ("phase.prefix",),
    )

    catalogue: Catalogue
    rounds: int
    """The current horizon: the planned rounds, extensions included."""
    posterior: Posterior
    slate: Integers
    """The incumbent: the best known slate."""
    level: float
    """Mean reward of a slate (rewards); the variance of one reward is level · (1 − level)."""
    reference: Normal | None
    """Mean reward of the incumbent (rewards); None before the first exchange block."""
    screened: int
    """Number of screening rounds so far, this block included."""
    tried: int
    """Number of trial rounds of exchange blocks so far, this block included."""
    exchanges: int
    """Number of exchange blocks since the last screening, this block included."""
    log: LogFacts | None
    """Public facts about the log of a warm start; None without one."""
    phase: BlockPlan
    """The plan of the current block."""

    def shape(self, mode: "IncumbentSearch", index: int) -> "Public":
        if isinstance(self.phase, ScreeningPlan):
            stages = mode.planner.stages_of(self)
            if not 0 <= self.phase.stage < len(stages):
                raise StateError("this state is at a screening stage that its settings do not have")
        return replace(
            mode.first,
            log=None if self.log is None else LogFacts(0, 1.0),
            reference=None if self.reference is None else Normal(0.0, 0.0),
            phase=self.phase.blank(mode.settings.slots),
        )

    def check(self, mode: "IncumbentSearch") -> None:
        slots = mode.settings.slots
        contexts = self.posterior.contexts
        members = contexts[contexts != -1]
        self.catalogue.check_items(slots, self.slate, members, *self.phase.items)
        self.phase.check(slots)
