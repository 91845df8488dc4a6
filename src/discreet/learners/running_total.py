"""A running total inside a learner's state: what each block gathers, and the noisy sum of all
blocks so far.

Schedule, aggregator, sum and facts are one typed object with a name, so that several fit in one
state:

    gains.aggregator.add(gains.of(block), rows)             the aggregator has its own type
    total = gains.next(public.gains, kept, block, door)    `total.public` is the next `public.gains`
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Generic, TypeVar

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.budget.ledger import Spending
from discreet.budget.privacy import Privacy
from discreet.engine.plan import Plan, State, paid_by_cohorts
from discreet.engine.request import Block
from discreet.engine.schedule import Schedule
from discreet.release.aggregators import Aggregate, Aggregator
from discreet.release.door import Door
from discreet.release.sums.prefix_sum import PrefixSum, Stream, calibrate

MOST_LOOKED_AT = 200
"""Releases, for a mean over all of them."""


@dataclass(frozen=True)
class Total:
    """A released total, in the units that people's numbers have, and the state to go on from."""

    values: Floats
    variance: float
    """Of each number."""
    step_variance: float
    """Of what it adds to the total before it, or a bound on that."""
    public: State
    """Of this total alone."""
    hidden: State
    """By the name of this total."""


Kind = TypeVar("Kind", bound=Aggregator)


@dataclass(frozen=True)
class RunningTotal(Generic[Kind]):
    """The private running total of one aggregator.

    `people` is the most people that one block adds up.
    """

    name: str
    wanted: Kind
    schedule: Schedule
    privacy: Privacy
    people: int
    method: str = "auto"
    disjoint: bool = True
    """Whether blocks may be noised separately, each paid by its own people."""
    share: float = 1.0
    """Of the budget; the same people's other releases get the rest, in the measure of this sum's
    charges.
    """
    pure: bool = False
    """Whether noise is for (ε, 0), which implies (ε, δ), though a δ is granted."""

    @property
    def releases(self) -> int:
        """How many there are, for which the sum is calibrated."""
        assert self.schedule.releases is not None
        return self.schedule.releases

    @cached_property
    def sum(self) -> PrefixSum:
        """The mechanism with the least noise."""
        stream = Stream(self.wanted, max(1, self.releases), self.people)
        privacy = replace(self.privacy, delta=0.0) if self.pure else self.privacy
        return calibrate(privacy, stream, self.method, disjoint=self.disjoint, share=self.share)

    @cached_property
    def aggregator(self) -> Kind:
        """What a block is aggregated with: on the sum's grid."""
        return self.wanted.on_grid(self.sum.aggregator.levels)

    def of(self, block: Block) -> Aggregate:
        """Return what was aggregated so far."""
        return block[self.name]

    @cached_property
    def noise(self) -> float:
        """The standard deviation of the last total, in units of the most that one person may
        contribute.
        """
        return float(self.sum.variance(max(1, self.releases)) ** 0.5 / self.aggregator.levels)

    @cached_property
    def usual_noise(self) -> float:
        """The geometric mean of all totals' standard deviations, in the units of people's numbers.

        Early totals count as much as late ones: whoever decides by each of them loses by each.
        """
        return float(np.exp(np.mean(np.log(self._deviations))))

    @cached_property
    def mean_noise(self) -> float:
        """The mean of all totals' standard deviations, in the units of people's numbers."""
        return float(np.mean(self._deviations))

    @cached_property
    def _deviations(self) -> Floats:
        """The standard deviations of totals, of so many from the first to the last."""
        releases = max(1, self.releases)
        counts = np.unique(
            np.linspace(1, releases, min(releases, MOST_LOOKED_AT)).astype(int)
        ).tolist()
        return (
            np.array([self.sum.variance(count) ** 0.5 for count in counts]) * self.aggregator.grid
        )

    def covariance(self, releases: Integers) -> Floats:
        """The covariance matrix of one number of these totals, in the squared units of people's
        numbers.
        """
        return self.sum.covariance(releases) * self.aggregator.grid**2

    def plan(self, facts: dict[str, Any]) -> Plan:
        """A release of this total after every block, and nothing else."""
        spent, apart = self.sum.spent(self.releases), self.sum.has_cohorts
        total, one = Spending(spent), None
        if apart:
            total = paid_by_cohorts(self.privacy, [spent], blocks=self.releases)
        elif (
            self.pure and not self.privacy.pure
        ):  # everyone is one cohort, which pays in the pure measure
            total, one = paid_by_cohorts(self.privacy, [spent]), 0
        return Plan.scheduled(
            self.schedule,
            self.sum.charge,
            total,
            cohort=lambda index: index if apart else one,
            facts=facts,
            constants=(self.name, self.sum),
        )

    def start(self) -> tuple[State, State]:
        """Public state of this total, and kept state by its name, before the first release."""
        public, hidden = self.sum.start()
        return public, self._named(hidden)

    def next(self, public: State, hidden: State, block: Block, door: Door) -> Total:
        """The next total, through the door, from this total's own public state."""
        public, hidden = door.prefix(self.sum, public, self._own(hidden), self.of(block))
        count, grid = hidden["steps"], self.aggregator.grid
        return Total(
            values=public["prefix"].reshape(self.aggregator.shape) * grid,
            variance=self.sum.variance(count) * grid**2,
            step_variance=self.sum.step_variance(count) * grid**2,
            public=public,
            hidden=self._named(hidden),
        )

    def _named(self, state: State) -> State:
        """Entries of this total under its name."""
        return {f"{self.name}.{name}": value for name, value in state.items()}

    def _own(self, state: State) -> State:
        """The entries under this total's name."""
        begin = f"{self.name}."
        return {
            name[len(begin) :]: value for name, value in state.items() if name.startswith(begin)
        }
