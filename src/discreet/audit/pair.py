"""Two neighbouring streams of people, as a life of a learner asks about them."""

from typing import Generic, Literal, NamedTuple, Protocol, TypeVar

from discreet.arrays import Floats
from discreet.audit.cases.case import Case
from discreet.learners.base import Learner

Part = TypeVar("Part")

Fate = Literal["now", "soon", "late", "never"]
"""When a round is answered: at once, one round later, five rounds later, or not at all."""

REPLACED_PERSON = "the replaced person"
"""The name of the replaced person, where rounds name their person."""


class InBoth(NamedTuple, Generic[Part]):
    """A part of the stream without and with the replacement; `part[replaced]` gives one of them."""

    without: Part
    with_replacement: Part


class Seeds(NamedTuple):
    """The seeds of a pair: of the people, of the replacement, and of public coins and masks."""

    people: int
    replacement: int
    public: int


class Pair(Protocol):
    """Two streams that differ in one person."""

    @property
    def case(self) -> Case:
        """The people that come, and the learner they come to."""

    @property
    def like(self) -> Learner:
        """A learner with the settings that are audited."""

    @property
    def seeds(self) -> Seeds:
        """The seeds of the pair."""

    @property
    def loudness(self) -> int:
        """The factor by which a transcript's noise exceeds its law."""

    @property
    def at_once(self) -> int | None:
        """The number of rounds opened per call, as far as a block goes; None: as the case says."""

    @property
    def owners(self) -> tuple[object, ...] | None:
        """The person of each round, where rounds name their person."""

    @property
    def logs(self) -> InBoth[list[object]]:
        """The rows of a log that is read before the first round."""

    @property
    def changed(self) -> tuple[int, ...]:
        """The rounds of the replaced person."""

    @property
    def in_log(self) -> bool:
        """Whether a row of the log is replaced."""

    @property
    def contributions(self) -> int:
        """The number of contributions of the replaced person."""

    @property
    def hidden(self) -> set[int]:
        """The rounds whose decision only their own person sees."""

    @property
    def masked(self) -> bool:
        """Whether some rounds come with a mask."""

    def alone(self) -> "Pair":
        """Return the pair in which only the replaced person answers, as far as that is possible."""

    def prepare(self, learner: Learner) -> None:
        """Look at a learner before it opens rounds."""

    def contexts_of(self, rounds: range, *, replaced: bool) -> Floats | None:
        """Return one context per round, or None where learners take none."""

    def fate(self, round: int) -> Fate:
        """Return when a round is answered."""

    def silent(self, round: int, *, replaced: bool) -> bool:
        """Return whether the replaced person does not answer in a round."""

    def insists(self, round: int, *, replaced: bool) -> bool:
        """Return whether the person of a round answers again beside all later answers."""

    def answer(self, round: int, decision: object, *, replaced: bool) -> object:
        """Return the feedback of a round's person to the decision."""
