"""A learner in a named mode instead of the one its settings lead to: for audits and benchmarks.

Constructors choose the mode by public numbers. To compare their choice with other modes, or to
audit a mode that is rarely chosen, a mode can be named here.
"""

from dataclasses import replace
from typing import Any, TypeVar

from discreet import require

Kind = TypeVar("Kind")

NOT_SETTINGS = ("journal", "checkpoint", "engine")
"""Arguments of constructors that are not settings."""


def forced(learner: type[Kind], mode: str, *arguments: object, **settings: object) -> Kind:
    """Return the learner, or the `SetSelector`, with these arguments in this mode.

    Parameters
    ----------
    learner
        Its class.
    mode
        Name of the mode, or "auto".
    arguments, settings
        Arguments of the constructor.

    Raises
    ------
    ConfigError
        If the mode cannot serve these arguments.

    Examples
    --------
    >>> from discreet import Privacy, SetMaximizer
    >>> forced(SetMaximizer, "disjoint-greedy", 10, 2, 1000, Privacy(1.0)).facts["method"]
    'disjoint-greedy'
    """
    kind: Any = learner
    require.one_of("mode", mode, ("auto", *kind.modes))
    other = {name: settings.pop(name) for name in NOT_SETTINGS if name in settings}
    usual = kind(*arguments, **settings).settings
    made: Kind = kind.from_settings(replace(usual, mode=mode), **other)
    return made
