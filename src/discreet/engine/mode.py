"""A mode: one way in which a learner learns, as a pure function of its settings.

    promise, questions, answer, decisions     what is promised, asked, answered and decided
    phases                                    which blocks there are, and what each of them measures
    first                                     what is published before the first round
    facts                                     public numbers for a person who plans with it

From these follow the plan, the charges, the state, its layout and the releases
(discreet/engine/problem.py and view.py). A mode has no journal, clock or thread, and can be pickled
and sent to another machine.

Guarantee   docs/guarantees/engine.md
"""

from abc import ABC, abstractmethod
from typing import Any

from discreet.engine.declarations import Answer, DecisionForm, Promise, Questions
from discreet.engine.phases import Phases
from discreet.engine.settings import Settings


class Mode(ABC):
    """Base class of all modes: what is declared once, before the first person.

    Guarantee: docs/guarantees/engine.md.
    """

    settings: Any
    """The settings of the learner; each mode annotates them with its own class."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.check()

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.settings,)

    def check(self) -> None:  # noqa: B027  most have nothing to refuse
        """Raise `ConfigError` for settings that this mode cannot serve."""

    @property
    @abstractmethod
    def promise(self) -> Promise:
        """What is promised to each person."""

    @property
    def questions(self) -> Questions:
        """What comes with the question of a round."""
        return NOTHING_ASKED

    @property
    @abstractmethod
    def answer(self) -> Answer:
        """What a person brings, and how it is read."""

    @property
    @abstractmethod
    def decisions(self) -> DecisionForm:
        """What is decided in a round."""

    @property
    @abstractmethod
    def phases(self) -> Phases:
        """Which blocks there are, and what is measured of the people of each."""

    @property
    @abstractmethod
    def first(self) -> object:
        """The public state before the first round, without that of statistics."""

    @property
    def facts(self) -> dict[str, object]:
        """Public numbers for a person who plans with this learner."""
        return {}


NOTHING_ASKED = Questions()
