"""`Problem`: simulated people, discreet's learner for them, their meeting, and its share of value.

    share = (outcome − baseline) / (best fixed decision in hindsight − baseline)

A share of 0 is the baseline, 1 is the best fixed decision; the docstring of each problem states
what these are.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Generic, TypeVar

from discreet.budget.privacy import Privacy
from discreet.learners.base import Learner
from discreet.learners.forced import forced

People = TypeVar("People")
Made = TypeVar("Made")


@dataclass(frozen=True)
class Problem(ABC, Generic[People, Made]):
    """Base class of simulated decision problems, for a number of people and a privacy budget."""

    who: ClassVar[str] = "visitors"
    """Name of the people of the rounds."""
    value: ClassVar[str]
    """The value of which a share is measured, in a few words."""

    rounds: int
    privacy: Privacy

    @property
    @abstractmethod
    def world(self) -> str:
        """Description of the simulated people, in a few words."""

    @abstractmethod
    def people(self, seed: int) -> People:
        """Draw the simulated people of a seed."""

    @abstractmethod
    def learner(
        self, people: People | None = None, seed: int | None = None, *, mode: str = "auto"
    ) -> Made:
        """Return discreet's learner with the public facts of these people.

        `mode` names one of the learner's modes; "auto" is the learner's own choice.
        """

    @abstractmethod
    def outcome(self, learner: Made, people: People, seed: int = 0) -> float:
        """Let the learner meet all people and return the outcome of its decisions.

        The seed is that of random feedback.
        """

    @abstractmethod
    def share_of(self, outcome: float, people: People) -> float:
        """Return the share of the possible value that an outcome has."""

    def share(self, seed: int) -> float:
        """Return the share of discreet's learner with the people of this seed."""
        people = self.people(seed)
        outcome = self.outcome(self.learner(people, seed), people, seed)
        return self.share_of(outcome, people)


def made(kind: type[Made], mode: str, *arguments: object, **settings: object) -> Made:
    """Return the learner of these arguments in a mode; "auto" is the constructor's own choice."""
    if mode == "auto":
        return kind(*arguments, **settings)
    return forced(kind, mode, *arguments, **settings)


def pieces(learner: Learner, people: int, largest: int) -> Iterator[range]:
    """Yield people 0, 1, 2, … in pieces that cross no release and have at most `largest` people.

    Feedback of all people of a piece is due before the next piece.
    """
    first = 0
    while first < people:
        learner.release_if_due()
        count = min(max(1, learner.rounds_until_release), largest, people - first)
        yield range(first, first + count)
        first += count
