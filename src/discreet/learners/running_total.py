"""A private running total in a learner's state: the noisy sum of the aggregates of all blocks.

Schedule, aggregator, sum and facts are one typed object with a name, so that several fit in one
state:

    gains.aggregator.add(gains.of(block), rows)              the aggregator has its own type
    total = gains.next(public.gains, hidden, block, door)    the next public.gains: total.public
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Generic, TypeVar

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
"""Largest number of releases that stand for all of them in a mean."""


@dataclass(frozen=True)
class Total:
    """A released total, in the units of people's numbers, and the state after it."""

    values: Floats
    variance: float
    """Variance of each number."""
    step_variance: float
    """Variance, or a bound on it, of each number's increase over the total before."""
    public: State
    """Public state of this total alone."""
    hidden: State
    """Hidden state, with keys under the name of this total."""


Kind = TypeVar("Kind", bound=Aggregator)


@dataclass(frozen=True)
class RunningTotal(Generic[Kind]):
    """The private running total of one aggregator, released after every block of a schedule."""

    name: str
    wanted: Kind
    """The aggregator, on any grid; `aggregator` is on the grid of the sum."""
    schedule: Schedule
    privacy: Privacy
    people: int
    """Largest number of people in a block."""
    method: str = "auto"
    """The mechanism; "auto" for the one with the least noise."""
    disjoint: bool = True
    """Whether blocks may be noised separately, each paid by its own people."""
    share: float = 1.0
    """Share of the budget; the same people's other releases get the rest, in this sum's measure."""
    pure: bool = False
    """Whether noise is for (ε, 0), which implies (ε, δ), although a δ is granted."""

    @property
    def releases(self) -> int:
        """Number of releases for which the sum is calibrated."""
        assert self.schedule.releases is not None
        return self.schedule.releases

    @cached_property
    def sum(self) -> PrefixSum:
        """The calibrated mechanism."""
        stream = Stream(self.wanted, max(1, self.releases), self.people)
        privacy = replace(self.privacy, delta=0.0) if self.pure else self.privacy
        return calibrate(privacy, stream, self.method, disjoint=self.disjoint, share=self.share)

    @cached_property
    def aggregator(self) -> Kind:
        """The aggregator of a block, on the grid of the sum."""
        return self.wanted.on_grid(self.sum.aggregator.levels)

    def of(self, block: Block) -> Aggregate:
        """Return the aggregate of the block so far."""
        return block[self.name]

    @cached_property
    def noise(self) -> float:
        """Standard deviation of the last total, in units of the bound on one person's numbers."""
        return float(self.sum.variance(max(1, self.releases)) ** 0.5 / self.aggregator.levels)

    @cached_property
    def usual_noise(self) -> float:
        """Geometric mean of all totals' standard deviations, in the units of people's numbers.

        Early totals count as much as late ones, because decisions rest on each of them.
        """
        return float(np.exp(np.mean(np.log(self._deviations))))

    @cached_property
    def mean_noise(self) -> float:
        """Mean of all totals' standard deviations, in the units of people's numbers."""
        return float(np.mean(self._deviations))

    @cached_property
    def _deviations(self) -> Floats:
        """Standard deviations of at most `MOST_LOOKED_AT` totals, from the first to the last."""
        releases = max(1, self.releases)
        evenly_spaced = np.linspace(1, releases, min(releases, MOST_LOOKED_AT))
        counts = np.unique(evenly_spaced.astype(int)).tolist()
        in_steps = np.array([self.sum.variance(count) ** 0.5 for count in counts])
        return in_steps * self.aggregator.grid

    def covariance(self, releases: Integers) -> Floats:
        """Return the covariance matrix of one number of these totals, in squared units."""
        return self.sum.covariance(releases) * self.aggregator.grid**2

    def plan(self, facts: Mapping[str, object]) -> Plan:
        """Return the plan with a release of this total after every block, and nothing else."""
        spent = self.sum.spent(self.releases)
        if self.sum.has_cohorts:  # each block is a cohort
            total = paid_by_cohorts(self.privacy, [spent], blocks=self.releases)
        elif self._is_one_pure_cohort:
            total = paid_by_cohorts(self.privacy, [spent])
        else:
            total = Spending(spent)
        return Plan.scheduled(
            self.schedule,
            self.sum.charge,
            total,
            cohort=self._cohort,
            facts=dict(facts),
            constants=(self.name, self.sum),
        )

    @property
    def _is_one_pure_cohort(self) -> bool:
        """Whether all people are one cohort, which pays in the pure measure though δ > 0."""
        return self.pure and not self.privacy.pure

    def _cohort(self, index: int) -> int | None:
        """Return the cohort that pays for release `index`; None if there are no cohorts."""
        if self.sum.has_cohorts:
            return index
        return 0 if self._is_one_pure_cohort else None

    def start(self) -> tuple[State, State]:
        """Return public and hidden state before the first release, hidden under this name."""
        public, hidden = self.sum.start()
        return public, self._named(hidden)

    def next(self, public: State, hidden: State, block: Block, door: Door) -> Total:
        """Release the next total through the door, from this total's own public state."""
        public, hidden = door.prefix(self.sum, public, self._own(hidden), self.of(block))
        count = hidden["steps"]
        grid = self.aggregator.grid
        return Total(
            values=public["prefix"].reshape(self.aggregator.shape) * grid,
            variance=self.sum.variance(count) * grid**2,
            step_variance=self.sum.step_variance(count) * grid**2,
            public=public,
            hidden=self._named(hidden),
        )

    def _named(self, state: State) -> State:
        """Return the entries of this total with its name before each key."""
        return {f"{self.name}.{name}": value for name, value in state.items()}

    def _own(self, state: State) -> State:
        """Return the entries under this total's name, without the name."""
        prefix = f"{self.name}."
        size = len(prefix)
        return {name[size:]: value for name, value in state.items() if name.startswith(prefix)}
