"""Plan of the next block: the sets to try and the rounds of each, from released values only.

    screening     random sets, the same number of rounds each
    then          growing blocks: the incumbent, and sets near it that are worth trying
    at the end    a block without trials

The incumbent is the set of least posterior mean cost. A candidate is tried in as many rounds as its
expected improvement is worth (discreet/learners/worth_trying.py).
"""

from dataclasses import dataclass, replace
from functools import cached_property
from math import inf

import numpy as np

from discreet.arrays import Mask
from discreet.learners.set_minimizer.pairwise_search.posterior import PairPosterior
from discreet.learners.set_minimizer.pairwise_search.public import (
    Public,
    SettledPlan,
    TrialsPlan,
    costs_release,
)
from discreet.learners.set_minimizer.pairwise_search.tuning import TUNED
from discreet.learners.set_minimizer.pairwise_search.weights import Forced, Weights, least_sets
from discreet.learners.set_minimizer.settings import SetMinimizerSettings
from discreet.learners.start import Start
from discreet.learners.worth_trying import doubling_sizes, worth_trying

PLANS = 2**40
"""`PLANS + index` is the coin of the plan of block `index`; 1 + index is that of its shuffle."""


@dataclass(frozen=True)
class Screening:
    """Size of the screening: random sets, each in the same number of rounds."""

    sets: int
    each: int

    @property
    def length(self) -> int:
        """Number of rounds of the screening."""
        return self.sets * self.each


@dataclass(frozen=True)
class Lengths:
    """Lengths in rounds: of blocks, of the memory, and of the credit of a discovery."""

    screening: Screening
    longest: float
    """Longest block."""
    memory: float
    """Rounds in which the precision of a trial falls to 1/e."""
    ahead: float
    """Largest number of rounds that a discovery is credited with."""


@dataclass(frozen=True)
class Ahead:
    """Lengths in rounds that the prices of trials depend on."""

    length: int
    """The block."""
    later: float
    """Rounds that a discovery is credited with."""
    most: float
    """Largest number of rounds in trials."""


@dataclass(frozen=True)
class Planner:
    """Planner of blocks: the public state after each release, with the next plan."""

    settings: SetMinimizerSettings

    # --- lengths ----------------------------------------------------------------------------------

    @cached_property
    def lengths(self) -> Lengths:
        """The lengths that follow from the settings."""
        screening = self._screening
        rounds = self.settings.rounds
        if self.settings.stream == "iid":
            return Lengths(screening, TUNED.longest_iid * rounds, float(rounds), float(rounds))
        least = TUNED.memory_of_screening * screening.length
        least_longest = TUNED.longest_of_screening * screening.length
        return Lengths(
            screening,
            longest=max(TUNED.longest_drifting * rounds, least_longest),
            memory=max(rounds / TUNED.memories, least),
            ahead=max(TUNED.ahead * rounds, least),
        )

    @property
    def _screening(self) -> Screening:
        """The screening; for a short horizon with fewer sets, then with fewer rounds of each."""
        most = self._most_screened
        sets = max(TUNED.fewest_sets, TUNED.sets_per_item * self.settings.items)
        each = max(2, round(TUNED.screened_rounds / self.settings.epsilon))
        fewest = TUNED.fewest_sets_of_short
        while sets * each > most and sets > fewest:
            sets = max(fewest, int(TUNED.shrinking * sets))
        while sets * each > most and each > 1:
            each = max(1, int(TUNED.shrinking * each))
        return Screening(max(1, min(sets, int(most))), each)

    @property
    def _most_screened(self) -> float:
        """Largest number of rounds of the screening."""
        explore = self.settings.explore
        if explore == "auto":
            share = TUNED.most_screened
        else:
            share = TUNED.most_screened_of_explore * explore
        return share * self.settings.rounds

    def _block_length(self, number: int, left: int) -> int:
        """Return the length of block `number` after the screening, if `left` rounds remain."""
        first = TUNED.first_block * self.lengths.screening.length
        if self.settings.block != "auto":
            first = self.settings.block
        grown = first * TUNED.growth ** min(number, 200)
        return int(max(1, min(grown, self.lengths.longest, left)))

    def _is_last(self, length: int, left: int) -> bool:
        """Return whether too few rounds remain after a block of this length for another one."""
        return left - length < TUNED.too_short * length

    # --- blocks -----------------------------------------------------------------------------------

    @cached_property
    def first(self) -> Public:
        """Public state before the first round: the screening, or a block without trials."""
        items = self.settings.items
        screening = self.lengths.screening
        generator = self.settings.coin(0).generator()
        sets = generator.random((screening.sets, items)) < 0.5
        sets[:2] = np.array([False, True])[: len(sets), None]  # the empty set, all items
        sets = np.unique(sets, axis=0)
        plan = TrialsPlan(sets, np.full(len(sets), screening.each))
        public = Public(PairPosterior.before(items), blocks=0, tried=plan.length, phase=plan)
        if self._is_last(plan.length, self.settings.rounds):
            return replace(public, phase=SettledPlan(plan.incumbent))
        return public

    def next_block(self, public: Public, posterior: PairPosterior, start: Start) -> Public:
        """Return the public state with this posterior and the plan of the next block."""
        generator = self.settings.coin(PLANS + start.index).generator()
        number = public.blocks
        left = self.settings.rounds - start.begin
        if number < TUNED.sized_always or number % TUNED.sized_every == 0:
            posterior = posterior.with_sizes(2 if number == 0 else 1)
        incumbent = self._cheapest(posterior, public.phase.incumbent, generator)
        length = self._block_length(number, left)
        public = replace(public, posterior=posterior, blocks=number + 1)
        if self._is_last(length, left):
            return replace(public, phase=SettledPlan(incumbent))
        most = min(TUNED.most_tried * length, self._trials_left(public))
        ahead = Ahead(length, min(left, self.lengths.ahead), most)
        candidates = self._candidates(posterior, incumbent, generator)
        plan = self._trials(posterior, incumbent, candidates, ahead)
        return replace(public, tried=public.tried + length - int(plan.counts[0]), phase=plan)

    def _trials_left(self, public: Public) -> float:
        """Return the number of rounds that `explore` leaves for trials, after the screening."""
        if self.settings.explore == "auto":
            return inf
        return float(self.settings.explore * self.settings.rounds - public.tried)

    # --- sets -------------------------------------------------------------------------------------

    def _cheapest(
        self, posterior: PairPosterior, incumbent: Mask, generator: np.random.Generator
    ) -> Mask:
        """Return the set of least posterior mean cost: of those tried and of a local search."""
        random = generator.random((TUNED.starts, posterior.items)) < 0.5
        starts = np.concatenate([incumbent[None], random])
        local = least_sets(posterior.weights(0, generator), starts)
        sets = np.unique(np.concatenate([local, posterior.sets]), axis=0)
        return np.asarray(sets[posterior.costs(sets).costs.argmin()])

    def _candidates(
        self, posterior: PairPosterior, incumbent: Mask, generator: np.random.Generator
    ) -> Mask:
        """Return sets that may be cheaper than the incumbent.

        They are the best of those tried, the incumbent with one item changed, the cheapest sets of
        posterior draws, and the cheapest sets with one item forced in or out.
        """
        items = posterior.items
        order = np.argsort(posterior.costs(posterior.sets).costs, kind="stable")
        best = posterior.sets[order[: TUNED.best_kept]]
        changed = incumbent ^ np.eye(items, dtype=np.bool_)

        forced_items = generator.permutation(items)[: TUNED.most_forced]
        weights = posterior.weights(TUNED.draws + len(forced_items), generator)
        random = generator.random((TUNED.candidate_starts, items)) < 0.5
        starts = np.concatenate([incumbent[None], random])
        flipped = Forced(forced_items, np.where(incumbent, -1.0, 1.0)[forced_items])
        forced = self._forced(weights, starts[: TUNED.forced_starts], flipped)
        drawn = least_sets(weights.slice(1, 1 + TUNED.draws), starts)
        sets = np.unique(np.concatenate([best, changed, *forced, drawn]), axis=0)
        return np.asarray(sets[(sets != incumbent).any(axis=1)])

    def _forced(self, weights: Weights, starts: Mask, forced: Forced) -> list[Mask]:
        """Return the cheapest sets with one item forced, by posterior means and by draws.

        The rows of `weights` are the posterior mean, `TUNED.draws` draws for other candidates, and
        one draw per forced item.
        """
        count = len(forced.items)
        first = 1 + TUNED.draws
        means = weights.slice(0, 1).repeated(count)
        draws = weights.slice(first, first + count)
        return [least_sets(means, starts, forced), least_sets(draws, starts, forced)]

    def _trials(
        self, posterior: PairPosterior, incumbent: Mask, candidates: Mask, ahead: Ahead
    ) -> TrialsPlan:
        """Return the plan: the incumbent and the candidates worth trying, with their rounds."""
        estimates = posterior.costs(candidates)
        better = posterior.costs(incumbent[None]).costs - estimates.costs
        doubt = estimates.own_variances + posterior.variances_of_differences(candidates, incumbent)
        largest = min(ahead.length / TUNED.largest_of_block, ahead.most / TUNED.largest_of_trials)
        prices = worth_trying(
            better,
            np.minimum(better, 0.0),  # an expected gain alone does not justify a trial
            doubt,
            variance=posterior.variance,
            noise=costs_release(self.settings, 1).calibrated.standard_deviation ** 2,
            later=ahead.later,
            sizes=doubling_sizes(TUNED.first_trial, largest, TUNED.doublings),
        )
        chosen = prices.best_within(ahead.most)
        rest = ahead.length - int(chosen.rounds.sum())
        sets = np.concatenate([incumbent[None], candidates[chosen.trials]])
        return TrialsPlan(sets, np.concatenate([[rest], chosen.rounds]))
