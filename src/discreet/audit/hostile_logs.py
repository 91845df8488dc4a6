"""Logs of another policy as the audit sees them: any entry of a row may be malformed."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from discreet.audit.cases.case import Case, LogOfCase
from discreet.audit.hostile import STRANGE
from discreet.learners.set_maximizer import SetMaximizer
from discreet.learners.set_maximizer.incumbent_search.log import Logged
from discreet.learners.set_maximizer.incumbent_search.public import LogFacts

PEOPLE = 8
"""Largest number of rows of a log."""
CHANCES = (1.0, 0.5, 0.2, 0.1, 0.01, 1e-300, 0.0, -1.0, 2.0, float("nan"), float("inf"))
REWARDS = (0.0, 0.4, 1.0, 7.0, -1.0, float("nan"), float("inf"))


def with_log(case: Case, items: int, slots: int, least: float | None) -> Case:
    """Return the case with a warm start.

    `least` is the least propensity of the log, or None if its slates were drawn uniformly.
    """
    by_clicks = case.make().settings.feedback == "clicks"

    def person(generator: np.random.Generator) -> LoggedPerson:
        return _drawn(generator, items, slots, by_clicks=by_clicks)

    def parted(people: Sequence[object]) -> tuple[list[object], object]:
        logged = [person for person in people if isinstance(person, LoggedPerson)]
        rows = [person.row for person in logged]
        propensities = [person.propensities for person in logged]
        return rows, "uniform" if least is None else propensities

    def read(learner: object, people: list[object]) -> None:
        assert isinstance(learner, SetMaximizer)
        learner.warm_start(*parted(people), least_propensity=least)

    def event(learner: object, people: list[object]) -> LogFacts:
        assert isinstance(learner, SetMaximizer)
        return Logged.checked(*parted(people), least, len(learner.active)).event

    return replace(case, log=LogOfCase(PEOPLE, person, read, event))


class LoggedPerson(NamedTuple):
    """A person in the log: the slate with its answer, and its propensities."""

    row: object
    propensities: object


def _drawn(
    generator: np.random.Generator, items: int, slots: int, *, by_clicks: bool
) -> LoggedPerson:
    """Draw a person of the log; each part may be malformed."""
    length = int(generator.choice([slots, slots, slots, slots + 1, 1, 0]))
    shown: list[int] = generator.integers(items, size=length).tolist()  # some items come twice
    slate: object = shown
    heavy = generator.random() < 0.4  # the largest weight that one row can have
    answer: object = 7.0 if heavy else float(generator.choice(REWARDS))
    if by_clicks:
        answer = shown[int(generator.integers(length))] if length else None
        if generator.random() < 0.2:
            answer = [answer, int(generator.integers(items))]
    propensities: object = generator.choice(CHANCES, size=length).tolist()
    if heavy or generator.random() < 0.5:
        propensities = 1e-300 if heavy else float(generator.choice(CHANCES))
    strange = STRANGE[int(generator.integers(len(STRANGE)))]
    malformed = int(generator.integers(20))  # 0 to 3: which part; from 4 on none
    if malformed == 0:
        slate = strange
    elif malformed == 1:
        answer = strange
    elif malformed == 2:
        propensities = strange
    row = strange if malformed == 3 else (slate, answer)
    return LoggedPerson(row, propensities)
