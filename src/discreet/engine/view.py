"""A view: a problem between two releases, with the hooks of the current block.

    decide(rounds, request)                     decisions of many rounds at once
    count_masks(counts, rounds, request)        add public counts when rounds with masks are opened
    read(batch)                                 feedback as typed answers; refuses malformed ones
    gather(block, answers)                      clip, quantise, add: any rounds, in any order
    update(released)                            the public state, from what the door returned

From the statistics of the block (`measured`) follow its aggregators, its step, its state and its
release.

A view reads released values only. It never changes: the engine makes a new one for every release,
and a caller that holds an old view sees one consistent state. A mode with several kinds of blocks
has a subclass for each, a *phase*; the phase of a block follows from the public state, or from the
schedule.

Guarantee   docs/guarantees/engine.md
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, TypeVar, final

import numpy as np

from discreet.arrays import Integers
from discreet.engine import readings
from discreet.engine.coins import Coins
from discreet.engine.flat_state import Published
from discreet.engine.labels import Label, Labels
from discreet.engine.phases import Adaptive, Measured, Measures, Scheduled
from discreet.engine.plan import Plan, State, Step
from discreet.engine.readings import Scores
from discreet.engine.request import Batch, Block, Request
from discreet.engine.statistics import Occasion, Released, Report
from discreet.errors import ConfigError, StateError
from discreet.release.aggregators import Aggregate, Aggregator
from discreet.release.door import Door

Public_co = TypeVar("Public_co", covariant=True)

GROWING = tuple[tuple[str, ...], ...]
"""Type of `View.growing`."""


@dataclass(frozen=True, eq=False)
class View(ABC, Generic[Public_co]):
    """A problem during one of its blocks; base class of all phases.

    Guarantee: docs/guarantees/engine.md.
    """

    problem: Any
    """The problem that this block belongs to; each phase annotates it with its own class."""
    public: Public_co
    """The typed public state: everything that releases and public events have produced."""
    index: int
    """Index of the release that ends this block."""
    begin: int
    """First round of this block."""
    coins: Coins = field(repr=False)
    """One public coin per round of this block, for decisions that are drawn in every round.

    A shuffle that is fixed before the block begins uses `Coin(problem.name, number)` instead.
    """

    states: dict[str, State] = field(default_factory=dict, repr=False, kw_only=True)
    """Public state of the statistics, by their names."""
    measured: Measured = field(default=Measured.of(()), repr=False, kw_only=True)
    """The statistics of this block."""
    number: int = field(default=0, repr=False, kw_only=True)
    """Number of the release that ends this block, in its run of blocks."""

    takes_rounds: ClassVar[bool] = True
    """Whether people come in rounds; otherwise they come all at once (`Engine.admit`)."""
    growing: ClassVar[GROWING] = ()
    """Names of public arrays (as in the flat state) whose number of rows changes.

    Arrays of one inner tuple always have equally many rows.
    """

    # --- what is measured -------------------------------------------------------------------------

    @property
    def statistics(self) -> Measures:
        """What is measured of the people of this block; for a phase of an adaptive mode."""
        raise NotImplementedError

    @property
    def rounds(self) -> int | None:
        """Number of rounds, for a phase of an adaptive mode; None if no release ends it."""
        raise NotImplementedError

    @property
    def step(self) -> Step | None:
        """Rounds of this block and charge of its release; None after the last release."""
        plan: Plan = self.problem.plan
        if plan.steps is not None:
            return plan.steps(self.index)
        if self.rounds is None:
            return None
        adaptive: Adaptive = self.problem.phases
        return adaptive.step(self.rounds, self.measured, self.index)

    @property
    def horizon(self) -> int | None:
        """Number of rounds planned so far; None without end."""
        plan: Plan = self.problem.plan
        return plan.horizon

    @final
    @property
    def end(self) -> int | None:
        """The round before which the next release is made, or the horizon after the last one."""
        step = self.step
        return self.horizon if step is None else self.begin + step.rounds

    @property
    def neighbours(self) -> str:
        """The neighbouring relation: the part of the stream that is replaced, in words."""
        neighbours: str = self.problem.neighbours
        return neighbours

    # --- state ------------------------------------------------------------------------------------

    def shape(self) -> object:
        """Return public state with the names, dtypes and shapes of this block."""
        return self.problem.first

    def check_state(self) -> None:
        """Raise if a state that was read from a file is one that no release can have produced.

        Names, dtypes and shapes are checked before (`layout`); compiled code relies on the values
        of indices, too.
        """

    @final
    def layout(self) -> tuple[object, State]:
        """Return public and hidden state with the names, dtypes and shapes of this block."""
        phases = self.problem.phases
        has_begin = isinstance(phases, Scheduled) and self.takes_rounds
        if has_begin and self.begin != phases.begin(self.index):
            raise StateError("the schedule has no such release")
        states, hidden = phases.layout(self.index)
        return Published(self.shape(), states), hidden

    @final
    @property
    def all_growing(self) -> GROWING:
        """Names of all arrays whose number of rows changes, those of statistics included."""
        of_statistics = (
            tuple(f"{each.name}.{key}" for key in each.growing)
            for each in self.problem.phases.statistics
            if each.growing
        )
        return (*self.growing, *of_statistics)

    # --- the hooks of a block ---------------------------------------------------------------------

    @abstractmethod
    def decide(self, rounds: Integers, request: Request) -> np.ndarray:
        """Return the decisions of many rounds at once, one per row."""

    def no_mask_counts(self) -> State:
        """Return the mask counts before the first round with a mask.

        As long as no round of the block has a mask, `Released.mask_counts` is {} instead.
        """
        return {}

    def count_masks(self, counts: State, rounds: Integers, request: Request) -> None:
        """Add rounds with masks to the mask counts, when they are opened.

        Rounds without a mask are not counted: they follow the schedule.
        """

    def read(self, batch: Batch) -> Any:
        """Return the feedback of some rounds as typed answers; refuse a malformed single one."""
        return self.problem.answer.read(batch)

    def gather(self, block: Block, answers: Any) -> None:
        """Clip, quantise and add answers from `read`: any rounds of the block, in any order.

        By default, the only statistic takes the answers as they are.
        """
        (only,) = self.measured.own
        only.aggregator_at(self.number).add(block[only.name], answers)

    @abstractmethod
    def update(self, released: Released) -> Public_co:
        """Return the public state after this block, from what the door returned."""

    # --- what the engine calls --------------------------------------------------------------------

    @final
    def aggregators(self) -> dict[str, Aggregator]:
        """Return the aggregators of this block, by name."""
        number = self.number
        return {each.name: each.aggregator_at(number) for each in self.measured.all}

    @final
    def count(self, block: Block, batch: Batch) -> None:
        """Read the feedback of a batch, and add it to the block."""
        answers = self.read(batch)
        for statistic in self.measured.beside:
            statistic.gather(block, answers)
        self.gather(block, answers)

    def release(
        self, mask_counts: State, hidden: State, block: Block, door: Door
    ) -> tuple[Published[Public_co], State]:
        """Return the public and the hidden state after this block, from what the door returns.

        Parameters
        ----------
        mask_counts
            What `count_masks` has counted; {} if no round had a mask.
        hidden
            The hidden state after the release before.
        block
            The aggregates of this block, by the names of `aggregators`.
        door
            The one way from aggregates to released values.
        """
        measured = self.measured
        # Only a report asks for the rounds, and a step takes a while.
        step = self.step if measured.beside else None
        at = Occasion(self.number, self.begin, 0 if step is None else step.rounds)
        results = {}
        states = self.states.copy()
        hidden = hidden.copy()
        for statistic in measured.all:
            name = statistic.name
            keys = statistic.hidden_keys
            results[name], public, own = statistic.release(
                at,
                states.get(name, {}),
                {key: hidden[full] for full, key in keys},
                block[name],
                door,
            )
            if public:
                states[name] = public
            for full, key in keys:
                hidden[full] = own[key]
        return Published(self.update(Released(results, mask_counts)), states), hidden

    @final
    def after(self, event: Any) -> Published[Public_co]:
        """Return the whole public state after a public event."""
        return Published(self.noted(event), self.states)

    # --- public events and questions --------------------------------------------------------------

    def noted(self, event: Any) -> Public_co:
        """Return the public state after a public event."""
        raise ConfigError(f"{type(self.problem).__name__} takes no public events")

    def admitted(self, request: Request) -> Request:
        """Return the request, restricted to what public events allow now."""
        return request

    def refuse_next(self, request: Request) -> None:
        """Raise if this request would be refused after the release that is due."""

    # --- readings ---------------------------------------------------------------------------------

    def names(self) -> list[Label] | None:
        """Return the labels of the candidates (their numbers if unlabelled); None without any."""
        return None

    @property
    def labels(self) -> Labels | None:
        """The translation of decisions into labels; None if decisions stay numbers."""
        return None

    @property
    def log_rows(self) -> int:
        """Number of rows of the warm-start log that was read before the first round."""
        return 0

    @abstractmethod
    def plain(self) -> dict[str, object]:
        """Return the current decision as plain data by name: a slate, probabilities, weights."""

    def noticed(self) -> dict[str, str]:
        """Return notices about the released values, by a key; they cost no privacy."""
        return {}

    def scores(self, context: object) -> Scores:
        """Return the estimated value of each candidate, from released values only."""
        raise StateError(
            "this mode releases choices only, no scores: see the learner's other modes"
        )

    def report(self) -> readings.Report:
        """Return what decisions have earned so far, if the setting `report` pays for it."""
        for statistic in self.problem.phases.statistics:
            if isinstance(statistic, Report):
                return statistic.read(self.states[statistic.name])
        if self.problem.settings.earns:
            raise StateError(
                "no budget was set aside for a report: make the learner with report=0.1, say"
            )
        raise StateError(
            "this learner reports nothing: see the `report` setting of those that see rewards"
        )


def nobody(view: View[object]) -> Block:
    """Return an empty block of this view."""
    block: dict[str, Aggregate] = {}
    for name, aggregator in view.aggregators().items():
        block[name] = aggregator.empty()
    return block
