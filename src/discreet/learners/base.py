"""Base class of all online learners: the public `act`/`observe` API, one call at a time.

    act, observe              one round at a time
    open, close               many rounds in flight, one call each
    open_many, close_many     many rounds per call
    observe_many, replay      rows of whole answers, for simulations and logs

The clock ticks when a decision is asked for, whether or not feedback comes. The hooks of a mode are
in a `Phase`, the way from answers to releases in an `Engine`, the clock in `Rounds`.

Guarantee   docs/guarantees/engine.md
"""

from collections.abc import Callable, Iterable, Mapping, Sized
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NamedTuple, Self, cast

import numpy as np

from discreet import require
from discreet.arrays import Mask
from discreet.engine.declarations import Questions
from discreet.engine.engine import DoorMaker
from discreet.engine.mode import Mode
from discreet.engine.people import Name, name_of, names_of
from discreet.engine.problem import Problem
from discreet.engine.request import EMPTY_REQUEST, Request
from discreet.engine.settings import Settings
from discreet.engine.tickets import Decision, Decisions, Ticket, Tickets
from discreet.errors import ConfigError, HorizonReached, StateError
from discreet.learners.constructor import check_settings
from discreet.learners.durable import Checkpoint as Checkpoint
from discreet.learners.durable import CheckpointTimer
from discreet.learners.durable import JournalLike as JournalLike
from discreet.learners.guard import guarded as guarded
from discreet.learners.readable import Readable
from discreet.learners.requests import request_of
from discreet.progress import bar
from discreet.records.kinds import recognised
from discreet.release.door import Door

if TYPE_CHECKING:
    from discreet.learners.log_reader import LogReader
    from discreet.records.table import LogTable

Modes = Mapping[str, type[Mode]]
"""Modes by name; `Learner.choose` says which one serves some settings."""

ROWS = (np.ndarray, list, tuple, int)
"""The usual types of rows, which need no closer look to be told apart from tables."""


class _Pending(NamedTuple):
    """The round that `act` opened and `observe` will close."""

    ticket: Ticket
    request: Request
    person: Name


class _Answers(NamedTuple):
    """The answers of many rounds, one entry or row each, and the names of their people."""

    answers: Any
    names: list[Name] | None


class Learner(Readable, Generic[Decision, Decisions]):
    """Base class of all online learners: the public `act`/`observe` API, one call at a time.

    A subclass declares its settings and its modes; `choose` says which mode serves the settings.
    Threads may share a learner: calls wait for each other.

    Guarantee: docs/guarantees/engine.md.

    Examples
    --------
    >>> from discreet import Hedge, Privacy
    >>> hedge = Hedge(["tea", "milk"], horizon=1000, privacy=Privacy(1.0), seed=1)
    >>> hedge.act()                        # what to do in this round
    'tea'
    >>> hedge.observe([0.2, 0.7])          # what each action would have gained
    >>> hedge.clock, hedge.releases
    (1, 0)

    Where answers take a while, each round has a ticket, and many may be open:

    >>> first, second = hedge.open(), hedge.open()
    >>> hedge.close(second, [0.0, 1.0]), hedge.close(first, [0.4, 0.1])
    (True, True)
    """

    settings_type: ClassVar[type[Settings]]
    modes: ClassVar[Modes]

    def __init__(
        self,
        settings: Settings | None = None,
        journal: JournalLike = None,
        checkpoint: Checkpoint = None,
        *,
        door: DoorMaker = Door,
        **given: object,
    ) -> None:
        """Begin with these settings, or with those that `given` has by name.

        The learners of this library declare what they take, one argument per setting.
        """
        if settings is None:
            settings = self.settings_type.from_arguments(**given)
        elif given:
            name = next(iter(given))
            raise ConfigError(f"{name} is part of the settings: change it there")
        self._begin(settings, journal, checkpoint, door=door)

    def _begin(
        self,
        settings: Settings,
        journal: JournalLike = None,
        checkpoint: Checkpoint = None,
        *,
        door: DoorMaker = Door,
    ) -> None:
        """Begin with these settings: the common end of all constructors (constructor.py)."""
        self._make_lock()
        self._pending: _Pending | None = None
        self._keyed = settings.keyed
        timer = CheckpointTimer(checkpoint)
        problem = self.problem_for(settings)
        asked = type(problem.questions)
        takes_nothing = asked.request is Questions.request and not asked.takes_context
        self._asks_nothing = takes_nothing and not settings.keyed
        """Whether a round may come without context, mask and person, which then need no check."""
        self._attach(problem, journal, timer, door)

    @classmethod
    def from_settings(
        cls,
        settings: Settings,
        journal: JournalLike = None,
        checkpoint: Checkpoint = None,
        *,
        door: DoorMaker = Door,
    ) -> Self:
        """Return the learner with these settings.

        Parameters
        ----------
        settings
            An instance of `settings_type`.
        journal, checkpoint
            As for `SetMaximizer`.
        door
            Makes the door of each release; only audits replace it.
        """
        make: Callable[..., Self] = cls
        return make(settings, journal, checkpoint, door=door)

    @classmethod
    def problem_for(cls, settings: Settings) -> Problem:
        """Return the problem of the mode that serves these settings."""
        check_settings(cls, settings)
        name = settings.mode
        if name == "auto":
            name = cls.choose(settings)
        require.one_of("mode", name, tuple(cls.modes))
        return Problem(cls.modes[name](settings))

    @classmethod
    def choose(cls, settings: Any) -> str:
        """Return the name of the mode that serves these settings: by default the first one."""
        return next(iter(cls.modes))

    # --- one round at a time ----------------------------------------------------------------------

    @guarded
    def open(
        self, context: object = None, available: object = None, *, person: object = None
    ) -> Ticket[Decision]:
        """Open the next round and return its ticket, with the decision.

        The clock ticks now, whether or not feedback comes.

        Parameters
        ----------
        context
            What is known of the round before the decision, for learners that use contexts.
        available
            Which candidates may be shown: one boolean per candidate, or a list of labels.
        person
            Whose round it is, by a text or a whole number. Between two releases only the first
            round that a person opens counts. `Privacy(keyed=True)` requires it in every round.
        """
        ticket: Ticket[Decision] = self._rounds.open(*self._asked(context, available, person))
        return ticket

    @guarded
    def close(self, ticket: Ticket, feedback: object) -> bool:
        """End a round with its feedback, and return whether the feedback counted.

        It does not count if the block of the round is over. None means no answer (for clicks: no
        click), and adds nothing.
        """
        return self._closed(ticket, feedback)

    @guarded
    def act(
        self, context: object = None, available: object = None, *, person: object = None
    ) -> Decision:
        """Return the decision of this round; a repeated call before `observe` returns it again.

        Parameters
        ----------
        context, available, person
            As for `open`.

        Raises
        ------
        StateError
            If a round is open with another context, mask or person.
        """
        request, name = self._asked(context, available, person)
        pending = self._pending
        if pending is not None and self._is_open(pending.ticket):
            if not pending.request.same(request):
                raise StateError(
                    "a round is open with another context or mask: observe() or skip() it first"
                )
            if pending.person != self._rounds.known_as(name):
                raise StateError("a round of another person is open: observe() or skip() it first")
            decision: Decision = pending.ticket.decision
            return decision
        ticket: Ticket[Decision] = self._rounds.open(request, name)
        if name is not None:
            name = self._rounds.known_as(name)
        self._pending = _Pending(ticket, request, name)
        return ticket.decision

    @guarded
    def observe(self, feedback: object) -> None:
        """End the round that `act` opened, with its feedback."""
        if self._pending is None:
            if self._rounds.is_over:
                raise HorizonReached(
                    f"all {self._rounds.clock} planned rounds are over: nothing more can be learned"
                )
            raise StateError("no round is open: call act() first, then observe() once")
        self._closed(self._pending.ticket, feedback)
        self._pending = None

    @guarded
    def skip(self) -> None:
        """Leave the round that `act` opened without feedback: it adds nothing."""
        self._pending = None

    def _asked(self, context: object, available: object, person: object) -> tuple[Request, Name]:
        """Return the request and the name of one round."""
        if context is None and available is None and person is None and self._asks_nothing:
            return EMPTY_REQUEST, None
        name = name_of(person, keyed=self._keyed)
        return request_of(self._engine, context, available, 1, one=True), name

    def _is_open(self, ticket: Ticket) -> bool:
        """Return whether a round of the current block still waits for feedback."""
        is_current = ticket.index == self._engine.committed.index
        return is_current and self._rounds.waits(ticket.round)

    def _closed(self, ticket: Ticket, feedback: object) -> bool:
        counted = self._rounds.close(ticket, feedback)
        if self._checkpoints:
            self._checkpoint_if_due(int(counted))
        return counted

    # --- tables -----------------------------------------------------------------------------------

    def _answers(self, rows: object, persons: object, most: int) -> "_Answers":
        """Return the answers of many rounds, and their people; of a table, `most` + 1 at most."""
        if type(rows) not in ROWS:
            found, rows = recognised(rows)
            if found:
                self._refuse_without_context()
                reader = self._reader(rows, persons)
                whole = reader.whole(most)
                if len(whole) > most:
                    raise StateError(
                        f"the table has more rows than the {most} rounds until the next release: "
                        f"use replay, or observe_stream of a StreamingLearner"
                    )
                return self._of_table(reader, whole)
        answers = self._engine.problem.answer.rows(rows)
        return _Answers(answers, names_of(persons, len(answers), keyed=self._keyed))

    def _of_table(self, reader: "LogReader", rows: "LogTable") -> "_Answers":
        """Return the answers of some rows of a table."""
        answers = self._engine.problem.answer.rows(reader.adapter.answers(rows, reader.columns))
        return _Answers(answers, names_of(reader.people(rows), len(rows), keyed=self._keyed))

    # --- many rounds at once ----------------------------------------------------------------------

    @guarded
    def open_many(
        self, what: object, available: object = None, *, persons: object = None
    ) -> Tickets[Decision, Decisions]:
        """Open many rounds of this block at once and return their tickets.

        More rounds than `rounds_until_release` are refused, and none is opened. Past the horizon
        any number of decisions is answered, at no cost.

        Parameters
        ----------
        what
            The number of rounds; for learners that use contexts, one row of context per round, or
            a table (see `observe_many`) with one column per feature.
        available
            One mask for all rounds, or one per round: booleans, or lists of labels.
        persons
            Whose rounds they are: one text or whole number per round; for a table, the name of
            the column. An entry of another kind makes its round add nothing.

        Examples
        --------
        >>> from discreet import Hedge, Privacy
        >>> hedge = Hedge(["tea", "milk"], horizon=1000, privacy=Privacy(1.0), seed=1)
        >>> tickets = hedge.open_many(3)
        >>> hedge.close_many(tickets, [[0.2, 0.7], [0.1, 0.9], None])
        array([ True,  True,  True])
        """
        problem = self._engine.problem
        contexts: Any = None
        if type(what) not in ROWS:
            found, what = recognised(what)
            if found:
                what, persons = self._contexts_of(what, persons, self._rounds.until_release)
        if isinstance(what, int | np.integer) and not isinstance(what, bool):
            if problem.questions.takes_context:
                raise ConfigError(
                    "this learner needs a context for every round: give one row per round"
                )
            count = require.whole("the number of rounds", what, 0)
        elif problem.questions.takes_context:
            contexts = problem.answer.rows(what)
            count = len(contexts)
        else:
            raise ConfigError("this learner does not use contexts: give the number of rounds")
        names = names_of(persons, count, keyed=self._keyed)
        request = request_of(self._engine, contexts, available, count)
        return self._rounds.open_many(count, request, names)

    @guarded
    def close_many(self, tickets: Tickets, feedback: object) -> Mask:
        """End many rounds, and return per ticket whether its feedback counted.

        Feedback does not count if the block of its round is over.

        Parameters
        ----------
        tickets
            What `open_many` returned, or a part of it.
        feedback
            One entry or row per ticket, or a table (see `observe_many`). None, NaN or a malformed
            row adds nothing and closes its round.
        """
        if type(feedback) not in ROWS:
            found, feedback = recognised(feedback)
            if found:
                reader = self._reader(feedback)
                feedback = reader.adapter.answers(reader.whole(len(tickets)), reader.columns)
        counted = self._rounds.close_many(tickets, feedback)
        self._checkpoint_if_due(int(counted.sum()))
        return counted

    @guarded
    def observe_many(self, rows: object, *, persons: object = None) -> None:
        """Open and close up to `rounds_until_release` rounds at once.

        Parameters
        ----------
        rows
            One entry or row of feedback per round, or a table: a frame of Polars or pandas, a lazy
            frame, any Arrow stream, the `Path` of a file or a folder, a glob as a `Path`, or an
            iterator of frames. Columns are those of the labels, without labels all in order, and
            `reward`, `click` or `cost` for single answers. Malformed rows add nothing and use up
            their rounds.
        persons
            As for `open_many`.
        """
        self._observe_many(*self._answers(rows, persons, self._rounds.until_release))

    def _observe_many(self, rows: Sized, names: list[Name] | None) -> None:
        self._refuse_without_context()
        self._rounds.observe_many(rows, names)
        self._checkpoint_if_due(len(rows))

    @guarded
    def replay(self, rows: object, *, persons: object = None) -> Decisions:
        """Feed many rounds, making the releases that fall due, and return each round's decision.

        Decisions are labels if the learner has labels, like those of tickets.

        Parameters
        ----------
        rows
            One entry or row of feedback per round, or a table (see `observe_many`), which is read
            in batches if its length is known; more than the planned rounds are refused.
        persons
            As for `open_many`.
        """
        decisions: list[np.ndarray] = []
        count, parts = self._parts(rows, persons)
        with bar("rounds", count) as report:
            for answers, names in parts:
                self._refuse_beyond(answers)
                position = 0
                while position < len(answers):
                    self._rounds.release_if_due()
                    end = position + min(self._rounds.until_release, self.most_at_once)
                    part = answers[position:end]
                    decisions.append(self._rounds.preview(len(part)))
                    self._observe_many(part, names and names[position : position + len(part)])
                    position += len(part)
                    report(len(part))
        nothing: Any = np.array([])
        return self._in_labels(np.concatenate(decisions)) if decisions else nothing

    def _parts(self, rows: object, persons: object) -> tuple[int, Iterable["_Answers"]]:
        """Return all answers, and how many: at once, or a table of known length in batches."""
        if type(rows) not in ROWS:
            found, rows = recognised(rows)
            if found:
                self._refuse_without_context()
                reader = self._reader(rows, persons)
                if reader.count is None:
                    whole = reader.whole(self._rounds.until_horizon)
                    return len(whole), [self._of_table(reader, whole)]
                self._refuse_more_than_left(reader.count)
                batches = reader.batches()
                return reader.count, (self._of_table(reader, batch) for batch in batches)
        answers = self._answers(rows, persons, 0)
        return len(answers.answers), [answers]

    def _refuse_beyond(self, rows: Sized) -> None:
        """Refuse rows that cannot be read or exceed the horizon, before any budget is spent."""
        self._refuse_without_context()
        self._refuse_more_than_left(len(rows))
        if len(rows):
            self._rounds.rehearse(rows)

    def _refuse_more_than_left(self, count: int) -> None:
        left = self._rounds.until_horizon
        if count > left:
            raise HorizonReached(
                f"{count} rows, but {left} of the planned rounds are left: nothing was "
                "learned from them"
            )

    def _refuse_without_context(self) -> None:
        if self._engine.problem.questions.takes_context:
            raise ConfigError(
                "this learner needs a context for every round: use open_many and close_many"
            )

    @guarded
    def preview(self, count: int) -> Decisions:
        """Return the decisions of the next `count` rounds of this block, without opening them."""
        if self._engine.problem.questions.takes_context:
            raise ConfigError("decisions depend on a context: use open_many instead of preview")
        if not self._engine.view.form.previews:
            raise ConfigError(
                "value requires that decisions of later rounds stay unknown: use open_many"
            )
        return self._in_labels(self._rounds.preview(require.whole("count", count, 0)))

    def _in_labels(self, decisions: np.ndarray) -> Decisions:
        labels = self._engine.view.labels
        translated = decisions if labels is None else labels.many(decisions)
        return cast(Decisions, translated)  # their type follows from the settings

    @guarded
    def release_if_due(self) -> bool:
        """Make the release that is due, if one is, and return whether one was.

        The next question makes it too; this call is for pauses between questions.
        """
        return self._rounds.release_if_due()
