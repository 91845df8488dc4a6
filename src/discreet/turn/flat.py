"""An adapter: modes whose hooks still take the flat public state, behind a view."""

from abc import abstractmethod
from functools import cached_property
from typing import Any, ClassVar

from discreet.arrays import Integers
from discreet.errors import ConfigError, StateError
from discreet.release.door import Door
from discreet.release.gathering import Gathering
from discreet.turn.coins import Coins
from discreet.turn.labels import Label, Labels
from discreet.turn.plan import State, Step
from discreet.turn.problem import Problem
from discreet.turn.questions import Asked, Batch, Block
from discreet.turn.readings import Report, Scores
from discreet.turn.view import View

__all__ = ["FlatProblem", "PlainView"]


class FlatProblem(Problem):
    """A problem whose hooks take the flat public state."""

    growing: ClassVar[tuple[tuple[str, ...], ...]] = ()

    def view(self, public: State, index: int, begin: int, coins: Coins) -> View[Any]:
        return PlainView(self, public, index, begin, coins)

    def step(self, index: int, public: State) -> Step | None:
        assert self.plan.steps is not None
        return self.plan.steps(index)

    def neighbours_after(self, public: State) -> str:
        return self.neighbours

    def noticed(self, public: State) -> dict[str, str]:
        return {}

    def layout(self, public: State, index: int) -> tuple[State, State]:
        return self.start()

    @abstractmethod
    def gatherings(self, public: State) -> dict[str, Gathering]: ...

    @abstractmethod
    def gather(self, public: State, block: Block, batch: Batch) -> None: ...

    @abstractmethod
    def release(
        self, public: State, tally: State, kept: State, block: Block, door: Door
    ) -> tuple[State, State]: ...

    @abstractmethod
    def decide(self, public: State, rounds: Integers, asked: Asked, coins: Coins) -> Any: ...

    @abstractmethod
    def plain(self, public: State) -> dict[str, Any]: ...

    def no_counts(self, public: State) -> State:
        return {}

    def tally(self, public: State, tally: State, rounds: Integers, asked: Asked, coins: Coins) -> None: ...

    def names(self, public: State) -> list[Label] | None:
        return None

    def labels(self, public: State) -> Labels | None:
        return None

    def noted(self, public: State, event: Any) -> State:
        raise ConfigError(f"{type(self).__name__} takes no public events")

    def horizon(self, public: State) -> int | None:
        return self.plan.horizon

    def foreseen(self, public: State) -> State:
        return public

    def admitted(self, public: State, asked: Asked) -> Asked:
        return asked

    def scores(self, public: State, index: int, context: Any) -> Scores:
        raise StateError(
            "this way of learning releases choices only, no scores: see the learner's other modes"
        )

    def report(self, public: State) -> Report:
        raise StateError("this learner reports nothing: see the `report` setting of those that see rewards")


class PlainView(View[State]):
    """The view of a flat problem."""

    problem: FlatProblem

    @property
    def growing(self) -> tuple[tuple[str, ...], ...]:  # type: ignore[override]
        return self.problem.growing

    @cached_property
    def step(self) -> Step | None:
        return self.problem.step(self.index, self.public)

    @property
    def horizon(self) -> int | None:
        return self.problem.horizon(self.public)

    @property
    def neighbours(self) -> str:
        return self.problem.neighbours_after(self.public)

    def layout(self) -> tuple[State, State]:
        return self.problem.layout(self.public, self.index)

    def gatherings(self) -> dict[str, Gathering]:
        return self.problem.gatherings(self.public)

    def decide(self, rounds: Integers, asked: Asked) -> Any:
        return self.problem.decide(self.public, rounds, asked, self.coins)

    def no_counts(self) -> State:
        return self.problem.no_counts(self.public)

    def tally(self, counts: State, rounds: Integers, asked: Asked) -> None:
        self.problem.tally(self.public, counts, rounds, asked, self.coins)

    def read(self, batch: Batch) -> Batch:
        return batch

    def gather(self, block: Block, answers: Batch) -> None:
        self.problem.gather(self.public, block, answers)

    def release(self, tally: State, kept: State, block: Block, door: Door) -> tuple[State, State]:
        return self.problem.release(self.public, tally, kept, block, door)

    def noted(self, event: Any) -> State:
        return self.problem.noted(self.public, event)

    def admitted(self, asked: Asked) -> Asked:
        return self.problem.admitted(self.public, asked)

    def refuse_next(self, asked: Asked) -> None:
        self.problem.admitted(self.problem.foreseen(self.public), asked)

    def names(self) -> list[Label] | None:
        return self.problem.names(self.public)

    @property
    def labels(self) -> Labels | None:
        return self.problem.labels(self.public)

    def plain(self) -> dict[str, Any]:
        return self.problem.plain(self.public)

    def noticed(self) -> dict[str, str]:
        return self.problem.noticed(self.public)

    def scores(self, context: Any) -> Scores:
        return self.problem.scores(self.public, self.index, context)

    def report(self) -> Report:
        return self.problem.report(self.public)
