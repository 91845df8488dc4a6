"""Private selection of one set from the records of many people, under public constraints.

This file holds the public class; each method is in a file of its own beside it.

Guarantee   docs/guarantees/selector.md
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from threading import Lock
from typing import Any, ClassVar, NoReturn, Self

import numpy as np

from discreet import require
from discreet.budget.privacy import Privacy
from discreet.domains import SetDomain
from discreet.engine.engine import Engine
from discreet.engine.journal import as_journal
from discreet.engine.problem import Problem
from discreet.engine.request import EMPTY_REQUEST, Batch
from discreet.errors import BudgetError, ConfigError, StateError
from discreet.functions.places import Nearby, Types
from discreet.functions.sets import SetFunction, SetFunctions
from discreet.learners.base import JournalLike
from discreet.learners.constructor import constructor
from discreet.learners.executors import check_engine, workers
from discreet.learners.labels import Label, names_by_number
from discreet.learners.set_selector.chosen import Chosen, Traced
from discreet.learners.set_selector.histogram import Histogram
from discreet.learners.set_selector.mode import Public, SelectorMode
from discreet.learners.set_selector.partitions import (
    PartitionedPeople,
    Partitions,
    callables_of,
    partitioned_people,
)
from discreet.learners.set_selector.records import RecordReader
from discreet.learners.set_selector.sampled import Sampled
from discreet.learners.set_selector.settings import SetSelectorSettings
from discreet.records.check import Check
from discreet.release.aggregators.partitions import Runner
from discreet.release.randomness import this_process


class SetSelector:
    """Choose one set from the private records of many people.

    Examples are sites to open, tests to offer, titles to stock. The worth of a set to a person is
    monotone and lies in [0, 1]; the selector maximises the total worth, under quotas or a budget.

    Guarantee: docs/guarantees/selector.md. Differential privacy for the whole record of each
    person; the number of people is public.

    Runtime: one pass over the people for a histogram, otherwise one pass per chosen item.

    Parameters
    ----------
    domain
        The admissible sets: `UniformMatroid(items, rank)`, `PartitionMatroid(groups, quotas)`,
        `LaminarMatroid`, `GraphicMatroid`, `OracleMatroid` or `Knapsack(costs, budget)` of
        discreet.domains.
    privacy
        The requested guarantee. Without public cells the guarantee is pure; with them `delta` is
        used if that needs less noise.
    function
        The meaning of a record: a family of discreet.functions. `Nearby(sites, reach, box)` and
        `Types(table)` have public cells; `ClickModel`, `FacilityLocation`, `ConcaveOverModular`,
        `WeightedCoverage(covers)` take one row of numbers per person; with `SetFunction` each
        person has a callable on integer arrays.
    labels
        The labels of the items. They also name the columns of frames and files.
    report
        The share of the budget, up to ½, that pays for the value of the chosen set. With a
        histogram the value costs nothing.
    engine
        The executor that reads people in partitions: None for threads of this machine, a Dask
        client, or the address of a cluster ("tcp://…"). The choice is equal, bit for bit
        (docs/guides/cluster.md).
    seed
        Makes a run reproducible, and its guarantee void: for simulations.
    journal
        A file in which the choice is committed before it is shown. If the file has a choice
        already, `fit` returns that one.

    Examples
    --------
    >>> import numpy as np
    >>> from discreet import Privacy, SetSelector
    >>> from discreet.functions import Nearby
    >>> from discreet.domains import UniformMatroid
    >>> sites = tuple((x / 4, y / 4) for x in range(5) for y in range(5))
    >>> city = Nearby(sites, reach=0.3, box=((0.0, 1.0), (0.0, 1.0)))
    >>> homes = np.random.default_rng(0).normal([0.25, 0.75], 0.05, size=(5000, 2))
    >>> selector = SetSelector(UniformMatroid(25, rank=1), Privacy(1.0), function=city, seed=1)
    >>> chosen = selector.fit(homes)
    >>> sites[chosen.numbers[0]], chosen.method
    ((0.25, 0.75), 'histogram')

    References
    ----------
    Mitrovic, Bun, Krause, Karbasi (2017), "Differentially Private Submodular Maximization".
    Sadeghi, Fazel (2021), "Differentially Private Monotone Submodular Maximization Under Matroid
    and Knapsack Constraints".
    """

    settings_type = SetSelectorSettings
    modes: ClassVar[dict[str, type[SelectorMode]]] = {
        "histogram": Histogram,  # functions with public cells: Nearby, Types
        "sampled": Sampled,  # all other functions
    }

    @constructor
    def __init__(
        self,
        domain: SetDomain,
        privacy: Privacy,
        *,
        function: SetFunctions | Nearby | Types | type[SetFunctions | SetFunction],
        labels: Sequence[Label] | None = None,
        report: float = 0.0,
        engine: object = None,
        seed: int | None = None,
        journal: JournalLike = None,
    ) -> None:
        """Take the fields of `SetSelectorSettings`, an `engine` and a `journal`."""

    @classmethod
    def from_settings(
        cls, settings: SetSelectorSettings, journal: JournalLike = None, *, engine: object = None
    ) -> Self:
        """Return the selector with these settings."""
        make: Callable[..., Self] = cls
        return make(settings, journal, engine)

    def _begin(
        self, settings: SetSelectorSettings, journal: JournalLike = None, engine: object = None
    ) -> None:
        """Initialise the selector; a bad engine or journal is refused before people are read."""
        self.settings = settings
        as_journal(journal)
        check_engine(engine)
        if self.settings.family is None and engine is not None:
            raise ConfigError("callables stay in this process: leave engine out")
        self._journal = journal
        self._engine = engine
        self._process = this_process()
        self._once = Lock()
        """Held from the first successful choice on, and while `fit` runs."""
        self._begun: tuple[Problem, Engine] | None = None
        """A choice that was begun and not shown, because of an error."""

    def fit(self, people: object, *, columns: Sequence[str] | None = None) -> Chosen:
        """Choose a set, from one record per person, and return it as `Chosen`.

        There is one release, which spends the whole budget. If the choice was drawn but could not
        be committed, the next `fit` commits that choice and reads no people. After an error before
        the draw, the next `fit` reads people and draws. A choice that is already in the journal is
        returned as it is.

        Parameters
        ----------
        people
            An array of rows, a Polars or pandas frame, an Arrow stream, a list of records, an
            iterator of records or of frames (read once), or one callable per person; the path of a
            Parquet or CSV file; `Partitions`; or a list of frames and `Path`s, one per partition.
            Arrays in a list are records; `Partitions.of` makes them partitions. All partitions are
            read before the budget is spent. Give the path of a file rather than a frame of pandas,
            where one odd cell decides how the whole column is read.
        columns
            The columns of frames and files that make up a record, in order; by default those named
            like the `labels`, or else all.

        Raises
        ------
        ConfigError
            If people cannot be read; the budget is not spent.
        BudgetError
            If this selector has chosen already.
        StateError
            If the choice could not be committed, or the process was forked.
        """
        if this_process() != self._process:
            raise StateError(
                "this selector was forked, and two copies would spend one budget twice: make one "
                "in each process"
            )
        if not self._once.acquire(blocking=False):
            raise BudgetError(
                "the budget is spent, a selector chooses once: make another one for other people"
            )
        chosen = None
        try:
            chosen = self._committed() or self._choice(people, columns)
            return chosen
        finally:
            if chosen is None:
                self._once.release()

    def check(self, people: object, *, columns: Sequence[str] | None = None) -> Check:
        """Return how many records cannot be read, and by which rule; it spends nothing.

        The result is NOT private: see `Learner.check`.

        Parameters
        ----------
        people
            As for `fit`: an array, a list of records, or one table or path.
        columns
            As for `fit`.
        """
        if self.settings.family is None or isinstance(people, Partitions):
            raise ConfigError("check takes records: an array, a list, a table or a path")
        return self._record_reader(columns).check(people)

    def _record_reader(self, columns: Sequence[str] | None) -> RecordReader:
        settings = self.settings
        names = None if columns is None else tuple(require.listed("columns", columns))
        assert settings.family is not None
        return RecordReader(settings.family, settings.domain.items, settings.labels, names)

    def _committed(self) -> Chosen | None:
        """Return the choice that was drawn before and could not be committed; None without one."""
        if self._begun is None:
            return None
        problem, engine = self._begun
        engine.check_process()
        engine.check()  # refuses to draw again after a draw that failed
        has_choice = engine.is_drawn or engine.committed.index
        return self._released(problem, engine) if has_choice else None

    def _choice(self, people: object, columns: Sequence[str] | None) -> Chosen:
        """Read people, draw, commit, and return the choice."""
        with workers(self._engine) as run:
            partitioned = self._partitioned(people, columns, run)
            settings = replace(self.settings, people=partitioned.count)
            problem = self.problem_for(settings, in_parts=True)
            engine = Engine(problem, type(self).__name__, self._journal)
            try:
                if engine.committed.index == 0:
                    engine.gather(Batch(np.arange(0), partitioned, EMPTY_REQUEST))
            except BaseException:
                engine.detach()
                raise
            return self._released(problem, engine)

    def _released(self, problem: Problem, engine: Engine) -> Chosen:
        """Draw once, commit, then return the choice; one in the journal is returned as it is."""
        self._begun = problem, engine
        try:
            if engine.committed.index == 0:
                engine.release(_mode_of(engine).settings.count, {})
        finally:
            engine.detach()
        chosen = self._chosen(_mode_of(engine), engine)
        self._begun = None
        return chosen

    def _partitioned(
        self, people: Any, columns: Sequence[str] | None, run: Runner
    ) -> PartitionedPeople:
        """Return the people in partitions, counted."""
        settings = self.settings
        if settings.family is None:
            return callables_of(people)
        reader = self._record_reader(columns)
        is_local = self._engine is None
        return partitioned_people(
            people, reader, run, is_local=is_local, has_cells=settings.has_cells
        )

    @classmethod
    def problem_for(cls, settings: SetSelectorSettings, *, in_parts: bool = False) -> Problem:
        """Return the problem for these settings: a histogram for functions with public cells."""
        usual = "histogram" if settings.has_cells else "sampled"
        mode = cls.modes[usual if settings.mode == "auto" else settings.mode]
        return Problem(mode(settings, in_parts=in_parts))

    def _chosen(self, mode: SelectorMode, engine: Engine) -> Chosen:
        """Return the public result of the committed release."""
        public: Public = engine.view.public
        settings = self.settings
        numbers = public.chosen.tolist()
        names = names_by_number(settings.domain.items, settings.labels)
        items = [names[number] for number in numbers]
        value = tuple(public.value.tolist())
        worths = [None] * len(items) if public.trace is None else public.trace.tolist()
        counts = mode.counts_of(public)
        return Chosen(
            items=items,
            numbers=numbers,
            method=mode.method,
            why=mode.why,
            guarantee=engine.guarantee,
            trace=[Traced(item, worth) for item, worth in zip(items, worths, strict=True)],
            value=(value[0], value[1]) if value else None,
            people=mode.settings.count,
            counts=counts,
            counts_deviation=None if counts is None else mode.counts_deviation,
        )

    def __reduce__(self) -> NoReturn:
        raise StateError(
            "a selector cannot be copied or pickled, two copies would spend one budget twice: "
            "make another one"
        )


def _mode_of(engine: Engine) -> SelectorMode:
    mode: SelectorMode = engine.view.phase.mode
    return mode
