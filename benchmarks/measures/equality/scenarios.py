"""Seeded runs of every mode of every learner: short runs of all cases, and long runs."""

from typing import Any

from discreet.audit.cases.learners import cases, keyed_cases, long_cases
from measures.equality.arms import arms
from measures.equality.costs import costs
from measures.equality.points import points
from measures.equality.preferences import whole_preferences
from measures.equality.runs import of_case
from measures.equality.samples import samples
from measures.equality.selections import selections
from measures.equality.slates import slates
from measures.equality.sums import experts, sums


def scenarios() -> list[Any]:
    """Return all runs; no two have the same name."""
    short = [*cases(), *long_cases(), *keyed_cases()]
    resumable = [case for case in short if "callable" not in case.name]
    found: list[Any] = [
        *(of_case(case) for case in short),
        *(of_case(case, name=f"{case.name}, resumed", resume=True) for case in resumable),
        *slates(),
        *whole_preferences(),
        *costs(),
        *arms(),
        *points(),
        *samples(),
        *experts(),
        *sums(),
        *selections(),
    ]
    names = [each.name for each in found]
    if len(set(names)) < len(names):
        raise ValueError("two scenarios have the same name")
    return found
