"""Full information, drifting streams: one running total of all gains, and the leaders of the noisy table.

A visitor's gains of item a on top of each prefix of the slate, g_1 ≥ … ≥ g_k (enforced), enter as what they
have in common and how they drop, all non-negative:

    (g_1 + … + g_k)/√k,   3·(g_1 − g_2), …, 3·(g_{k−1} − g_k)          for each of n items

These k·n numbers are scaled to length at most 1 (l₂; l₁ for the pure guarantee) and added up. The running
total of the whole table is released after each block: one mechanism, sensitivity √2, no factor k or √(kn).
Reading it back is post-processing: drops are mostly in proportion to what is common, so their noise can be
told from them; then the slate is read off, slot by slot.

Guarantee   docs/guarantees/sets.md, Theorem 1
Runtime     O(k·n) a visitor in one compiled pass; memory O(k·n)
References  Streeter, Golovin (2008); Perez-Salazar, Cummings (2021), Algorithm 2 with another expert
"""

from functools import cached_property
from math import ceil, sqrt
from typing import Any

import numpy as np

from discreet.arrays import Floats, Integers, Mask
from discreet.arrivals.set_functions import ClickModel
from discreet.learners.set_maximizer.mode import ConstantSlate
from discreet.learners.set_maximizer.slates import distinct_leaders
from discreet.learners.totals import RunningTotal
from discreet.release.door import Door
from discreet.release.gathering import Gathering, Rows
from discreet.turn.plan import Plan, State
from discreet.turn.questions import Batch, Block
from discreet.turn.readings import Scores
from discreet.turn.schedule import EqualBlocks, ListedBlocks, Schedule, growing_blocks

__all__ = ["SumExpert", "rows_of", "stacked"]

STEEPNESS = 3.0
"""Drops are small: they enter magnified."""
FIRST_BLOCK, GROWTH, LONGEST = 100, 1.1, 0.03
"""Blocks grow, up to a part of the horizon: the first ones teach most."""


class SumExpert(ConstantSlate):
    """Slates from a running total of everyone's gains; the default for whole preferences."""

    @classmethod
    def serves(cls, settings: Any) -> bool:
        return bool(settings.feedback == "full" and settings.stream == "drifting")

    @cached_property
    def gains(self) -> RunningTotal[Any]:
        settings = self.settings
        norm = 1 if settings.privacy.pure else 2
        # A short length weighs visitors more evenly.
        rows = Rows((settings.slots, settings.room), norm=norm, nonnegative=True)
        people = max(self.first_block, ceil(LONGEST * settings.rounds))
        return RunningTotal("gains", rows, self.schedule, settings.privacy, people=people)

    @cached_property
    def schedule(self) -> Schedule:
        """Blocks that grow, or of the length that somebody chose."""
        settings = self.settings
        if settings.block != "auto":
            return EqualBlocks(settings.rounds, settings.block, last=False)
        first = min(FIRST_BLOCK, ceil(sqrt(settings.rounds)))
        most = max(first, LONGEST * settings.rounds)
        return ListedBlocks(settings.rounds, growing_blocks(settings.rounds, first, GROWTH, most))

    @property
    def first_block(self) -> int:
        return self.schedule.end(0) if self.schedule.releases else self.settings.rounds

    @cached_property
    def plan(self) -> Plan:
        facts: dict[str, Any] = {"method": "sum", "why": "whole preferences of a stream that may drift"}
        facts |= {"block": self.first_block, "releases": self.gains.releases}
        return self.gains.plan(facts | {"noise_in_visitors": self.gains.noise})

    def start(self) -> tuple[State, State]:
        public, kept = self.gains.start()
        public = self.gains.named(public)
        table = np.zeros((self.settings.slots, self.settings.room))
        found = {"table": table, "slate": self.first_slate(), "variance": 0.0}
        lived = {"lived": np.zeros(self.settings.room, dtype=np.int64)}
        return public | self.first_catalogue() | lived | found, kept

    def gatherings(self, public: State) -> dict[str, Gathering]:
        return {"gains": self.gains.gathering}

    def gather(self, public: State, block: Block, batch: Batch) -> None:
        rows = self.gains.gathering
        assert isinstance(rows, Rows)
        people, slate, living = self.people(batch), public["slate"], public["began"]
        all_live = bool(living.all())
        if isinstance(self.settings.functions, ClickModel) and rows.norm == 2 and rows.is_fine:
            people = np.asarray(people) if all_live else np.asarray(people) * living
            rows.add_through("add_click_gains", block["gains"], len(people), people, slate, STEEPNESS)
            return
        for gains in self.gains_along(people, slate, known=len(self.numbers(public))):
            rows.add(block["gains"], stacked(gains if all_live else gains * living))

    def release(
        self, public: State, tally: State, kept: State, block: Block, door: Door
    ) -> tuple[State, State]:
        total = self.gains.next(self.gains.own(public), kept, block, door)
        end = self.schedule.end(door.index)
        begin = self.schedule.end(door.index - 1) if door.index else 0
        lived = public["lived"] + (end - begin) * public["began"]
        table = rows_of(caught_up(total.values, lived, end, total.variance), total.variance)
        catalogue = self.next_catalogue(public)
        slate = distinct_leaders(table, catalogue["living"])
        newest = {"table": table, "slate": slate, "variance": total.variance, "lived": lived}
        return self.gains.named(total.public) | catalogue | newest, total.kept

    def restricted(self, public: State, available: Mask) -> Integers:
        if not public["table"].any():
            return super().restricted(public, available)
        slate = distinct_leaders(public["table"], available)
        return np.pad(slate, (0, self.settings.slots - len(slate)), constant_values=-1)

    def scores(self, public: State, index: int, context: Any) -> Scores:
        table: Floats = public["table"]
        mixed = np.sqrt((_unstacking(len(table)) ** 2).sum(axis=1, keepdims=True))
        return Scores(table.copy(), np.broadcast_to(mixed * sqrt(public["variance"]), table.shape).copy())


def stacked(gains: Floats) -> Floats:
    """What gains (people × slots × items) have in common, and how they drop from slot to slot.

    >>> stacked(np.array([[[0.6], [0.2]]])).round(2).tolist()
    [[[0.57], [1.2]]]
    """
    falling = gains.copy()
    for slot in range(1, gains.shape[1]):  # slices are contiguous: several times as fast as accumulate
        np.minimum(falling[:, slot], falling[:, slot - 1], out=falling[:, slot])
    common = falling.sum(axis=1, keepdims=True) / sqrt(gains.shape[1])
    return np.concatenate([common, STEEPNESS * -np.diff(falling, axis=1)], axis=1)


def caught_up(values: Floats, lived: Integers, rounds: int, variance: float) -> Floats:
    """What totals would be if every item had been there for so many rounds, noise of this variance included.

    Those that came later count with what they gained a round, drawn towards the others as far as noise
    explains the difference: at first nothing is known of them.

    >>> caught_up(np.array([[30.0, 10.0, 15.0]]), np.array([100, 100, 50]), 100, 0.0)
    array([[30., 10., 30.]])
    """
    later = lived < rounds
    if not later.any():
        return values
    each, longest = values / np.maximum(lived, 1), lived == lived.max()
    centre = each[:, longest].mean(axis=1, keepdims=True)
    spread = each[:, longest].var(axis=1, keepdims=True)
    noise = variance / np.maximum(lived, 1) ** 2
    known = np.where(lived > 0, spread / np.maximum(spread + noise, 1e-300), 0.0)
    return np.where(later, rounds * (centre + known * (each - centre)), values)


def _unstacking(slots: int) -> Floats:
    """The inverse of `stacked`, as a matrix."""
    matrix = np.zeros((slots, slots))
    matrix[0] = 1 / sqrt(slots)
    for slot in range(1, slots):
        matrix[slot, slot - 1], matrix[slot, slot] = STEEPNESS, -STEEPNESS
    return np.asarray(np.linalg.inv(matrix), dtype=np.float64)


def rows_of(table: Floats, variance: float) -> Floats:
    """Gains, one row a slot, from a noisy stacked table: odd drops count as far as they are real.

    >>> rows_of(stacked(np.array([[[0.6, 0.3], [0.2, 0.1]]]))[0], 0.0).round(2)
    array([[0.6, 0.3],
           [0.2, 0.1]])
    """
    common, drops = table[0], table[1:]
    whole = max(float(common.sum()), 1e-9)  # noise may leave next to nothing of a short first block
    slopes = np.clip(drops.sum(axis=1, keepdims=True) / whole, 0.0, STEEPNESS * sqrt(len(table)))
    proportional = slopes * common
    beyond = drops - proportional
    noise = variance * (1 + float(np.mean(slopes**2))) if len(drops) else 0.0
    size = float(np.mean(beyond**2)) if len(drops) else 0.0
    kept = max(0.0, 1 - noise / size) if size > 0 else 1.0
    read = np.concatenate([common[None], proportional + kept * beyond])
    return np.asarray(_unstacking(len(table)) @ read, dtype=np.float64)
