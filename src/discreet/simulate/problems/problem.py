"""What a problem is: made-up people, our learner for them, how it meets them, and the share that it
keeps.

    share = (outcome − baseline) / (best fixed decision in hindsight − baseline)

0 is the baseline, 1 is the best fixed decision; every problem says in its docstring what these are.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeVar

from discreet.budget.privacy import Privacy
from discreet.learners.base import Learner
from discreet.learners.forced import forced

People = TypeVar("People")
Made = TypeVar("Made")


@dataclass(frozen=True)
class Problem(ABC, Generic[People, Made]):
    """A decision problem of a size, for a number of people and a privacy budget."""

    who: ClassVar[str] = "visitors"
    """What the rounds of this problem are."""
    value: ClassVar[str]
    """What the share is of, in a few words."""

    rounds: int
    privacy: Privacy

    @property
    @abstractmethod
    def world(self) -> str:
        """What the made-up people are like, in a few words."""

    @abstractmethod
    def people(self, seed: int) -> People:
        """The made-up people of a seed."""

    @abstractmethod
    def learner(
        self, people: People | None = None, seed: int | None = None, *, mode: str = "auto"
    ) -> Made:
        """Our learner, which knows the public facts of these people; `mode` names one of its
        modes.
        """

    @abstractmethod
    def outcome(self, learner: Made, people: People, seed: int = 0) -> float:
        """Let the learner meet all people; return what its decisions came to. The seed is that
        of luck.
        """

    @abstractmethod
    def share_of(self, outcome: float, people: People) -> float:
        """The share of the possible value that an outcome keeps."""

    def share(self, seed: int) -> float:
        """The share that our learner keeps with the people of this seed."""
        people = self.people(seed)
        return self.share_of(self.outcome(self.learner(people, seed), people, seed), people)


def made(kind: type[Made], mode: str, *arguments: Any, **settings: Any) -> Made:
    """Return the learner of these arguments in a mode; "auto" is the constructor's own choice."""
    return (
        kind(*arguments, **settings)
        if mode == "auto"
        else forced(kind, mode, *arguments, **settings)
    )


def pieces(learner: Learner, people: int, largest: int) -> Iterator[range]:
    """People 0, 1, 2, … in pieces that cross no release and are not too large to hold.

    Feedback of all people of a piece is due before the next piece.
    """
    first = 0
    while first < people:
        learner.release_if_due()
        count = min(max(1, learner.rounds_until_release), largest, people - first)
        yield range(first, first + count)
        first += count
