"""A learner's whole life with one of two neighbouring streams: open, answer, close, release.

After every call everything visible to a caller is noted: decisions, flags, warnings, log records,
and all that can be read (visible.py). The two lives of a pair are equal but for the replaced
person's data.
"""

import warnings
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from discreet.audit.accounts import check_all_is_spent, check_spending
from discreet.audit.cases.case import LogOfCase
from discreet.audit.pair import Fate, Pair
from discreet.audit.visible import logged, readings
from discreet.engine.flat_state import flat
from discreet.engine.plan import Step
from discreet.engine.problem import Problem, view_of
from discreet.engine.tickets import Tickets
from discreet.learners.base import Learner

Note = Callable[[str, object], object]
"""Takes everything visible of a life, in order: its name and its value."""

DELAYS: dict[Fate, int] = {"now": 0, "soon": 1, "late": 5}
"""Rounds after which an answer comes."""


class TakenStep(NamedTuple):
    """A step of the plan that was taken, and its first round."""

    begin: int
    step: Step

    def has(self, round: int) -> bool:
        """Return whether a round is in the step's block."""
        return self.begin <= round < self.begin + self.step.rounds


Steps = list[TakenStep]


@dataclass(frozen=True)
class Waiting:
    """Answers that are handed in once the clock has passed the round `until`."""

    until: int
    tickets: Tickets
    rounds: list[int]
    feedback: list[object]


class Life:
    """One life of a learner.

    Parameters
    ----------
    pair
        The two streams.
    learner
        The learner that lives.
    note
        Takes everything visible.
    replaced
        Whether the stream with the replacement comes.
    closely
        Whether all readings are noted after every call, and the ledger checked. Otherwise only
        decisions and released values are noted, up to the last release that reads the replaced
        person.
    """

    def __init__(
        self, pair: Pair, learner: Learner, note: Note, *, replaced: bool, closely: bool = True
    ) -> None:
        self.pair = pair
        self.learner = learner
        self.replaced = replaced
        self.closely = closely
        self.case = pair.case
        self.problem: Problem = type(learner).problem_for(learner.settings)
        self.steps: Steps = []
        self._note = note
        self._warnings: list[warnings.WarningMessage] = []
        """Warnings since the last look."""
        self._logs: list[str] = []
        """Log records since the last look."""
        self._waiting: list[Waiting] = []
        self._insisting: list[Waiting] = []
        """Answers, each of one person, that were handed in and come again beside others."""
        chosen = np.random.default_rng([pair.seeds.public, 3])
        # Calls open several rounds: one person must not decide whether others in the call count.
        self._sizes = chosen.integers(1, self.case.at_once + 1, size=self.case.horizon)
        if pair.at_once is not None:
            self._sizes[:] = pair.at_once
        self._masks = None
        if pair.masked:
            self._masks = self.case.masks(self.case.horizon, pair.seeds.public)

    def lead(self) -> Steps:
        """Live to the end; return the steps that were taken."""
        with ExitStack() as stack:
            if self.closely:
                self._warnings = stack.enter_context(warnings.catch_warnings(record=True))
                warnings.simplefilter("always")
                self._logs = stack.enter_context(logged())
            self._live()
        return self.steps

    def _live(self) -> None:
        if self.case.log is not None:
            self._read_log(self.case.log)
        self._look(released=True)
        events = list(self.case.events)
        clock = 0
        while clock < self.case.horizon:
            self._release()
            if not self.closely and self._is_seen():
                return  # later releases depend on public values and on other people only
            while events and events[0][0] <= clock:
                _, method, argument = events.pop(0)
                getattr(self.learner, method)(argument)
                self._look(released=True)
                self._release()  # more rounds may end a block that had no end
            clock += self._open(clock)
            self._close(clock)
        self._release()
        if self.closely:
            check_all_is_spent(self.learner.guarantee)

    def _read_log(self, log: LogOfCase) -> None:
        """Read the log before the first round, as a step of its own."""
        rows = self.pair.logs[self.replaced]
        before = self.learner.snapshot()
        announced = view_of(self.problem, before).after(log.event(self.learner, rows))
        step = view_of(self.problem, replace(before, public=flat(announced))).step
        assert step is not None and not step.rounds, "the step that reads a log has rounds"
        self.steps.append(TakenStep(0, step))
        log.read(self.learner, rows)

    def _is_seen(self) -> bool:
        """Return whether all releases are made that read the replaced person.

        It is never so for a person in a running sum, which every later release reads.
        """
        changed = self.pair.changed
        own = [
            (index, taken)
            for index, taken in enumerate(self.steps)
            if (self.pair.in_log and not taken.step.rounds) or any(map(taken.has, changed))
        ]
        covered = sum(taken.has(round) for taken in self.steps for round in changed)
        releases = self.learner.releases
        disjoint = all(index < releases and taken.step.cohort is not None for index, taken in own)
        return bool(own) and covered == len(changed) and disjoint

    def _release(self) -> None:
        if self.learner.release_if_due():
            self._look(released=True)

    def _open(self, first: int) -> int:
        """Open rounds from `first` on and collect their answers; return how many there are."""
        pair = self.pair
        learner = self.learner
        pair.prepare(learner)
        until_release = learner.rounds_until_release
        count = int(min(self._sizes[first], until_release, self.case.horizon - first))
        rounds = range(first, first + count)
        contexts = pair.contexts_of(rounds, replaced=self.replaced)
        persons = None if pair.owners is None else pair.owners[first : first + count]
        # Every second call comes without a mask.
        available = None if self._masks is None or first % 2 else self._masks[rounds]
        tickets = learner.open_many(
            count if contexts is None else contexts, available, persons=persons
        )
        decisions = [tickets.decisions[place : place + 1] for place in range(count)]
        for round, decision in zip(rounds, decisions, strict=True):
            if round not in pair.hidden:
                self._note("a decision", np.asarray(decision))
        self._look()
        for fate in DELAYS:
            self._answer(fate, rounds, tickets, decisions)
        return count

    def _answer(self, fate: Fate, rounds: range, tickets: Tickets, decisions: list[object]) -> None:
        """Collect the answers of those rounds that have this fate."""
        places = [place for place, round in enumerate(rounds) if self.pair.fate(round) == fate]
        if not places:
            return
        answering = [
            place for place in places if not self.pair.silent(rounds[place], replaced=self.replaced)
        ]
        feedback = [
            self.pair.answer(rounds[place], decisions[place], replaced=self.replaced)
            for place in answering
        ]
        self._waiting.append(
            Waiting(
                until=rounds[-1] + DELAYS[fate],
                tickets=tickets[np.array(answering, dtype=np.int64)],
                rounds=[rounds[place] for place in answering],
                feedback=feedback,
            )
        )

    def _close(self, clock: int) -> None:
        """Hand in the answers that are due."""
        due = [waiting for waiting in self._waiting if waiting.until < clock]
        for waiting in due:
            self._waiting.remove(waiting)
            self._note("flags of close_many", self._hand_in(waiting))
            self._look()

    def _hand_in(self, waiting: Waiting) -> list[bool]:
        """Hand in answers; return the flags of those people who answer in both streams."""
        # Also if nobody answers: that the operator opened a file must not tell whether anybody did.
        # Tuples, series and tables too: one person must not decide how the container is read.
        containers = self.case.containers
        container = containers[self.pair.seeds.public % len(containers)]
        tickets = waiting.tickets
        again = [other for other in self._insisting if other.tickets.index == tickets.index]
        if again:
            tickets = _together([*(other.tickets for other in again), tickets])
        feedback = [answer for other in (*again, waiting) for answer in other.feedback]
        flags = self.learner.close_many(tickets, container(feedback))[len(again) :]
        self._insisting += [
            Waiting(waiting.until, waiting.tickets[place : place + 1], [round], [answer])
            for place, (round, answer) in enumerate(
                zip(waiting.rounds, waiting.feedback, strict=True)
            )
            if self.pair.insists(round, replaced=self.replaced)
        ]
        # People know whether they answered; the flags of others must not depend on it.
        return [
            bool(flag)
            for round, flag in zip(waiting.rounds, flags, strict=True)
            if not any(self.pair.silent(round, replaced=replaced) for replaced in (False, True))
        ]

    def _look(self, *, released: bool = False) -> None:
        """Note all that can be read; after a release or an event, the public state too."""
        if released:
            self._look_at_release()
        if not self.closely:
            return
        if released:
            self._note("the guarantee's text", str(self.learner.guarantee))
        for name, value in readings(self.case, self.learner):
            self._note(name, value)
        shown = [f"{one.category.__name__}: {one.message}" for one in self._warnings]
        self._note("warnings", shown)
        self._note("log records", list(self._logs))
        self._warnings.clear()
        self._logs.clear()

    def _look_at_release(self) -> None:
        """Check the ledger, add the step that begins, and note the public state."""
        snapshot = self.learner.snapshot()
        if self.closely:
            paid = [taken.step for taken in self.steps[: snapshot.index]]
            check_spending(self.learner.guarantee, paid)
        step = view_of(self.problem, snapshot).step
        assert len(self.steps) >= snapshot.index, "a release was made that nobody saw"
        if step is not None and len(self.steps) == snapshot.index:
            self.steps.append(TakenStep(snapshot.begin, step))
        self._note("a release", snapshot.public)


def _together(parts: list[Tickets]) -> Tickets:
    """Return the tickets of several calls of one block as one, as far as closing reads them."""
    rounds = np.concatenate([part.rounds for part in parts])
    return replace(parts[-1], rounds=rounds, numbers=np.zeros((len(rounds), 1), dtype=np.int64))
