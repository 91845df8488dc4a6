"""A learner to be checked: how to make it, and the people that come to it."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from discreet.arrays import Floats, Mask
from discreet.audit.hostile_containers import Container, containers_for
from discreet.learners.base import Learner


@dataclass(frozen=True)
class LogOfCase:
    """The log of another policy, which a learner reads before the first round.

    Parameters
    ----------
    people
        The largest number of rows.
    person
        Draws one row.
    read
        Hands rows to the learner.
    event
        The public event that announces rows before they are read: their number.
    """

    people: int
    person: Callable[[np.random.Generator], object]
    read: Callable[[object, list[object]], None]
    event: Callable[[object, list[object]], object]


@dataclass(frozen=True)
class Case:
    """A learner with a short horizon, a person for it, and feedback that it must refuse.

    Parameters
    ----------
    name
        The name of the case in reports.
    make
        Makes the learner; takes the settings `seed` and `journal` as keywords.
    person
        Draws one person's feedback from a NumPy generator.
    refused
        Feedback of one person that must be refused, without being shown.
    broken
        Feedback of one person among many that must add nothing; None if any feedback is valid.
    context, available
        Draw a context, or a mask, if the learner takes them.
    full
        Whether feedback does not depend on the decision, so that a log can be replayed.
    horizon
        The number of rounds.
    at_once
        The largest number of rounds that an audit opens per call: more where the horizon is long.
    events
        Public events of an audit: before which round, which method of the learner, which argument.
    log
        The log that the learner reads before the first round, if it does.
    answer
        Returns a person's feedback to a decision, where it depends on the decision.
    keyed
        Whether every round names its person.
    tables
        Put the feedback of several people into a table. The audit uses these and `containers`.

    Examples
    --------
    >>> from discreet import Hedge, Privacy
    >>> def make(**more):
    ...     return Hedge(3, 12, Privacy(1.0), **more)
    >>> case = Case("hedge", make, person=lambda generator: generator.uniform(size=3))
    >>> len(case.people(5))
    5
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
    log: LogOfCase | None = None
    answer: Callable[[object, object], object] | None = None
    keyed: bool = False
    tables: tuple[Container, ...] = ()

    @cached_property
    def containers(self) -> tuple[Container, ...]:
        """All that puts the feedback of several people into what `close_many` takes."""
        return (*containers_for(self.people(8)), *self.tables)

    def answered(self, person: object, decision: object) -> object:
        """Return the feedback of a person to this decision."""
        return person if self.answer is None else self.answer(person, decision)

    def people(self, count: int, seed: int = 0) -> list[object]:
        """Draw `count` people; the same ones for the same seed."""
        generator = np.random.default_rng(seed)
        return [self.person(generator) for _ in range(count)]

    def whose(self, round: int) -> dict[str, object]:
        """Return the person of a round as `act` and `open` take it; each comes once."""
        return {"person": f"person {round}"} if self.keyed else {}

    def whose_rounds(self, first: int, count: int) -> dict[str, object]:
        """Return the people of `count` rounds as `open_many` and `replay` take them."""
        names = [f"person {round}" for round in range(first, first + count)]
        return {"persons": names} if self.keyed else {}

    def contexts(self, count: int, seed: int = 0) -> Floats | None:
        """Draw one context per round, or None if the learner takes none."""
        if self.context is None:
            return None
        generator = np.random.default_rng([seed, 1])
        return np.array([self.context(generator) for _ in range(count)])

    def masks(self, count: int, seed: int = 0) -> Mask | None:
        """Draw one mask per round, or None if the learner takes none."""
        if self.available is None:
            return None
        generator = np.random.default_rng([seed, 2])
        return np.array([self.available(generator) for _ in range(count)])
