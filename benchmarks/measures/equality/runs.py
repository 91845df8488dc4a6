"""One seeded run of a learner, from its first round to its last, with all ways to open rounds."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from discreet.learners.registry import load
from measures.equality.trace import Trace

SEED = 1
PERSONS = 50
"""How many persons take turns where rounds name theirs: each returns, within blocks and across
them.
"""
OTHER_WORDS = {"scaled": "whitened", "one-shot": "passes"}
"""Modes whose facts call them something else."""
Random = np.random.Generator


def nobody(generator: Random) -> None:
    """Return no context, or no mask."""


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """A learner, the people of its run, and how rounds are opened and closed.

    Parameters
    ----------
    name
        What differences are reported under.
    make
        Makes the learner; takes `seed` as a keyword.
    person
        One person's feedback, made up by a generator, given the round.
    rounds
        How many rounds there are, those of extensions included.
    answer
        What a person answers to a decision.
    context, mask
        Make up a context, or a mask.
    refused, broken
        Feedback of single persons that is refused; of a person among many, that adds nothing.
    keyed
        Whether rounds name their person.
    full
        Whether rows can be handed in without a question.
    events
        Public events: from which round on, and what is done.
    before
        What is done before the first round, such as a warm start.
    single
        How many of the first rounds come one by one.
    at_once
        How many rounds one call opens, at most.
    resume
        Whether the state is saved at the first release, and loaded from the file after every
        release.
    replay
        Whether all rounds are handed to `replay`, in three parts.
    """

    name: str
    make: Callable[..., Any]
    person: Callable[[Random, int], Any]
    rounds: int
    answer: Callable[[Any, Any], Any] = lambda person, decision: person
    context: Callable[[Random], Any] = nobody
    mask: Callable[[Random], Any] = nobody
    refused: tuple[Any, ...] = ()
    broken: Any = None
    keyed: bool = False
    full: bool = True
    events: tuple[tuple[int, Callable[[Any], Any]], ...] = ()
    before: Callable[[Any], Any] | None = None
    single: int = 30
    at_once: int = 10**9
    resume: bool = False
    replay: bool = False

    def run(self, trace: Trace) -> str:
        """Run a learner from its first round to its last; return the mode, as "Learner mode"."""
        learner = self.make(seed=SEED)
        method = learner.facts["method"]
        with TemporaryDirectory() as folder:
            life = _Life(self, learner, trace, Path(folder) / "state")
            if self.replay:
                life.replay()
            else:
                life.lead()
            life.end()
        return f"{type(learner).__name__} {OTHER_WORDS.get(method, method)}"


def of_case(case: Any, **more: Any) -> Scenario:
    """Return the scenario of a case of the audit, with few rounds at once."""
    changes = tuple((when, _calling(method, argument)) for when, method, argument in case.events)
    log = case.log

    def before(learner: Any) -> None:
        if log is not None:
            generator = np.random.default_rng(8)
            log.read(learner, [log.person(generator) for _ in range(log.people)])

    usual = Scenario(
        name=case.name,
        make=case.make,
        person=lambda generator, round: case.person(generator),
        rounds=case.horizon,
        answer=case.answered,
        context=case.context or nobody,
        mask=case.available or nobody,
        refused=case.refused,
        broken=case.broken,
        keyed=case.keyed,
        full=case.full and case.context is None,
        events=changes,
        before=before,
        single=case.horizon // 4,
        at_once=case.at_once,
    )
    return replace(usual, **more)


def _calling(method: str, argument: Any) -> Callable[[Any], Any]:
    return lambda learner: getattr(learner, method)(argument)


@dataclass
class _Life:
    """A learner during a run of a scenario."""

    scenario: Scenario
    learner: Any
    trace: Trace
    path: Path
    generator: Random = field(default_factory=lambda: np.random.default_rng(3))
    calls: int = 0
    late: tuple[Any, list[Any]] | None = None
    """Tickets whose answers come after the next call, and these."""

    @cached_property
    def shown(self) -> Any:
        """The context that scores are asked for."""
        return self.scenario.context(np.random.default_rng(4))

    @property
    def clock(self) -> int:
        return int(self.learner.clock)

    def lead(self) -> None:
        """Round after round, some one by one and most at once, until all are over."""
        scenario, events = self.scenario, list(self.scenario.events)
        if scenario.before is not None:
            self.trace.step = "before"
            scenario.before(self.learner)
            self.trace.look(self.learner, self.shown)
        while True:
            self.trace.step = f"round {self.clock}"
            while events and self.clock >= events[0][0]:
                self.trace.note("event", events.pop(0)[1](self.learner))
                self.trace.look(self.learner, self.shown, always=True)
            self.release()
            horizon = self.learner.horizon
            left = (
                min(scenario.rounds, scenario.rounds if horizon is None else horizon) - self.clock
            )
            if left <= 0:
                return
            if self.clock < scenario.single:
                self.one_round()
                continue
            most = [
                scenario.at_once,
                left,
                self.learner.rounds_until_release,
                self.learner.most_at_once,
            ]
            self.many_rounds(min([*most, *(when - self.clock for when, _ in events[:1])]))

    def release(self) -> None:
        """Make the release that is due; save and load where the scenario says so."""
        if not self.learner.release_if_due():
            return
        self.trace.look(self.learner, self.shown)
        if self.scenario.resume:
            if not self.path.exists():
                self.learner.save(self.path)
            self.reload()

    def reload(self) -> None:
        """Go on from the file, with what was aggregated so far."""
        self.learner.save(self.path)
        self.learner.detach()
        self.learner = load(self.path)
        self.trace.look(self.learner, self.shown, always=True)

    # --- one by one -------------------------------------------------------------------------------

    def one_round(self) -> None:
        """Ask, by `open` or by `act`; bring something malformed now and then; answer or not."""
        scenario, learner, round = self.scenario, self.learner, self.clock
        whose = {"person": f"person {round % PERSONS}"} if scenario.keyed else {}
        context = scenario.context(self.generator)
        mask = scenario.mask(self.generator) if round % 2 else None
        ticket = learner.open(context, mask, **whose) if round % 4 == 2 else None
        decision = learner.act(context, mask, **whose) if ticket is None else ticket.decision
        self.trace.note("decision", decision)
        person = scenario.answer(scenario.person(self.generator, round), decision)
        if round % 11 == 7:
            person = None
        if ticket is not None:
            self.trace.tried("close", lambda: learner.close(ticket, person))
            return
        self.trace.tried("act again", lambda: learner.act(context, mask, **whose))
        if scenario.refused and round % 3 == 0:
            malformed = scenario.refused[round // 3 % len(scenario.refused)]
            self.trace.tried("malformed", lambda: learner.observe(malformed))
        if round % 11 == 5:
            learner.skip()
        else:
            self.trace.tried("observe", lambda: learner.observe(person))
        if scenario.resume and round == scenario.single - 1 and self.path.exists():
            self.reload()

    # --- many at once -----------------------------------------------------------------------------

    def many_rounds(self, count: int) -> None:
        """Open and close rounds at once: as arrays or lists, some malformed, some late, some
        never.
        """
        if count <= 0:
            raise RuntimeError(f"no rounds can be opened in round {self.clock}")
        scenario, learner, first = self.scenario, self.learner, self.clock
        rounds = range(first, first + count)
        self.calls += 1
        whose = {"persons": [_name(round) for round in rounds]} if scenario.keyed else {}
        if scenario.full and self.calls % 4 == 3:
            self.trace.tried("preview", lambda: learner.preview(count))
            people = [scenario.person(self.generator, round) for round in rounds]
            self.trace.tried(
                "observe_many", lambda: learner.observe_many(self.feedback(people), **whose)
            )
            self.trace.look(learner, self.shown)
            return
        contexts = [scenario.context(self.generator) for _ in rounds]
        what = count if contexts[0] is None else np.array(contexts)
        tickets = learner.open_many(what, self.masks(count), **whose)
        self.trace.note("tickets.numbers", tickets.numbers)
        self.trace.note("tickets.decisions", tickets.decisions)
        people = [
            scenario.answer(scenario.person(self.generator, round), decision)
            for round, decision in zip(rounds, tickets.decisions, strict=True)
        ]
        places = np.arange(count)
        late, never = places % 13 == 6, places % 13 == 9
        in_time = ~late & ~never
        answered = [people[place] for place in np.flatnonzero(in_time)]
        counted = learner.close_many(tickets[in_time], self.feedback(answered))
        self.trace.note("close_many", counted)
        if self.late is not None:
            tickets_before, people_before = self.late
            self.trace.tried("late", lambda: learner.close_many(tickets_before, people_before))
        self.late = None
        if late.any():
            self.late = tickets[late], [people[place] for place in np.flatnonzero(late)]
        self.trace.look(learner, self.shown)

    def masks(self, count: int) -> Any:
        """No mask, one for all rounds, or one per round."""
        drawn = self.scenario.mask(self.generator)
        if drawn is None or self.calls % 5 == 4:
            return None
        if self.calls % 5 == 3:
            return drawn
        return np.array([drawn, *(self.scenario.mask(self.generator) for _ in range(count - 1))])

    def feedback(self, people: list[Any]) -> Any:
        """People with some who add nothing, as arrays or as a list."""
        scenario = self.scenario
        if scenario.broken is not None:
            people = [
                scenario.broken if place % 9 == 4 else each for place, each in enumerate(people)
            ]
        if self.calls % 2 and people and not any(map(callable, people)):
            return _as_arrays(people)
        malformed = list(scenario.refused)
        return [
            malformed[place // 17 % len(malformed)] if malformed and place % 17 == 8 else each
            for place, each in enumerate(people)
        ]

    # --- all of it --------------------------------------------------------------------------------

    def replay(self) -> None:
        """Hand in whole rounds in three parts, which cross releases."""
        rounds = self.scenario.rounds
        for part in np.array_split(np.arange(rounds), 3):
            self.trace.step = f"round {part[0]}"
            people = [self.scenario.person(self.generator, int(round)) for round in part]
            whose = (
                {"persons": [_name(int(round)) for round in part]} if self.scenario.keyed else {}
            )
            self.calls += 1
            self.trace.note("replay", self.learner.replay(self.feedback(people), **whose))
            self.trace.look(self.learner, self.shown)

    def end(self) -> None:
        """What is there after the last round."""
        self.trace.step = "end"
        self.learner.release_if_due()
        self.trace.look(self.learner, self.shown, always=True)
        whose = {"person": "somebody"} if self.scenario.keyed else {}
        self.trace.tried("act", lambda: self.learner.act(self.shown, **whose))
        self.learner.detach()


def _name(round: int) -> Any:
    """Return the key of a round's person: a text, a number, or sometimes an invalid key."""
    if round % 29 == 17:
        return 2.5
    return round % PERSONS if round % 3 else f"person {round % PERSONS}"


def _as_arrays(people: list[Any]) -> Any:
    """Return one array with a row or an entry per person; two for samples; −1 for no click."""
    if isinstance(people[0], tuple):
        return np.array([features for features, _ in people]), np.array(
            [target for _, target in people]
        )
    if any(each is None for each in people):
        return np.array([-1 if each is None else each for each in people])
    return np.array(people)
