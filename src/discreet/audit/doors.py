"""Doors that record and repeat: what passed in one run is forced on another, and the difference is
priced.

All randomness meets people's integers in three places: `Door.noised`, `Door.draw` and
`Door.select_path`. One run passes a `RecordingDoor`, which notes every integer vector and every
table of weights; another is sent through the same released transcript by a `ForcedDoor`, which adds
up what the difference costs, and compares each passage with its own price.

Guarantee   docs/guarantees/engine.md, Theorem 4
"""

from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from math import inf, log
from typing import NamedTuple, TypeVar

import numpy as np

from discreet.arrays import Integers, Mask
from discreet.budget.privacy import Charge
from discreet.engine.codec import fingerprint
from discreet.release.aggregators.base import Aggregate, Aggregator
from discreet.release.aggregators.gain_path import GainPath
from discreet.release.door import Door
from discreet.release.noise import Noise
from discreet.release.randomness import RandomBits
from discreet.release.sampled_path import WHOLE, SampledPath, SecretCoins
from discreet.release.selection import Selection
from discreet.release.sums.prefix_sum import PrefixSum, State

QUIET, LOUD = 0, 50
"""Transcripts without noise, and with far more than the law has."""


@dataclass
class Passage:
    """One meeting of people's integers with randomness, and what came of it."""

    release: int
    law: Noise | Selection | SampledPath


@dataclass
class NoisePassage(Passage):
    """Integers and what noise made of them."""

    exact: Integers
    released: Integers


@dataclass
class DrawPassage(Passage):
    """The weights of all candidates, and which of these was drawn."""

    weights: list[int]
    drawn: int


@dataclass
class PathPassage(Passage):
    """People along a path, who of them was kept, what could be drawn at each step, and what was."""

    people: GainPath
    mask: Mask
    masks: list[Mask]
    drawn: list[int]


Kind = TypeVar("Kind", bound=Passage)


class Passed(NamedTuple):
    """What passes a door: people added up by an aggregator, how they are released, the measure
    of the price.
    """

    aggregator: str
    law: str
    """"noise", "sum" (a running one), "draw" or "path"."""
    measure: str


@dataclass
class Tape:
    """What passed the door in one run; once another is sent through it, what the difference
    costs a turn.
    """

    loudness: int = 1
    """How many times as large as the law says noise is: a proof holds for every transcript."""
    passages: list[Passage] = field(default_factory=list)
    stages: dict[int, set[Passed]] = field(default_factory=lambda: defaultdict(set))
    """What passed in each turn."""
    position: int = 0
    costs: dict[int, float] = field(default_factory=lambda: defaultdict(float))
    due: dict[Passed, float] = field(default_factory=lambda: defaultdict(float))
    """What all passages of a kind cost together."""
    alone: dict[Passed, float] = field(default_factory=lambda: defaultdict(float))
    """The largest cost over charge of one passage, or of a running sum so far."""
    _sums: dict[Aggregator, tuple[float, Charge]] = field(default_factory=dict)
    """What each running sum cost so far, and what it was charged."""

    @property
    def wild(self) -> bool:
        """Whether draws are such as the law would hardly ever make."""
        return self.loudness > 1

    def rewind(self) -> None:
        """Send another run through what is recorded, as if none had been before."""
        self.position = 0
        for found in (self.costs, self.due, self.alone, self._sums):
            found.clear()

    def price(self, passed: Passed, cost: float, charge: Charge) -> None:
        """Compare the cost of a passage with its charge."""
        self.due[passed] += cost
        if cost > 0:
            ratio = cost / charge.amount if charge.amount > 0 else inf
            self.alone[passed] = max(self.alone[passed], ratio)

    def price_step(self, sums: PrefixSum, passed: Passed, cost: float, step: int) -> None:
        """Compare what a running sum cost so far with what it was charged so far."""
        charge = sums.charge(step)
        # Separate releases stand alone; a person stays in all prefixes of other sums.
        if step and not sums.has_cohorts:
            before, charged = self._sums.get(sums.aggregator, (0.0, charge * 0))
            cost, charge = before + cost, charged + charge
        self._sums[sums.aggregator] = cost, charge
        self.price(passed, cost, charge)

    def recording(self, bits: RandomBits, reserved: Charge, index: int) -> "RecordingDoor":
        """A door that notes what passes."""
        return RecordingDoor(bits, reserved, index, self)

    def forcing(self, bits: RandomBits, reserved: Charge, index: int) -> "ForcedDoor":
        """A door that lets the same pass again."""
        return ForcedDoor(bits, reserved, index, self)

    def next(self, kind: type[Kind], release: int, law: Noise | Selection | SampledPath) -> Kind:
        """The passage that must come now."""
        assert self.position < len(self.passages), (
            "the neighbouring stream makes more draws: their number depends on data"
        )
        passage = self.passages[self.position]
        self.position += 1
        same = passage.release == release and fingerprint(passage.law) == fingerprint(law)
        assert same and isinstance(passage, kind), (
            "the neighbouring stream meets another law: noise or rate depends on data"
        )
        return passage


class WatchedDoor(Door):
    """A door that knows whose aggregator passes, and what the passage is charged."""

    def __init__(self, bits: RandomBits, reserved: Charge, index: int, tape: Tape) -> None:
        super().__init__(bits, reserved, index)
        self._tape = tape
        self._cost = 0.0
        """Of the passage under way."""

    def add_noise(self, noise: Noise, aggregate: Aggregate) -> Integers:
        charge = noise.charge(aggregate.aggregator.sensitivity(noise.norm))
        with self._watched(aggregate.aggregator, "noise", charge):
            return super().add_noise(noise, aggregate)

    def select(
        self, selection: Selection, aggregate: Aggregate, available: Mask | None = None
    ) -> int:
        with self._watched(aggregate.aggregator, "draw", selection.charge(self._measure)):
            return super().select(selection, aggregate, available)

    def select_in_slots(
        self, selection: Selection, aggregate: Aggregate, available: Mask, *, draws: int
    ) -> Integers:
        with self._watched(aggregate.aggregator, "draw", selection.charge(self._measure) * draws):
            return super().select_in_slots(selection, aggregate, available, draws=draws)

    def prefix(
        self, sums: PrefixSum, public: State, hidden: State, aggregate: Aggregate
    ) -> tuple[State, State]:
        passed = Passed(_kind(sums.aggregator), "sum", sums.charge(hidden["steps"]).measure)
        self._tape.stages[self.index].add(passed)
        self._cost = 0.0
        found = super().prefix(sums, public, hidden, aggregate)
        self._tape.price_step(sums, passed, self._cost, hidden["steps"])
        return found

    @contextmanager
    def _watched(self, aggregator: Aggregator | None, law: str, charge: Charge) -> Iterator[None]:
        passed = Passed(
            "GainPath" if aggregator is None else _kind(aggregator), law, charge.measure
        )
        self._tape.stages[self.index].add(passed)
        self._cost = 0.0
        yield
        self._tape.price(passed, self._cost, charge)


def _kind(aggregator: Aggregator) -> str:
    return type(aggregator).__name__


class RecordingDoor(WatchedDoor):
    """A door that notes every integer that meets it; `wild` tapes release what the law would
    hardly ever.
    """

    def noised(self, noise: Noise, exact: Integers) -> Integers:
        released = super().noised(noise, exact)
        released = exact + self._tape.loudness * (released - exact)
        self._tape.passages.append(NoisePassage(self.index, noise, exact.copy(), released.copy()))
        return released

    def select_path(
        self,
        sampled: SampledPath,
        path: GainPath,
        extensions: Callable[[list[int]], Mask],
    ) -> list[int]:
        people, masks = path.copied(), []

        def noted(chosen: list[int]) -> Mask:
            masks.append(extensions(chosen).copy())
            return masks[-1]

        with self._watched(None, "path", sampled.charge):
            chosen = super().select_path(sampled, path, noted)
        mask = self._coins.sampled(0, path.people)
        self._tape.passages.append(
            PathPassage(self.index, sampled, people, mask, masks, list(chosen))
        )
        return chosen

    def coins(self, keep: int) -> SecretCoins:
        # Privacy holds given anybody else's coins: wild tapes keep everybody, who then sharpen the
        # draws.
        self._coins = super().coins(WHOLE if self._tape.wild else keep)
        return self._coins

    def draw_exactly(self, rate: int, unit: int, scores: Integers, available: Mask) -> int:
        if self._tape.wild:
            # What the law would hardly ever draw: there one person who wants it weighs most.
            return int(super().draw_exactly(rate, unit, -scores, available))
        return super().draw_exactly(rate, unit, scores, available)

    def draw(self, selection: Selection, scores: Integers, available: Mask) -> int:
        chosen = super().draw(selection, scores, available)
        if self._tape.wild:
            chosen = int(np.flatnonzero(available)[chosen % np.count_nonzero(available)])
        weights = _weights(selection, scores, available)
        self._tape.passages.append(DrawPassage(self.index, selection, weights, chosen))
        return chosen


class ForcedDoor(WatchedDoor):
    """A door that releases what a tape says, and adds up what the difference of the integers
    costs.
    """

    def noised(self, noise: Noise, exact: Integers) -> Integers:
        passage = self._tape.next(NoisePassage, self.index, noise)
        moved = [int(one) - int(two) for one, two in zip(passage.exact, exact, strict=True)]
        self._add(noise_cost(noise, moved))
        return passage.released.copy()

    def select_path(
        self,
        sampled: SampledPath,
        path: GainPath,
        extensions: Callable[[list[int]], Mask],
    ) -> list[int]:
        passage = self._tape.next(PathPassage, self.index, sampled)
        people, masks, chosen = passage.people, passage.masks, passage.drawn
        for place, mask in enumerate(masks):
            same = np.array_equal(mask, extensions(chosen[:place]))
            assert same, (
                "the neighbouring stream allows other items: what may be drawn depends on data"
            )
        steps = list(zip(chosen, masks, strict=False))
        changed = people.differs(path)
        here, there = (
            path_likelihood(sampled, one, passage.mask, changed, steps) for one in (people, path)
        )
        with self._watched(None, "path", sampled.charge):
            self._add(abs(here - there))
        return list(chosen)

    def draw(self, selection: Selection, scores: Integers, available: Mask) -> int:
        passage = self._tape.next(DrawPassage, self.index, selection)
        span = ratio_range(passage.weights, _weights(selection, scores, available))
        self._add(span if self._measure == "pure" else span**2 / 8)
        return passage.drawn

    def _add(self, cost: float) -> None:
        self._cost += cost
        self._tape.costs[self.index] += cost


def noise_cost(noise: Noise, moved: list[int]) -> float:
    """‖v‖₁/scale or ‖v‖²/2σ², rounded up."""
    if noise.norm == 1:
        exact = Fraction(sum(map(abs, moved)), getattr(noise, "scale"))  # noqa: B009  both laws are `Noise`
    else:
        exact = Fraction(sum(change * change for change in moved), 2 * getattr(noise, "sigma") ** 2)  # noqa: B009
    return float(exact)


def ratio_range(here: list[int], there: list[int]) -> float:
    """The range of the log-ratios of two tables; infinite if only one of them allows a
    candidate.
    """
    if any((one == 0) != (two == 0) for one, two in zip(here, there, strict=True)):
        return inf
    ratios = [log(one) - log(two) for one, two in zip(here, there, strict=True) if one]
    return max(ratios) - min(ratios)


def path_likelihood(
    sampled: SampledPath,
    people: GainPath,
    sampled_mask: Mask,
    changed: Integers,
    steps: list[tuple[int, Mask]],
) -> float:
    """The log-likelihood of a path, given all coins but those of the changed people."""
    total = -inf
    for coins in product((False, True), repeat=len(changed)):
        mask = sampled_mask.copy()
        mask[changed] = coins
        chances = [sampled.chance if coin else 1 - sampled.chance for coin in coins]
        if not all(chances):
            continue
        likelihood = sum(map(log, chances))
        people.begin(mask)
        for item, available in steps:
            scores = people.scores() * (sampled.exponent / people.levels)
            likelihood += float(scores[item] - np.logaddexp.reduce(scores[available]))
            people.take(item)
        total = float(np.logaddexp(total, likelihood))
    return total


def _weights(selection: Selection, scores: Integers, available: Mask) -> list[int]:
    high, low = selection.weights(scores, available)
    return [(int(top) << 64) + int(bottom) for top, bottom in zip(high, low, strict=True)]
