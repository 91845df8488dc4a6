"""Rounds: the clock, tickets, and who waits for feedback. It knows no mechanisms.

The clock ticks when a decision is asked for, never when feedback comes. A round's block is over
when the clock has passed its end and the next question is asked; whoever has not answered by then
adds nothing. If rounds name their person, of each person's rounds in a block only the first one
that they open counts. Memory: an open round keeps what came with its question.

Guarantee   docs/guarantees/engine.md, docs/guarantees/returning.md
"""

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any

import numpy as np

from discreet.arrays import Integers, Mask
from discreet.engine.engine import Engine
from discreet.engine.people import Entered, Name, People
from discreet.engine.plan import State
from discreet.engine.request import EMPTY_REQUEST, Batch, Request
from discreet.engine.signals import held
from discreet.engine.snapshot import RoundsState
from discreet.engine.tickets import Ticket, Tickets
from discreet.engine.waiting import Waiting
from discreet.errors import HorizonReached, StateError
from discreet.limits import MOST_NUMBERS

AT_ONCE = nullcontext()
"""Where one call adds all of a single answer, nothing has to wait."""


class Rounds:
    """The rounds of one learner, in memory; what happens at the end of a block is the engine's
    business.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        state = engine.committed.rounds
        self.clock = state.clock
        """Rounds opened so far."""
        self._index = engine.committed.index
        self._waiting = Waiting(state.open)
        self._mask_counts: State = _copied(state.mask_counts)
        self._people = None if state.people is None else People.restored(state.people)

    # --- what may be read -------------------------------------------------------------------------

    @property
    def is_over(self) -> bool:
        """Whether all planned rounds have been opened."""
        return self.clock == self._engine.horizon

    @property
    def is_due(self) -> bool:
        """Whether the next question, or `snapshot`, makes a release."""
        engine = self._engine
        return self.clock == engine.end and engine.step is not None

    @property
    def until_release(self) -> int:
        """How many more rounds can be opened before the next release (if one is due, the one after
        it).

        Where the length of that block is known only once the release is made: 1, which always fits.
        """
        engine, steps = self._engine, self._engine.problem.plan.steps
        if not self.is_due:
            return _length(engine.end, self.clock)
        if steps is None:
            return min(1, _length(engine.horizon, self.clock))
        after = steps(engine.committed.index + 1)
        return _length(engine.horizon, self.clock) if after is None else after.rounds

    @property
    def until_horizon(self) -> int:
        """How many more rounds are planned."""
        return _length(self._engine.horizon, self.clock)

    def waits(self, round: int) -> bool:
        """Whether this round of the current block waits for feedback."""
        return round in self._waiting

    @held
    def state(self) -> RoundsState:
        """Everything here, for the journal."""
        if self._index != self._engine.committed.index:  # an interrupt came right after a release
            return RoundsState(self.clock)
        people = None if self._people is None else self._people.state()
        return RoundsState(self.clock, self._waiting.state(), _copied(self._mask_counts), people)

    # --- questions --------------------------------------------------------------------------------

    def release_if_due(self) -> bool:
        """Make the release that is due, if one is; an event that may be kept is settled before
        it.
        """
        if self._engine.noted is not None:
            self._engine.settle(self.state())
        due = self.is_due
        if due:
            self._engine.release(self.clock, self._mask_counts)
        # The block is over: now, or before an interrupt that came right after a release.
        if self._index != self._engine.committed.index:
            self._waiting, self._mask_counts, self._people = Waiting(), {}, None
            self._index = self._engine.committed.index
        return due

    def open(self, request: Request, person: Name = None) -> Ticket:
        """Ask for the next round's decision. The clock ticks now, whether or not feedback comes."""
        if request is EMPTY_REQUEST:
            self.release_if_due()
        else:
            self._release_before(request)
        engine, round = self._engine, self.clock
        snapshot, view = engine.committed, engine.view
        rounds, request = np.array([round]), view.admitted(request)
        decision = engine.problem.single(view.decide(rounds, request))
        if not self.is_over:
            self.clock += 1  # first: an interrupt may cost a round, and never opens one twice
            self._count_masks(rounds, request)
            if person is not None:
                self._enter(round, (person,))
            self._waiting.add(round, request)
        return Ticket(snapshot.identity, snapshot.epoch, snapshot.index, round, decision)

    @held
    def open_many(
        self, count: int, request: Request, persons: Sequence[Name] | None = None
    ) -> Tickets:
        """Ask for so many rounds' decisions at once; all in one block."""
        self._refuse_crossing(count)
        self._release_before(request)
        engine, rounds = self._engine, np.arange(self.clock, self.clock + count)
        request = engine.view.admitted(request)
        decisions = engine.view.decide(rounds, request)
        tickets = Tickets(
            engine.committed.identity,
            engine.committed.epoch,
            engine.committed.index,
            rounds,
            decisions,
        )
        if not self.is_over and count:
            first, self.clock = self.clock, self.clock + count
            self._count_masks(rounds, request)
            if persons is not None:
                self._enter(first, persons)
            rounds.setflags(write=False)  # the tickets have it too
            self._waiting.add_many(rounds, request)
        return tickets

    def preview(self, count: int) -> np.ndarray:
        """The decisions of the next rounds of this block, without asking for them."""
        self._refuse_crossing(count)
        self.release_if_due()
        view, rounds = self._engine.view, np.arange(self.clock, self.clock + count)
        return view.decide(rounds, view.admitted(EMPTY_REQUEST))

    def _release_before(self, request: Request) -> None:
        """Make the release that is due before this question, unless the question will be
        refused.
        """
        if self.is_due:
            self._engine.view.refuse_next(request)
        self.release_if_due()

    def _refuse_crossing(self, count: int) -> None:
        """Refuse more rounds than the block has: before a release that is due, which would be
        for nothing.
        """
        if not self.is_over and count > self.until_release:
            remedy = "cut them, or use replay"
            if self.is_due and self._engine.problem.plan.steps is None:
                remedy = (
                    "release_if_due() first, the release that is due tells how many more there are"
                )
            raise StateError(
                f"{count} rounds, but {self.until_release} until the next release: {remedy}"
            )
        if count > self.most_at_once:
            raise StateError(
                f"the decisions of {count} rounds do not fit into memory: "
                f"ask for at most {self.most_at_once} at once"
            )

    def rehearse(self, rows: Any) -> None:
        """Refuse rows as `observe_many` would, and change nothing.

        A batch is refused for its type and its width, never for what a person brought: one row
        tells.
        """
        first = np.array([self._engine.view.begin])
        self._engine.rehearse(Batch(first, rows[:1], EMPTY_REQUEST))

    @property
    def most_at_once(self) -> int:
        """How many rounds may be asked about in one call."""
        return max(1, MOST_NUMBERS // self._engine.problem.decision_size)

    def known_as(self, person: Name) -> Name:
        """What a person is known by in this block."""
        return self._known().digest(person) if person else person

    def _known(self) -> People:
        if self._people is None:
            self._people = People(self._engine.people_key())
        return self._people

    def _enter(self, first: int, persons: Sequence[Name]) -> Entered:
        """Note whose rounds these are, before they can be closed.

        After the last release nobody is read any more, so nobody's name has to be kept. More rounds
        do not change that: a problem that is extended leaves the block that people are in as it is.
        """
        if self._engine.step is None:
            return Entered([], [])
        return self._known().enter(first, persons)

    def _count_masks(self, rounds: Integers, request: Request) -> None:
        """Count what masks change, when the question is asked: whether an answer comes plays no
        role.
        """
        if request.available is None:
            return
        view = self._engine.view
        if not self._mask_counts:
            self._mask_counts = view.no_mask_counts()
        view.count_masks(self._mask_counts, rounds, request)

    # --- answers ----------------------------------------------------------------------------------

    def close(self, ticket: Ticket, feedback: Any) -> bool:
        """End a round with its feedback; False if its block was over, and it counted without."""
        if isinstance(ticket, Tickets):
            raise StateError("close takes one ticket: use close_many for many")
        if not self._current(ticket):
            return False
        round, rounds = ticket.round, np.array([ticket.round])
        # First out of the open ones: whatever interrupts this, nobody is counted twice.
        waiting = self._waiting
        request = waiting.take(round)
        if feedback is None:  # no answer, like one that never comes
            return True
        self._gather(
            rounds, feedback, request, lambda: waiting.put_back(round, request), single=True
        )
        return True

    @held
    def close_many(self, tickets: Tickets, feedback: Any) -> Mask:
        """End many rounds; one entry or row of feedback each."""
        if not isinstance(tickets, Tickets):
            raise StateError("close_many takes what open_many gave: use close for one ticket")
        rows = self._engine.problem.rows(feedback)
        count = len(tickets)
        if len(rows) != count:
            raise StateError(
                f"{count} tickets, but {len(rows)} rows of feedback: hand in one a ticket, None "
                "for none"
            )
        if not count or not self._current(tickets):
            return np.zeros(count, dtype=np.bool_)
        waiting, rounds = self._waiting, tickets.rounds
        request = waiting.take_many(rounds)
        self._gather(rounds, rows, request, lambda: waiting.put_back_many(rounds))
        return np.ones(count, dtype=np.bool_)

    @held
    def observe_many(self, rows: Any, persons: Sequence[Name] | None = None) -> None:
        """Open and close so many rounds at once."""
        count = len(rows)
        if count and self.is_over:
            raise HorizonReached(
                f"all {self.clock} planned rounds are over: nothing more can be learned"
            )
        self._refuse_crossing(count)
        if count and self.is_due:
            self.rehearse(rows)
        self.release_if_due()
        if not count:
            return
        first, self.clock = self.clock, self.clock + count
        rounds, mask_counts = np.arange(first, first + count), _copied(self._mask_counts)
        entered = None if persons is None else self._enter(first, persons)
        request = self._engine.view.admitted(EMPTY_REQUEST)
        self._count_masks(rounds, request)
        self._gather(rounds, rows, request, lambda: self._set_back(first, mask_counts, entered))

    def _gather(
        self,
        rounds: Integers,
        feedback: Any,
        request: Request,
        undo: Callable[[], None],
        *,
        single: bool = False,
    ) -> None:
        """Hand feedback to the engine; if that fails before anybody was counted, undo what was done
        here.

        Not afterwards: who may have been counted must not be counted again.
        """
        engine = self._engine
        counted, gather = engine.additions, engine.gather
        if self._people is not None and single and not self._people.counts(int(rounds[0])):
            gather = engine.rehearse
        elif self._people is not None and not single:
            counting = self._people.counting(rounds)
            rounds, feedback, request = (
                rounds[counting],
                _chosen(feedback, counting),
                request[counting],
            )
        if not len(rounds):
            return
        with AT_ONCE if single and len(engine.block) == 1 else held:
            try:
                gather(Batch(rounds, feedback, request, single))
            except BaseException:
                if engine.additions == counted:
                    undo()
                raise

    def _set_back(self, clock: int, mask_counts: State, entered: Entered | None) -> None:
        if entered is not None and self._people is not None:
            self._people.leave(entered)
        self.clock, self._mask_counts = clock, mask_counts

    def _current(self, ticket: Ticket | Tickets) -> bool:
        """Whether the ticket's block is the current one; refuses tickets that are not this
        learner's own.
        """
        snapshot = self._engine.committed
        if getattr(ticket, "learner", None) != snapshot.identity:
            raise StateError(
                "this ticket is of another learner: hand it back to the one that gave it out"
            )
        if ticket.epoch < snapshot.epoch and ticket.index < snapshot.index:
            return False  # from before a restart, and its block is over all the same
        if ticket.epoch != snapshot.epoch:
            raise StateError(
                "this ticket is from before the state was loaded: its round may be somebody "
                "else's by now"
            )
        newest = (
            int(np.max(ticket.rounds, initial=-1)) if isinstance(ticket, Tickets) else ticket.round
        )
        horizon = self._engine.horizon
        if horizon is not None and newest >= horizon:
            raise HorizonReached(
                f"all {horizon} planned rounds are over: nothing more can be learned"
            )
        return ticket.index == snapshot.index and not self._engine.is_drawn


def _length(end: int | None, clock: int) -> int:
    return 2**62 if end is None else end - clock


def _copied(mask_counts: State) -> State:
    """Counts that later rounds are not added to."""
    return {name: counts.copy() for name, counts in mask_counts.items()}


def _chosen(rows: Any, counting: Mask) -> Any:
    """The rows of feedback that count."""
    if isinstance(rows, list | tuple):
        return [row for row, counts in zip(rows, counting, strict=True) if counts]
    return rows[counting]
