"""A view: a problem between two releases, with the hooks of the current block.

    step                                        rounds of this block, and the charge of its release
    aggregators()                               the aggregators of the block, by name
    decide(rounds, request)                     decisions of many rounds at once
    count_masks(counts, rounds, request)        add public counts when rounds with masks are opened
    read(batch)                                 feedback as typed answers; refuses malformed ones
    gather(block, answers)                      clip, quantise, add: any rounds, in any order
    release(mask_counts, hidden, block, door)   public and hidden state after the block

A view reads released values only. It never changes: the engine makes a new one for every release,
and a caller that holds an old view sees one consistent state. A mode with several kinds of blocks
has a subclass for each, a *phase*; the phase of a block follows from the public state, or from the
schedule.

Guarantee   docs/guarantees/engine.md
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np

from discreet.arrays import Integers
from discreet.engine.coins import Coins
from discreet.engine.labels import Label, Labels
from discreet.engine.plan import Plan, State, Step
from discreet.engine.readings import Report, Scores
from discreet.engine.request import Batch, Block, Request
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

    takes_rounds: ClassVar[bool] = True
    """Whether people come in rounds; otherwise they come all at once (`Engine.admit`)."""
    growing: ClassVar[GROWING] = ()
    """Names of public arrays (as in the flat state) whose number of rows changes.

    Arrays of one inner tuple always have equally many rows.
    """

    # --- the plan ---------------------------------------------------------------------------------

    @property
    def step(self) -> Step | None:
        """Rounds of this block and charge of its release; None after the last release.

        A phase whose length follows from released values overrides this property.
        """
        plan: Plan = self.problem.plan
        assert plan.steps is not None, "a phase of a plan without steps overrides `step`"
        return plan.steps(self.index)

    @property
    def horizon(self) -> int | None:
        """Number of rounds planned so far; None without end."""
        plan: Plan = self.problem.plan
        return plan.horizon

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

    def layout(self) -> tuple[object, State]:
        """Return public and hidden state with the names, dtypes and shapes of this block."""
        first: tuple[object, State] = self.problem.start()
        return first

    def check_state(self) -> None:
        """Raise if a state that was read from a file is one that no release can have produced.

        Names, dtypes and shapes are checked before (`layout`); compiled code relies on the values
        of indices, too.
        """

    # --- the hooks of a block ---------------------------------------------------------------------

    @abstractmethod
    def aggregators(self) -> dict[str, Aggregator]:
        """Return the aggregators of this block, by name."""

    @abstractmethod
    def decide(self, rounds: Integers, request: Request) -> np.ndarray:
        """Return the decisions of many rounds at once, one per row."""

    def no_mask_counts(self) -> State:
        """Return the mask counts before the first round with a mask.

        As long as no round of the block has a mask, `release` gets {} instead.
        """
        return {}

    def count_masks(self, counts: State, rounds: Integers, request: Request) -> None:
        """Add rounds with masks to the mask counts, when they are opened.

        Rounds without a mask are not counted: they follow the schedule.
        """

    @abstractmethod
    def read(self, batch: Batch) -> Any:
        """Return the feedback of some rounds as typed answers; refuse a malformed single one."""

    @abstractmethod
    def gather(self, block: Block, answers: Any) -> None:
        """Clip, quantise and add answers from `read`: any rounds of the block, in any order."""

    @abstractmethod
    def release(
        self, mask_counts: State, hidden: State, block: Block, door: Door
    ) -> tuple[Public_co, State]:
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

    def report(self) -> Report:
        """Return what decisions have earned so far, if the setting `report` pays for it."""
        if self.problem.settings.earns:
            raise StateError(
                "no budget was set aside for a report: make the learner with report=0.1, say"
            )
        raise StateError(
            "this learner reports nothing: see the `report` setting of those that see rewards"
        )

    @property
    def learning(self) -> "View[Any]":
        """The view that learns, without the report around it."""
        return self


def nobody(view: View[object]) -> Block:
    """Return an empty block of this view."""
    block: dict[str, Aggregate] = {}
    for name, aggregator in view.aggregators().items():
        block[name] = aggregator.empty()
    return block
