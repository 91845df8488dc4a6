"""Whole preferences, drifting streams: slates from one noisy running total of all gains.

Let g_1 ≥ … ≥ g_k (enforced) be a visitor's gains of item a on top of each prefix of the slate. They
enter as their common part and their drops, all non-negative:

    (g_1 + … + g_k)/√k,   3·(g_1 − g_2), …, 3·(g_{k−1} − g_k)          for each of n items

These k·n numbers are scaled to length at most 1 (l₂; l₁ for the pure guarantee) and added up. The
running total of the whole table is released after each block: one mechanism, sensitivity √2, no
factor k or √(kn). The rest is post-processing: drops are mostly proportional to the common part, so
other drops are shrunk by the size of their noise; then each slot takes its leader.

Guarantee   docs/guarantees/sets.md, Theorem 1
Runtime     O(k·n) per visitor in one compiled pass; memory O(k·n)
References  Streeter, Golovin (2008); Perez-Salazar, Cummings (2021), Algorithm 2 with another
            expert
"""

from dataclasses import dataclass, replace
from functools import cached_property
from math import ceil, sqrt

import numpy as np

from discreet.arrays import Floats, Integers, Mask
from discreet.engine.declarations import Readings
from discreet.engine.phases import Scheduled
from discreet.engine.readings import Scores
from discreet.engine.request import Block
from discreet.engine.schedule import EqualBlocks, ListedBlocks, Schedule, growing_blocks
from discreet.engine.statistics import Released, RunningTotal
from discreet.functions.sets import ClickModel
from discreet.learners.set_maximizer.catalogue import Catalogue
from discreet.learners.set_maximizer.click_gains import stack_click_gains
from discreet.learners.set_maximizer.preferences import (
    People,
    PreferenceMode,
    PreferencePhase,
    SlateState,
    gains_along,
)
from discreet.learners.set_maximizer.slates import distinct_leaders
from discreet.release.aggregators import Rows


@dataclass(frozen=True)
class Tuning:
    """The tuned constants of this mode, each with the benchmark that measures it."""

    steepness: float = 3.0
    """Factor of the drops, which are small (benchmarks/display.py)."""
    first_block: int = 100
    """Largest number of visitors of the first block: the first ones teach most
    (benchmarks/display.py)."""
    growth: float = 1.1
    """Growth of blocks (benchmarks/display.py)."""
    longest: float = 0.03
    """Longest block, as a share of the horizon (benchmarks/display.py, benchmarks/ways.py)."""


TUNED = Tuning()


@dataclass(frozen=True, eq=False)
class Public(SlateState):
    """Everything that releases have produced: the table of gains, and the slate of its leaders."""

    table: Floats
    """Total gains, one row per slot; zeros before the first release."""
    variance: float
    """Variance of the noise of the stacked totals."""
    lived: Integers
    """Number of rounds in which each item was active, up to the last release."""


class SumPhase(PreferencePhase[Public]):
    """A block whose gains enter the running total from which the next slate follows."""

    mode: "GainSum"

    def restricted(self, available: Mask) -> Integers:
        if not self.public.table.any():
            return super().restricted(available)
        slate = distinct_leaders(self.public.table, available)
        return np.pad(slate, (0, self.settings.slots - len(slate)), constant_values=-1)

    def gather(self, block: Block, answers: People) -> None:
        aggregator = self.mode.gains.aggregator
        aggregate = self.mode.gains.of(block)
        slate = self.public.slate
        active = self.public.catalogue.began
        all_active = bool(active.all())
        if self.mode.is_fused:
            rows = np.asarray(answers) if all_active else np.asarray(answers) * active
            aggregator.add_slate_gains(aggregate, stack_click_gains, TUNED.steepness, rows, slate)
            return
        for gains in gains_along(answers, slate, self.settings, self.known):
            aggregator.add(aggregate, stacked(gains if all_active else gains * active))

    def update(self, released: Released) -> Public:
        total = released[self.mode.gains]
        variance = total.variance
        end = self.mode.schedule.end(self.at.index)
        lived = self.public.lived + (end - self.at.begin) * self.public.catalogue.began
        table = rows_of(caught_up(total.values, lived, end, variance), variance)
        catalogue = self.public.catalogue.next()
        return Public(
            catalogue=catalogue,
            slate=distinct_leaders(table, catalogue.active),
            table=table,
            variance=variance,
            lived=lived,
        )

    def readings(self) -> Readings:
        return replace(super().readings(), scores=self._scores)

    def _scores(self, context: object) -> Scores:
        """Return the total gain of each item in each slot, on top of the slots before it."""
        table = self.public.table
        factors = np.sqrt((_unstacking(len(table)) ** 2).sum(axis=1, keepdims=True))
        deviations = np.broadcast_to(factors * sqrt(self.public.variance), table.shape)
        return Scores(table.copy(), deviations.copy())


class GainSum(PreferenceMode):
    """Slates from one running total of all gains; the default for whole preferences."""

    @cached_property
    def phases(self) -> Scheduled:
        return Scheduled.one(SumPhase, self.schedule, self.gains)

    @cached_property
    def gains(self) -> RunningTotal[Rows]:
        """The running total of stacked gains."""
        settings = self.settings
        norm = 1 if settings.privacy.pure else 2
        # The length 1 is short: it makes the weights of visitors more even.
        rows = Rows((settings.slots, settings.room), norm=norm, nonnegative=True)
        people = max(self.first_block, ceil(TUNED.longest * settings.rounds))
        return RunningTotal("gains", rows, self.schedule, settings.privacy, people=people)

    @cached_property
    def is_fused(self) -> bool:
        """Whether one compiled pass computes, clips and adds the gains of visitors."""
        rows = self.gains.aggregator
        return isinstance(self.settings.functions, ClickModel) and rows.norm == 2 and rows.is_fine

    @cached_property
    def schedule(self) -> Schedule:
        """Growing blocks, or equal ones of the length in the settings."""
        settings = self.settings
        if settings.block != "auto":
            return EqualBlocks(settings.rounds, settings.block, last=False)
        first = min(TUNED.first_block, ceil(sqrt(settings.rounds)))
        most = max(first, TUNED.longest * settings.rounds)
        blocks = growing_blocks(settings.rounds, first, TUNED.growth, most)
        return ListedBlocks(settings.rounds, blocks)

    @property
    def first_block(self) -> int:
        """Number of visitors before the first release."""
        return self.schedule.end(0) if self.schedule.releases else self.settings.rounds

    @property
    def facts(self) -> dict[str, object]:
        return {
            "method": "gain-sum",
            "why": "whole preferences of a stream that may drift",
            "block": self.first_block,
            "releases": self.gains.releases,
            "noise_in_visitors": self.gains.noise,
        }

    @property
    def first(self) -> Public:
        settings = self.settings
        return Public(
            catalogue=Catalogue.first(settings),
            slate=self.first_slate(),
            table=np.zeros((settings.slots, settings.room)),
            variance=0.0,
            lived=np.zeros(settings.room, dtype=np.int64),
        )


def stacked(gains: Floats) -> Floats:
    """Return the common part of gains (people × slots × items), and their drops along slots.

    >>> stacked(np.array([[[0.6], [0.2]]])).round(2).tolist()
    [[[0.57], [1.2]]]
    """
    falling = gains.copy()
    # Slices are contiguous: several times as fast as np.minimum.accumulate.
    for slot in range(1, gains.shape[1]):
        np.minimum(falling[:, slot], falling[:, slot - 1], out=falling[:, slot])
    common = falling.sum(axis=1, keepdims=True) / sqrt(gains.shape[1])
    drops = TUNED.steepness * -np.diff(falling, axis=1)
    return np.concatenate([common, drops], axis=1)


def caught_up(values: Floats, lived: Integers, rounds: int, variance: float) -> Floats:
    """Return the totals that items would have if all had been active for all these rounds.

    The totals of later items are extrapolated from their gain per round, which is shrunk towards
    the mean of the other items by the variance of its noise.

    >>> caught_up(np.array([[30.0, 10.0, 15.0]]), np.array([100, 100, 50]), 100, 0.0)
    array([[30., 10., 30.]])
    """
    later = lived < rounds
    if not later.any():
        return values
    per_round = values / np.maximum(lived, 1)
    longest = lived == lived.max()
    centre = per_round[:, longest].mean(axis=1, keepdims=True)
    spread = per_round[:, longest].var(axis=1, keepdims=True)
    noise = variance / np.maximum(lived, 1) ** 2
    shrinkage = np.where(lived > 0, spread / np.maximum(spread + noise, 1e-300), 0.0)
    return np.where(later, rounds * (centre + shrinkage * (per_round - centre)), values)


def _unstacking(slots: int) -> Floats:
    """Return the inverse of `stacked`, as a matrix."""
    matrix = np.zeros((slots, slots))
    matrix[0] = 1 / sqrt(slots)
    for slot in range(1, slots):
        matrix[slot, slot - 1] = TUNED.steepness
        matrix[slot, slot] = -TUNED.steepness
    return np.asarray(np.linalg.inv(matrix), dtype=np.float64)


def rows_of(table: Floats, variance: float) -> Floats:
    """Return gains, one row per slot, from a noisy table of common parts and drops.

    Drops that are not proportional to the common part are shrunk by the variance of their noise.

    >>> rows_of(stacked(np.array([[[0.6, 0.3], [0.2, 0.1]]]))[0], 0.0).round(2)
    array([[0.6, 0.3],
           [0.2, 0.1]])
    """
    common = table[0]
    drops = table[1:]
    total = max(float(common.sum()), 1e-9)  # noise may hide the sum of a short first block
    steepest = TUNED.steepness * sqrt(len(table))
    slopes = np.clip(drops.sum(axis=1, keepdims=True) / total, 0.0, steepest)
    proportional = slopes * common
    residuals = drops - proportional
    noise = variance * (1 + float(np.mean(slopes**2))) if len(drops) else 0.0
    size = float(np.mean(residuals**2)) if len(drops) else 0.0
    shrinkage = max(0.0, 1 - noise / size) if size > 0 else 1.0
    denoised = np.concatenate([common[None], proportional + shrinkage * residuals])
    return np.asarray(_unstacking(len(table)) @ denoised, dtype=np.float64)
