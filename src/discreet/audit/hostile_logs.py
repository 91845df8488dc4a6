"""Logs of another policy as the audit sees them: any entry of a row may be malformed."""

from dataclasses import replace
from typing import Any

import numpy as np

from discreet.audit.cases.case import Case, LogOfCase
from discreet.audit.hostile import STRANGE
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

    def person(generator: np.random.Generator) -> tuple[Any, Any]:
        return _row(generator, items, slots, by_clicks=by_clicks)

    def parted(people: list[Any]) -> tuple[list[Any], Any]:
        rows = [row for row, _ in people]
        chances = [chances for _, chances in people]
        return rows, "uniform" if least is None else chances

    def read(learner: Any, people: list[Any]) -> None:
        learner.warm_start(*parted(people), least_propensity=least)

    def event(learner: Any, people: list[Any]) -> LogFacts:
        return Logged.checked(*parted(people), least, len(learner.active)).event

    return replace(case, log=LogOfCase(PEOPLE, person, read, event))


def _row(
    generator: np.random.Generator, items: int, slots: int, *, by_clicks: bool
) -> tuple[Any, Any]:
    """Draw a slate with its answer, and its propensities; each part may be malformed."""
    length = int(generator.choice([slots, slots, slots, slots + 1, 1, 0]))
    slate: Any = generator.integers(items, size=length).tolist()  # some items come twice
    heavy = generator.random() < 0.4  # the largest weight that one row can have
    answer: Any = 7.0 if heavy else float(generator.choice(REWARDS))
    if by_clicks:
        answer = slate[int(generator.integers(length))] if length else None
        if generator.random() < 0.2:
            answer = [answer, int(generator.integers(items))]
    chances: Any = generator.choice(CHANCES, size=length).tolist()
    if heavy or generator.random() < 0.5:
        chances = 1e-300 if heavy else float(generator.choice(CHANCES))
    strange = STRANGE[int(generator.integers(len(STRANGE)))]
    malformed = int(generator.integers(20))  # 0 to 3: which part; from 4 on none
    if malformed == 0:
        slate = strange
    elif malformed == 1:
        answer = strange
    elif malformed == 2:
        chances = strange
    row = strange if malformed == 3 else (slate, answer)
    return row, chances
