"""Differentially private online learners: decisions from a stream of people's data.

>>> from discreet import Privacy, RunningSum
>>> visits = RunningSum(dimension=1, horizon=10_000, privacy=Privacy(1.0, 1e-6), bound=1.0)
>>> total = visits.add([1.0])
>>> print(visits.guarantee)  # doctest: +ELLIPSIS
Differential privacy for one round: ...
"""

from importlib import import_module
from typing import TYPE_CHECKING

from discreet.errors import (
    BudgetError,
    ConfigError,
    DiscreetError,
    HorizonReached,
    OutOfBounds,
    StateError,
)

if TYPE_CHECKING:
    from discreet.budget.guarantee import Guarantee
    from discreet.budget.privacy import Privacy
    from discreet.budget.together import together
    from discreet.engine.journal import FileJournal, MemoryJournal
    from discreet.learners.contextual_bandit import ContextualBandit
    from discreet.learners.continuous_maximizer import ContinuousMaximizer
    from discreet.learners.hedge import Hedge
    from discreet.learners.registry import load
    from discreet.learners.running_sum import RunningSum
    from discreet.learners.set_maximizer import SetMaximizer
    from discreet.learners.set_minimizer import SetMinimizer
    from discreet.learners.set_selector import Partitions, SetSelector
    from discreet.learners.streaming_learner import StreamingLearner
    from discreet.learners.warm_up import warm_up
    from discreet.records.columns import Columns

__version__ = "0.6.0"

__all__ = [
    "BudgetError",
    "Columns",
    "ConfigError",
    "ContextualBandit",
    "ContinuousMaximizer",
    "DiscreetError",
    "FileJournal",
    "Guarantee",
    "Hedge",
    "HorizonReached",
    "MemoryJournal",
    "OutOfBounds",
    "Partitions",
    "Privacy",
    "RunningSum",
    "SetMaximizer",
    "SetMinimizer",
    "SetSelector",
    "StateError",
    "StreamingLearner",
    "load",
    "together",
    "warm_up",
]

_HOMES = {
    "Columns": "discreet.records.columns",
    "ContextualBandit": "discreet.learners.contextual_bandit",
    "ContinuousMaximizer": "discreet.learners.continuous_maximizer",
    "FileJournal": "discreet.engine.journal",
    "Guarantee": "discreet.budget.guarantee",
    "Hedge": "discreet.learners.hedge",
    "MemoryJournal": "discreet.engine.journal",
    "Partitions": "discreet.learners.set_selector",
    "Privacy": "discreet.budget.privacy",
    "RunningSum": "discreet.learners.running_sum",
    "SetMaximizer": "discreet.learners.set_maximizer",
    "SetMinimizer": "discreet.learners.set_minimizer",
    "SetSelector": "discreet.learners.set_selector",
    "StreamingLearner": "discreet.learners.streaming_learner",
    "load": "discreet.learners.registry",
    "together": "discreet.budget.together",
    "warm_up": "discreet.learners.warm_up",
}


def __getattr__(name: str) -> object:
    """Import a public name on first use, so that `import discreet` stays light."""
    if name not in _HOMES:
        raise AttributeError(f"module 'discreet' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__", "domains", "functions", "losses"]
