"""Decisions from a stream of people, without giving any of them away.

>>> from discreet import Privacy, RunningSum
>>> visits = RunningSum(dimension=1, horizon=10_000, privacy=Privacy(1.0, 1e-6), bound=1.0)
>>> total = visits.add([1.0])
>>> print(visits.guarantee)  # doctest: +ELLIPSIS
Differential privacy for one round: ...
"""

from importlib import import_module
from os import PathLike
from typing import TYPE_CHECKING, Any

from discreet.errors import BudgetError, ConfigError, DiscreetError, HorizonReached, OutOfBounds, StateError

if TYPE_CHECKING:
    from discreet.learners.hedge import Hedge
    from discreet.learners.set_maximizer import SetMaximizer
    from discreet.learners.set_minimizer import SetMinimizer
    from discreet.learners.streaming_learner import StreamingLearner
    from discreet.release.guarantee import Guarantee
    from discreet.release.journal import FileJournal, MemoryJournal
    from discreet.release.learner import Learner
    from discreet.release.privacy import Privacy
    from discreet.release.running_sum import RunningSum

__version__ = "0.1.0"

__all__ = [
    "BudgetError",
    "ConfigError",
    "DiscreetError",
    "FileJournal",
    "Guarantee",
    "Hedge",
    "HorizonReached",
    "MemoryJournal",
    "OutOfBounds",
    "Privacy",
    "RunningSum",
    "SetMaximizer",
    "SetMinimizer",
    "StateError",
    "StreamingLearner",
    "load",
    "warm_up",
]

_LEARNERS = {
    "Hedge": "discreet.learners.hedge",
    "RunningSum": "discreet.release.running_sum",
    "SetMaximizer": "discreet.learners.set_maximizer",
    "SetMinimizer": "discreet.learners.set_minimizer",
    "StreamingLearner": "discreet.learners.streaming_learner",
}
_HOMES = _LEARNERS | {
    "FileJournal": "discreet.release.journal",
    "Guarantee": "discreet.release.guarantee",
    "MemoryJournal": "discreet.release.journal",
    "Privacy": "discreet.release.privacy",
}


def __getattr__(name: str) -> Any:
    """Import a public name on first use, so that `import discreet` stays light."""
    if name not in _HOMES:
        raise AttributeError(f"module 'discreet' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def load(path: str | PathLike[str]) -> "Learner":
    """Go on from a file that `save` or a file journal wrote.

    The file is locked and its epoch raised: a second load is refused while this learner lives, and the learner that saved
    it can release nothing more. Every later release is committed to the same file.
    """
    from discreet.release.journal import FileJournal

    journal = FileJournal(path)
    kept = journal.latest()
    if kept is None:
        raise StateError(f"{journal.path.name} does not exist: save a learner there first")
    if kept.kind not in _LEARNERS:
        raise StateError(f"{journal.path.name} holds a {kept.kind}, which this version of discreet does not know")
    learner: type[Learner] = __getattr__(kept.kind)
    return learner.from_config(learner.configuration.from_plain(kept.config), journal)


def warm_up() -> None:
    """Compile the kernels now (some seconds, once), so that no round has to wait for it."""
    from discreet.release.warm_up import warm_up

    warm_up()
