"""A learner's whole life with one of two neighbouring streams: open, answer, close, release.

After every call all that a caller can see is noted: decisions, flags, warnings, and whatever can be
read (visible.py). The two lives of a pair are the same but for what the replaced person brings.
"""

import warnings
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from typing import Protocol

import numpy as np

from discreet.arrays import Floats
from discreet.audit.accounts import check_all_is_spent, check_spending
from discreet.audit.cases.case import Case
from discreet.audit.visible import readings
from discreet.engine.flat_state import flat
from discreet.engine.plan import Step
from discreet.engine.problem import Problem, view_of
from discreet.engine.tickets import Tickets
from discreet.learners.base import Learner

Note = Callable[[str, object], object]
"""Is told everything that anyone could see of a life, in order: what it is, and its value."""
Steps = list[tuple[int, Step]]
"""The first round of every step that was taken, and the step."""


class Pair(Protocol):
    """Two neighbouring streams, as a life asks about them."""

    @property
    def case(self) -> Case:
        """Who comes, and to which learner."""

    @property
    def seeds(self) -> tuple[int, int, int]:
        """Of the people, of the person who replaces, and of what is public."""

    @property
    def at_once(self) -> int | None:
        """How many rounds are opened by a call, as far as a block goes; None: as the case says."""

    @property
    def owners(self) -> tuple[object, ...] | None:
        """Whose each round is, where rounds name their person."""

    @property
    def logs(self) -> tuple[list[object], list[object]]:
        """Who is read before the first round, without and with the replacement."""

    @property
    def changed(self) -> tuple[int, ...]:
        """The replaced person's rounds."""

    @property
    def in_log(self) -> bool:
        """Whether a row of the log is replaced."""

    @property
    def hidden(self) -> set[int]:
        """Rounds whose decision only their own person sees."""

    def prepare(self, learner: Learner) -> None:
        """Look at a learner before it opens rounds."""

    def contexts_of(self, rounds: range, *, replaced: bool) -> Floats | None:
        """One context per round, or None where learners take none."""

    @property
    def masked(self) -> bool:
        """Whether some rounds come with a mask."""

    def fate(self, round: int) -> str:
        """When a round is answered."""

    def silent(self, round: int, *, replaced: bool) -> bool:
        """Whether the replaced person keeps silent in a round."""

    def answer(self, round: int, decision: object, *, replaced: bool) -> object:
        """What somebody answers."""


class Life:
    """One life of a learner.

    Parameters
    ----------
    pair
        The two streams.
    learner
        Who lives.
    note
        Is told what can be seen.
    replaced
        Which of the two streams comes.
    closely
        Whether all that can be read is noted after every call, and the ledger checked; otherwise
        decisions and released values only, up to the last release that reads the replaced person.
    """

    def __init__(
        self, pair: Pair, learner: Learner, note: Note, *, replaced: bool, closely: bool = True
    ) -> None:
        self.pair, self.learner, self.replaced, self.closely = pair, learner, replaced, closely
        self.case = pair.case
        self.problem: Problem = type(learner).problem_for(learner.settings)
        self.steps: Steps = []
        self._note = note
        self._shown: list[warnings.WarningMessage] = []
        """Warnings that were shown since the last look."""
        chosen = np.random.default_rng([pair.seeds[2], 3])
        # Several at once: nobody may decide whether others of the same call are counted.
        self._sizes = chosen.integers(1, self.case.at_once + 1, size=self.case.horizon)
        if pair.at_once is not None:
            self._sizes[:] = pair.at_once
        self._masks = self.case.masks(self.case.horizon, pair.seeds[2]) if pair.masked else None
        self._waiting: list[tuple[int, Tickets, list[int], list[object]]] = []
        """Until when answers wait; their tickets, rounds and feedback."""

    def lead(self) -> Steps:
        """Live to the end, and give the steps that were taken."""
        with ExitStack() as stack:
            if self.closely:
                self._shown = stack.enter_context(warnings.catch_warnings(record=True))
                warnings.simplefilter("always")
            self._live()
        return self.steps

    def _live(self) -> None:
        case, learner = self.case, self.learner
        if case.log is not None:
            rows = self.pair.logs[self.replaced]
            before = learner.snapshot()
            noted = view_of(self.problem, before).noted(case.log.event(learner, rows))
            step = view_of(self.problem, replace(before, public=flat(noted))).step
            assert step is not None and not step.rounds, "the step that reads a log has rounds"
            self.steps.append((0, step))
            case.log.read(learner, rows)
        self._look(released=True)
        events, first = list(case.events), 0
        while first < case.horizon:
            self._snapshot()
            if not self.closely and self._is_seen():
                return  # what follows is made of what is public, and of other people
            while events and events[0][0] <= first:
                _, what_happens, value = events.pop(0)
                getattr(learner, what_happens)(value)
                self._look(released=True)
                self._snapshot()  # more rounds may end a block that had no end
            first += self._open(first)
            self._close(first)
        self._snapshot()
        if self.closely:
            check_all_is_spent(learner.guarantee)

    def _is_seen(self) -> bool:
        """Whether every release is made that reads the replaced person, who is in no running
        sum.
        """
        changed, index = self.pair.changed, self.learner.releases
        own = [
            (number, step)
            for number, (begin, step) in enumerate(self.steps)
            if (self.pair.in_log and not step.rounds)
            or any(begin <= round < begin + step.rounds for round in changed)
        ]
        covered = sum(
            begin <= round < begin + step.rounds for begin, step in self.steps for round in changed
        )
        alone = all(number < index and step.cohort is not None for number, step in own)
        return bool(own) and covered == len(changed) and alone

    def _snapshot(self) -> None:
        if self.learner.release_if_due():
            self._look(released=True)

    def _open(self, first: int) -> int:
        """Open rounds from `first` on, and have their people answer, at once or later; how many
        there are.
        """
        pair, learner = self.pair, self.learner
        pair.prepare(learner)
        count = int(
            min(self._sizes[first], learner.rounds_until_release, self.case.horizon - first)
        )
        rounds = range(first, first + count)
        contexts = pair.contexts_of(rounds, replaced=self.replaced)
        whose = None if pair.owners is None else pair.owners[first : first + count]
        # Every second call brings no mask.
        available = None if self._masks is None or first % 2 else self._masks[rounds]
        tickets = learner.open_many(
            count if contexts is None else contexts, available, persons=whose
        )
        decisions = [tickets.decisions[place : place + 1] for place in range(count)]
        for round, decision in zip(rounds, decisions, strict=True):
            if round not in pair.hidden:
                self._note("a decision", np.asarray(decision))
        self._look()
        for fate, wait in (("now", 0), ("soon", 1), ("late", 5)):
            places = [place for place, round in enumerate(rounds) if pair.fate(round) == fate]
            answering = [
                place for place in places if not pair.silent(rounds[place], replaced=self.replaced)
            ]
            people = [
                pair.answer(rounds[place], decisions[place], replaced=self.replaced)
                for place in answering
            ]
            if places:
                own = tickets[np.array(answering, dtype=np.int64)]
                self._waiting.append(
                    (first + count - 1 + wait, own, [rounds[place] for place in answering], people)
                )
        return count

    def _close(self, clock: int) -> None:
        """Hand in the answers that are due."""
        # Tuples too: what one person brings must not decide what the container means.
        container = tuple if self.pair.seeds[2] % 2 else list
        for entry in [entry for entry in self._waiting if entry[0] < clock]:
            self._waiting.remove(entry)
            _, tickets, rounds, people = entry
            if rounds:
                flags = self.learner.close_many(tickets, container(people))
                told = [
                    bool(flag)
                    for round, flag in zip(rounds, flags, strict=True)
                    # Whether they answer is the person's own doing; what they are told then is not.
                    if not any(self.pair.silent(round, replaced=which) for which in (False, True))
                ]
                self._note("flags of close_many", told)
            else:
                self._note("flags of close_many", [])
            self._look()

    def _look(self, *, released: bool = False) -> None:
        """Note all that can be read now; after a release or an event, what is public."""
        if released:
            snapshot = self.learner.snapshot()
            if self.closely:
                check_spending(
                    self.learner.guarantee, [step for _, step in self.steps[: snapshot.index]]
                )
            step = view_of(self.problem, snapshot).step
            assert len(self.steps) >= snapshot.index, "a release was made that nobody saw"
            if step is not None and len(self.steps) == snapshot.index:
                self.steps.append((snapshot.begin, step))
            self._note("a release", snapshot.public)
        if not self.closely:
            return
        if released:
            self._note("the guarantee's text", str(self.learner.guarantee))
        for name, value in readings(self.case, self.learner):
            self._note(name, value)
        self._note("warnings", [f"{one.category.__name__}: {one.message}" for one in self._shown])
        self._shown.clear()
