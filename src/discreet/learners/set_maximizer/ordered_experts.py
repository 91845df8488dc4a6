"""Whole preferences, adversarial streams: ordered experts, one per slot, on noisy totals of gains.

    P(a in slot i) ∝ exp(η·G̃_i(a))        among available items that are not in slots 1, …, i − 1

The slate of a round is drawn by coins of that round, one per slot. G̃_i(a) is the noisy total of the
gains of item a in slot i, on top of the slots before it on each visitor's own slate (an item that
stands there gains nothing). The noisy total of the slates' values, one more number per visitor,
yields the loss so far. The rate η, one for all slots, starts high and is cut when the loss is too
large (discreet/optim/adaptive_rate.py).

The weight of a visitor depends on their own preferences f alone,

    w = min(1, 1/√(k·Σ_a f({a})² + v²))        v = min(1, sum of the k largest f({a}))
    w = min(1, 1/(k·Σ_a f({a}) + v))           for pure guarantees, in l₁

so that the k·n + 1 numbers have a length of at most 1 on any slate: by submodularity no gain
exceeds f({a}), and no value of a slate exceeds v. If the weight depended on the slate, the stream
could choose whose answers count.

Guarantee   docs/guarantees/adversarial.md, Theorem 3 (privacy), Theorem 4 (value)
Runtime     O(k·n) per visitor and per release
References  Streeter, Golovin (2008); Perez-Salazar, Cummings (2021), Algorithm 2 with another
            mechanism
"""

from dataclasses import dataclass, replace
from functools import cached_property
from math import sqrt

import numpy as np

from discreet.arrays import Floats, Integers, Mask
from discreet.engine.declarations import Promise, Readings
from discreet.engine.phases import Scheduled
from discreet.engine.readings import Scores
from discreet.engine.request import Batch, Block, Request
from discreet.engine.schedule import EqualBlocks
from discreet.engine.statistics import Released, RunningTotal
from discreet.errors import ConfigError
from discreet.functions.person import reading
from discreet.learners.set_maximizer.catalogue import Catalogue
from discreet.learners.set_maximizer.preferences import (
    CHUNK,
    People,
    PreferenceMode,
    PreferencePhase,
    SlateState,
)
from discreet.learners.set_maximizer.slates import distinct_leaders, filled_up
from discreet.optim.adaptive_rate import AdaptiveRate, block_for, expected_range
from discreet.release.aggregators import Rows


@dataclass(frozen=True)
class Tuning:
    """The tuned constants of this mode, each with the benchmark that measures it."""

    boldness: float = 256.0
    """Factor of the first rate (benchmarks/ways.py)."""
    patience: float = 0.02
    """Share of the bound that may be lost before the rate is cut (benchmarks/ways.py)."""


TUNED = Tuning()


@dataclass(frozen=True, eq=False)
class Public(SlateState):
    """Everything that releases have produced: totals of gains, and the rate of the experts."""

    table: Floats
    """Noisy totals of gains, one row per slot."""
    variance: float
    """Variance of the noise of each total."""
    rate: float
    cuts: int
    """Number of cuts of the rate so far."""


@dataclass(eq=False, slots=True)
class Met:
    """Whole preferences of visitors, and the slate that each of them was shown."""

    people: People
    slates: Integers


class ExpertsPhase(PreferencePhase[Public]):
    """A block in which the slate of each round is drawn by coins of that round."""

    mode: "OrderedExperts"

    def decide(self, rounds: Integers, request: Request) -> Integers:
        """Return one slate per round, drawn slot by slot among the remaining available items."""
        slots = self.settings.slots
        # Items retired since the block began may have been shown, and are masked in new requests;
        # items added since were not shown.
        began = self.public.catalogue.began
        available = began if request.available is None else request.available & began
        if len(rounds) and rounds[0] >= self.settings.rounds:  # coins end with the horizon
            slates = np.tile(self.public.slate, (len(rounds), 1))
            return filled_up(slates, available, self.order)
        coin_numbers = (rounds[:, None] * slots + np.arange(slots)).reshape(-1)
        uniforms = self.at.coins.uniform(coin_numbers).reshape(len(rounds), slots)
        left = np.array(np.broadcast_to(available, (len(rounds), self.settings.room)))
        slates = np.full((len(rounds), slots), -1, dtype=np.int64)
        for slot, scores in enumerate(self.public.rate * self.public.table):
            slates[:, slot] = _drawn(scores, left, uniforms[:, slot])
            shown = slates[:, slot] >= 0
            left[np.flatnonzero(shown), slates[shown, slot]] = False
        return slates

    @property
    def order(self) -> Integers:
        return np.argsort(-self.public.table[0], kind="stable")

    # --- visitors ---------------------------------------------------------------------------------

    def read(self, batch: Batch) -> Met:
        return Met(self.mode.answer.read(batch), batch.decisions)

    def gather(self, block: Block, answers: Met) -> None:
        gains = self.mode.gains
        for first in range(0, len(answers.people), CHUNK):
            part = slice(first, first + CHUNK)
            numbers = self._weighted(answers.people[part], answers.slates[part])
            gains.aggregator.add(gains.of(block), numbers)

    def _weighted(self, people: People, slates: Integers) -> Floats:
        """Return the numbers that visitors add: weighted gains per slot and item, and values.

        Gains and values are those on each visitor's own slate.
        """
        slots = self.settings.slots
        bound = self.settings.bound
        rows = np.arange(len(slates))
        gains = np.clip(self._along(people, slates), 0.0, bound) / bound
        alone = gains[:, 0].copy()
        gains = np.minimum(gains, alone[:, None])
        values = np.zeros(len(slates))
        for slot, items in enumerate(slates.T):
            for before in slates[:, :slot].T:  # an item that stands there already gains nothing
                gains[rows[before >= 0], slot, before[before >= 0]] = 0.0
            values += np.where(items >= 0, gains[rows, slot, items], 0.0)
        most = np.minimum(1.0, np.sort(alone, axis=1)[:, -slots:].sum(axis=1))
        lengths = self._lengths(alone, most)
        gains *= self.public.catalogue.began
        values = np.minimum(values, most)
        numbers = np.concatenate([gains.reshape(len(slates), -1), values[:, None]], axis=1)
        return np.asarray(numbers / np.maximum(lengths, 1.0)[:, None], dtype=np.float64)

    def _lengths(self, alone: Floats, most: Floats) -> Floats:
        """Return a bound on the length of each visitor's numbers that holds for any slate.

        `alone` are the gains f({a}), `most` is the largest value v of a slate.
        """
        slots = self.settings.slots
        if self.settings.privacy.pure:
            return np.asarray(slots * alone.sum(axis=1) + most)
        return np.asarray(np.sqrt(slots * (alone**2).sum(axis=1) + most**2))

    def _along(self, people: People, slates: Integers) -> Floats:
        """Return gains of all items on top of the slots before, along each visitor's own slate."""
        gains = np.zeros((len(slates), *self.public.table.shape))
        functions = self.settings.functions
        if functions is None:
            known = self.known
            with reading():
                for person, slate, own_gains in zip(people, slates.tolist(), gains, strict=True):
                    for slot in range(len(slate) if person is not None else 0):
                        before = [item for item in slate[:slot] if item >= 0]
                        own_gains[slot, :known] = person.gains(before, known)
            return gains
        rows = np.asarray(people)
        covered = functions.begin(rows)
        for slot, items in enumerate(slates.T):
            gains[:, slot] = functions.gains(rows, covered)
            for item in np.unique(items[items >= 0]).tolist():
                here = items == item
                covered[here] = functions.add(rows[here], covered[here], item)
        return gains

    # --- the release ------------------------------------------------------------------------------

    def update(self, released: Released) -> Public:
        total = released[self.mode.gains]
        table = total.values[:-1].reshape(self.settings.slots, self.settings.room)
        catalogue = self.public.catalogue.next()
        best = table[:, catalogue.active].max(axis=1).sum()
        loss = float(best - total.values[-1])
        cuts = self.mode.rate.cuts_after(self.public.cuts, loss)
        return Public(
            catalogue=catalogue,
            slate=distinct_leaders(table, catalogue.active),
            table=table,
            variance=total.variance,
            rate=self.mode.rate.at(cuts),
            cuts=cuts,
        )

    def readings(self) -> Readings:
        return replace(super().readings(), scores=self._scores)

    def _scores(self, context: object) -> Scores:
        """Return the total gain of each item in each slot, on top of the slots before it."""
        table = self.public.table
        return Scores(table.copy(), np.full(table.shape, sqrt(self.public.variance)))


class OrderedExperts(PreferenceMode):
    """Slates drawn anew for each visitor; for whole preferences of adversarial streams."""

    @property
    def promise(self) -> Promise:
        return replace(super().promise, proof="adversarial.md")

    def check(self) -> None:
        """Refuse a horizon without a release."""
        settings = self.settings
        if settings.rounds < 2 or (settings.block != "auto" and settings.block >= settings.rounds):
            raise ConfigError(
                f"a horizon of {settings.rounds} is too short for one release: nothing would be "
                "learned"
            )

    @cached_property
    def gains(self) -> RunningTotal[Rows]:
        """The running total of weighted gains and of the slates' values."""
        settings = self.settings
        if settings.block != "auto":
            return self._total(settings.block)
        block = block_for(settings.rounds, lambda block: self._range(self._total(block)))
        return self._total(block)

    def _total(self, block: int) -> RunningTotal[Rows]:
        settings = self.settings
        norm = 1 if settings.privacy.pure else 2
        rows = Rows((settings.slots * settings.room + 1,), norm=norm, nonnegative=True)
        schedule = EqualBlocks(settings.rounds, block, last=False)
        return RunningTotal("gains", rows, schedule, settings.privacy, people=block)

    def _range(self, gains: RunningTotal[Rows]) -> float:
        """Return the expected range of the noise in the totals of one slot."""
        return expected_range(self.settings.room) * gains.mean_noise

    @cached_property
    def rate(self) -> AdaptiveRate:
        """The rate η of the experts, with the rule that cuts it."""
        settings = self.settings
        gains = self.gains
        return AdaptiveRate.for_stream(
            settings.room,
            rounds=settings.rounds,
            block=gains.people,
            range=self._range(gains),
            boldness=TUNED.boldness,
            patience=TUNED.patience,
            experts=settings.slots,
        )

    @cached_property
    def phases(self) -> Scheduled:
        tuned = TUNED.boldness, TUNED.patience
        return Scheduled.one(ExpertsPhase, self.gains.schedule, self.gains, constants=tuned)

    @property
    def facts(self) -> dict[str, object]:
        return {
            "method": "ordered-experts",
            "why": "each slate is drawn by coins of its own round, so that no stream can predict "
            "it",
            "block": self.gains.people,
            "releases": self.gains.releases,
            "rate": self.rate.at(0),
            "slowest_rate": self.rate.slowest,
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
            rate=0.0,
            cuts=0,
        )


def _drawn(scores: Floats, left: Mask, uniforms: Floats) -> Integers:
    """Return one item per row, drawn from those left by weights exp(score); −1 if none is left."""
    masked = np.where(left, scores, -np.inf)
    best = masked.max(axis=1, keepdims=True)
    weights = np.exp(masked - np.where(np.isfinite(best), best, 0.0))
    cumulated = np.cumsum(weights, axis=1)
    drawn = (cumulated <= uniforms[:, None] * cumulated[:, -1:]).sum(axis=1)
    return np.where(np.isfinite(best[:, 0]), np.minimum(drawn, scores.shape[0] - 1), -1)
