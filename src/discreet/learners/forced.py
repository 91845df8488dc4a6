"""A learner in a mode that is named, whatever its settings would take: for audits and benchmarks.

Constructors choose by public numbers; to compare their choice with the others, or to audit a mode
that is rarely chosen, it must be possible to name one.
"""

from dataclasses import replace
from typing import Any, TypeVar

from discreet import require

Kind = TypeVar("Kind")


def forced(learner: type[Kind], mode: str, *arguments: Any, **settings: Any) -> Kind:
    """The learner, or the `SetSelector`, of these arguments in this mode.

    `ConfigError` if the mode cannot serve them.

    >>> from discreet import Privacy, SetMaximizer
    >>> forced(SetMaximizer, "fresh", 10, 2, 1000, Privacy(1.0)).facts["method"]
    'fresh'
    """
    kind: Any = learner
    require.one_of("mode", mode, ("auto", *kind.modes))
    kept = {
        name: settings.pop(name) for name in ("journal", "checkpoint", "engine") if name in settings
    }
    usual = kind(*arguments, **settings).settings
    found: Kind = kind.from_settings(replace(usual, mode=mode), **kept)
    return found
