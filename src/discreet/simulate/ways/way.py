"""Ways of learning: what a constructor takes by default, a mode by name, or other settings."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from discreet.errors import ConfigError
from discreet.learners.forced import forced
from discreet.learners.learner import Learner

__all__ = ["AUTO", "Way", "compared", "is_same", "modes"]

Kind = TypeVar("Kind")


@dataclass(frozen=True)
class Way:
    """A way of learning, by name: a mode, or settings beside those that all ways share.

    >>> from discreet import Hedge, Privacy
    >>> AUTO.learner(Hedge, 3, 1000, Privacy(1.0)).horizon
    1000
    """

    name: str
    mode: str | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)

    def learner(self, kind: type[Kind], *arguments: Any, **settings: Any) -> Kind:
        """The learner of these arguments that learns in this way; `ConfigError` if there is none."""
        together = {**settings, **self.settings}
        if self.mode is None:
            return kind(*arguments, **together)
        return forced(kind, self.mode, *arguments, **together)


AUTO = Way("auto")


def modes(*names: str) -> tuple[Way, ...]:
    """One way per mode."""
    return tuple(Way(name, name) for name in names)


def is_same(one: Learner, other: Learner) -> bool:
    """Whether two learners have the same settings, the same mode and the same plan."""
    if type(one) is not type(other):
        return False
    if replace(one.settings, mode="auto") != replace(other.settings, mode="auto"):
        return False
    problems = [type(type(learner).problem_for(learner.settings)) for learner in (one, other)]
    return problems[0] is problems[1] and repr(one.facts) == repr(other.facts)


def compared(
    make: Callable[[Way], Learner],
    value: Callable[[Any], float | None],
    ways: Iterable[Way],
) -> dict[str, float]:
    """The value of "auto" and of every way that accepts the setting and is not what "auto" takes.

    A mode that "auto" takes is left out: named, it has the same noise but other public coins (their key is
    the hash of the settings), so a second run would compare luck.

    `value` runs a learner; None says that this world has nothing to gain, and then nothing is compared.
    """
    auto = make(AUTO)
    others: dict[str, Learner] = {}
    for way in ways:
        try:
            learner = make(way)
        except ConfigError:
            continue
        if not is_same(learner, auto):
            others[way.name] = learner
    found: dict[str, float] = {}
    for name, learner in {AUTO.name: auto, **others}.items():
        worth = value(learner)
        if worth is None:
            return {}
        found[name] = worth
    return found
