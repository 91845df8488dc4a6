"""A learner to be checked: how to make it, and who comes."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from discreet.arrays import Floats, Mask
from discreet.learners.base import Learner


@dataclass(frozen=True)
class LogOfCase:
    """People whom a learner reads before the first round: so many, each made up by a generator;
    and how.
    """

    people: int
    person: Callable[[np.random.Generator], object]
    read: Callable[[object, list[object]], None]
    """Hands them to the learner."""
    event: Callable[[object, list[object]], object]
    """What becomes public of them before they are read: how many they are."""


@dataclass(frozen=True)
class Case:
    """How to make a learner with a short horizon, a person for it, and feedback that it must
    refuse.

    Parameters
    ----------
    name
        What reports call it.
    make
        Makes the learner; takes the settings `seed` and `journal` as keywords.
    person
        One person's feedback, made up by a NumPy generator.
    refused
        Feedback of one person that must be refused, without being shown.
    broken
        A person among many who must add nothing; None if anything can be read as something.
    context, available
        Make up a context, or a mask, if the learner takes them.
    full
        Whether feedback does not depend on what was shown, so that a log can be replayed.
    horizon
        How many rounds there are.
    at_once
        How many rounds an audit opens by one call, at most: more where the horizon is long.
    events
        Public events of an audit: before which round, which method of the learner, with what.
    answer
        What a person answers to the decision that they met, where that depends on it.
    log
        People whom the learner reads before the first round, if it does.
    keyed
        Whether every round names its person.
    """

    name: str
    make: Callable[..., Learner]
    person: Callable[[np.random.Generator], object]
    refused: tuple[object, ...] = ()
    broken: object = None
    context: Callable[[np.random.Generator], Floats] | None = None
    available: Callable[[np.random.Generator], Mask] | None = None
    full: bool = True
    horizon: int = 12
    at_once: int = 3
    events: tuple[tuple[int, str, object], ...] = ()
    log: "LogOfCase | None" = None
    answer: Callable[[object, object], object] | None = None
    keyed: bool = False

    def answered(self, person: object, decision: object) -> object:
        """The feedback of a person who met this decision."""
        return person if self.answer is None else self.answer(person, decision)

    def people(self, count: int, seed: int = 0) -> list[object]:
        """So many people, the same for the same seed."""
        generator = np.random.default_rng(seed)
        return [self.person(generator) for _ in range(count)]

    def whose(self, round: int) -> dict[str, object]:
        """Who asks in a round, as `act` and `open` take it: nobody comes twice."""
        return {"person": f"person {round}"} if self.keyed else {}

    def whose_rounds(self, first: int, count: int) -> dict[str, object]:
        """The same for many rounds, as `open_many` and `replay` take it."""
        names = [f"person {round}" for round in range(first, first + count)]
        return {"persons": names} if self.keyed else {}

    def contexts(self, count: int, seed: int = 0) -> Floats | None:
        """One context a round, or None if the learner takes none."""
        if self.context is None:
            return None
        generator = np.random.default_rng([seed, 1])
        return np.array([self.context(generator) for _ in range(count)])

    def masks(self, count: int, seed: int = 0) -> Mask | None:
        """One mask a round, or None if the learner takes none."""
        if self.available is None:
            return None
        generator = np.random.default_rng([seed, 2])
        return np.array([self.available(generator) for _ in range(count)])
