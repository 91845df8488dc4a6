"""Which plan a command line asks for, and what it needs to be told."""

from collections.abc import Callable
from typing import Any

from discreet.budget.privacy import Privacy
from discreet.errors import ConfigError
from discreet.lab.planning import Case
from discreet.lab.planning_contextual import ContextualCase
from discreet.lab.planning_continuous import ContinuousCase
from discreet.lab.planning_regression import RegressionCase
from discreet.lab.planning_selection import SelectionCase
from discreet.lab.planning_sets import CostsCase, DisplayCase

__all__ = ["asked_case"]

CASES: dict[str, Callable[..., Case]] = {
    "display": DisplayCase,
    "costs": CostsCase,
    "regression": RegressionCase,
    "contextual": ContextualCase.asked,
    "selection": SelectionCase,
    "continuous": ContinuousCase,
}
NEEDED = {
    "display": ("items", "slots"),
    "costs": ("items",),
    "regression": ("features",),
    "contextual": ("arms", "features"),
    "selection": ("items", "slots"),
    "continuous": ("items", "slots"),
}
"""Options without which there is no plan, by problem."""
OTHERS = {
    "display": ("feedback", "stream", "click_rate"),
    "costs": ("feedback",),
    "regression": ("method",),
    "contextual": ("relevant",),
    "selection": (),
    "continuous": ("stream",),
}
"""Options that a plan may have."""


def asked_case(problem: str, rounds: int, privacy: Privacy, options: dict[str, Any]) -> Case:
    """What is to be planned; options that were not given are None."""
    given = {name: value for name, value in options.items() if value is not None}
    missing = [_option(name) for name in NEEDED[problem] if name not in given]
    if missing:
        raise ConfigError(f"a plan for {problem} needs {' and '.join(missing)}")
    vain = [_option(name) for name in given if name not in NEEDED[problem] + OTHERS[problem]]
    if vain:
        raise ConfigError(f"a plan for {problem} has no use for {' and '.join(vain)}: leave it out")
    return CASES[problem](rounds=rounds, privacy=privacy, **given)


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"
