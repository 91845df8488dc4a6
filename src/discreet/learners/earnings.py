"""What a learner earns, published for a share of the budget: the mean reward of each block's people.

The first `alone` releases read people of their own, each with its own noise; the others are a running total,
like what is learned from the same people. Rewards are counted around the middle of their range, in units of
half of it, so that whoever gave none counts with the middle.

Guarantee   docs/guarantees/contextual.md, Lemma 4
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from discreet.arrays import Floats
from discreet.budget.privacy import Charge, Privacy
from discreet.learners.totals import RunningTotal
from discreet.release.door import Door
from discreet.release.gathering import Gathering, PublicCells
from discreet.release.noise import Once
from discreet.turn.plan import State
from discreet.turn.problem import Block, Report
from discreet.turn.schedule import ListedBlocks

__all__ = ["Earnings"]


@dataclass(frozen=True)
class Earnings:
    """Rewards of each block's people, released with what they teach."""

    share: float
    privacy: Privacy
    schedule: ListedBlocks
    alone: int

    @cached_property
    def once(self) -> Once:
        """The noise of a release with people of its own."""
        return Once.for_budget(self.privacy.budget * self.share, PublicCells((1,), -1.0, 1.0))

    @cached_property
    def total(self) -> RunningTotal:
        """What the later releases add up."""
        lengths = self.schedule.lengths[self.alone :]
        return RunningTotal(
            "earned",
            PublicCells((1,), -1.0, 1.0),
            ListedBlocks(self.schedule.horizon, lengths),
            self.privacy,
            people=max(lengths, default=1),
            fresh=False,
            share=self.share,
        )

    def charge(self, index: int) -> Charge:
        """What release `index` costs beside what is learned."""
        return self.once.charge if index < self.alone else self.total.sum.charge(index - self.alone)

    @property
    def spent(self) -> Charge:
        """What the people of the later releases pay in all."""
        return self.total.sum.spent(self.total.releases)

    def start(self) -> tuple[State, State]:
        """Public and kept state before the first release."""
        public, kept = self.total.start()
        return public | {"report": np.zeros((0, 3)), "earned_before": 0.0}, kept

    def gathering(self, index: int) -> Gathering:
        """What the block before release `index` adds up."""
        return self.once.gathering if index < self.alone else self.total.gathering

    def add(self, block: Block, rewards: Floats) -> None:
        """Add people's rewards, in [−1, 1]."""
        gathering = block["earned"].gathering
        assert isinstance(gathering, PublicCells)
        gathering.add(block["earned"], np.zeros((len(rewards), 1), dtype=np.int64), rewards)

    def next(self, public: State, kept: State, block: Block, door: Door) -> tuple[State, State]:
        """The public and kept state with one more entry."""
        rounds = self.schedule.lengths[door.index]
        if door.index < self.alone:
            earned = float(door.release(self.once, block["earned"])[0])
            deviation, before = self.once.standard_deviation, 0.0
        else:
            found = self.total.next(public, kept, block, door)
            earned, before = float(found.values[0]) - public["earned_before"], float(found.values[0])
            deviation = found.step_variance**0.5
            public, kept = public | found.public, kept | found.kept
        entry = [self.schedule.end(door.index), earned / rounds, deviation / rounds]
        return public | {"report": np.vstack([public["report"], entry]), "earned_before": before}, kept

    def report(self, public: State, middle: float, scale: float) -> Report:
        """The entries so far, in the rewards' own units."""
        rounds, value, deviation = public["report"].T
        return Report(rounds.astype(np.int64), middle + scale * value, scale * deviation)
