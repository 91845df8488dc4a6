"""Which plan a command line asks for: of sets of items, of arms given a context, or of a regression."""

from collections.abc import Callable
from typing import Any

from rich.console import Console

from discreet.budget.privacy import Privacy
from discreet.errors import ConfigError
from discreet.lab.planning import make_plan, print_plan
from discreet.lab.planning_contextual import ContextualCase, make_contextual_plan, print_contextual_plan
from discreet.lab.planning_regression import RegressionCase, make_regression_plan, print_regression_plan

__all__ = ["asked_plan"]

NEEDED = {"sets": ("items",), "contextual": ("arms", "features"), "regression": ("features",)}
"""Options without which there is no plan, by problem."""
OTHERS = {"sets": ("slots", "feedback", "stream"), "contextual": ("relevant",), "regression": ("method",)}
"""Options that a plan may have."""


def asked_plan(
    problem: str, rounds: int, privacy: Privacy, options: dict[str, Any], console: Console
) -> tuple[dict[str, Any], Callable[[dict[str, Any], Console], None]]:
    """The plan, and what prints it; options that were not given are None."""
    given = {name: value for name, value in options.items() if value is not None}
    missing = [f"--{name}" for name in NEEDED[problem] if name not in given]
    if missing:
        raise ConfigError(f"a plan for {problem} needs {' and '.join(missing)}")
    vain = [f"--{name}" for name in given if name not in NEEDED[problem] + OTHERS[problem]]
    if vain:
        raise ConfigError(f"a plan for {problem} has no use for {' and '.join(vain)}: leave it out")
    if problem == "contextual":
        case = ContextualCase.asked(rounds=rounds, privacy=privacy, **given)
        return make_contextual_plan(case, console), print_contextual_plan
    if problem == "regression":
        regression = RegressionCase(rounds=rounds, privacy=privacy, **given)
        return make_regression_plan(regression, console), print_regression_plan
    settings = {"feedback": "full", "stream": "any"} | given
    items, slots = settings.pop("items"), settings.pop("slots", None)
    return make_plan(items, slots, rounds, privacy, settings, console), print_plan
