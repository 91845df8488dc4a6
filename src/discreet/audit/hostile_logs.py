"""Logs of another policy as the audit sees them: rows in which anything may stand."""

from dataclasses import replace
from typing import Any

import numpy as np

from discreet.audit import Case, LogOfCase
from discreet.audit.hostile import STRANGE
from discreet.learners.set_maximizer.incumbent_search.log import Logged
from discreet.learners.set_maximizer.incumbent_search.public import LogFacts

PEOPLE = 8
CHANCES = (1.0, 0.5, 0.2, 0.1, 0.01, 1e-300, 0.0, -1.0, 2.0, float("nan"), float("inf"))
REWARDS = (0.0, 0.4, 1.0, 7.0, -1.0, float("nan"), float("inf"))


def with_log(case: Case, items: int, slots: int, least: float | None) -> Case:
    """The same with a warm start: `least` is the least propensity, None for uniform slates."""
    by_clicks = case.make().settings.feedback == "clicks"

    def person(generator: np.random.Generator) -> Any:
        return _row(generator, items, slots, by_clicks=by_clicks)

    def parted(people: list[Any]) -> tuple[list[Any], Any]:
        return [row for row, _ in people], "uniform" if least is None else [
            chances for _, chances in people
        ]

    def read(learner: Any, people: list[Any]) -> None:
        learner.warm_start(*parted(people), least_propensity=least)

    def event(learner: Any, people: list[Any]) -> LogFacts:
        return Logged.checked(*parted(people), least, len(learner.active)).event

    return replace(case, log=LogOfCase(PEOPLE, person, read, event))


def _row(generator: np.random.Generator, items: int, slots: int, *, by_clicks: bool) -> Any:
    """A slate with its answer, and its chances; each of them may be what nobody should bring."""
    length = int(generator.choice([slots, slots, slots, slots + 1, 1, 0]))
    slate: Any = generator.integers(items, size=length).tolist()  # also some twice
    heavy = generator.random() < 0.4  # as much as one row can
    answer: Any = 7.0 if heavy else float(generator.choice(REWARDS))
    if by_clicks:
        answer = slate[int(generator.integers(length))] if length else None
        if generator.random() < 0.2:
            answer = [answer, int(generator.integers(items))]
    chances: Any = generator.choice(CHANCES, size=length).tolist()
    if heavy or generator.random() < 0.5:
        chances = 1e-300 if heavy else float(generator.choice(CHANCES))
    parts: list[Any] = [slate, answer, chances]
    strange = STRANGE[int(generator.integers(len(STRANGE)))]
    lot = int(generator.integers(20))
    if lot < 3:
        parts[lot] = strange
    slate, answer, chances = parts
    return strange if lot == 3 else (slate, answer), chances
