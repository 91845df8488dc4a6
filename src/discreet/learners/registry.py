"""Every learner by its name, imported on first use: what `discreet.load`, runs and plans look
them up in.
"""

import os
from importlib import import_module
from typing import TypeVar

from discreet import require
from discreet.errors import ConfigError, StateError
from discreet.learners.base import Checkpoint, Learner

HOMES = {
    "ContextualBandit": "discreet.learners.contextual_bandit",
    "ContinuousMaximizer": "discreet.learners.continuous_maximizer",
    "Hedge": "discreet.learners.hedge",
    "RunningSum": "discreet.learners.running_sum",
    "SetMaximizer": "discreet.learners.set_maximizer",
    "SetMinimizer": "discreet.learners.set_minimizer",
    "StreamingLearner": "discreet.learners.streaming_learner",
}

Kind = TypeVar("Kind", bound=type[Learner])

_registered: dict[str, type[Learner]] = {}


def register(learner: Kind) -> Kind:
    """Make a learner of your own known by its name, so that `discreet.load` finds it in files.

    Use it as a decorator of the class; examples/poll.py is a whole learner. A name stands for one
    class: the names of this library are refused.
    """
    name = learner.__name__
    if name in HOMES:
        raise ConfigError(f"discreet has a learner called {name}: choose another name")
    _registered[name] = learner
    return learner


def is_known(name: str) -> bool:
    """Return whether a learner has this name: one of this library, or one that was registered."""
    return name in HOMES or name in _registered


def learner_named(name: str) -> type[Learner]:
    """Return the class of this name."""
    if name in _registered:
        return _registered[name]
    require.one_of("learner", name, tuple(HOMES))
    found: type[Learner] = getattr(import_module(HOMES[name]), name)
    return found


def load(path: str | os.PathLike[str], *, checkpoint: Checkpoint = None) -> Learner:
    """Go on from a file that `save` or a file journal wrote.

    The file is locked and its epoch raised: a second load is refused while this learner lives, and
    the learner that saved it can release nothing more. Every later release is committed to the same
    file. Tickets from before are refused.
    """
    from discreet.engine.journal import FileJournal

    if not isinstance(path, str | os.PathLike):
        raise ConfigError(f"load takes the path of a state file, got {require.shown(path)}")
    journal = FileJournal(path)
    kept = journal.latest()
    if kept is None:
        raise StateError(f"{journal.path.name} does not exist: save a learner there first")
    if kept.kind == "SetSelector":
        raise StateError(
            f"{journal.path.name} holds a choice: "
            "SetSelector with the same settings and this file as journal reads it back"
        )
    if not is_known(kept.kind):
        raise StateError(
            f"{journal.path.name} holds a {kept.kind}, which this version of discreet does not "
            "know: import the module that registers it"
        )
    learner = learner_named(kept.kind)
    try:
        settings = learner.settings_type.from_plain(kept.settings)
    except ConfigError as error:
        raise StateError(f"the settings in {journal.path.name} are refused: {error}") from None
    return learner.from_settings(settings, journal, checkpoint)
