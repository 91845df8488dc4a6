"""A problem's learner in several modes: the constructor's default, and modes by name."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from discreet.errors import ConfigError
from discreet.learners.base import Learner
from discreet.simulate.problems import Problem

AUTO = "auto"


def is_same(one: Learner, other: Learner) -> bool:
    """Return whether two learners have equal settings, modes and plans."""
    if type(one) is not type(other):
        return False
    if replace(one.settings, mode=AUTO) != replace(other.settings, mode=AUTO):
        return False
    problems = [type(type(learner).problem_for(learner.settings)) for learner in (one, other)]
    return problems[0] is problems[1] and repr(one.facts) == repr(other.facts)


def in_modes(
    problem: Problem[Any, Any], people: Any, seed: int, modes: Iterable[str]
) -> dict[str, Learner]:
    """Return the learner of "auto", and of every other mode that accepts the setting.

    A mode that "auto" takes is left out: named, it has the same noise but other public coins (their
    key is the hash of the settings), so a second run would compare luck.

    >>> from discreet import Privacy
    >>> from discreet.simulate.problems import Display
    >>> problem = Display(1000, Privacy(1.0), 10, 2, stream="iid")
    >>> list(in_modes(problem, None, 1, ("disjoint-greedy", "gain-sum")))
    ['auto', 'gain-sum']
    """
    auto: Learner = problem.learner(people, seed)
    learners = {AUTO: auto}
    for mode in modes:
        try:
            learner: Learner = problem.learner(people, seed, mode=mode)
        except ConfigError:
            continue
        if not is_same(learner, auto):
            learners[mode] = learner
    return learners


def values(
    learners: Mapping[str, Learner], value: Callable[[Any], float | None]
) -> dict[str, float]:
    """Return the value of every learner; nothing if one is None (nothing to gain)."""
    found: dict[str, float] = {}
    for name, learner in learners.items():
        worth = value(learner)
        if worth is None:
            return {}
        found[name] = worth
    return found
