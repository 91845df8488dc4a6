"""Rounds: the clock, tickets, and open rounds that wait for feedback. Mechanisms are elsewhere.

The clock ticks when a decision is asked for, never when feedback comes. A block is over when the
clock has reached its end and the next question is asked; people who have not answered by then add
nothing. If rounds name their person, only the first round that a person opens in a block counts.
Memory: every open round holds its request.

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
from discreet.engine.request import EMPTY_REQUEST, Batch, Block, Request
from discreet.engine.signals import held
from discreet.engine.snapshot import RoundsState
from discreet.engine.tickets import Ticket, Tickets
from discreet.engine.waiting import Waiting
from discreet.errors import HorizonReached, StateError
from discreet.limits import MOST_NUMBERS

AT_ONCE = nullcontext()
"""In the place of `held` where one call of compiled code adds a whole single answer."""


class Rounds:
    """The clock and the open rounds of one learner, in memory.

    The engine makes the releases at the ends of blocks.

    Guarantee: docs/guarantees/engine.md, docs/guarantees/returning.md.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        state = engine.committed.rounds
        self.clock = state.clock
        """Number of rounds opened so far."""
        self._index = engine.committed.index
        self._waiting = Waiting(state.open)
        self._mask_counts: State = _copied(state.mask_counts)
        self._people = None if state.people is None else People.restored(state.people)
        self._newest: tuple[int, np.ndarray] = (-1, np.zeros(0))
        """The newest single round and the table with its decision: its answer often comes next."""

    # --- readings ---------------------------------------------------------------------------------

    @property
    def is_over(self) -> bool:
        """Whether all planned rounds have been opened."""
        return self.clock == self._engine.horizon

    @property
    def is_due(self) -> bool:
        """Whether the next question, or `release_if_due`, makes a release."""
        engine = self._engine
        return self.clock == engine.end and engine.step is not None

    @property
    def until_release(self) -> int:
        """Number of rounds that can be opened before the next release that is not due yet.

        It is 1, which always fits, if a release is due that decides the length of the next block.
        """
        engine = self._engine
        steps = engine.problem.plan.steps
        if not self.is_due:
            return _length(engine.end, self.clock)
        if steps is None:
            return min(1, _length(engine.horizon, self.clock))
        after = steps(engine.committed.index + 1)
        return _length(engine.horizon, self.clock) if after is None else after.rounds

    @property
    def until_horizon(self) -> int:
        """Number of rounds that are planned and not opened yet."""
        return _length(self._engine.horizon, self.clock)

    def waits(self, round: int) -> bool:
        """Return whether this round of the current block waits for feedback."""
        return round in self._waiting

    @held
    def state(self) -> RoundsState:
        """Return the clock, the open rounds, the mask counts and the people, for the journal."""
        if self._index != self._engine.committed.index:  # an interrupt came right after a release
            return RoundsState(self.clock)
        people = None if self._people is None else self._people.state()
        return RoundsState(self.clock, self._waiting.state(), _copied(self._mask_counts), people)

    # --- questions --------------------------------------------------------------------------------

    def release_if_due(self) -> bool:
        """Make the release that is due, if one is, and return whether one was.

        A public event that is not known to be committed is committed before.
        """
        engine = self._engine
        if engine.noted is not None:
            engine.commit_pending_event(self.state())
        now = engine.now
        due = self.clock == now.end and now.step is not None
        if due:
            engine.release(self.clock, self._mask_counts)
        # The block is over: now, or before an interrupt that came right after a release.
        index = engine.now.snapshot.index
        if self._index != index:
            self._waiting = Waiting()
            self._mask_counts = {}
            self._people = None
            self._index = index
        return due

    def open(self, request: Request, person: Name = None) -> Ticket:
        """Open the next round and return its ticket; the clock ticks even if no feedback comes."""
        engine = self._engine
        now = engine.now
        is_new = self._index != now.snapshot.index
        if self.clock == now.end or is_new or engine.noted is not None:
            self._release_before(request)
            now = engine.now
        snapshot = now.snapshot
        view = now.view
        round = self.clock
        rounds = np.array([round])
        if view.events is not None:
            request = view.events.admitted(request)
        decided = view.decide(rounds, request)
        if round != now.horizon:
            self.clock += 1  # first: an interrupt may cost a round, and never opens one twice
            if request.available is not None:
                self._count_masks(rounds, request)
            if person is not None:
                self._enter(round, (person,))
            self._waiting.add(round, request)
            self._newest = round, decided
        decision = view.form.single(decided)
        return Ticket(snapshot.identity, snapshot.epoch, snapshot.index, round, decision)

    @held
    def open_many(
        self, count: int, request: Request, persons: Sequence[Name] | None = None
    ) -> Tickets:
        """Open `count` rounds of one block at once, and return their tickets."""
        self._refuse_crossing(count)
        self._release_before(request)
        engine = self._engine
        rounds = np.arange(self.clock, self.clock + count)
        request = engine.view.admitted(request)
        decisions = engine.view.decide(rounds, request)
        tickets = Tickets(
            engine.committed.identity,
            engine.committed.epoch,
            engine.committed.index,
            rounds,
            decisions,
            engine.view.form.labels,
        )
        if not self.is_over and count:
            first = self.clock
            self.clock = first + count
            if request.available is not None:
                self._count_masks(rounds, request)
            if persons is not None:
                self._enter(first, persons)
            rounds.setflags(write=False)  # the tickets share it
            self._waiting.add_many(rounds, request)
        return tickets

    def preview(self, count: int) -> np.ndarray:
        """Return the decisions of the next rounds of this block without opening them."""
        self._refuse_crossing(count)
        self.release_if_due()
        view = self._engine.view
        rounds = np.arange(self.clock, self.clock + count)
        return view.decide(rounds, view.admitted(EMPTY_REQUEST))

    def _release_before(self, request: Request) -> None:
        """Make the release that is due before a question, unless the question will be refused."""
        if request is not EMPTY_REQUEST and self.is_due:
            self._engine.view.refuse_next(request)
        self.release_if_due()

    def _refuse_crossing(self, count: int) -> None:
        """Raise if more rounds are asked for than the block has, or than fit into memory.

        This comes before a release that is due, which would otherwise be made for nothing.
        """
        if not self.is_over and count > self.until_release:
            remedy = "cut them, or use replay"
            if self.is_due and self._engine.problem.plan.steps is None:
                remedy = (
                    "release_if_due() first, the release that is due decides how many there are"
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
        """Raise as `observe_many` would for these rows, and change nothing.

        A batch is refused for its type and its width, never for a person's values, so the first row
        is enough.
        """
        first = np.array([self._engine.view.begin])
        self._engine.rehearse(Batch(first, rows[:1], EMPTY_REQUEST))

    @property
    def most_at_once(self) -> int:
        """Largest number of rounds of one call."""
        return max(1, MOST_NUMBERS // self._engine.view.form.size)

    def known_as(self, person: Name) -> Name:
        """Return the digest of a person's name in this block."""
        return self._people_of_block().digest(person) if person else person

    def _people_of_block(self) -> People:
        if self._people is None:
            self._people = People(self._engine.people_key())
        return self._people

    def _enter(self, first: int, persons: Sequence[Name]) -> Entered:
        """Note the people of these rounds, before the rounds can be closed.

        No feedback is read after the last release, so no name has to be stored then. More rounds do
        not change that: extending a problem leaves the current block as it is.
        """
        if self._engine.step is None:
            return Entered([], [])
        return self._people_of_block().enter(first, persons)

    def _count_masks(self, rounds: Integers, request: Request) -> None:
        """Add rounds to the mask counts when they are opened, whether or not an answer comes."""
        self._mask_counts = self._engine.view.count_masks(self._mask_counts, rounds, request)

    # --- answers ----------------------------------------------------------------------------------

    def close(self, ticket: Ticket, feedback: object) -> bool:
        """Close a round with its feedback; return False if it does not wait for any."""
        if isinstance(ticket, Tickets):
            raise StateError("close takes one ticket: use close_many for many")
        if not self._is_current(ticket):
            return False
        round = ticket.round
        rounds = np.array([round])
        # The round leaves the open ones first: even after an interrupt, no person counts twice.
        waiting = self._waiting
        request = waiting.take(round)
        if request is None:  # answered before, or never opened
            return False
        if feedback is None:  # no answer, as if none came
            return True
        newest, decided = self._newest
        batch = Batch(rounds, feedback, request, True, None, decided if newest == round else None)
        self._gather(batch, lambda: waiting.put_back(round, request))
        return True

    @held
    def close_many(self, tickets: Tickets, feedback: object) -> Mask:
        """Close many rounds with one entry or row of feedback each; return which counted.

        A round that was answered before, or was never opened, is False, as a late one is: what one
        person sends twice must not refuse the others.
        """
        if not isinstance(tickets, Tickets):
            raise StateError("close_many takes the tickets of open_many: use close for one ticket")
        rows = self._engine.problem.answer.rows(feedback)
        count = len(tickets)
        if len(rows) != count:
            raise StateError(
                f"{count} tickets, but {len(rows)} rows of feedback: pass one per ticket, None for "
                "a missing answer"
            )
        if not count or not self._is_current(tickets):
            return np.zeros(count, dtype=np.bool_)
        waiting = self._waiting
        rounds = tickets.rounds
        waited, request = waiting.take_many(rounds)
        if not waited.all():
            rounds = rounds[waited]
            rows = _chosen(rows, waited)
        self._gather(Batch(rounds, rows, request), lambda: waiting.put_back_many(rounds))
        return waited

    @held
    def observe_many(self, rows: Any, persons: Sequence[Name] | None = None) -> None:
        """Open and close one round per row, all in one block."""
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
        first = self.clock
        self.clock = first + count
        rounds = np.arange(first, first + count)
        mask_counts = _copied(self._mask_counts)
        entered = None if persons is None else self._enter(first, persons)
        request = self._engine.view.admitted(EMPTY_REQUEST)
        if request.available is not None:
            self._count_masks(rounds, request)
        batch = Batch(rounds, rows, request)
        self._gather(batch, lambda: self._restore(first, mask_counts, entered))

    def _gather(self, batch: Batch, undo: Callable[[], None]) -> None:
        """Pass feedback to the engine; if that raises before any addition, call `undo`.

        After an addition nothing is undone: people who may have been counted must not count again.
        """
        now = self._engine.now
        block = now.block
        additions = _additions(block)
        rehearsed = False
        people = self._people
        if people is not None and batch.single and not people.counts(int(batch.rounds[0])):
            rehearsed = True
        elif people is not None and not batch.single:
            counting = people.counting(batch.rounds)
            batch = Batch(
                batch.rounds[counting], _chosen(batch.feedback, counting), batch.request[counting]
            )
        if not len(batch.rounds):
            return
        with AT_ONCE if batch.single and len(block) == 1 else held:
            try:
                now.view.count(now.view.empty_block() if rehearsed else block, batch)
            except BaseException:
                if _additions(block) == additions:
                    undo()
                raise

    def _restore(self, clock: int, mask_counts: State, entered: Entered | None) -> None:
        """Undo the opening of rounds that were refused."""
        if entered is not None and self._people is not None:
            self._people.leave(entered)
        self.clock = clock
        self._mask_counts = mask_counts

    def _is_current(self, ticket: Ticket | Tickets) -> bool:
        """Return whether the ticket's block is the current one; refuse foreign tickets."""
        now = self._engine.now
        snapshot = now.snapshot
        if getattr(ticket, "learner", None) != snapshot.identity:
            raise StateError("this ticket is of another learner: pass it to the one that made it")
        if ticket.epoch < snapshot.epoch and ticket.index < snapshot.index:
            return False  # from before a restart, and its block is over
        if ticket.epoch != snapshot.epoch:
            raise StateError(
                "this ticket is from before the state was loaded, and its round may be another "
                "person's now: open a new round"
            )
        horizon = now.horizon
        # Among many, it is a round that was never opened: one of them must not refuse the others.
        if isinstance(ticket, Ticket) and horizon is not None and ticket.round >= horizon:
            raise HorizonReached(
                f"all {horizon} planned rounds are over: nothing more can be learned"
            )
        engine = self._engine
        is_drawn = engine.unsettled is not None and engine.is_drawn
        return ticket.index == snapshot.index and not is_drawn


def _additions(block: Block) -> int:
    """Return the number of additions to a block; while it is unchanged, no person was counted."""
    count = 0
    for aggregate in block.values():
        count += aggregate.additions
    return count


def _length(end: int | None, clock: int) -> int:
    """Return the number of rounds from the clock to an end; a huge number without end."""
    return 2**62 if end is None else end - clock


def _copied(mask_counts: State) -> State:
    """Return a copy of mask counts, to which later rounds are not added."""
    return {name: counts.copy() for name, counts in mask_counts.items()}


def _chosen(rows: Any, counting: Mask) -> Any:
    """Return the rows of feedback that count."""
    if isinstance(rows, list | tuple):
        return [row for row, counts in zip(rows, counting, strict=True) if counts]
    return rows[counting]
