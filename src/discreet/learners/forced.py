"""A learner in a mode that is named, whatever its settings would take: for audits and benchmarks.

Constructors choose by public numbers; to compare their choice with the others, or to audit a mode that is
rarely chosen, it must be possible to name one.
"""

from dataclasses import replace
from typing import Any, TypeVar

from discreet import require
from discreet.learners.learner import Learner

__all__ = ["forced"]

Kind = TypeVar("Kind", bound=Learner)


def forced(learner: type[Kind], mode: str, *arguments: Any, **settings: Any) -> Kind:
    """The learner of these arguments in this mode; `ConfigError` if the mode cannot serve them.

    >>> from discreet import Privacy, SetMaximizer
    >>> forced(SetMaximizer, "hedge", 10, 2, 1000, Privacy(1.0)).facts["expert"]
    'hedge'
    """
    require.one_of("mode", mode, tuple(learner.modes))
    journal, checkpoint = settings.pop("journal", None), settings.pop("checkpoint", None)
    usual = learner(*arguments, **settings).settings
    return learner.from_settings(replace(usual, mode=mode), journal, checkpoint)
