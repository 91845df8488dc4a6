"""Stages of people: preparations that each read their own, then one running total of what ridges need.

    releases 0 … p − 1      preparations, each with the whole budget for its own people
    releases p, p + 1, …    second moments and moments of every arm, through one running total

Which stage a person enters is fixed by the clock before they come. Every release may also report what its
people earned, for a share of the budget.

Guarantee   docs/guarantees/contextual.md, Theorem 1
"""

from abc import abstractmethod
from functools import cached_property
from typing import Any, ClassVar

from discreet.budget.privacy import Charge
from discreet.learners.contextual_bandit.arms import ArmsMode, People
from discreet.learners.earnings import Earner, Earnings, Units
from discreet.learners.totals import RunningTotal
from discreet.release.door import Door
from discreet.release.gathering import Gathering, Moments
from discreet.release.gathering.rounded import Rounded
from discreet.release.noise import Once
from discreet.turn.plan import Plan, State, paid_by_cohorts
from discreet.turn.questions import Batch, Block
from discreet.turn.schedule import ListedBlocks, growing_blocks

__all__ = ["StagedMode"]


class StagedMode(ArmsMode, Earner):
    """A way of learning with preparations and a running total of second moments and moments."""

    growth: ClassVar[float]
    """Of the blocks, once preparations are over."""

    @property
    @abstractmethod
    def preparation(self) -> tuple[int, ...]:
        """The rounds of each preparation."""

    @property
    @abstractmethod
    def prepared(self) -> list[Charge]:
        """What each preparation costs its people."""

    @property
    @abstractmethod
    def first_block(self) -> float:
        """The rounds of the first block after them, where nobody says."""

    @property
    @abstractmethod
    def width(self) -> int:
        """How many numbers a mapped context has."""

    @property
    @abstractmethod
    def constants(self) -> tuple[Any, ...]:
        """What the preparations' state depends on besides the settings."""

    @cached_property
    def schedule(self) -> ListedBlocks:
        settings, rounds = self.settings, self.settings.rounds
        first = self.first_block if settings.block == "auto" else settings.block
        blocks = growing_blocks(rounds - sum(self.preparation), first, self.growth)
        return ListedBlocks(rounds, (*self.preparation, *blocks))

    @cached_property
    def moments(self) -> RunningTotal[Any]:
        wanted = Moments.of(self.settings.slots, self.width)
        return self._total("moments", wanted, 1 - self.settings.report)

    def _total(self, name: str, wanted: Gathering, share: float) -> RunningTotal[Any]:
        """The running total of all blocks after the preparations."""
        lengths = self.schedule.lengths[len(self.preparation) :]
        schedule = ListedBlocks(self.settings.rounds, lengths)
        people = max(lengths, default=1)
        return RunningTotal(name, wanted, schedule, self.settings.privacy, people, fresh=False, share=share)

    def check(self) -> None:
        for once in self.releasing:
            if isinstance(once.gathering, Rounded):
                once.gathering.unit  # noqa: B018  refuses grids that are too coarse, before anyone comes
        moments = self.moments.gathering
        assert isinstance(moments, Moments)
        moments.unit  # noqa: B018

    @property
    @abstractmethod
    def releasing(self) -> list[Once[Any]]:
        """What the preparations release with noise."""

    @cached_property
    def earnings(self) -> Earnings | None:
        settings = self.settings
        if not settings.report:
            return None
        units = Units(low=-1.0, high=1.0, scale=settings.half_range, zero=settings.middle)
        once = Once.for_budget(settings.privacy.budget * settings.report, units.number)
        total = self._total("earned", units.number, settings.report)
        return Earnings(units, once, total, alone=len(self.preparation))

    @cached_property
    def plan(self) -> Plan:
        prepared, total, earnings = self.prepared, self.moments.sum, self.earnings
        stages = len(prepared)

        def charge(index: int) -> Charge:
            learned = prepared[index] if index < stages else total.charge(index - stages)
            return learned if earnings is None else learned + earnings.charge(index)

        later = total.spent(self.moments.releases)
        later = later if earnings is None else later + earnings.spent
        constants = (*self.constants, total) + (earnings.constants if earnings else ())
        return Plan.scheduled(
            self.schedule,
            charge,
            paid_by_cohorts(self.settings.privacy, [*(charge(index) for index in range(stages)), later]),
            cohort=lambda index: min(index, stages),
            facts={
                "method": "screen" if self.settings.screens else "ridge",
                "why": self.settings.why,
                "releases": self.schedule.releases,
                "noise_in_people": self.moments.noise,
            }
            | (earnings.facts if earnings else {}),
            constants=constants,
        )

    # --- the hooks ----------------------------------------------------------------------------------------

    def begin(self, public: State) -> tuple[State, State]:
        """Public and kept state before anyone came, with what this way of learning adds to it."""
        sums, kept = self.moments.start()
        sums = self.moments.named(sums)
        public = self.nothing_learned() | public | sums
        if self.earnings is None:
            return public, kept
        earned, kept_too = self.earnings.start()
        return public | earned, kept | kept_too

    def gatherings(self, public: State) -> dict[str, Gathering]:
        stage = public["stage"]
        if stage < len(self.preparation):
            found = self.preparing(stage)
        else:
            found = {"moments": self.moments.gathering}
        return found if self.earnings is None else found | {"earned": self.earnings.gathering(stage)}

    @abstractmethod
    def preparing(self, stage: int) -> dict[str, Gathering]:
        """What a preparation adds up, by name."""

    def gather(self, public: State, block: Block, batch: Batch) -> None:
        people = self.people(public, batch)
        if self.earnings is not None:
            self.earnings.add(block, people.rewards)
        self.learn(public, block, people)

    @abstractmethod
    def learn(self, public: State, block: Block, people: People) -> None:
        """Add what is learned from these people."""

    def release(
        self, public: State, tally: State, kept: State, block: Block, door: Door
    ) -> tuple[State, State]:
        after = public | self.next_block(public)
        if self.earnings is not None:
            end, rounds = self.schedule.end(door.index), self.schedule.lengths[door.index]
            after, kept = self.earnings.next(after, kept, block, door, end=end, rounds=rounds)
        if public["stage"] < len(self.preparation):
            return after | self.prepare(public, door, block), kept
        total = self.moments.next(self.moments.own(public), kept, block, door)
        gathering = self.moments.gathering
        assert isinstance(gathering, Moments)
        grams, moments = gathering.parted(total.values)
        found = self.fitted(public, grams, moments, total.variance**0.5)
        return after | self.moments.named(total.public) | found | {"learned": 1}, kept | total.kept

    @abstractmethod
    def prepare(self, public: State, door: Door, block: Block) -> State:
        """What a preparation's release changes in what is public."""

    @abstractmethod
    def fitted(self, public: State, grams: Any, moments: Any, noise: float) -> State:
        """What second moments and moments with so much noise say: weights, offsets, covariances."""

    def plausible(self, count: float, stage: int) -> float:
        """How many people a preparation had, from a noisy count."""
        most = self.preparation[stage]
        return min(max(count, most / 10), float(most))
