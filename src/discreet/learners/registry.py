"""All learners by name, imported on first use, for `discreet.load`, runs and plans."""

import os
from importlib import import_module
from typing import TypeVar

from discreet import require
from discreet.errors import ConfigError, StateError
from discreet.learners.base import Checkpoint, Learner
from discreet.learners.homes import HOMES

Kind = TypeVar("Kind", bound=type[Learner])

_registered: dict[str, type[Learner]] = {}


def register(learner: Kind) -> Kind:
    """Make a learner of your own known by its name, so that `discreet.load` finds it in files.

    Use it as a decorator of the class; examples/poll.py is a whole learner. A name stands for one
    class, because a state file has the name alone: another class of the same name is refused. The
    same class may be registered again, as when a notebook cell runs twice.
    """
    if not (isinstance(learner, type) and issubclass(learner, Learner)):
        raise ConfigError(f"register takes a subclass of Learner, got {require.shown(learner)}")
    name = learner.__name__
    if name in (*HOMES, "SetSelector"):
        raise ConfigError(f"discreet has a learner called {name}: choose another name")
    known = _registered.get(name, learner)
    if (known.__module__, known.__qualname__) != (learner.__module__, learner.__qualname__):
        raise ConfigError(f"{known.__module__} has a learner called {name}: choose another name")
    _registered[name] = learner
    return learner


def is_known(name: str) -> bool:
    """Return whether a learner has this name: one of this library, or one that was registered."""
    return name in HOMES or name in _registered


def learner_named(name: str) -> type[Learner]:
    """Return the learner class with this name."""
    if name in _registered:
        return _registered[name]
    require.one_of("learner", name, tuple(HOMES))
    learner: type[Learner] = getattr(import_module(HOMES[name]), name)
    return learner


def load(path: str | os.PathLike[str], *, checkpoint: Checkpoint = None) -> Learner:
    """Return the learner that `save` or a file journal wrote to a file.

    The file is locked and its epoch raised: a second load is refused while this learner lives, and
    the learner that saved it can release nothing more. Every later release is committed to the same
    file. Tickets from before are refused.

    Guarantee: docs/guarantees/engine.md.

    Parameters
    ----------
    path
        The state file.
    checkpoint
        As for `SetMaximizer`.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from discreet import Privacy, RunningSum, load
    >>> clicks = RunningSum(dimension=1, horizon=100, privacy=Privacy(1.0), bound=1.0, seed=1)
    >>> clicks.observe_many([[1.0]])
    >>> with TemporaryDirectory() as folder:
    ...     clicks.save(Path(folder) / "clicks")
    ...     clicks.detach()
    ...     with load(Path(folder) / "clicks") as again:
    ...         print(again.clock)
    1
    """
    from discreet.engine.journal import FileJournal

    if not isinstance(path, str | os.PathLike):
        raise ConfigError(f"load takes the path of a state file, got {require.shown(path)}")
    journal = FileJournal(path)
    saved = journal.latest()
    if saved is None:
        raise StateError(f"{journal.path.name} does not exist: save a learner there first")
    if saved.kind == "SetSelector":
        raise StateError(
            f"{journal.path.name} holds a choice: "
            "SetSelector with the same settings and this file as journal reads it back"
        )
    if not is_known(saved.kind):
        raise StateError(
            f"{journal.path.name} holds a {saved.kind}, which this version of discreet does not "
            "know: import the module that registers it"
        )
    learner = learner_named(saved.kind)
    try:
        settings = learner.settings_type.from_plain(saved.settings)
    except ConfigError as error:
        raise StateError(f"the settings in {journal.path.name} are refused: {error}") from None
    return learner.from_settings(settings, journal, checkpoint)
