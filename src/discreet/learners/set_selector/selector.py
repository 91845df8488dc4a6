"""One set, once, from many people's records, under public constraints.

This file says what the selector is; how it chooses is in the files beside it, one a method.

Guarantee   docs/guarantees/selector.md
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from threading import Lock
from typing import Any, ClassVar, NamedTuple, NoReturn, Self

import numpy as np

from discreet import require
from discreet.budget.guarantee import Guarantee
from discreet.budget.privacy import Privacy
from discreet.domains import SetDomain
from discreet.engine.engine import Engine
from discreet.engine.journal import as_journal
from discreet.engine.request import EMPTY_REQUEST, Batch
from discreet.errors import BudgetError, ConfigError, StateError
from discreet.functions.places import Nearby, Types
from discreet.functions.sets import SetFunction, SetFunctions
from discreet.learners.base import JournalLike
from discreet.learners.constructor import constructor
from discreet.learners.executors import check_engine, workers
from discreet.learners.labels import Label, names_by_number
from discreet.learners.set_selector.histogram import Histogram
from discreet.learners.set_selector.mode import Public, SelectorMode
from discreet.learners.set_selector.partitions import (
    PartitionedPeople,
    callables_of,
    partitioned_people,
)
from discreet.learners.set_selector.records import RecordReader
from discreet.learners.set_selector.sampled import Sampled
from discreet.learners.set_selector.settings import SetSelectorSettings
from discreet.release.aggregators.partitions import Runner
from discreet.release.randomness import this_process


class Traced(NamedTuple):
    """One item on the way to the set, and what all people have reached with it, where that was
    released.
    """

    item: Label
    worth: float | None


@dataclass(frozen=True, eq=False)
class Chosen:
    """What was chosen: everything here is public.

    `items` are labels if the selector has them, otherwise numbers; `numbers` are always numbers.
    `value` is what the set is worth to all people together, with its standard deviation; None if it
    was not paid for. `trace` has the items in the order in which they were drawn; after a
    histogram, whose noisy counts tell it for nothing, also what was reached.
    """

    items: list[Label]
    numbers: list[int]
    method: str
    why: str
    guarantee: Guarantee
    trace: list[Traced]
    value: tuple[float, float] | None
    people: int

    def as_plain(self) -> dict[str, Any]:
        """Numbers, strings and lists: for a message or a file."""
        value = (
            None
            if self.value is None
            else {"mean": self.value[0], "standard_deviation": self.value[1]}
        )
        return {
            "items": self.items,
            "numbers": self.numbers,
            "method": self.method,
            "why": self.why,
            "people": self.people,
            "trace": [{"item": item, "worth": worth} for item, worth in self.trace],
            "value": value,
            "guarantee": str(self.guarantee),
        }


class SetSelector:
    """Choose one set from many people's records, without giving any of them away.

    Which sites to open, which tests to offer, which titles to stock: a person's worth of a set is
    monotone and lies in [0, 1], and the set that is worth most to all of them is sought, under
    quotas or a budget.

    Guarantee: docs/guarantees/selector.md. Differential privacy for each person's whole record; how
    many people there are is public.

    Parameters
    ----------
    domain
        Which sets may be chosen: `UniformMatroid(items, rank)`, `PartitionMatroid(groups, quotas)`,
        `LaminarMatroid`, `GraphicMatroid`, `OracleMatroid` or `Knapsack(costs, budget)` of
        discreet.domains.
    privacy
        What is asked for. Without public cells the guarantee is pure; with them `delta` is used if
        that means less noise.
    function
        What a record means: a family of discreet.functions. `Nearby(sites, reach, box)` and
        `Types(table)` have public cells; `ClickModel`, `FacilityLocation`, `ConcaveOverModular`,
        `WeightedCoverage(covers)` take a row of numbers a person; with `SetFunction` each person
        brings a callable on integer arrays.
    labels
        The items' names; also the columns in which frames and files have what items are worth.
    report
        The share of the budget, up to ½, that pays for the value of what was chosen. A histogram
        tells it for nothing.
    engine
        Who reads people in partitions: None for threads of this machine, a Dask client, or a
        cluster's address ("tcp://…"). The choice is the same, bit for bit (docs/cluster.md).
    seed
        Makes a run reproducible, and its guarantee void: for simulations.
    journal
        A file in which the choice is committed before it is shown; if it is there already it is
        read back.

    Examples
    --------
    >>> import numpy as np
    >>> from discreet import Privacy, SetSelector
    >>> from discreet.functions import Nearby
    >>> from discreet.domains import UniformMatroid
    >>> sites = tuple((x / 4, y / 4) for x in range(5) for y in range(5))
    >>> city = Nearby(sites, reach=0.3, box=((0.0, 1.0), (0.0, 1.0)))
    >>> homes = np.random.default_rng(0).normal([0.25, 0.75], 0.05, size=(5000, 2))
    >>> chosen = SetSelector(UniformMatroid(25, rank=1), Privacy(1.0), function=city, seed=1).fit(homes)
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
        "sampled": Sampled,  # all others
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
        engine: Any = None,
        seed: int | None = None,
        journal: JournalLike = None,
    ) -> None:
        """Each argument is a field of `SetSelectorSettings`, but for `engine` and `journal`."""

    @classmethod
    def from_settings(
        cls, settings: SetSelectorSettings, journal: JournalLike = None, *, engine: Any = None
    ) -> Self:
        """The selector with these settings."""
        make: Callable[..., Self] = cls
        return make(settings, journal, engine)

    def _begin(
        self, settings: SetSelectorSettings, journal: JournalLike = None, engine: Any = None
    ) -> None:
        """What a selector has besides its settings; refused now rather than after people were
        handed in.
        """
        self.settings = settings
        as_journal(journal)
        check_engine(engine)
        if self.settings.family is None and engine is not None:
            raise ConfigError("callables stay in this process: leave engine out")
        self._journal, self._engine = journal, engine
        self._process = this_process()
        self._once = Lock()
        """Taken by the one choice that there is."""
        self._begun: tuple[SelectorMode, Engine] | None = None
        """A choice that was begun and not shown, because something failed."""

    def fit(self, people: Any, *, columns: Sequence[str] | None = None) -> Chosen:
        """Choose, from one record a person. One release, which spends the whole budget: never a
        second one.

        If the choice was drawn but could not be committed, the error says so, and `fit` again
        commits that choice and reads nobody. After an error before the draw, `fit` again reads
        people and draws. A choice that the journal has already is read back.

        Parameters
        ----------
        people
            An array of rows, a Polars or pandas frame, a list of records, an iterator of them (read
            once), or a callable each; the path of a Parquet or CSV file; `Partitions`; or a list of
            frames and `Path`s, one per partition. Arrays are partitions if `Partitions.of` says so,
            and records if they come in a list. All partitions are read before anything is spent. A
            file is read more safely from its path than by pandas, which lets one odd cell decide
            how the others of its column are read.
        columns
            Which columns of frames and files make up a record, in order. Without it they are named
            as the items' `labels`, or are all there are.
        """
        if this_process() != self._process:
            raise StateError(
                "this selector was forked: two copies would spend one budget twice; make one in "
                "each process"
            )
        if not self._once.acquire(blocking=False):
            raise BudgetError(
                "the budget is spent: a selector chooses once; make another for other people"
            )
        chosen = None
        try:
            chosen = self._committed() or self._choice(people, columns)
            return chosen
        finally:
            if chosen is None:
                self._once.release()

    def _committed(self) -> Chosen | None:
        """The choice that was drawn before and could not be committed; None if there is none."""
        if self._begun is None:
            return None
        problem, engine = self._begun
        engine.check()  # refuses to draw again after a draw that failed
        return (
            self._released(problem, engine) if engine.is_drawn or engine.committed.index else None
        )

    def _choice(self, people: Any, columns: Sequence[str] | None) -> Chosen:
        with workers(self._engine) as run:
            partitioned = self._partitioned(people, columns, run)
            problem = self.problem_for(
                replace(self.settings, people=partitioned.count), in_parts=True
            )
            engine = Engine(problem, type(self).__name__, self._journal)
            try:
                if engine.committed.index == 0:
                    engine.gather(Batch(np.arange(0), partitioned, EMPTY_REQUEST))
            except BaseException:
                engine.detach()
                raise
            return self._released(problem, engine)

    def _released(self, problem: SelectorMode, engine: Engine) -> Chosen:
        """Draw once, commit, and only then show; a choice that the journal has is shown as it
        is.
        """
        self._begun = problem, engine
        try:
            if engine.committed.index == 0:
                engine.release(problem.settings.count, {})
        finally:
            engine.detach()
        chosen = self._chosen(problem, engine)
        self._begun = None
        return chosen

    def _partitioned(
        self, people: Any, columns: Sequence[str] | None, run: Runner
    ) -> PartitionedPeople:
        settings = self.settings
        if settings.family is None:
            return callables_of(people)
        named = None if columns is None else tuple(require.listed("columns", columns))
        reader = RecordReader(settings.family, settings.domain.items, settings.labels, named)
        is_local = self._engine is None
        return partitioned_people(
            people, reader, run, is_local=is_local, has_cells=settings.has_cells
        )

    @classmethod
    def problem_for(cls, settings: SetSelectorSettings, *, in_parts: bool = False) -> SelectorMode:
        """The method that these settings ask for: a histogram where people fall into public
        cells.
        """
        usual = "histogram" if settings.has_cells else "sampled"
        mode = cls.modes[usual if settings.mode == "auto" else settings.mode]
        return mode(settings, in_parts=in_parts)

    def _chosen(self, problem: SelectorMode, engine: Engine) -> Chosen:
        public: Public = engine.view.public
        settings, numbers = self.settings, public.chosen.tolist()
        names = names_by_number(settings.domain.items, settings.labels)
        items = [names[number] for number in numbers]
        value = tuple(public.value.tolist())
        worths = [None] * len(items) if public.trace is None else public.trace.tolist()
        return Chosen(
            items,
            numbers,
            problem.method,
            problem.why,
            engine.guarantee,
            [Traced(item, worth) for item, worth in zip(items, worths, strict=True)],
            (value[0], value[1]) if value else None,
            problem.settings.count,
        )

    def __reduce__(self) -> NoReturn:
        raise StateError(
            "a selector cannot be copied or pickled: two copies would spend one budget twice; "
            "make another"
        )
