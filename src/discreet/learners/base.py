"""The face of every learner: questions, answers, and what may be read.

`open` asks for a decision and ticks the clock, `close` hands in the feedback, many may be in
flight; `open_many` and `close_many` do so for many rounds at once; `act` and `observe` are the same
for one at a time. The hooks are in a `Problem`, the way to what is public in an `Engine`, the clock
in `Rounds`; a learner only names them, and lets one call in at a time.

Guarantee   docs/guarantees/engine.md
"""

import os
import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import timedelta
from functools import wraps
from math import inf
from threading import Lock, get_ident
from time import monotonic
from types import TracebackType
from typing import TYPE_CHECKING, Any, ClassVar, Concatenate, NoReturn, ParamSpec, Self, TypeVar

import numpy as np

from discreet import require
from discreet.budget.guarantee import Guarantee
from discreet.engine.engine import BusyError, DoorMaker, Engine
from discreet.engine.journal import Journal
from discreet.engine.people import Name, name_of, names_of
from discreet.engine.problem import Problem
from discreet.engine.readings import Report, Scores
from discreet.engine.request import Request
from discreet.engine.rounds import Rounds
from discreet.engine.settings import Settings
from discreet.engine.snapshot import RoundsState, Snapshot
from discreet.engine.tickets import Ticket, Tickets
from discreet.errors import ConfigError, HorizonReached, StateError
from discreet.learners.constructor import check_settings
from discreet.learners.labels import Label, mask_of, masks_of_people, with_room
from discreet.release.door import Door

JournalLike = Journal | str | os.PathLike[str] | None
Checkpoint = int | timedelta | None
Modes = Mapping[str, type[Problem]]
"""Ways of learning by name; the first that serves the settings is taken."""

RENAMED = {"turn": "release_if_due", "living": "active", "coming": "pending"}
"""Public names of versions before 0.6, each with its present name."""

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")
Face = TypeVar("Face", bound="Learner")


def guarded(
    method: Callable[Concatenate[Face, Arguments], Result],
) -> Callable[Concatenate[Face, Arguments], Result]:
    """One call at a time, from its first line to its last: other threads wait, a call from inside
    is refused.

    From inside are a signal handler, or a function of the operator, in the middle of another call.
    """
    return _alone(method, Engine.check)


def _guarded_even_after_a_failure(method: Callable[[Face], None]) -> Callable[[Face], None]:
    return _alone(method, lambda engine: None)


def _alone(
    method: Callable[Concatenate[Face, Arguments], Result], check: Callable[[Engine], None]
) -> Callable[Concatenate[Face, Arguments], Result]:
    @wraps(method)
    def call(self: Face, /, *arguments: Arguments.args, **named: Arguments.kwargs) -> Result:
        inside, thread = self._inside, get_ident()
        if thread in inside:
            raise BusyError(
                "this learner is busy with another call: functions and signal handlers must not "
                "call it back"
            )
        try:
            inside.add(thread)
            with self._lock:
                check(self._engine)
                return method(self, *arguments, **named)
        finally:
            inside.discard(thread)

    return call


class Learner:
    """The base of everything that learns from people.

    A learner has settings, and modes: ways of learning, of which the first that serves the settings
    is taken.
    """

    settings_type: ClassVar[type[Settings]]
    modes: ClassVar[Modes]

    def __init__(
        self,
        settings: Settings,
        journal: JournalLike = None,
        checkpoint: Checkpoint = None,
        *,
        door: DoorMaker = Door,
    ) -> None:
        self._begin(settings, journal, checkpoint, door=door)

    if not TYPE_CHECKING:  # type checkers must go on refusing unknown names

        def __getattr__(self, name: str) -> Any:
            known = f": it is now called {RENAMED[name]}" if name in RENAMED else ""
            raise AttributeError(f"{type(self).__name__} has no {name!r}{known}")

    def _begin(
        self,
        settings: Settings,
        journal: JournalLike = None,
        checkpoint: Checkpoint = None,
        *,
        door: DoorMaker = Door,
    ) -> None:
        """Begin with these settings: what every constructor does
        (discreet/learners/constructor.py).
        """
        self._inside: set[int] = set()
        self._lock = Lock()
        self._pending: tuple[Ticket, Any, Name] | None = None
        self._keyed = settings.keyed
        self._checkpoint = _Checkpoint(checkpoint)
        self._engine = Engine(self.problem_for(settings), type(self).__name__, journal, door=door)
        if checkpoint is not None and not self._engine.keeps_files:
            self._engine.detach()
            raise ConfigError("a checkpoint needs a file to be kept in: give a path as journal")
        self._rounds = Rounds(self._engine)

    @classmethod
    def from_settings(
        cls,
        settings: Settings,
        journal: JournalLike = None,
        checkpoint: Checkpoint = None,
        *,
        door: DoorMaker = Door,
    ) -> Self:
        """The learner with these settings; `door` makes the door of each release, for audits."""
        make: Callable[..., Self] = cls
        return make(settings, journal, checkpoint, door=door)

    @classmethod
    def problem_for(cls, settings: Settings) -> Problem:
        """The way of learning that these settings ask for."""
        check_settings(cls, settings)
        if settings.mode != "auto":
            require.one_of("mode", settings.mode, tuple(cls.modes))
            return cls.modes[settings.mode](settings)
        return next(mode for mode in cls.modes.values() if mode.serves(settings))(settings)

    # --- one round at a time ----------------------------------------------------------------------

    @guarded
    def open(self, context: Any = None, available: Any = None, *, person: Any = None) -> Ticket:
        """Ask for the next round's decision. The clock ticks now, whether or not feedback comes.

        `available` says which candidates may be shown: a yes or no for each, or a list of labels.
        `person` says whose round it is, by a text or a whole number: of a person's rounds between
        two releases only the first one opened counts. `Privacy(keyed=True)` asks for it in every
        round.
        """
        name = name_of(person, keyed=self._keyed)
        return self._opened(self._request(context, available, 1, one=True), name)

    @guarded
    def close(self, ticket: Ticket, feedback: Any) -> bool:
        """End a round with its feedback; False if its block was over, and it counted without.

        None is no answer (for clicks: no click), and adds nothing.
        """
        return self._closed(ticket, feedback)

    @guarded
    def act(self, context: Any = None, available: Any = None, *, person: Any = None) -> Any:
        """This round's decision. Asking the same again before `observe` gives the same."""
        name = name_of(person, keyed=self._keyed)
        request = self._request(context, available, 1, one=True)
        if self._pending is not None:
            ticket, before, whose = self._pending
            still_open = ticket.index == self._engine.committed.index and self._rounds.waits(
                ticket.round
            )
            if still_open and not before.same(request):
                raise StateError(
                    "a round is open with another context or mask: observe() or skip() it first"
                )
            if still_open and whose != self._rounds.known_as(name):
                raise StateError("a round of another person is open: observe() or skip() it first")
            if still_open:
                return ticket.decision
        ticket = self._opened(request, name)
        self._pending = (ticket, request, self._rounds.known_as(name))
        return ticket.decision

    @guarded
    def observe(self, feedback: Any) -> None:
        """End the round that `act` began."""
        if self._pending is None:
            if self._rounds.is_over:
                raise HorizonReached(
                    f"all {self._rounds.clock} planned rounds are over: nothing more can be learned"
                )
            raise StateError("no round is open: call act() first, then observe() once")
        self._closed(self._pending[0], feedback)
        self._pending = None

    @guarded
    def skip(self) -> None:
        """Let the round that `act` began go without feedback: it adds nothing."""
        self._pending = None

    def _opened(self, request: Request, name: Name) -> Ticket:
        """The next round's ticket, with its decision in labels if there are any."""
        ticket = self._rounds.open(request, name)
        labels = self._engine.view.labels
        if labels is not None:
            ticket.decision = labels.single(ticket.decision)
        return ticket

    def _request(self, context: Any, available: Any, count: int, *, one: bool = False) -> Request:
        """What came with a question, with the mask as yes and no for each candidate."""
        problem = self._engine.problem
        if available is None or problem.candidates is None:
            return problem.request(context, available, count, one=one)
        labels = self._engine.view.labels
        if problem.notion != "joint DP":
            available = (
                available if labels is None else mask_of(available, labels, problem.candidates)
            )
            if not (
                type(available) is np.ndarray and available.shape[-1:] == (problem.candidates,)
            ):
                known = len(self._engine.view.names() or ())
                available = with_room(available, known, problem.candidates)
        elif not one:
            available = masks_of_people(available, labels, problem.candidates, count)
        elif labels is not None:
            try:
                available = mask_of(available, labels, problem.candidates)
            except ConfigError:  # its text would quote a person
                raise ConfigError(
                    "available must be a yes or no for each arm, or a list of labels"
                ) from None
        return problem.request(context, available, count, one=one)

    def _closed(self, ticket: Ticket, feedback: Any) -> bool:
        counted = self._rounds.close(ticket, feedback)
        self._keep(int(counted))
        return counted

    # --- many rounds at once ----------------------------------------------------------------------

    @guarded
    def open_many(self, what: Any, available: Any = None, *, persons: Any = None) -> Tickets:
        """Ask for many decisions of this block at once: so many rounds, or one context a row.

        More than `rounds_until_release` are refused, and nothing is opened; past the horizon any
        number is answered, for free. `persons` says whose rounds they are, one text or whole number
        each; whoever is named by something else adds nothing.
        """
        problem = self._engine.problem
        if isinstance(what, int | np.integer) and not isinstance(what, bool):
            if problem.takes_context:
                raise ConfigError("this learner needs a context for every round: hand in one a row")
            count, contexts = require.whole("the number of rounds", what, 0), None
        elif problem.takes_context:
            contexts = problem.rows(what)
            count = len(contexts)
        else:
            raise ConfigError(
                "this learner does not use contexts: say how many rounds, a whole number"
            )
        names = names_of(persons, count, keyed=self._keyed)
        tickets = self._rounds.open_many(count, self._request(contexts, available, count), names)
        return replace(tickets, labels=self._engine.view.labels)

    @guarded
    def close_many(self, tickets: Tickets, feedback: Any) -> Any:
        """End many rounds with one entry or row of feedback a ticket.

        True where the feedback counted, False where the block was over. None, NaN or a malformed
        row adds nothing and closes its round.
        """
        counted = self._rounds.close_many(tickets, feedback)
        self._keep(int(counted.sum()))
        return counted

    @guarded
    def observe_many(self, rows: Any, *, persons: Any = None) -> None:
        """Open and close up to `rounds_until_release` rounds at once.

        Malformed rows add nothing and use up their rounds. `persons` as in `open_many`.
        """
        rows = self._engine.problem.rows(rows)
        self._observe_many(rows, names_of(persons, len(rows), keyed=self._keyed))

    def _observe_many(self, rows: Any, names: list[Name] | None) -> None:
        self._refuse_without_context()
        self._rounds.observe_many(rows, names)
        self._keep(len(rows))

    @guarded
    def replay(self, rows: Any, *, persons: Any = None) -> Any:
        """Feed many rounds and give the decision of each, crossing releases; `persons` as in
        `open_many`.

        Decisions are labels if the learner has them, as those of tickets are.
        """
        rows = self._engine.problem.rows(rows)
        names = names_of(persons, len(rows), keyed=self._keyed)
        self._refuse_beyond(rows)
        decisions: list[Any] = []
        position = 0
        while position < len(rows):
            self._rounds.release_if_due()
            part = rows[position : position + min(self._rounds.until_release, self.most_at_once)]
            decisions.append(self._rounds.preview(len(part)))
            self._observe_many(part, names and names[position : position + len(part)])
            position += len(part)
        return self._in_labels(np.concatenate(decisions)) if decisions else np.array([])

    def _refuse_beyond(self, rows: Any) -> None:
        """Refuse rows that cannot be read or that no rounds are left for, before anything is
        spent.
        """
        self._refuse_without_context()
        left = self._rounds.until_horizon
        if len(rows) > left:
            raise HorizonReached(
                f"{len(rows)} rows, but {left} of the planned rounds are left: nothing was "
                "learned from them"
            )
        if len(rows):
            self._rounds.rehearse(rows)

    def _refuse_without_context(self) -> None:
        if self._engine.problem.takes_context:
            raise ConfigError(
                "this learner needs a context for every round: use open_many and close_many"
            )

    @guarded
    def preview(self, count: int) -> Any:
        """The decisions of the next rounds of this block, without asking: for batches and
        simulations.
        """
        if self._engine.problem.takes_context:
            raise ConfigError(
                "decisions depend on a context: ask with one, there is nothing to preview"
            )
        if not self._engine.problem.previews:
            raise ConfigError(
                "value rests on nobody knowing decisions of rounds to come: use open_many"
            )
        return self._in_labels(self._rounds.preview(require.whole("count", count, 0)))

    def _in_labels(self, decisions: Any) -> Any:
        labels = self._engine.view.labels
        return decisions if labels is None else labels.many(decisions)

    @guarded
    def release_if_due(self) -> bool:
        """Make the release that is due, if one is: for whoever does not ask, since a question
        does so too.
        """
        return self._rounds.release_if_due()

    # --- what may be read -------------------------------------------------------------------------

    @property
    def settings(self) -> Any:
        """What this learner was made with."""
        return self._engine.problem.settings

    @property
    def labels(self) -> list[Label] | None:
        """The candidates' labels by number, retired and later ones included; numbers if they have
        none.

        None for learners that do not decide among candidates.
        """
        return self._engine.view.names()

    @property
    def clock(self) -> int:
        """Rounds opened so far."""
        return self._rounds.clock

    @property
    def horizon(self) -> int | None:
        """How many rounds are planned by now; None if there is no end."""
        return self._engine.horizon

    @property
    def releases(self) -> int:
        """Releases made so far."""
        return self._engine.committed.index

    @property
    def rounds_before_release(self) -> int:
        """Rounds before the current block: the newest release read people up to there."""
        return self._engine.committed.begin

    @property
    def rounds_until_release(self) -> int:
        """How many more rounds can be opened before the next release (if one is due, the one
        after it).
        """
        return self._rounds.until_release

    @property
    def most_at_once(self) -> int:
        """How many rounds may be opened or previewed by one call: their decisions must fit into
        memory.
        """
        return self._rounds.most_at_once

    @property
    def facts(self) -> dict[str, Any]:
        """Public numbers of the plan: schedule, noise, warnings; and what released values give
        notice of.

        If rounds name their person: also how many times as much as for one round anyone pays for
        all theirs.
        """
        plan = self._engine.problem.plan
        facts = plan.facts | self.notices
        if not self._keyed:
            return facts
        return facts | {"a_person_pays": plan.total.payments(self.settings.privacy)}

    @property
    def notices(self) -> dict[str, str]:
        """What a user should know of what was released, in a line each: from released values
        only.
        """
        return self._engine.view.noticed()

    @property
    def decision(self) -> dict[str, Any]:
        """What is decided now, as plain data."""
        return self._engine.view.plain()

    @guarded
    def scores(self, context: Any = None) -> Scores:
        """How good each candidate is, with standard deviations, from released values only."""
        view = self._engine.view
        found, names = view.scores(context), view.names() or []
        return replace(found, labels=tuple(names[: found.values.shape[-1]]))

    @guarded
    def report(self) -> Report:
        """What was earned, release by release, with standard deviations; paid for by the setting
        `report`.
        """
        return self._engine.view.report()

    @property
    def guarantee(self) -> Guarantee:
        """What everything published so far promises."""
        return self._engine.guarantee

    @property
    def state_bytes(self) -> int:
        """How large the state is as a file, in bytes, besides rounds that wait for answers."""
        from discreet.engine.state_file import encode

        return len(encode(self._engine.snapshot(RoundsState(self.clock))))

    @guarded
    def snapshot(self) -> Snapshot:
        """The whole state as one record, as `save` would write it. It is not private: it holds
        raw sums.
        """
        return self._engine.snapshot(self._rounds.state())

    # --- keeping ----------------------------------------------------------------------------------

    @guarded
    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the whole state to a file, which becomes the journal: every later release is
        committed there.

        The file is not private: it holds raw sums. `discreet.load(path)` goes on from it, and
        fences off this copy.
        """
        self._engine.save(path, self._rounds.state())

    def detach(self) -> None:
        """Give up the journal's lock, so that others can load the file; waits for a call under
        way.
        """
        if (
            not self._engine.is_forked
        ):  # it is not the child's to give up, and whoever holds it is not here
            self._give_up()

    @_guarded_even_after_a_failure
    def _give_up(self) -> None:
        self._engine.detach()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Save the open block where the state is kept in a file, and give up the journal's lock."""
        try:
            if self._engine.keeps_files:
                self._save_open_block()
        finally:
            self.detach()

    @guarded
    def _save_open_block(self) -> None:
        self._engine.checkpoint(self._rounds.state())

    def _keep(self, closed: int) -> None:
        """Save the open block if a checkpoint is due.

        A failure is only warned of, and tried again with the next answer: the feedback is counted,
        and an error would make somebody hand it in again.
        """
        if not self._checkpoint.is_due(closed):
            return
        try:
            self._engine.checkpoint(self._rounds.state())
        except StateError as error:
            self._checkpoint.failed()
            warnings.warn(f"the open block is not saved: {error}", RuntimeWarning, stacklevel=4)

    def __reduce__(self) -> NoReturn:
        raise StateError(
            "a learner cannot be copied or pickled: two copies would spend one budget twice; "
            "use save and load"
        )

    def __repr__(self) -> str:
        settings = ", ".join(
            f"{name}={value!r}" for name, value in self.settings.as_plain().items()
        )
        return f"{type(self).__name__}({settings})"


class _Checkpoint:
    """When the open block is saved: after so many answers, or after so much time once an answer
    comes.
    """

    def __init__(self, every: Checkpoint) -> None:
        if every is not None and not isinstance(every, timedelta):
            every = require.whole("checkpoint", every)
        if isinstance(every, timedelta) and every <= timedelta(0):
            raise ConfigError(f"checkpoint must be longer than no time at all, got {every}")
        self._every = every
        self._answers = 0
        self._since = monotonic()

    def is_due(self, closed: int) -> bool:
        """Whether to save now that so many more answers came; if so, counting starts again."""
        if self._every is None:
            return False
        self._answers += closed
        if isinstance(self._every, timedelta):
            due = monotonic() - self._since >= self._every.total_seconds()
        else:
            due = self._answers >= self._every
        if due:
            self._answers, self._since = 0, monotonic()
        return due

    def failed(self) -> None:
        """Try again with the next answer."""
        self._answers, self._since = 2**62, -inf
