"""A phase: one kind of block, as methods in the order in which a round meets them.

    measures                    what the block measures: by default, what its run of blocks does
    decide(rounds, request)     decisions of many rounds at once
    read(batch)                 feedback as typed answers; refuses malformed ones
    gather(block, answers)      clip, quantise, add: any rounds, in any order
    update(released)            the public state, from what the door returned
    readings()                  what may be read of it
    masks, events               counts of masks, and public events: by default none

A phase reads released values only. It never changes: the engine makes a new one for every release,
and a caller that holds an old one sees one consistent state. A mode with several kinds of blocks
has one class for each; the phase of a block follows from the public state, or from the schedule.

Guarantee   docs/guarantees/engine.md
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np

from discreet.arrays import Integers
from discreet.engine.coins import Coins
from discreet.engine.declarations import Events, Masks, Readings
from discreet.engine.flat_state import flat
from discreet.engine.phases import Scheduled
from discreet.engine.request import Batch, Block, Request
from discreet.engine.statistics import Measures, Released

Public_co = TypeVar("Public_co", covariant=True)


@dataclass(eq=False, slots=True)
class Position:
    """Which block it is. (Not frozen: that takes three times as long to make per release.)"""

    index: int
    """Index of the release that ends this block."""
    begin: int
    """First round of this block."""
    number: int
    """Number of the release that ends this block, in its run of blocks."""
    coins: Coins
    """One public coin per round of this block, for decisions that are drawn in every round.

    A shuffle that is fixed before the block begins uses `settings.coin(number)` instead.
    """


@dataclass(frozen=True, eq=False)
class Phase(ABC, Generic[Public_co]):
    """The hooks of a block, given what was released before it; base class of all phases.

    Guarantee: docs/guarantees/engine.md.
    """

    mode: Any
    """The mode of this block; each phase annotates it with its own class."""
    public: Public_co
    """The typed public state: everything that releases and public events have produced."""
    at: Position
    """Which block it is."""

    @property
    def measures(self) -> Measures:
        """What this block measures: by default, what its run of blocks does.

        Phases of a mode whose releases plan the next block state it.
        """
        phases: Scheduled = self.mode.phases
        run, _ = phases.at(self.at.index)
        return run.measures

    # --- a round, and the release -----------------------------------------------------------------

    @abstractmethod
    def decide(self, rounds: Integers, request: Request) -> np.ndarray:
        """Return the decisions of many rounds at once, one per row."""

    def read(self, batch: Batch) -> Any:
        """Return the feedback of some rounds as typed answers; refuse a malformed single one."""
        return self.mode.answer.read(batch)

    def gather(self, block: Block, answers: Any) -> None:
        """Clip, quantise and add answers from `read`: any rounds of the block, in any order.

        By default, the only statistic adds up the answers as they are.
        """
        (only,) = (statistic for statistic in self.measures if not statistic.is_beside)
        only.aggregator_at(self.at.number).add(only.of(block), answers)

    @abstractmethod
    def update(self, released: Released) -> Public_co:
        """Return the public state after this block, from what the door returned."""

    def readings(self) -> Readings:
        """Return what may be read of this phase: by default, the entries of its public state."""
        entries = flat(self.public)
        return Readings({name: np.asarray(value).tolist() for name, value in entries.items()})

    # --- masks and public events ------------------------------------------------------------------

    @property
    def masks(self) -> Masks | None:
        """What is counted of rounds with masks; None if nothing is."""
        return None

    @property
    def events(self) -> Events | None:
        """The public events that this block takes; None if it takes none."""
        return None
