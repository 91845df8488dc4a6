"""The search for the two people who are farthest apart in a block, as its release sees them.

Candidates at the ends of what people can bring go through the release of the block, one after
another, by doors that record and repeat (doors.py). The person who moves it farthest from blank
feedback is one of the two; the person who moves it farthest from the first is the other. On greedy
paths all other people want items that are never drawn, because one person weighs most there.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from discreet.arrays import Floats
from discreet.audit.cases.case import Case
from discreet.audit.doors import Passed, Tape
from discreet.audit.hostile import complement, extreme_rows, extremes, mutated, mutated_row
from discreet.audit.pair import InBoth, Seeds
from discreet.engine.engine import DoorMaker
from discreet.engine.plan import Step
from discreet.engine.problem import Problem, view_of
from discreet.engine.request import EMPTY_REQUEST, Batch, Block, Request
from discreet.engine.snapshot import Snapshot
from discreet.learners.base import Learner
from discreet.release.randomness import seeded_bits

TRIED_ROUNDS = 12
"""Number of rounds of a block in which a person is tried."""
TRIED_PER_ROUND = 8
"""Number of people who are tried to find out how much a round moves."""
TRIED_CONTEXTS = 12
"""Number of contexts that are tried per round."""
TRIED_BACKGROUNDS = 6
"""Number of people whom all others of a block are made equal to."""
TRIED_IN_BACKGROUND = 20
"""Number of people who are tried before each background."""
MUTANTS = 12
"""Number of small changes of a person that are tried at once."""
REFINEMENTS = 3
"""Number of times that both people are changed a little."""
ENOUGH = 0.97
"""Share of a charge from which on the search for farther people ends."""


class Arrival(NamedTuple):
    """A person's context, where learners take one, and feedback."""

    context: Floats | None
    feedback: object


class Farthest(NamedTuple):
    """The candidate farthest from a person, the cost of replacing one by the other, its share."""

    person: Arrival
    cost: float
    share: float
    """The cost of the largest passage over its charge."""


@dataclass(frozen=True)
class FarPair:
    """Two people who are far apart in a round.

    `background` is what all other people of the block bring; None if nobody else answers.
    """

    round: int
    people: InBoth[Arrival]
    background: Arrival | None
    cost: float


@dataclass(frozen=True)
class Target:
    """A kind of passage that is to be moved, and the release in which it passes."""

    passed: Passed
    index: int


def farthest_from(
    person: object,
    candidates: list[object],
    pass_through: Callable[[DoorMaker, object], None],
    tape: Tape,
    passed: Passed,
) -> object:
    """Return the candidate who is farthest from a person, as a release sees them."""
    pass_through(tape.recording, person)
    costs = []
    for candidate in candidates:
        tape.rewind()
        pass_through(tape.forcing, candidate)
        costs.append(_cost_of(tape, passed))
    return candidates[int(np.argmax(costs))]


def _cost_of(tape: Tape, passed: Passed) -> float:
    """Return what a kind of passage cost; for running sums it is the cost of all of them."""
    return tape.total_cost[passed] if passed.law == "sum" else tape.largest_ratio[passed]


class Search:
    """The search in the block that a learner is in.

    Parameters
    ----------
    case
        The people that come.
    learner, step
        The learner, and the step of its plan that it is in.
    target
        The passage that is to be moved.
    seeds
        The seeds of the candidates and of the noise.
    loudness
        The factor by which a transcript's noise exceeds its law.
    """

    def __init__(
        self,
        case: Case,
        learner: Learner,
        step: Step,
        target: Target,
        *,
        seeds: Seeds,
        loudness: int,
    ) -> None:
        self.case = case
        self.step = step
        self.target = target
        self.seeds = seeds
        self.loudness = loudness
        self.problem: Problem = type(learner).problem_for(learner.settings)
        self.snapshot: Snapshot = learner.snapshot()
        self.view = view_of(self.problem, self.snapshot)
        self.block = range(learner.clock, learner.clock + learner.rounds_until_release)
        self._generator = np.random.default_rng([seeds.people, 6])

    def far_pair(self) -> FarPair:
        """Return the round in which people move most, and the two farthest apart in it."""
        places = self._generator.permutation(len(self.block))[:TRIED_ROUNDS].tolist()
        round = max((self.block[place] for place in places), key=self._weight)
        candidates = self._candidates(round)
        law = self.target.passed.law
        if law == "path":
            return self._before_backgrounds(round, candidates)
        alone = self._without_others(round, candidates)
        if law == "draw" and len(self.block) > 1:
            among = self._before_backgrounds(round, candidates)
            return among if among.cost > alone.cost else alone
        return alone

    # --- two people -------------------------------------------------------------------------------

    def _without_others(self, round: int, candidates: list[Arrival]) -> FarPair:
        """Return the two people who are farthest apart where nobody else answers."""
        blank = Arrival(candidates[0].context, self.problem.answer.blank)
        one = self._farthest(blank, candidates, round).person
        one = self._farthest(blank, [one, *self._scaled(one)], round).person
        other_answers = [Arrival(one.context, candidate.feedback) for candidate in candidates]
        other = self._farthest(one, [*candidates, *other_answers, blank], round)
        return self._refined(round, one, other)

    def _refined(self, round: int, one: Arrival, other: Farthest) -> FarPair:
        """Return the two people, changed a little as long as that takes them apart."""
        there = other.person
        cost = other.cost
        share = other.share
        for _ in range(REFINEMENTS):
            if share >= ENOUGH:
                break
            there = self._farthest(one, [there, *self._mutants(there)], round).person
            one, cost, share = self._farthest(there, [one, *self._mutants(one)], round)
        return FarPair(round, InBoth(one, there), background=None, cost=cost)

    def _before_backgrounds(self, round: int, candidates: list[Arrival]) -> FarPair:
        """Return the two people who are farthest apart where all others bring the same.

        On a path one of the two is like all others.
        """
        places = self._generator.permutation(len(candidates))[:TRIED_BACKGROUNDS].tolist()
        pairs = [self._before(candidates[place], round, candidates) for place in places]
        return max(pairs, key=lambda pair: pair.cost)

    def _before(self, background: Arrival, round: int, candidates: list[Arrival]) -> FarPair:
        """Return the two people who are farthest apart before one background."""
        places = self._generator.permutation(len(candidates))[:TRIED_IN_BACKGROUND].tolist()
        some = [candidates[place] for place in places]
        turned = complement(background.feedback)
        if turned is not None:
            some.append(Arrival(background.context, turned))
        one = background
        if self.target.passed.law != "path":
            blank = Arrival(background.context, self.problem.answer.blank)
            one = self._farthest(blank, some, round, background).person
        other = self._farthest(one, some, round, background)
        return FarPair(round, InBoth(one, other.person), background, other.cost)

    def _farthest(
        self,
        person: Arrival,
        candidates: list[Arrival],
        round: int,
        background: Arrival | None = None,
    ) -> Farthest:
        """Return the candidate who is farthest from a person, as the release sees them."""
        tape = Tape(self.loudness)
        passed = self.target.passed
        self._release(self._block_with(person, round, background), tape.recording)
        found = []
        for candidate in candidates:
            tape.rewind()
            self._release(self._block_with(candidate, round, background), tape.forcing)
            cost = _cost_of(tape, passed)
            found.append(Farthest(candidate, cost, tape.largest_ratio[passed]))
        return found[int(np.argmax([far.cost for far in found]))]

    # --- the block and its release ----------------------------------------------------------------

    def _release(self, block: Block, make_door: DoorMaker) -> None:
        snapshot = self.snapshot
        bits = seeded_bits(self.seeds.public, snapshot.index)
        door = make_door(bits, self.step.charge, snapshot.index)
        self.view.release(snapshot.rounds.mask_counts, snapshot.hidden, block, door)

    def _block_with(self, person: Arrival, round: int, background: Arrival | None = None) -> Block:
        """Return the block with this person, and all others like the background."""
        block = self.view.empty_block()
        self._gather(block, [round], person)
        if background is not None:
            self._gather(block, [other for other in self.block if other != round], background)
        return block

    def _gather(self, block: Block, rounds: list[int], person: Arrival) -> None:
        rows = self.problem.answer.rows([person.feedback] * len(rounds))
        request = self._request(person, len(rounds))
        batch = Batch(np.array(rounds), rows, request)
        self.view.count(block, batch)

    def _request(self, person: Arrival, count: int) -> Request:
        request = EMPTY_REQUEST
        if person.context is not None:
            request = self.problem.questions.request(
                np.tile(person.context, (count, 1)), None, count
            )
        return self.view.admitted(request)

    # --- candidates -------------------------------------------------------------------------------

    def _candidates(self, round: int) -> list[Arrival]:
        """Return people at the ends of what can be brought in a round."""
        contexts: list[Floats | None] = [None]
        if self.case.context is not None:
            rows = extreme_rows(self.case.context(self._generator), self._generator)
            places = self._generator.permutation(len(rows))[:TRIED_CONTEXTS]
            contexts = [rows[place] for place in places]
        candidates = []
        for context in contexts:
            request = self._request(Arrival(context, None), 1)
            decision = self.view.decide(np.array([round]), request)[0:1]
            ends = extremes(self.case.person(self._generator), decision, self._generator)
            candidates += [Arrival(context, feedback) for feedback in ends]
        return candidates

    def _scaled(self, person: Arrival) -> list[Arrival]:
        """Return the person with smaller contexts: a clipped context shrinks other numbers too."""
        if person.context is None:
            return []
        return [
            Arrival(person.context * size, person.feedback) for size in np.geomspace(0.02, 1.4, 24)
        ]

    def _mutants(self, person: Arrival) -> list[Arrival]:
        """Return small changes of the person's context, or of the feedback without one."""
        return [self._mutant(person) for _ in range(MUTANTS)]

    def _mutant(self, person: Arrival) -> Arrival:
        if person.context is None:
            return Arrival(None, mutated(person.feedback, self._generator))
        return Arrival(mutated_row(person.context, self._generator), person.feedback)

    def _weight(self, round: int) -> float:
        """Return how much a person can move in this round of what the target aggregates."""
        kinds = {
            name: type(aggregator).__name__ for name, aggregator in self.view.aggregators().items()
        }
        own = [name for name, kind in kinds.items() if kind == self.target.passed.aggregator]
        candidates = self._candidates(round)
        places = self._generator.permutation(len(candidates))[:TRIED_PER_ROUND].tolist()
        blocks = [self._block_with(candidates[place], round) for place in places]
        return max(
            float(np.abs(block[name].values.astype(np.float64)).sum())
            for block in blocks
            for name in own or kinds
        )
