"""Neighbours who are as far apart as an aggregator allows, in a stage that releases it.

Which aggregators pass the door in which turn is found by one life (`targets`). For each of them a
pair is searched when its turn comes, because what people can move depends on what is public by
then: candidates at the ends of what people can bring go through the same release, one after
another, by doors that record and repeat (doors.py). Who moves it farthest from a blank is one of
the two; who moves it farthest from them, the other. For greedy paths everybody else wants what is
never drawn: there one person weighs most.
"""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from typing import NamedTuple

import numpy as np

from discreet.arrays import Floats
from discreet.audit.cases.case import Case
from discreet.audit.doors import Passed, Tape
from discreet.audit.hostile import complement, extreme_rows, extremes, mutated, mutated_row
from discreet.audit.life import Life
from discreet.engine.engine import DoorMaker
from discreet.engine.plan import Step
from discreet.engine.problem import Problem, view_of
from discreet.engine.request import EMPTY_REQUEST, Batch, Block, Request
from discreet.engine.snapshot import Snapshot
from discreet.engine.view import nobody
from discreet.learners.base import Learner
from discreet.release.randomness import seeded_bits

MOST_ROUNDS = 12
"""Of a block: in how many of its rounds a person is tried."""
CONTEXTS, CROWDS, IN_CROWDS, MUTANTS, STEPS = 12, 6, 20, 12, 3
"""How many contexts, crowds, people in them, and small changes are tried; and how often the
latter.
"""
ENOUGH = 0.97
"""The share of a charge from which on nobody looks for people who are farther apart."""
ROWS = 40
"""How many rows of a log are tried."""


@dataclass(frozen=True)
class Target:
    """What is to be moved, and in which turn."""

    passed: Passed
    index: int


class Arrival(NamedTuple):
    """What a person brings: a context where learners take one, and feedback."""

    context: Floats | None
    feedback: object


@dataclass(frozen=True)
class Found:
    """The replaced person's round, the two people in it, and what everybody else of the block
    brings.
    """

    round: int
    people: tuple[Arrival, Arrival]
    crowd: Arrival | None
    cost: float = 0.0


def targets(case: Case, like: Learner, seed: int) -> list[Target]:
    """What passes the door in which turn: each kind once, then each again in its next turn, and
    so on.
    """
    tape = Tape()
    learner = type(like).from_settings(replace(like.settings, seed=seed), door=tape.recording)
    nobody = Extremes(case, like, None, (seed, seed, seed))
    Life(nobody, learner, lambda name, value: None, replaced=False, closely=False).lead()
    turns: dict[Passed, list[Target]] = defaultdict(list)
    for index in sorted(tape.stages):
        for passed in sorted(tape.stages[index]):
            turns[passed].append(Target(passed, index))
    several = zip_longest(*(turns[passed] for passed in sorted(turns)))
    return [target for row in several for target in row if target is not None]


@dataclass
class Extremes:
    """Two streams in which one person at one end is replaced by one at the other end (a `Pair`)."""

    case: Case
    like: Learner
    target: Target | None
    """Without one nobody is replaced."""
    seeds: tuple[int, int, int]
    loudness: int = 1
    several: bool = False
    """Whether the person comes as often as they may, and brings the same each time: that adds up
    most.
    """
    found: Found | None = None
    logs: tuple[list[object], list[object]] = field(default_factory=lambda: ([], []))
    in_log: bool = False
    masked: bool = False

    def __post_init__(self) -> None:
        self._generator = np.random.default_rng([self.seeds[0], 5])
        self.at_once: int | None = self.case.horizon
        self._block = range(0)
        self._again: dict[int, list[int]] = {}
        """By turn: rounds in which the person comes again."""
        self._contexts = self.case.contexts(self.case.horizon, self.seeds[0])
        if self.case.log is not None:
            self._fill_logs(self.case.log.person)

    def alone(self) -> "Extremes":
        """The same: nobody else answers but where a crowd is needed."""
        return self

    @property
    def changed(self) -> tuple[int, ...]:
        """The replaced person's rounds."""
        if self.found is None:
            return ()
        return tuple(
            sorted([self.found.round, *(round for own in self._again.values() for round in own)])
        )

    @property
    def contributions(self) -> int:
        """How often the replaced person takes part."""
        return max(1, len(self.changed))

    @property
    def owners(self) -> tuple[object, ...] | None:
        """Whose each round is, where rounds name their person."""
        if not self.like.settings.keyed:
            return None
        changed = self.changed
        return tuple(
            "the replaced person" if round in changed else round
            for round in range(self.case.horizon)
        )

    @property
    def hidden(self) -> set[int]:
        """Rounds whose decision only their own person sees."""
        return set(self.changed) if self._is_joint else set()

    @property
    def _is_joint(self) -> bool:
        return self.like.guarantee.notion == "joint DP"

    # --- what a life asks -------------------------------------------------------------------------

    def prepare(self, learner: Learner) -> None:
        """Search the two people once the turn is reached in which they are to be released."""
        if self.target is None or self.in_log:
            return
        if self.found is not None:
            self._come_again(learner)
            return
        state = learner.snapshot()
        problem: Problem = type(learner).problem_for(learner.settings)
        step = view_of(problem, state).step
        if state.index == self.target.index and step is not None and learner.rounds_until_release:
            search = _Search(self, learner, problem, step)
            self._block, self.found = search.block, search.farthest()
            self._come_again(learner)

    def _come_again(self, learner: Learner) -> None:
        """Add rounds of the same person: in this block, or in each of the next where rounds name
        them.
        """
        assert self.target is not None and self.found is not None
        index, left = learner.releases, self.like.settings.contributions - len(self.changed)
        if not self.several or left <= 0 or index in self._again or index < self.target.index:
            return
        if not self.like.settings.keyed and index == self.target.index:
            others = [round for round in self._block if round != self.found.round]
            self._again[index] = others[:left]
        elif (
            self.like.settings.keyed and index > self.target.index and learner.rounds_until_release
        ):
            self._again[index] = [learner.clock]

    def contexts_of(self, rounds: range, *, replaced: bool) -> Floats | None:
        """One context per round, or None where learners take none."""
        if self._contexts is None:
            return None
        rows = self._contexts[rounds.start : rounds.stop].copy()
        if self.found is None:
            return rows
        for place, round in enumerate(rounds):
            if round in self.changed:
                rows[place] = self.found.people[replaced].context
            elif self.found.crowd is not None and round in self._block:
                rows[place] = self.found.crowd.context
        return rows

    def fate(self, round: int) -> str:
        """When a round is answered."""
        crowded = self.found is not None and self.found.crowd is not None and round in self._block
        return "now" if round in self.changed or crowded else "never"

    def silent(self, round: int, *, replaced: bool) -> bool:
        """Whether the replaced person keeps silent in a round."""
        return False

    def answer(self, round: int, decision: object, *, replaced: bool) -> object:
        """What somebody answers."""
        assert self.found is not None
        if round in self.changed:
            return self.found.people[replaced].feedback
        assert self.found.crowd is not None
        return self.found.crowd.feedback

    # --- a row of a log ---------------------------------------------------------------------------

    def _fill_logs(self, person: Callable[[np.random.Generator], object]) -> None:
        """One row, the same in both streams unless the log's release is the target."""
        rows = [person(self._generator) for _ in range(ROWS)]
        self.logs = rows[:1], rows[:1]
        if self.target is None or self.target.index:
            return
        self.in_log, target = True, self.target
        settings = replace(self.like.settings, seed=self.seeds[2])
        read = self.case.log.read  # type: ignore[union-attr]

        def pass_through(door: DoorMaker, row: object) -> None:
            read(type(self.like).from_settings(settings, door=door), [row])

        far = _farthest_from(rows[0], rows, pass_through, Tape(self.loudness), target.passed)
        other = _farthest_from(far, rows, pass_through, Tape(self.loudness), target.passed)
        self.logs = [far], [other]


def _farthest_from(
    one: object,
    people: list[object],
    pass_through: Callable[[DoorMaker, object], None],
    tape: Tape,
    passed: Passed,
) -> object:
    """Who of these people is farthest from this one, as a release sees them."""
    pass_through(tape.recording, one)
    costs = []
    for other in people:
        tape.rewind()
        pass_through(tape.forcing, other)
        costs.append(tape.due[passed] if passed.law == "sum" else tape.alone[passed])
    return people[int(np.argmax(costs))]


class _Search:
    """The two people who are farthest apart in the block that a learner is in."""

    def __init__(self, pair: Extremes, learner: Learner, problem: Problem, step: Step) -> None:
        assert pair.target is not None
        self.case, self.target, self.loudness = pair.case, pair.target, pair.loudness
        self.problem, self.step = problem, step
        self.state: Snapshot = learner.snapshot()
        self.seed = pair.seeds[2]
        clock = learner.clock
        self.block = range(clock, clock + learner.rounds_until_release)
        self.view = view_of(problem, self.state)
        self._generator = np.random.default_rng([pair.seeds[0], 6])

    def farthest(self) -> Found:
        """The round in which people move most, and the two who are farthest apart in it."""
        some = self._generator.permutation(len(self.block))[:MOST_ROUNDS].tolist()
        round = max((self.block[place] for place in some), key=self._weight)
        people = self._candidates(round)
        if self.target.passed.law == "path":
            return self._in_crowds(round, people)
        nothing = Arrival(people[0].context, self.problem.blank())
        one, _ = self._far_from(nothing, people, round)
        one, _ = self._far_from(nothing, [one, *self._scaled(one)], round)
        # The same context with another answer, too.
        around = [*people, *(Arrival(one.context, person.feedback) for person in people), nothing]
        other, cost = self._far_from(one, around, round)
        found = self._refined(Found(round, (one, other), None), cost)
        if self.target.passed.law == "draw" and len(self.block) > 1:
            crowded = self._in_crowds(round, people)
            return crowded if crowded.cost > found.cost else found
        return found

    def _refined(self, found: Found, cost: float) -> Found:
        """The same two, moved a little as long as that takes them apart."""
        one, other = found.people
        for _ in range(STEPS):
            if self._share >= ENOUGH:
                break
            other, _ = self._far_from(one, [other, *self._mutants(other)], found.round)
            one, cost = self._far_from(other, [one, *self._mutants(one)], found.round)
        return Found(found.round, (one, other), None, cost)

    def _in_crowds(self, round: int, people: list[Arrival]) -> Found:
        """The two who are farthest apart among everybody else, who all bring the same.

        On a path one of the two is like everybody else.
        """
        found = None
        for place in self._generator.permutation(len(people))[:CROWDS].tolist():
            crowd = one = people[place]
            some = self._generator.permutation(len(people))[:IN_CROWDS].tolist()
            others = [people[place] for place in some]
            if (turned := complement(crowd.feedback)) is not None:
                others.append(Arrival(crowd.context, turned))
            if self.target.passed.law != "path":
                nothing = Arrival(crowd.context, self.problem.blank())
                one, _ = self._far_from(nothing, others, round, crowd)
            other, cost = self._far_from(one, others, round, crowd)
            if found is None or cost > found.cost:
                found = Found(round, (one, other), crowd, cost)
        assert found is not None
        return found

    def _far_from(
        self, one: Arrival, people: list[Arrival], round: int, crowd: Arrival | None = None
    ) -> tuple[Arrival, float]:
        """Who of these people is farthest from this one, and what that costs."""
        tape = Tape(self.loudness)
        passed = self.target.passed
        self._release(self._aggregate(one, round, crowd), tape.recording)
        costs, shares = [], []
        for other in people:
            tape.rewind()
            self._release(self._aggregate(other, round, crowd), tape.forcing)
            costs.append(tape.due[passed] if passed.law == "sum" else tape.alone[passed])
            shares.append(tape.alone[passed])
        best = int(np.argmax(costs))
        self._share = shares[best]
        return people[best], costs[best]

    def _scaled(self, person: Arrival) -> list[Arrival]:
        """The same with smaller contexts: what is longer than its bound pulls others with it."""
        if person.context is None:
            return []
        return [
            Arrival(person.context * size, person.feedback) for size in np.geomspace(0.02, 1.4, 24)
        ]

    def _mutants(self, person: Arrival) -> list[Arrival]:
        if person.context is None:
            return [
                Arrival(None, mutated(person.feedback, self._generator)) for _ in range(MUTANTS)
            ]
        return [
            Arrival(mutated_row(person.context, self._generator), person.feedback)
            for _ in range(MUTANTS)
        ]

    def _release(self, block: Block, door: DoorMaker) -> None:
        state = self.state
        bits = seeded_bits(self.seed, state.index)
        self.view.release(
            state.rounds.mask_counts, state.hidden, block, door(bits, self.step.charge, state.index)
        )

    def _aggregate(self, person: Arrival, round: int, crowd: Arrival | None = None) -> Block:
        """The block with this person, and everybody else as the crowd is."""
        block = nobody(self.view)
        self._gather(block, [round], person)
        if crowd is not None:
            self._gather(block, [other for other in self.block if other != round], crowd)
        return block

    def _gather(self, block: Block, rounds: list[int], person: Arrival) -> None:
        rows = self.problem.rows([person.feedback] * len(rounds))
        request = self._request(person, len(rounds))
        batch = Batch(np.array(rounds), rows, request)
        self.view.gather(block, self.view.read(batch))

    def _request(self, person: Arrival, count: int) -> Request:
        request = EMPTY_REQUEST
        if person.context is not None:
            request = self.problem.request(np.tile(person.context, (count, 1)), None, count)
        return self.view.admitted(request)

    def _candidates(self, round: int) -> list[Arrival]:
        """People at the ends of what can be brought in a round."""
        generator = self._generator
        contexts: list[Floats | None] = [None]
        if self.case.context is not None:
            rows = extreme_rows(self.case.context(generator), generator)
            contexts = [rows[place] for place in generator.permutation(len(rows))[:CONTEXTS]]
        found = []
        for context in contexts:
            person = Arrival(context, None)
            shown = self.view.decide(np.array([round]), self._request(person, 1))
            ends = extremes(self.case.person(generator), shown[0:1], generator)
            found += [Arrival(context, feedback) for feedback in ends]
        return found

    def _weight(self, round: int) -> float:
        """How much somebody can move in this round, of what the target gathers if that is known."""
        kinds = {
            name: type(aggregator).__name__ for name, aggregator in self.view.aggregators().items()
        }
        named = [name for name, kind in kinds.items() if kind == self.target.passed.aggregator]
        people = self._candidates(round)
        some = self._generator.permutation(len(people))[:8].tolist()
        blocks = [self._aggregate(people[place], round) for place in some]
        return max(
            float(np.abs(block[name].values.astype(np.float64)).sum())
            for block in blocks
            for name in named or kinds
        )
