"""The exchange phase: most rounds show the incumbent slate, some show it with one slot exchanged.

Each visitor's answer is one number in a public cell, given by the slot and the item that stands
last: whether that item was clicked, or the reward of the whole slate. The cells of a block are
released once. They update the posterior; then the best single-slot exchanges are made, if any is
better. With `stream="drifting"` old cells fade, and an alarm starts a new screening:

    clicks     Σ_j (mean_j − g_j)² / (variance_j + 2·posterior variance_j) > 25 + slots
    rewards    (newest − reference)² > 25 · (variance of newest + variance of reference)

Guarantee   docs/guarantees/sets.md, Theorem 4
"""

from abc import abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from math import exp
from typing import ClassVar, Generic, TypeVar

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.engine.request import Block
from discreet.engine.statistics import OneRelease, Released
from discreet.learners.set_maximizer.answers import Answers, Clicks, Rewards
from discreet.learners.set_maximizer.incumbent_search.incumbent import (
    Incumbent,
    climbed,
    greedy_slate,
)
from discreet.learners.set_maximizer.incumbent_search.phase import IncumbentSearchPhase
from discreet.learners.set_maximizer.incumbent_search.posterior import Posterior
from discreet.learners.set_maximizer.incumbent_search.public import (
    ExchangePlan,
    Normal,
    Public,
    SettledPlan,
)
from discreet.learners.set_maximizer.incumbent_search.shown import UNIT, ConstantSlates
from discreet.learners.set_maximizer.incumbent_search.shown_exchange import ExchangeSlates
from discreet.learners.set_maximizer.incumbent_search.trials import click_variances
from discreet.learners.set_maximizer.incumbent_search.tuning import TUNED
from discreet.release.aggregators import PublicCells


@dataclass(frozen=True)
class Cells:
    """Released sums and public view counts per cell (slot, item) around the incumbent slate."""

    incumbent: Incumbent
    sums: Floats
    views: Floats
    noise: float
    """Variance of the noise of a sum."""

    @property
    def means(self) -> Floats:
        """Mean answer of each cell."""
        return np.asarray(self.sums / np.maximum(self.views, 1.0))

    def variances(self, single: Floats | float) -> Floats:
        """Variances of the cell means, given the variance `single` of one answer."""
        views = np.maximum(self.views, 1.0)
        return np.asarray(single / views + self.noise / views**2)


@dataclass(frozen=True)
class ExchangeResult:
    """Result of an exchange block, for the next public state."""

    posterior: Posterior
    is_alarm: bool
    """Whether the rewards of the incumbent changed by more than chance."""
    reference: Normal | None
    """Mean reward of the incumbent (rewards)."""
    level: float
    """Mean reward of a slate (rewards)."""


@dataclass(frozen=True)
class Differences:
    """Mean rewards of trials in one slot, minus that of the incumbent."""

    items: Integers
    """The item that each trial shows in place of the incumbent's own."""
    means: Floats
    variances: Floats


Own = TypeVar("Own", Clicks, Rewards)


class ExchangePhase(IncumbentSearchPhase[ExchangePlan], Generic[Own]):
    """A block of the incumbent slate and of trials; each answer enters one cell (slot, item)."""

    takes_turns: ClassVar[bool]
    """Whether each slot of the incumbent is last in some rounds without a trial."""

    @cached_property
    def shown(self) -> ExchangeSlates:
        return ExchangeSlates(
            incumbent=self.public.slate,
            trials=self.block_plan.trials,
            length=self.block_plan.length,
            key=self.mode.settings.coin(1 + self.at.index).generator().bytes(16),
            interest=self.public.posterior.interest,
            order=self.order,
            takes_turns=self.takes_turns,
        )

    @cached_property
    def sums(self) -> OneRelease[PublicCells]:
        return self.mode.exchanges

    def gather(self, block: Block, answers: Own) -> None:
        slates = answers.slates if answers.is_masked else None
        last = self.shown.last_places(answers.rounds - self.at.begin, slates)
        numbers = self.numbers(answers, last.items)
        self.sums.aggregator.add(self.sums.of(block), last.cells[:, None], numbers)

    @abstractmethod
    def numbers(self, answers: Own, last: Integers) -> Floats:
        """Return the number that each visitor adds to their cell; `last`: the last shown item."""

    @abstractmethod
    def learned(self, posterior: Posterior, cells: Cells) -> ExchangeResult:
        """Return the result of the block: the posterior updated with the released cells."""

    def update(self, released: Released) -> Public:
        # Under masks other items stand before the last place: sums and views are corrected.
        mask_counts = released.mask_counts
        sums = released[self.sums] - mask_counts.get("more", 0) / UNIT
        views = (self.shown.planned() + mask_counts.get("views", 0)) / UNIT
        incumbent = Incumbent.of(self.public.posterior, self.public.slate)
        cells = Cells(incumbent, sums, views, self.sums.variance)
        learned = self.learned(self._faded(self.public.posterior), cells)
        return self._next_public(learned)

    def _faded(self, posterior: Posterior) -> Posterior:
        """Return the posterior, with lower precisions if the stream may drift."""
        if self.settings.stream == "iid":
            return posterior
        return posterior.faded(exp(-self.block_plan.length / (TUNED.memory * self.public.rounds)))

    def _next_public(self, learned: ExchangeResult) -> Public:
        """Return the next public state: a new screening after an alarm, otherwise exchanges."""
        planner = self.mode.planner
        posterior = learned.posterior.with_interest()
        public = replace(
            self.at_next, posterior=posterior, reference=learned.reference, level=learned.level
        )
        if learned.is_alarm and planner.may_screen_again(public):
            return planner.screen_again(public, self.next_start)
        active = public.catalogue.active
        slate = greedy_slate(posterior, public.slate, active, self.settings.slots)
        slate = climbed(posterior, slate, active, steps=TUNED.climb, caution=TUNED.caution)
        return planner.exchange(replace(public, slate=slate), self.next_start)


class ClickExchange(ExchangePhase[Clicks]):
    """Click feedback: each cell is the share of visitors who clicked the last item first."""

    takes_turns = True

    def numbers(self, answers: Clicks, last: Integers) -> Floats:
        return np.asarray(answers.items == last, dtype=np.float64)

    def learned(self, posterior: Posterior, cells: Cells) -> ExchangeResult:
        slate = cells.incumbent.slate
        means = cells.means
        variances = cells.variances(click_variances(posterior, cells.incumbent))
        is_surprised = self._is_surprised(cells, variances)
        is_alarm = is_surprised and self.public.exchanges > TUNED.fewest_blocks
        for slot in range(len(slate)):
            rest = np.delete(slate, slot)
            is_seen = cells.views[slot] > 0
            posterior = posterior.with_cells(rest, means[slot], variances[slot], is_seen)
        return ExchangeResult(posterior, is_alarm, self.public.reference, self.public.level)

    def _is_surprised(self, cells: Cells, variances: Floats) -> bool:
        """Return whether the gains of the incumbent's items contradict the posterior.

        This is a χ² test with one degree of freedom per slot, without slots that masks always hid.
        """
        slate = cells.incumbent.slate
        slots = np.arange(len(slate))
        is_shown = cells.views[slots, slate] > 0
        own_variances = TUNED.alarm_doubt * cells.incumbent.own_variances
        doubt = variances[slots, slate] + own_variances
        statistics = (cells.means[slots, slate] - cells.incumbent.own) ** 2 / doubt
        return bool(statistics[is_shown].sum() > TUNED.alarm**2 + len(slate))


class RewardExchange(ExchangePhase[Rewards]):
    """Reward feedback: each cell is the mean reward of a slate, compared with the incumbent's."""

    takes_turns = False

    def numbers(self, answers: Rewards, last: Integers) -> Floats:
        return answers.rewards

    def learned(self, posterior: Posterior, cells: Cells) -> ExchangeResult:
        slate = cells.incumbent.slate
        reference = self.public.reference
        level = self.public.level
        means = cells.means
        variances = cells.variances(level * (1 - level))
        own_cell = 0, int(slate[0])
        if cells.views[own_cell] <= 0:  # under masks the incumbent may never have been shown
            return ExchangeResult(posterior, False, reference, level)
        own = Normal(float(means[own_cell]), float(variances[own_cell]))
        for slot in range(len(slate)):
            tried = np.flatnonzero(cells.views[slot] > 0)
            tried = tried[tried != slate[slot]]
            if len(tried):
                differences = Differences(
                    items=tried,
                    means=means[slot, tried] - own.mean,
                    variances=variances[slot, tried] + own.variance,
                )
                posterior = with_differences(posterior, cells.incumbent, slot, differences)
        return ExchangeResult(
            posterior=posterior,
            is_alarm=has_changed(reference, own),
            reference=updated_reference(reference, own),
            level=float(np.clip(own.mean, TUNED.least_level, 1 - TUNED.least_level)),
        )


class Settled(IncumbentSearchPhase[SettledPlan]):
    """The last block, unless the horizon is extended: no trials, and no answers are read."""

    sums = None

    @cached_property
    def shown(self) -> ConstantSlates:
        return ConstantSlates(self.public.slate, self.order)

    @property
    def is_last(self) -> bool:
        """Whether no rounds are planned after this block."""
        return self.next_start.begin == self.public.rounds

    @property
    def learns_on(self) -> bool:
        return not self.is_last

    def gather(self, block: Block, answers: Answers) -> None:
        """Add nothing; malformed answers were refused by `read` all the same."""

    def update(self, released: Released) -> Public:
        """Return the state with the next exchange block, if the horizon was extended."""
        public = self.at_next
        if self.is_last:
            return replace(public, phase=SettledPlan(length=0))
        active = public.catalogue.active
        slate = greedy_slate(public.posterior, public.slate, active, self.settings.slots)
        return self.mode.planner.exchange(replace(public, slate=slate), self.next_start)


# --- rewards of whole slates ----------------------------------------------------------------------


def with_differences(
    posterior: Posterior, incumbent: Incumbent, slot: int, differences: Differences
) -> Posterior:
    """Return the posterior after trials in one slot, compared with the incumbent.

    difference_a = g(a) − g(own)      own: the item of the incumbent in this slot

    So each tried item a yields an estimate of g(own), and g(own) yields one of each g(a).
    """
    tried = differences.items
    own = int(incumbent.slate[slot])

    # g(own) = g(a) − difference_a, averaged over the tried items by precision
    estimates = incumbent.gains.means[slot, tried] - differences.means
    estimate_variances = incumbent.gains.variances[slot, tried] + differences.variances
    precision = float((1 / estimate_variances).sum())
    estimate = float((estimates / estimate_variances).sum()) / precision

    # that estimate, combined with the posterior of g(own) before these trials
    prior = Normal(float(incumbent.own[slot]), float(incumbent.own_variances[slot]))
    total_precision = 1 / prior.variance + precision
    own_gain = (prior.mean / prior.variance + estimate * precision) / total_precision

    means = np.zeros(posterior.items)
    variances = np.ones(posterior.items)
    is_seen = np.zeros(posterior.items, dtype=np.bool_)
    means[tried] = own_gain + differences.means
    variances[tried] = differences.variances + TUNED.own_doubt / total_precision
    is_seen[tried] = True
    means[own] = estimate
    variances[own] = 1 / precision
    # An item of the incumbent that masks always hid has no cell, and gets none.
    is_seen[own] = bool((posterior.precisions[:, own] > 0).any())
    return posterior.with_cells(np.delete(incumbent.slate, slot), means, variances, is_seen)


def has_changed(reference: Normal | None, newest: Normal) -> bool:
    """Return whether the mean reward of the incumbent changed by more than chance: an alarm."""
    if reference is None:
        return False
    doubt = newest.variance + reference.variance
    return bool((newest.mean - reference.mean) ** 2 > TUNED.alarm**2 * doubt)


def updated_reference(reference: Normal | None, newest: Normal) -> Normal:
    """Return the running mean of the incumbent's reward, with at least a share of the newest."""
    if reference is None:
        return newest
    weight = max(reference.variance / (reference.variance + newest.variance), TUNED.newest)
    mean = (1 - weight) * reference.mean + weight * newest.mean
    variance = (1 - weight) ** 2 * reference.variance + weight**2 * newest.variance
    return Normal(mean, variance)
