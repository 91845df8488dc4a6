"""What may be read of a learner: its settings, its plan, released values, and a check of a table.

Readings depend on settings and released values only, except `check`, which is not private.

Guarantee   docs/guarantees/engine.md, Theorem 4
"""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from discreet.budget.guarantee import Guarantee
from discreet.engine.readings import Report, Scores
from discreet.learners.durable import Durable
from discreet.learners.guard import guarded
from discreet.learners.labels import Label
from discreet.records.kinds import is_table

if TYPE_CHECKING:
    from discreet.learners.log_reader import LogReader
    from discreet.records.check import Check


class Readable(Durable):
    """Base class of learners, as far as they are read: nothing here opens a round or releases."""

    _keyed: bool

    @property
    def settings(self) -> Any:
        """The settings of this learner."""
        return self._engine.problem.settings

    @property
    def labels(self) -> list[Label] | None:
        """The candidates' labels by number, retired and pending ones included.

        They are numbers if candidates have no labels. None for learners that do not decide among
        candidates.
        """
        return self._engine.view.names()

    @property
    def clock(self) -> int:
        """Number of rounds opened so far."""
        return self._rounds.clock

    @property
    def horizon(self) -> int | None:
        """Number of rounds planned by now; None if there is no end."""
        return self._engine.horizon

    @property
    def releases(self) -> int:
        """Number of releases made so far."""
        return self._engine.committed.index

    @property
    def rounds_before_release(self) -> int:
        """Number of rounds before the current block: those that releases have read so far."""
        return self._engine.committed.begin

    @property
    def rounds_until_release(self) -> int:
        """Number of rounds that can be opened before the next release.

        If a release is due, the number until the one after it.
        """
        return self._rounds.until_release

    @property
    def most_at_once(self) -> int:
        """Largest number of rounds per call: their decisions must fit into memory."""
        return self._rounds.most_at_once

    @property
    def facts(self) -> dict[str, Any]:
        """Public numbers of the plan (schedule, noise, warnings), and notices of released values.

        If rounds name their person, `a_person_pays` is the largest cost of all rounds of one
        person, as a multiple of the cost of one round.
        """
        problem = self._engine.problem
        facts = problem.facts | self.notices
        if not self._keyed:
            return facts
        return facts | {"a_person_pays": problem.plan.total.payments(self.settings.privacy)}

    @property
    def notices(self) -> dict[str, str]:
        """What a user should know about the released values, one line per notice."""
        return self._engine.view.phase.readings().notices

    @property
    def decision(self) -> dict[str, Any]:
        """The current decision as plain data."""
        return self._engine.view.phase.readings().plain

    @guarded
    def scores(self, context: object = None) -> Scores:
        """Return an estimate per candidate with standard deviations, from released values only.

        Parameters
        ----------
        context
            For learners that use contexts: the context, or one per row, or a table with one column
            per feature.
        """
        if is_table(context):
            context, _ = self._contexts_of(context)
        view = self._engine.view
        scores = view.phase.readings().scores_of(context)
        names = view.names() or []
        return replace(
            scores,
            labels=tuple(names[: scores.values.shape[-1]]),
            simulated=self.guarantee.simulated,
        )

    @guarded
    def report(self) -> Report:
        """Return the mean reward or cost per release, with standard deviations.

        The setting `report` pays for it.
        """
        return replace(self._engine.view.report(), simulated=self.guarantee.simulated)

    @property
    def guarantee(self) -> Guarantee:
        """The privacy guarantee of everything published so far."""
        return self._engine.guarantee

    def check(self, rows: object, *, persons: object = None) -> "Check":
        """Return how many rows cannot be read, and by which rule; it opens and spends nothing.

        The result is NOT private: it has exact counts of people's rows. Run it where the data is,
        and leave it there. Settings that are chosen after a look at it depend on people's data,
        which the guarantee does not cover.

        Parameters
        ----------
        rows
            Answers as for `close_many`, or a table of them. Columns of contexts, slates and arms
            are checked, too, if the table has them. A stream or an iterator is used up.
        persons
            The column of a table that names the person of each row.

        Examples
        --------
        >>> from discreet import Hedge, Privacy
        >>> hedge = Hedge(["tea", "milk"], horizon=4, privacy=Privacy(1.0))
        >>> print(hedge.check([[0.2, 0.7], [0.1, "much"], None, [0.3, 0.4]]))
        NOT private: these counts depend on people's data. Keep this output where the data is.
        row: all cells are empty (1 row)
        milk: no number (1 row)
        rows that cannot be read, in all: 2 of 4
        """
        from discreet.learners.log_reader import check_for

        return check_for(self, rows, persons)

    def _reader(self, table: object, persons: object = None, **how: Any) -> "LogReader":
        """Return the reader of a table, by the rules of `reader_for`."""
        from discreet.learners.log_reader import reader_for  # on first use, as Polars below it

        return reader_for(self, table, persons, **how)

    def _contexts_of(
        self, table: object, persons: object = None, most: int | None = None
    ) -> tuple[object, object]:
        """Return the contexts of a table, and the person of each row; `most` + 1 rows at most."""
        reader = self._reader(table, persons, of="contexts")
        rows = reader.whole(most)
        return reader.adapter.contexts(rows, reader.columns), reader.people(rows)

    def __repr__(self) -> str:
        settings = ", ".join(
            f"{name}={value!r}" for name, value in self.settings.as_plain().items()
        )
        return f"{type(self).__name__}({settings})"

    def _repr_html_(self) -> str:
        """Return what may be read of this learner as HTML, for notebooks."""
        from discreet.learners.notebook import page_of

        return page_of(self)
