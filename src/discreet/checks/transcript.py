"""The exact transcript audit: what one person can change in what meets the door, against what was charged.

All randomness meets people's integers in two places: `Door.noised` and `Door.draw`. One stream of people
passes a `RecordingDoor`, which notes every integer vector and every table of weights. A neighbouring stream
is then sent through the same released transcript by a `ForcedDoor`. Along it the privacy loss is a function
of the two streams' integers alone, so its sure cost can be added up:

    noise        ‖v‖²/2σ² (zCDP) or ‖v‖₁/scale (pure)     v: how far the two integer vectors are apart
    a draw       b²/8 (zCDP) or b (pure)                   b: the range of the log-ratios of the two tables
    a path       |log-ratio| of its likelihoods (pure)     the changed people's coins averaged out

and compared with the charge after every turn, in the measure of the step that people are in. Cohorts that the
changed people are not in must show no difference at all, and everything visible must be the same in both
runs; under joint privacy, where a person's context may decide what they are given, all but the changed
people's own decisions. People are hostile, react to decisions, answer late or never; transcripts are drawn
from the law and beyond it (noise fifty times as large, uniform draws), because a proof holds for all of them.

What it does not see: the law of the noise, words that are used twice, timing. Other tests do.

Guarantee   docs/guarantees/turn.md, Theorem 4
"""

from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import product
from math import inf, log
from typing import Any

import numpy as np

from discreet.arrays import Integers, Mask
from discreet.budget.privacy import Charge
from discreet.checks.case import Case
from discreet.checks.hostile import STRANGE, extreme_row, hostile, opposite
from discreet.learners.learner import Learner
from discreet.release.door import Door
from discreet.release.gathering import (
    ChosenRows,
    Gathering,
    Gram,
    HeldRows,
    Moments,
    OneChoice,
    PublicCells,
    PublicRows,
    Rows,
    Spread,
)
from discreet.release.gathering.gain_path import GainPath
from discreet.release.noise import Noise
from discreet.release.randomness import Words
from discreet.release.sampled import SampledPath
from discreet.release.selection import Selection
from discreet.turn.described import fingerprint
from discreet.turn.plan import Plan, Step

__all__ = ["Audited", "ForcedDoor", "RecordingDoor", "Tape", "audit_transcript", "weakened"]

ROUNDING = 1e-12
"""Of the logarithms of weights; charges of noise are compared exactly."""


# --- doors that record and repeat ------------------------------------------------------------------------


@dataclass
class Passage:
    """One meeting of people's integers with randomness, and what came of it."""

    turn: int
    law: Noise | Selection | SampledPath
    exact: Any
    released: Any


@dataclass
class Tape:
    """What passed the door in one run; once another is sent through it, what the difference costs a turn."""

    wild: bool = False
    passages: list[Passage] = field(default_factory=list)
    position: int = 0
    costs: dict[int, float] = field(default_factory=lambda: defaultdict(float))

    def recording(self, words: Words, reserved: Charge, index: int) -> "RecordingDoor":
        """A door that notes what passes."""
        return RecordingDoor(words, reserved, index, self)

    def forcing(self, words: Words, reserved: Charge, index: int) -> "ForcedDoor":
        """A door that lets the same pass again."""
        return ForcedDoor(words, reserved, index, self)

    def next(self, turn: int, law: Any) -> Passage:
        """The passage that must come now."""
        assert self.position < len(self.passages), (
            "the neighbouring stream makes more draws: their number depends on data"
        )
        passage = self.passages[self.position]
        self.position += 1
        same = passage.turn == turn and fingerprint(passage.law) == fingerprint(law)
        assert same, "the neighbouring stream meets another law: noise or rate depends on data"
        return passage


class RecordingDoor(Door):
    """A door that notes every integer that meets it; `wild` tapes release what the law would hardly ever."""

    def __init__(self, words: Words, reserved: Charge, index: int, tape: Tape) -> None:
        super().__init__(words, reserved, index)
        self._tape = tape

    def noised(self, noise: Noise, exact: Integers) -> Integers:
        released = super().noised(noise, exact)
        if self._tape.wild:
            released = exact + 50 * (released - exact)
        self._tape.passages.append(Passage(self.index, noise, exact.copy(), released.copy()))
        return released

    def select_path(
        self, sampled: SampledPath, path: GainPath, extensions: Callable[[list[int]], Mask]
    ) -> list[int]:
        people, masks = path.copied(), []

        def noted(chosen: list[int]) -> Mask:
            masks.append(extensions(chosen).copy())
            return masks[-1]

        chosen = super().select_path(sampled, path, noted)
        self._tape.passages.append(Passage(self.index, sampled, (people, self._kept, masks), list(chosen)))
        return chosen

    def coins(self, keep: int, people: int) -> Mask:
        self._kept = super().coins(keep, people)
        return self._kept

    def draw_exactly(self, rate: int, unit: int, scores: Integers, available: Mask) -> int:
        if self._tape.wild:
            return int(super().draw_exactly(0, unit, scores, available))
        return super().draw_exactly(rate, unit, scores, available)

    def draw(self, selection: Selection, scores: Integers, available: Mask) -> int:
        chosen = super().draw(selection, scores, available)
        if self._tape.wild:
            chosen = int(np.flatnonzero(available)[chosen % np.count_nonzero(available)])
        weights = _weights(selection, scores, available)
        self._tape.passages.append(Passage(self.index, selection, weights, chosen))
        return chosen


class ForcedDoor(Door):
    """A door that releases what a tape says, and adds up what the difference of the integers costs."""

    def __init__(self, words: Words, reserved: Charge, index: int, tape: Tape) -> None:
        super().__init__(words, reserved, index)
        self._tape = tape
        self._pure = reserved.measure == "pure"

    def noised(self, noise: Noise, exact: Integers) -> Integers:
        passage = self._tape.next(self.index, noise)
        moved = [int(one) - int(two) for one, two in zip(passage.exact, exact, strict=True)]
        self._tape.costs[self.index] += noise_cost(noise, moved)
        released: Integers = passage.released.copy()
        return released

    def select_path(
        self, sampled: SampledPath, path: GainPath, extensions: Callable[[list[int]], Mask]
    ) -> list[int]:
        passage = self._tape.next(self.index, sampled)
        people, kept, masks = passage.exact
        chosen: list[int] = passage.released
        for place, mask in enumerate(masks):
            same = np.array_equal(mask, extensions(chosen[:place]))
            assert same, "the neighbouring stream allows other items: what may be drawn depends on data"
        steps = list(zip(chosen, masks, strict=False))
        changed = people.differs(path)
        here, there = (path_likelihood(sampled, one, kept, changed, steps) for one in (people, path))
        self._tape.costs[self.index] += abs(here - there)
        return list(chosen)

    def draw(self, selection: Selection, scores: Integers, available: Mask) -> int:
        passage = self._tape.next(self.index, selection)
        span = ratio_range(passage.exact, _weights(selection, scores, available))
        self._tape.costs[self.index] += span if self._pure else span**2 / 8
        return int(passage.released)


def noise_cost(noise: Noise, moved: list[int]) -> float:
    """‖v‖₁/scale or ‖v‖²/2σ², rounded up."""
    if noise.norm == 1:
        exact = Fraction(sum(map(abs, moved)), getattr(noise, "scale"))  # noqa: B009  both laws are `Noise`
    else:
        exact = Fraction(sum(change * change for change in moved), 2 * getattr(noise, "sigma") ** 2)  # noqa: B009
    return float(exact)


def ratio_range(here: list[int], there: list[int]) -> float:
    """The range of the log-ratios of two tables; infinite if only one of them allows a candidate."""
    if any((one == 0) != (two == 0) for one, two in zip(here, there, strict=True)):
        return inf
    ratios = [log(one) - log(two) for one, two in zip(here, there, strict=True) if one]
    return max(ratios) - min(ratios)


def path_likelihood(
    sampled: SampledPath, people: GainPath, kept: Mask, changed: Integers, steps: list[tuple[int, Mask]]
) -> float:
    """The log-likelihood of a path, given all coins but those of the changed people."""
    total = -inf
    for coins in product((False, True), repeat=len(changed)):
        mask = kept.copy()
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


# --- two runs and their costs ----------------------------------------------------------------------------

Answer = Callable[[int, Any], Any]
"""What the person of a round brings, once they have seen the decision."""


@dataclass(frozen=True)
class Audited:
    """What an audit of one learner found."""

    name: str
    measure: str
    claim: float
    pairs: int
    largest_cost_over_charge: float


def audit_transcript(case: Case, *, pairs: int = 200, seed: int = 0) -> Audited:
    """Send pairs of neighbouring streams through the same transcripts; raises if one costs too much."""
    found = measured_costs(case, pairs=pairs, seed=seed)
    largest = found.largest_cost_over_charge
    assert largest <= 1 + ROUNDING, f"{case.name}: one person can cost {largest:.4g} times what is charged"
    return found


def measured_costs(case: Case, *, pairs: int, seed: int, enough: float = inf) -> Audited:
    """The same, whatever is found; it stops once a cost exceeds `enough` times its charge."""
    learner = case.make()
    total = learner.guarantee.total
    claims = {"pure": total.pure, "zcdp": total.zcdp}
    claims[total.everyone.measure] += total.everyone.amount
    measure = max(claims, key=lambda name: claims[name])
    plan = type(learner).problem_for(learner.settings).plan
    largest, tried = 0.0, 0
    while tried < pairs and largest <= enough:
        largest = max(largest, _pair(case, learner, plan, np.random.default_rng([seed, tried])))
        tried += 1
    return Audited(case.name, measure, claims[measure], tried, largest)


def _pair(case: Case, like: Learner, plan: Plan, generator: np.random.Generator) -> float:
    """The largest cost over charge along one transcript."""
    rounds = case.horizon
    several = int(generator.integers(1, min(like.settings.contributions, rounds) + 1))
    changed = set(generator.choice(rounds, size=several, replace=False).tolist())
    if several == 1 and generator.random() < 0.5:  # short stages must not be missed
        changed = {_round_of_a_step(like, plan, generator, rounds)}
    seeds = [int(seed) for seed in generator.integers(2**63, size=3)]
    fates = generator.choice(["now", "now", "now", "soon", "late", "never"], size=rounds)
    fates[list(changed)] = "now"
    turned = bool(generator.random() < 0.5)
    strange = STRANGE[int(generator.integers(len(STRANGE)))] if generator.random() < 0.2 else STRANGE
    tape = Tape(wild=bool(generator.random() < 0.5))

    def someone(round: int, decision: Any, seed: int = seeds[0]) -> Any:
        """Everybody reacts to the decision that they were shown, but to nothing else."""
        own = np.random.default_rng([seed, round, int(fingerprint(np.asarray(decision))[:12], 16)])
        person = case.person(own)
        return hostile(person, decision, own) if own.random() < 0.7 else person

    def neighbour(round: int, decision: Any) -> Any:
        if round not in changed:
            return someone(round, decision)
        if strange is not STRANGE:
            return strange
        turn_round = opposite(someone(round, decision)) if turned else None
        return someone(round, decision, seeds[1]) if turn_round is None else turn_round

    # Public coins are part of the transcript: the same in both runs.
    settings = replace(like.settings, seed=seeds[2])
    joint = like.guarantee.notion == "joint DP"
    stream = _Stream(case, plan, fates, seeds[2], hidden=changed if joint else set())
    contexts = _hostile_contexts(case, generator)
    seen = stream.live(type(like).from_settings(settings, door=tape.recording), someone, contexts)
    if contexts is not None and joint and generator.random() < 0.7:
        others = _hostile_contexts(case, generator)
        contexts[list(changed)] = others[list(changed)]
    again = stream.live(type(like).from_settings(settings, door=tape.forcing), neighbour, contexts)
    assert seen.visible == again.visible, (
        f"{case.name}: something visible depends on a person other than by the door"
    )
    assert tape.position == len(tape.passages), f"{case.name}: the number of draws depends on data"
    return _worst(case, again.steps, tape.costs, changed)


def _round_of_a_step(like: Learner, plan: Plan, generator: np.random.Generator, rounds: int) -> int:
    """A round of a block, all blocks equally likely, as far as the plan is known from the start."""
    public, begin = like.snapshot().public, 0
    blocks: list[tuple[int, int]] = []
    while (step := plan.next(len(blocks), public)) is not None and begin < rounds:
        blocks.append((begin, min(step.rounds, rounds - begin)))
        begin += step.rounds
    first, length = blocks[int(generator.integers(len(blocks)))] if blocks else (0, rounds)
    return first + int(generator.integers(length))


def _hostile_contexts(case: Case, generator: np.random.Generator) -> Any:
    """One context a round, ordinary or extreme; None if the learner takes none."""
    contexts = case.contexts(case.horizon, int(generator.integers(2**31)))
    if contexts is not None:
        for round in np.flatnonzero(generator.random(len(contexts)) < 0.6):
            contexts[round] = extreme_row(contexts[round], generator)
    return contexts


@dataclass
class _Seen:
    """Everything that anyone could see of one run, and the steps that it took."""

    visible: list[str] = field(default_factory=list)
    steps: list[tuple[int, Step]] = field(default_factory=list)


@dataclass(frozen=True)
class _Stream:
    """When people come and answer, and with which public masks: the same in both runs."""

    case: Case
    plan: Plan
    fates: Any
    seed: int
    hidden: set[int]
    """Rounds whose decision only their own person sees."""

    def live(self, learner: Learner, answer: Answer, contexts: Any) -> _Seen:
        """A whole life, and all that is visible of it."""
        masks = self.case.masks(self.case.horizon, self.seed)
        sizes = np.random.default_rng([self.seed, 3]).integers(1, 4, size=self.case.horizon)
        seen, waiting, first = _Seen(), [], 0
        self._note(learner, seen)
        while first < self.case.horizon:
            if learner.turn():
                self._note(learner, seen)
            # Several at once: nobody may decide whether others of the same call are counted.
            count = int(min(sizes[first], learner.rounds_until_release, self.case.horizon - first))
            rounds = range(first, first + count)
            what = count if contexts is None else contexts[first : first + count]
            tickets = learner.open_many(what, None if masks is None or first % 2 else masks[rounds])
            decisions = [tickets.decisions[place : place + 1] for place in range(count)]
            for round, decision in zip(rounds, decisions, strict=True):
                if round not in self.hidden:
                    seen.visible.append(fingerprint(np.asarray(decision)))
            for fate, wait in (("now", 0), ("soon", 1), ("late", 5)):
                places = [place for place, round in enumerate(rounds) if self.fates[round] == fate]
                people = [answer(rounds[place], decisions[place]) for place in places]
                if places:
                    waiting.append((first + count - 1 + wait, tickets[np.array(places)], people))
            first += count
            for entry in [entry for entry in waiting if entry[0] < first]:
                learner.close_many(entry[1], entry[2])
                waiting.remove(entry)
        if learner.turn():
            self._note(learner, seen)
        seen.visible.append(str(learner.guarantee))
        return seen

    def _note(self, learner: Learner, seen: _Seen) -> None:
        snapshot = learner.snapshot()
        step = self.plan.next(snapshot.index, snapshot.public)
        if step is not None:
            seen.steps.append((snapshot.begin, step))
        seen.visible.append(fingerprint(snapshot.public))


def _worst(case: Case, steps: list[tuple[int, Step]], costs: dict[int, float], changed: set[int]) -> float:
    """Costs against charges, after every turn: everyone's add up, each cohort's stands alone.

    With several changed rounds, group privacy: a pure charge so many times, a zCDP charge the square of that.
    """
    own = set()
    for begin, step in steps:
        if any(begin <= round < begin + step.rounds for round in changed):
            own.add(step.cohort)
    paid: dict[Any, float] = defaultdict(float)
    due: dict[Any, float] = defaultdict(float)
    worst = 0.0
    for index, (_, step) in enumerate(steps):
        cost, account = costs.get(index, 0.0), (step.cohort, step.charge.measure)
        if step.cohort is not None and step.cohort not in own:
            assert cost == 0, f"{case.name}: release {index} shows a person of another cohort"
        group = len(changed) if step.charge.measure == "pure" else len(changed) ** 2
        due[account] += cost
        paid[account] += step.charge.amount * group
        if due[account] > 0:
            worst = max(worst, due[account] / paid[account] if paid[account] > 0 else inf)
    return worst


# --- a copy that must be caught --------------------------------------------------------------------------


@contextmanager
def weakened() -> Iterator[None]:
    """While this lasts, gatherings state half of what a person can move.

    Learners made now have too little noise: an audit that does not notice would notice nothing.
    """
    kinds: tuple[type[Gathering], ...] = (
        Rows,
        PublicCells,
        PublicRows,
        OneChoice,
        ChosenRows,
        Spread,
        Gram,
        Moments,
    )
    honest = [(kind, kind.unit_sensitivity, kind.span) for kind in kinds]
    honest_price = SampledPath.charge
    assert not issubclass(HeldRows, kinds), "held rows are added up by Rows"
    try:
        for kind, sensitivity, span in honest:
            kind.unit_sensitivity = _half(sensitivity)  # type: ignore[method-assign]
            kind.span = property(_half_span(span))  # type: ignore[assignment]
        SampledPath.charge = property(_half_price(honest_price))  # type: ignore[assignment,method-assign]
        yield
    finally:
        for kind, sensitivity, span in honest:
            kind.unit_sensitivity = sensitivity  # type: ignore[method-assign]
            kind.span = span  # type: ignore[method-assign]
        SampledPath.charge = honest_price  # type: ignore[method-assign]


def _half(sensitivity: Any) -> Any:
    return lambda gathering, norm: sensitivity(gathering, norm) / 2


def _half_span(span: Any) -> Any:
    return lambda gathering: max(1, span.fget(gathering) // 2)


def _half_price(charge: Any) -> Any:
    return lambda sampled: charge.fget(replace(sampled, rate=max(1, sampled.rate // 2)))
