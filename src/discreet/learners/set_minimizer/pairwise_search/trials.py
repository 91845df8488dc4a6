"""The two phases of the pairs mode: blocks of trials, and the last block, which reads nobody.

Each round of a block of trials plays one set, by a public shuffle. Its cost is one number in the
public cell of that set. A block's cells are released once, and the posterior is updated. Rounds in
which a mask changed the set are not read, only reported.

With `stream="drifting"` old trials fade; if the incumbent's cost differs from its posterior mean by
more than chance, they fade at once.

Guarantee   docs/guarantees/costs.md, Theorem 2, Lemma 2
"""

from dataclasses import dataclass
from functools import cached_property
from math import exp

import numpy as np

from discreet.arrays import Integers, Mask
from discreet.engine.declarations import Masks
from discreet.engine.plan import State
from discreet.engine.request import Block, Request
from discreet.engine.statistics import Measures, OneRelease, Released
from discreet.learners.set_minimizer.mode import available_sets
from discreet.learners.set_minimizer.pairwise_search.phase import Costs, PairsPhase
from discreet.learners.set_minimizer.pairwise_search.posterior import PairPosterior, TriedSets
from discreet.learners.set_minimizer.pairwise_search.public import (
    Public,
    SettledPlan,
    TrialsPlan,
    costs_release,
)
from discreet.learners.set_minimizer.pairwise_search.tuning import TUNED
from discreet.learners.start import Start
from discreet.learners.trial_allotment import TrialAllotment
from discreet.release.aggregators import PublicCells


class Trials(PairsPhase[TrialsPlan]):
    """Phase of trials: most rounds play the incumbent, some a set near it.

    In the screening all sets are random.
    """

    # --- the plan ---------------------------------------------------------------------------------

    @cached_property
    def costs(self) -> OneRelease[PublicCells]:
        """The release of this block: the sum of costs of each of its sets."""
        return costs_release(self.settings, len(self.block_plan.sets))

    @property
    def measures(self) -> Measures:
        return (self.costs, *self.mode.report)

    # --- which round plays which set --------------------------------------------------------------

    @cached_property
    def allotment(self) -> TrialAllotment:
        """Allotment of the rounds of the block to sets."""
        key = self.settings.coin(1 + self.at.index).generator().bytes(16)
        return TrialAllotment(self.block_plan.counts, self.block_plan.length, key)

    @cached_property
    def shown(self) -> Integers:
        """The sets as rows of items, padded with −1."""
        return as_rows_of_items(self.block_plan.sets)

    def played(self, rounds: Integers) -> Integers:
        """Return the number of the set that each round plays."""
        if len(rounds) == 1:
            return np.array([self.allotment.of_one(int(rounds[0]) - self.at.begin)])
        return self.allotment.of(rounds - self.at.begin)

    def is_whole(self, played: Integers, available: Mask | None) -> Mask:
        """Return whether the whole set of each round was available."""
        if available is None:
            return np.ones(len(played), dtype=np.bool_)
        return np.asarray((available | ~self.block_plan.sets[played]).all(axis=1))

    # --- hooks ------------------------------------------------------------------------------------

    def decide(self, rounds: Integers, request: Request) -> Integers:
        """Return one set per row, in ascending order, padded with −1, without unavailable items."""
        return available_sets(self.shown[self.played(rounds)], request.available)

    @property
    def masks(self) -> "Unread":
        return Unread(self)

    def gather(self, block: Block, answers: Costs) -> None:
        played = self.played(answers.rounds)
        cells = np.where(self.is_whole(played, answers.request.available), played, -1)
        self.costs.aggregator.add(self.costs.of(block), cells[:, None], answers.costs)

    def update(self, released: Released) -> Public:
        sums = released[self.costs] / self.settings.bound
        counts = (self.block_plan.counts - released.mask_counts.get("unread", 0)).astype(np.float64)
        noise = self.costs.calibrated.standard_deviation**2
        posterior = self._updated(TriedSets(self.block_plan.sets, counts, sums, noise))
        next_start = Start(self.at.index + 1, self.at.begin + self.block_plan.length)
        return self.mode.planner.next_block(self.public, posterior, next_start)

    # --- the posterior ----------------------------------------------------------------------------

    def _updated(self, tried: TriedSets) -> PairPosterior:
        """Return the posterior after this block."""
        posterior = self.public.posterior
        if self._is_alarm(tried):
            posterior = posterior.faded(self._fading(TUNED.forgotten * self.settings.rounds))
        posterior = posterior.faded(self._fading(self.block_plan.length)).with_trials(tried)
        return self.public.posterior if posterior.is_empty else posterior

    def _fading(self, rounds: float) -> float:
        """Return the factor by which precisions fall in this number of rounds."""
        return exp(-rounds / self.mode.planner.lengths.memory)

    def _is_alarm(self, tried: TriedSets) -> bool:
        """Return whether the incumbent's cost differs from its posterior mean by more than chance.

        The screening has no incumbent, and an i.i.d. stream no alarms.
        """
        count = tried.counts[0]
        if self.settings.stream != "drifting" or not self.public.blocks or count < 1:
            return False
        posterior = self.public.posterior
        incumbent = self.block_plan.incumbent
        expected = posterior.costs(incumbent[None])
        variance = posterior.variance / count + tried.noise / count**2
        variance = variance + expected.own_variances[0] + posterior.variance_of(incumbent)
        difference = tried.sums[0] / count - expected.costs[0]
        return bool(difference**2 > TUNED.alarm**2 * variance)


@dataclass(frozen=True)
class Unread(Masks):
    """The rounds per set in which a mask changed it: they are not read."""

    trials: Trials

    def start(self) -> State:
        return {"unread": np.zeros(len(self.trials.block_plan.sets), dtype=np.int64)}

    def add(self, counts: State, rounds: Integers, request: Request) -> None:
        played = self.trials.played(rounds)
        is_whole = self.trials.is_whole(played, request.available)
        np.add.at(counts["unread"], played[~is_whole], 1)


class Settled(PairsPhase[SettledPlan]):
    """Phase of the last block: the incumbent is played, and nobody is read."""

    @property
    def measures(self) -> Measures:
        return self.mode.report

    @cached_property
    def shown(self) -> Integers:
        """The incumbent as a row of items, padded with −1."""
        return np.asarray(as_rows_of_items(self.block_plan.incumbent[None])[0])

    def decide(self, rounds: Integers, request: Request) -> Integers:
        return available_sets(np.tile(self.shown, (len(rounds), 1)), request.available)

    def gather(self, block: Block, answers: Costs) -> None:
        """Add nothing; malformed answers were refused when they were read."""

    def update(self, released: Released) -> Public:
        """Return the state unchanged; only a report is released."""
        return self.public


def as_rows_of_items(sets: Mask) -> Integers:
    """Return one set per row, in ascending order, padded with −1.

    >>> as_rows_of_items(np.array([[False, True, True], [True, False, False]]))
    array([[ 1,  2, -1],
           [ 0, -1, -1]])
    """
    items = sets.shape[1]
    rows = np.sort(np.where(sets, np.arange(items), items), axis=1)
    return np.where(rows == items, -1, rows)
