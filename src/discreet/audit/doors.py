"""Doors that record one run, and doors that force its released transcript on another run.

All randomness meets people's integers in three places: `Door.noised`, `Door.draw` and
`Door.select_path`. One run passes a `RecordingDoor`, which notes every integer vector and every
table of weights. Another run is sent through the same released transcript by a `ForcedDoor`, which
adds up the privacy cost of the difference and compares each passage with its own charge.

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
from discreet.release.noise import DiscreteGaussian, DiscreteLaplace, Noise
from discreet.release.randomness import RandomBits
from discreet.release.sampled_path import WHOLE, SampledPath, SecretCoins
from discreet.release.selection import Selection
from discreet.release.sums.prefix_sum import PrefixSum, State

QUIET = 0
"""Loudness of transcripts without noise."""
LOUD = 50
"""Loudness of transcripts with far more noise than the law has."""


@dataclass
class Passage:
    """One meeting of people's integers with randomness, and its outcome."""

    release: int
    law: Noise | Selection | SampledPath


@dataclass
class NoisePassage(Passage):
    """Integers before and after noise was added."""

    exact: Integers
    released: Integers


@dataclass
class DrawPassage(Passage):
    """The weights of all candidates, and the one that was drawn."""

    weights: list[int]
    drawn: int


@dataclass
class PathPassage(Passage):
    """People along a greedy path, and the items that were drawn."""

    people: GainPath
    sampled: Mask
    """The people who were sampled."""
    allowed: list[Mask]
    """The items that could be drawn, per step."""
    drawn: list[int]


Kind = TypeVar("Kind", bound=Passage)


class Passed(NamedTuple):
    """A kind of passage through a door: by aggregator, law of the release, and measure."""

    aggregator: str
    law: str
    """One of "noise", "sum" (a running sum), "draw" and "path"."""
    measure: str


class SumSoFar(NamedTuple):
    """The cost of a running sum, and the charge for it, up to some release."""

    cost: float
    charge: Charge


@dataclass
class Tape:
    """The passages of one run; once another run is sent through them, the costs per release."""

    loudness: int = 1
    """The factor by which noise exceeds its law: a proof holds for every transcript."""
    passages: list[Passage] = field(default_factory=list)
    stages: dict[int, set[Passed]] = field(default_factory=lambda: defaultdict(set))
    """The kinds of passages per release."""
    position: int = 0
    """The number of passages that were repeated."""
    costs: dict[int, float] = field(default_factory=lambda: defaultdict(float))
    """The cost of all passages per release."""
    total_cost: dict[Passed, float] = field(default_factory=lambda: defaultdict(float))
    """The cost of all passages of a kind."""
    largest_ratio: dict[Passed, float] = field(default_factory=lambda: defaultdict(float))
    """The largest cost over charge of one passage of a kind, or of a running sum so far."""
    _sums: dict[Aggregator, SumSoFar] = field(default_factory=dict)

    @property
    def wild(self) -> bool:
        """Whether draws are made that have a tiny probability under the law."""
        return self.loudness > 1

    def rewind(self) -> None:
        """Forget the costs of the last run, so that another can be sent through the tape."""
        self.position = 0
        for costs in (self.costs, self.total_cost, self.largest_ratio, self._sums):
            costs.clear()

    def price(self, passed: Passed, cost: float, charge: Charge) -> None:
        """Compare the cost of a passage with its charge."""
        self.total_cost[passed] += cost
        if cost > 0:
            ratio = cost / charge.amount if charge.amount > 0 else inf
            self.largest_ratio[passed] = max(self.largest_ratio[passed], ratio)

    def price_step(self, sums: PrefixSum, passed: Passed, cost: float, step: int) -> None:
        """Compare the cost of a running sum so far with its charge so far."""
        charge = sums.charge(step)
        # Disjoint releases stand alone; a person stays in all prefixes of other sums.
        if step and not sums.has_cohorts:
            before = self._sums.get(sums.aggregator, SumSoFar(0.0, charge * 0))
            cost = before.cost + cost
            charge = before.charge + charge
        self._sums[sums.aggregator] = SumSoFar(cost, charge)
        self.price(passed, cost, charge)

    def recording(self, bits: RandomBits, reserved: Charge, index: int) -> "RecordingDoor":
        """Make a door that records what passes."""
        return RecordingDoor(bits, reserved, index, self)

    def forcing(self, bits: RandomBits, reserved: Charge, index: int) -> "ForcedDoor":
        """Make a door that repeats what was recorded."""
        return ForcedDoor(bits, reserved, index, self)

    def next(self, kind: type[Kind], release: int, law: Noise | Selection | SampledPath) -> Kind:
        """Return the passage that must come now; raise if another one comes."""
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
    """A door that knows which aggregator passes, and the charge of the passage."""

    def __init__(self, bits: RandomBits, reserved: Charge, index: int, tape: Tape) -> None:
        super().__init__(bits, reserved, index)
        self._tape = tape
        self._cost = 0.0
        """The cost of the passage under way."""

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
        released = super().prefix(sums, public, hidden, aggregate)
        self._tape.price_step(sums, passed, self._cost, hidden["steps"])
        return released

    @contextmanager
    def _watched(self, aggregator: Aggregator | None, law: str, charge: Charge) -> Iterator[None]:
        """Price what passes meanwhile; a greedy path has no aggregator."""
        kind = "GainPath" if aggregator is None else _kind(aggregator)
        passed = Passed(kind, law, charge.measure)
        self._tape.stages[self.index].add(passed)
        self._cost = 0.0
        yield
        self._tape.price(passed, self._cost, charge)


def _kind(aggregator: Aggregator) -> str:
    return type(aggregator).__name__


class RecordingDoor(WatchedDoor):
    """A door that records all integers; on `wild` tapes it makes draws of tiny probability."""

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
        people = path.copied()
        allowed: list[Mask] = []

        def noted(chosen: list[int]) -> Mask:
            allowed.append(extensions(chosen).copy())
            return allowed[-1]

        with self._watched(None, "path", sampled.charge):
            chosen = super().select_path(sampled, path, noted)
        self._tape.passages.append(
            PathPassage(
                self.index,
                sampled,
                people=people,
                sampled=self._coins.sampled(0, path.people),
                allowed=allowed,
                drawn=list(chosen),
            )
        )
        return chosen

    def coins(self, keep: int) -> SecretCoins:
        # Privacy holds given the coins of all others: wild tapes sample all people, which sharpens
        # the draws.
        self._coins = super().coins(WHOLE if self._tape.wild else keep)
        return self._coins

    def draw_exactly(self, rate: int, unit: int, scores: Integers, available: Mask) -> int:
        if self._tape.wild:
            # The least likely item: one person who wants it weighs most there.
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
    """A door that releases what a tape recorded, and adds up the cost of the difference."""

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
        chosen = passage.drawn
        for place, allowed in enumerate(passage.allowed):
            same = np.array_equal(allowed, extensions(chosen[:place]))
            assert same, (
                "the neighbouring stream allows other items: what may be drawn depends on data"
            )
        steps = list(zip(chosen, passage.allowed, strict=False))
        changed = passage.people.differs(path)
        here = path_likelihood(sampled, passage.people, passage.sampled, changed, steps)
        there = path_likelihood(sampled, path, passage.sampled, changed, steps)
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
    """Return the cost of moving integers under noise: ‖v‖₁/scale, or ‖v‖²/2σ².

    >>> noise_cost(DiscreteLaplace(10), [3, -4])
    0.7
    """
    if isinstance(noise, DiscreteLaplace):
        return float(Fraction(sum(map(abs, moved)), noise.scale))
    assert isinstance(noise, DiscreteGaussian)
    squares = sum(change * change for change in moved)
    return float(Fraction(squares, 2 * noise.sigma**2))


def ratio_range(here: list[int], there: list[int]) -> float:
    """Return the range of the log-ratios of two tables of weights.

    It is infinite if only one of them allows a candidate.
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
    """Return the log-likelihood of a path, given all coins but those of the changed people."""
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
