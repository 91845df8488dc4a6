"""A view: a problem between two releases, with the hooks of the block that people are in.

    step                                 the rounds of this block, and what its release costs
    aggregators()                         what the block adds up, by name
    decide(rounds, request)                the decisions of many rounds at once
    mask_counts(counts, rounds, request)         public counts that masks change, when rounds are opened
    read(batch)                          feedback as typed answers; refuses what is malformed
    gather(block, answers)               clip, quantise, add: rounds of the block, in any order
    release(mask_counts, hidden, block, door)    what is public and what is kept after the block

A view reads released values only. It never changes: the engine makes a new one for every release,
and a caller that holds an old view sees one consistent state. A mode with several kinds of blocks
has a subclass for each, a *phase*; which one a block is in follows from what is published, or from
the schedule.

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


@dataclass(frozen=True, eq=False)
class View(ABC, Generic[Public_co]):
    """A problem during one of its blocks: the parent of all phases."""

    problem: Any
    """The problem that this is a block of; each phase says which one."""
    public: Public_co
    """All that releases and public events have produced, typed."""
    index: int
    """Index of the release that ends this block."""
    begin: int
    """The first round of this block."""
    coins: Coins = field(repr=False)
    """One public coin per round of this block, for decisions that are drawn afresh in every round.

    A shuffle that is fixed before the block begins has a key: `Coin(problem.name, number)`.
    """

    takes_rounds: ClassVar[bool] = True
    """Whether people come in rounds; otherwise all at once, and are counted where they are."""
    growing: ClassVar[GROWING] = ()
    """Names of public arrays (as in the flat state) whose number of rows changes, those that change
    together side by side."""

    # --- the plan ---------------------------------------------------------------------------------

    @property
    def step(self) -> Step | None:
        """The rounds of this block and the charge of its release; None after the last release.

        A phase whose length follows from released values overrides this.
        """
        plan: Plan = self.problem.plan
        assert plan.steps is not None, "a phase of a plan without steps says itself how long it is"
        return plan.steps(self.index)

    @property
    def horizon(self) -> int | None:
        """How many rounds are planned by now."""
        plan: Plan = self.problem.plan
        return plan.horizon

    @property
    def end(self) -> int | None:
        """The round before which the next release is made, or the horizon after the last one."""
        step = self.step
        return self.horizon if step is None else self.begin + step.rounds

    @property
    def neighbours(self) -> str:
        """What is replaced in neighbouring streams."""
        found: str = self.problem.neighbours
        return found

    def layout(self) -> tuple[object, State]:
        """Public and kept state with the names, dtypes and shapes that they have in this block."""
        found: tuple[object, State] = self.problem.start()
        return found

    def check_state(self) -> None:
        """Refuse a state that was read from a file, if no release can have produced it.

        Names, dtypes and shapes fit by then (`layout`); compiled code also relies on numbers of
        items.
        """

    # --- the hooks of a block ---------------------------------------------------------------------

    @abstractmethod
    def aggregators(self) -> dict[str, Aggregator]:
        """What this block adds up, by name."""

    @abstractmethod
    def decide(self, rounds: Integers, request: Request) -> np.ndarray:
        """The decisions of many rounds at once, one per row."""

    def no_mask_counts(self) -> State:
        """The tally that the first round with a mask is added to.

        As long as no round has one, the tally is empty: `release` is then given {}.
        """
        return {}

    def count_masks(self, counts: State, rounds: Integers, request: Request) -> None:
        """Add public counts of rounds with masks to the tally.

        Rounds without are not counted: the schedule says what they do.
        """

    @abstractmethod
    def read(self, batch: Batch) -> Any:
        """Feedback of some rounds as typed answers; a single one that is malformed is refused."""

    @abstractmethod
    def gather(self, block: Block, answers: Any) -> None:
        """Clip, quantise and add what `read` gave: any rounds of the block, in any order."""

    @abstractmethod
    def release(
        self, mask_counts: State, hidden: State, block: Block, door: Door
    ) -> tuple[Public_co, State]:
        """The public and the kept state after this block, from what the door gives.

        `mask_counts` is what `mask_counts` has counted, {} if no round had a mask; `hidden` is what
        the release before has left; `block` is what was aggregated, by the names of `aggregators`.
        """

    # --- public events and questions --------------------------------------------------------------

    def noted(self, event: Any) -> Public_co:
        """What is public after a public event."""
        raise ConfigError(f"{type(self.problem).__name__} takes no public events")

    def admitted(self, request: Request) -> Request:
        """What is asked for, within what public events allow now."""
        return request

    def refuse_next(self, request: Request) -> None:
        """Refuse a question that would be refused after the release that is due."""

    # --- what may be read -------------------------------------------------------------------------

    def names(self) -> list[Label] | None:
        """The candidates' labels by number, their numbers if they have none; None without
        candidates.
        """
        return None

    @property
    def labels(self) -> Labels | None:
        """How decisions are told in labels; None if they are numbers."""
        return None

    @property
    def log_rows(self) -> int:
        """Rows of a log of another policy that were read before the first round; 0 without one."""
        return 0

    @abstractmethod
    def plain(self) -> dict[str, object]:
        """What is decided now, as plain data under its name: a slate, chances, coefficients,
        weights.
        """

    def noticed(self) -> dict[str, str]:
        """What a user should know of what was released so far, by a key: free, it reads nothing
        else.
        """
        return {}

    def scores(self, context: Any) -> Scores:
        """How good each candidate is, from released values only."""
        raise StateError(
            "this way of learning releases choices only, no scores: see the learner's other modes"
        )

    def report(self) -> Report:
        """What was earned so far, if it was paid for."""
        if self.problem.settings.earns:
            raise StateError("nothing was paid for a report: make the learner with report=0.1, say")
        raise StateError(
            "this learner reports nothing: see the `report` setting of those that see rewards"
        )

    @property
    def learning(self) -> "View[Any]":
        """The view of what is learned, without a report around it."""
        return self


def nobody(view: View[object]) -> Block:
    """A block of this view in which nobody was aggregated yet."""
    block: dict[str, Aggregate] = {}
    for name, aggregator in view.aggregators().items():
        block[name] = aggregator.empty()
    return block
