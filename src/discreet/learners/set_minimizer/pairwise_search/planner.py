"""Which sets the next block tries, and how often: from settings and released values only.

    screening     random sets, the same number of rounds each
    then          blocks that grow: the anchor, and sets near it that are worth trying
    at the end    a block in which nothing is tried

The anchor is the set of least believed cost. A candidate is tried as often as the chance of finding
a cheaper set is worth (discreet/learners/worth_trying.py).
"""

from dataclasses import dataclass, replace
from functools import cached_property
from math import inf

import numpy as np

from discreet.arrays import Mask
from discreet.engine.coins import Coin
from discreet.learners.set_minimizer.pairwise_search.posterior import PairBelief
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
    """Random sets, each in the same number of rounds."""

    sets: int
    each: int

    @property
    def length(self) -> int:
        """The rounds of the screening."""
        return self.sets * self.each


@dataclass(frozen=True)
class Lengths:
    """Rounds of blocks, of the memory, and of what a find is credited with."""

    screening: Screening
    longest: float
    """Longest block."""
    memory: float
    """Rounds in which the precision of a trial falls to 1/e of what it was."""
    ahead: float
    """Rounds in which a find pays, at most."""


@dataclass(frozen=True)
class Ahead:
    """What trials are priced for."""

    length: int
    """Rounds of the block."""
    later: float
    """Rounds in which a find pays."""
    most: float
    """Rounds of the block that trials may take."""


@dataclass(frozen=True)
class Planner:
    """What follows after each release."""

    settings: SetMinimizerSettings
    key: bytes
    """Key of public shuffles, fixed before anyone came."""

    # --- lengths ----------------------------------------------------------------------------------

    @cached_property
    def lengths(self) -> Lengths:
        """The lengths that settings fix."""
        screening, rounds = self._screening, self.settings.rounds
        if self.settings.stream == "iid":
            return Lengths(screening, TUNED.longest_iid * rounds, float(rounds), float(rounds))
        least = TUNED.memory_of_screening * screening.length
        return Lengths(
            screening,
            longest=max(
                TUNED.longest_drifting * rounds, TUNED.longest_of_screening * screening.length
            ),
            memory=max(rounds / TUNED.memories, least),
            ahead=max(TUNED.ahead * rounds, least),
        )

    @property
    def _screening(self) -> Screening:
        """The screening: fewer sets, then fewer rounds of each, if it is too long for the
        horizon.
        """
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
        """The most rounds that the screening may take."""
        explore = self.settings.explore
        share = (
            TUNED.most_screened if explore == "auto" else TUNED.most_screened_of_explore * explore
        )
        return share * self.settings.rounds

    def _block_length(self, number: int, left: int) -> int:
        """Return the rounds of block `number` after the screening, if so many are left."""
        first = TUNED.first_block * self.lengths.screening.length
        if self.settings.block != "auto":
            first = self.settings.block
        grown = first * TUNED.growth ** min(number, 200)
        return int(max(1, min(grown, self.lengths.longest, left)))

    def _is_last(self, length: int, left: int) -> bool:
        """Return whether so few rounds follow a block of this length that they join it."""
        return left - length < TUNED.too_short * length

    # --- blocks -----------------------------------------------------------------------------------

    @cached_property
    def first(self) -> Public:
        """What is public before anyone came: the screening, or a block in which nothing is
        tried.
        """
        items, screening = self.settings.items, self.lengths.screening
        generator = Coin(self.key, 0).generator()
        sets = generator.random((screening.sets, items)) < 0.5
        sets[:2] = np.array([False, True])[: len(sets), None]  # nothing, everything
        sets = np.unique(sets, axis=0)
        plan = TrialsPlan(sets, np.full(len(sets), screening.each))
        public = Public(PairBelief.before(items), blocks=0, tried=plan.length, phase=plan)
        if self._is_last(plan.length, self.settings.rounds):
            return replace(public, phase=SettledPlan(plan.incumbent))
        return public

    def next_block(self, public: Public, posterior: PairBelief, start: Start) -> Public:
        """Return what is public after a block has led to this belief: with the plan of the next
        one.
        """
        generator = Coin(self.key, PLANS + start.index).generator()
        number, left = public.blocks, self.settings.rounds - start.begin
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
        """Return how many more visitors `explore` allows to meet a trial; the screening is one."""
        if self.settings.explore == "auto":
            return inf
        return float(self.settings.explore * self.settings.rounds - public.tried)

    # --- sets -------------------------------------------------------------------------------------

    def _cheapest(
        self, posterior: PairBelief, incumbent: Mask, generator: np.random.Generator
    ) -> Mask:
        """Return the set of least believed cost: among those tried, and from many starts."""
        random = generator.random((TUNED.starts, posterior.items)) < 0.5
        starts = np.concatenate([incumbent[None], random])
        found = least_sets(posterior.weights(0, generator), starts)
        near = np.unique(np.concatenate([found, posterior.sets]), axis=0)
        return np.asarray(near[posterior.costs(near).costs.argmin()])

    def _candidates(
        self, posterior: PairBelief, incumbent: Mask, generator: np.random.Generator
    ) -> Mask:
        """Return sets that may be cheaper than the anchor.

        They are the best of those tried, the anchor with one item changed, sets that are cheapest
        by a draw of the belief, and sets that are cheapest if one item is forced in or out.
        """
        items = posterior.items
        order = np.argsort(posterior.costs(posterior.sets).costs, kind="stable")
        best = posterior.sets[order[: TUNED.best_kept]]
        changed = incumbent ^ np.eye(items, dtype=np.bool_)

        some = generator.permutation(items)[: TUNED.most_forced]
        weights = posterior.weights(TUNED.draws + len(some), generator)
        random = generator.random((TUNED.candidate_starts, items)) < 0.5
        starts = np.concatenate([incumbent[None], random])
        other_side = Forced(some, np.where(incumbent, -1.0, 1.0)[some])
        forced = self._forced(weights, starts[: TUNED.forced_starts], other_side)
        drawn = least_sets(weights.slice(1, 1 + TUNED.draws), starts)
        sets = np.unique(np.concatenate([best, changed, *forced, drawn]), axis=0)
        return np.asarray(sets[(sets != incumbent).any(axis=1)])

    def _forced(self, weights: Weights, starts: Mask, forced: Forced) -> list[Mask]:
        """Return the cheapest sets with one item forced: by posterior means, then by a draw for
        each item.
        """
        count = len(forced.items)
        believed = weights.slice(0, 1).repeated(count)
        drawn = weights.slice(1 + TUNED.draws, 1 + TUNED.draws + count)
        return [least_sets(each, starts, forced) for each in (believed, drawn)]

    def _trials(
        self, posterior: PairBelief, incumbent: Mask, candidates: Mask, ahead: Ahead
    ) -> TrialsPlan:
        """Return the anchor and the candidates that are worth trying, with the rounds of each."""
        believed = posterior.costs(candidates)
        better = posterior.costs(incumbent[None]).costs - believed.costs
        doubt = believed.own_variances + posterior.variances_of_differences(candidates, incumbent)
        largest = min(ahead.length / TUNED.largest_of_block, ahead.most / TUNED.largest_of_trials)
        prices = worth_trying(
            better,
            np.minimum(better, 0.0),  # a find is no reason to try on while it pays anyway
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
