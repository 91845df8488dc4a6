"""The exchange phase: most rounds show the incumbent slate, some show it with one slot exchanged.

Each visitor's answer is one number in a public cell, the slot and the item that stands last:
whether that item was clicked, or what the whole slate earned. A block's cells are released once;
the belief is brought up to date, and the incumbent climbs where that is better. With
`stream="drifting"`, old cells fade; and if the incumbent earns something else than it used to, by
more than chance, everything is screened again.

Guarantee   docs/guarantees/sets.md, Theorem 4
"""

from abc import abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from math import exp
from typing import ClassVar, Generic, TypeVar

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.engine.coins import Coin
from discreet.engine.plan import State, Step
from discreet.engine.request import Batch, Block
from discreet.learners.one_release import OneRelease
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
from discreet.learners.set_maximizer.incumbent_search.releases import exchange_release
from discreet.learners.set_maximizer.incumbent_search.shown import UNIT, ConstantSlates
from discreet.learners.set_maximizer.incumbent_search.shown_exchange import ExchangeSlates
from discreet.learners.set_maximizer.incumbent_search.tuning import TUNED
from discreet.release.aggregators import PublicCells
from discreet.release.door import Door

LEAST_LEVEL = 1e-3
"""Least mean reward that a slate is taken to have; 1 minus it is the largest."""


@dataclass(frozen=True)
class Cells:
    """Released sums and public views of each cell (slot, item) around an incumbent."""

    incumbent: Incumbent
    sums: Floats
    views: Floats
    noise: float
    """The variance of the noise of a sum."""

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
    """What an exchange block teaches: the belief, whether there is an alarm, and what slates
    earn.
    """

    posterior: Posterior
    is_alarm: bool
    reference: Normal | None
    level: float


Own = TypeVar("Own", Clicks, Rewards)


class ExchangePhase(IncumbentSearchPhase[ExchangePlan], Generic[Own]):
    """A block of the incumbent slate and of trials."""

    takes_turns: ClassVar[bool]
    """Whether all slots of the incumbent take turns in being last."""

    @cached_property
    def shown(self) -> ExchangeSlates:
        public, plan = self.public, self.plan
        key = Coin(self.problem.name, 1 + self.index).generator().bytes(16)
        interest = public.posterior.interest
        return ExchangeSlates(
            public.slate, plan.trials, plan.length, key, interest, self.order, self.takes_turns
        )

    @cached_property
    def found(self) -> OneRelease[PublicCells]:
        return exchange_release(self.settings)

    def read(self, batch: Batch) -> Answers:
        return self.answered(batch)

    def gather(self, block: Block, answers: Own) -> None:
        slates = answers.slates if answers.is_masked else None
        cells, last = self.shown.last_places(answers.rounds - self.begin, slates)
        self.found.aggregator.add(self.found.of(block), cells[:, None], self.numbers(answers, last))

    @abstractmethod
    def numbers(self, answers: Own, last: Integers) -> Floats:
        """Return what each visitor adds to their cell; `last` is the item that stood last."""

    @abstractmethod
    def learned(self, posterior: Posterior, cells: Cells) -> ExchangeResult:
        """Return what the released cells say, on top of what was believed."""

    def release(
        self, mask_counts: State, hidden: State, block: Block, door: Door
    ) -> tuple[Public, State]:
        # Under masks other items stand before the last place: sums and views are corrected for
        # them.
        sums = self.found.drawn(block, door) - mask_counts.get("more", 0) / UNIT
        views = (self.shown.planned() + mask_counts.get("views", 0)) / UNIT
        incumbent = Incumbent.of(self.public.posterior, self.public.slate)
        cells = Cells(incumbent, sums, views, self.found.variance)
        learned = self.learned(self._faded(self.public.posterior), cells)
        return self._next_public(learned), {}

    def _faded(self, posterior: Posterior) -> Posterior:
        """Return the belief with lower precisions if the stream may drift."""
        if self.settings.stream == "iid":
            return posterior
        return posterior.faded(exp(-self.plan.length / (TUNED.memory * self.public.rounds)))

    def _next_public(self, learned: ExchangeResult) -> Public:
        """Return the next public state: a new screening after an alarm, otherwise a better
        incumbent.
        """
        planner, posterior = self.problem.planner, learned.posterior.with_interest()
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
    """Each cell is the share of visitors who clicked the last place, behind the others."""

    takes_turns = True

    def numbers(self, answers: Clicks, last: Integers) -> Floats:
        return np.asarray(answers.items == last, dtype=np.float64)

    def learned(self, posterior: Posterior, cells: Cells) -> ExchangeResult:
        slate = cells.incumbent.slate
        chances = np.clip(cells.incumbent.gains.means, 0.2 * posterior.centre, 0.5)
        means, variances = cells.means, cells.variances(chances * (1 - chances))
        is_alarm = (
            self._is_surprised(cells, variances) and self.public.exchanges > TUNED.fewest_blocks
        )
        for slot in range(len(slate)):
            others = np.delete(slate, slot)
            posterior = posterior.with_cells(
                others, means[slot], variances[slot], cells.views[slot] > 0
            )
        return ExchangeResult(posterior, is_alarm, self.public.reference, self.public.level)

    def _is_surprised(self, cells: Cells, variances: Floats) -> bool:
        """Return whether the incumbent's own items gain something else than was believed.

        That is a χ² test with one degree of freedom per slot; slots that masks always hid are left
        out.
        """
        slate, slots = cells.incumbent.slate, np.arange(len(cells.incumbent.slate))
        is_shown = cells.views[slots, slate] > 0
        doubt = variances[slots, slate] + 2 * cells.incumbent.own_variances
        off = (cells.means[slots, slate] - cells.incumbent.own) ** 2 / doubt
        return bool(off[is_shown].sum() > TUNED.alarm**2 + len(slate))


class RewardExchange(ExchangePhase[Rewards]):
    """Each cell is the mean reward of a whole slate, which is compared with the incumbent's."""

    takes_turns = False

    def numbers(self, answers: Rewards, last: Integers) -> Floats:
        return answers.rewards

    def learned(self, posterior: Posterior, cells: Cells) -> ExchangeResult:
        slate, level = cells.incumbent.slate, self.public.level
        means, variances = cells.means, cells.variances(level * (1 - level))
        own_cell = 0, int(slate[0])
        if cells.views[own_cell] <= 0:  # under masks the incumbent may never have been shown
            return ExchangeResult(posterior, False, self.public.reference, level)
        base = Normal(float(means[own_cell]), float(variances[own_cell]))
        level = float(np.clip(base.mean, LEAST_LEVEL, 1 - LEAST_LEVEL))
        for slot in range(len(slate)):
            tried = np.flatnonzero(cells.views[slot] > 0)
            tried = tried[tried != slate[slot]]
            if len(tried):
                differences = means[slot, tried] - base.mean
                noise = variances[slot, tried] + base.variance
                posterior = with_differences(
                    posterior, cells.incumbent, slot, tried, differences, noise
                )
        before = self.public.reference
        return ExchangeResult(
            posterior, is_elsewhere(before, base), updated_reference(before, base), level
        )


class Settled(IncumbentSearchPhase[SettledPlan]):
    """The last block, unless the horizon is extended: nothing is tried, and nobody is read."""

    found = None

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

    @cached_property
    def step(self) -> Step | None:
        return None if self.is_last else super().step

    def read(self, batch: Batch) -> Answers:
        return self.answered(batch)

    def gather(self, block: Block, answers: Answers) -> None:
        """Gather nobody any more; what is malformed was refused all the same."""

    def release(
        self, mask_counts: State, hidden: State, block: Block, door: Door
    ) -> tuple[Public, State]:
        """Exchanges go on, now that there are more rounds; without, only a report is released."""
        public = self.at_next
        if self.is_last:
            return replace(public, phase=SettledPlan(length=0)), {}
        active, slots = public.catalogue.active, self.settings.slots
        slate = greedy_slate(public.posterior, public.slate, active, slots)
        return self.problem.planner.exchange(replace(public, slate=slate), self.next_start), {}


# --- what rewards of slates say -------------------------------------------------------------------


def with_differences(
    posterior: Posterior,
    incumbent: Incumbent,
    slot: int,
    tried: Integers,
    differences: Floats,
    noise: Floats,
) -> Posterior:
    """Return the belief after trials in a slot, from how much more each slate earned than the
    incumbent.

    Differences say what tried items gain once the own item's gain is known; and the other way
    round.
    """
    own = int(incumbent.slate[slot])
    prior = Normal(float(incumbent.own[slot]), float(incumbent.own_variances[slot]))
    # What each tried item says of the own item's gain: its own gain less the difference.
    said = incumbent.gains.means[slot, tried] - differences
    said_variances = incumbent.gains.variances[slot, tried] + noise
    precision = float((1 / said_variances).sum())
    estimate = float((said / said_variances).sum()) / precision
    total = 1 / prior.variance + precision
    own_gain = (prior.mean / prior.variance + estimate * precision) / total

    means, variances = np.zeros(posterior.items), np.ones(posterior.items)
    seen = np.zeros(posterior.items, dtype=np.bool_)
    means[tried] = own_gain + differences
    variances[tried] = noise + 0.5 / total
    seen[tried] = True
    means[own] = estimate
    variances[own] = 1 / precision
    # An item that masks always forbade tells nothing, though it stands in the incumbent.
    seen[own] = bool((posterior.precisions[:, own] > 0).any())
    return posterior.with_cells(np.delete(incumbent.slate, slot), means, variances, seen)


def is_elsewhere(reference: Normal | None, newest: Normal) -> bool:
    """Return whether the incumbent earns something else than before, by more than chance."""
    if reference is None:
        return False
    doubt = newest.variance + reference.variance
    return bool((newest.mean - reference.mean) ** 2 > TUNED.alarm**2 * doubt)


def updated_reference(reference: Normal | None, newest: Normal) -> Normal:
    """Return the running mean of what the incumbent earns."""
    if reference is None:
        return newest
    weight = max(reference.variance / (reference.variance + newest.variance), TUNED.newest)
    mean = (1 - weight) * reference.mean + weight * newest.mean
    variance = (1 - weight) ** 2 * reference.variance + weight**2 * newest.variance
    return Normal(mean, variance)
