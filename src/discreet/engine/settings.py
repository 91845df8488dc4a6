"""A learner's settings: frozen, public, hashed, and the same in Python, TOML, JSON and a state
file.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from functools import cached_property, wraps
from typing import Any, ClassVar, Concatenate, ParamSpec, Self, TypeVar

from discreet import require
from discreet.budget.privacy import Privacy
from discreet.engine.codec import as_plain, check_fields, fingerprint, from_toml, made, to_toml
from discreet.errors import ConfigError
from discreet.limits import MOST_ROUNDS

EARNERS = (
    "for learners that are told what their decision earned (ContextualBandit, SetSelector; "
    "feedback='bandit' or 'clicks' of sets)"
)
NO_REPORT = {"report": f"it is {EARNERS}"}
"""For the constructors of learners that are never told what a decision earned."""

Arguments = ParamSpec("Arguments")
Made = TypeVar("Made")


def refuse_removed(removed: Mapping[str, str], given: Iterable[str]) -> None:
    """Refuse a word that a learner does not take, or takes no more, and say what to write
    instead.
    """
    for name in given:
        if name in removed:
            raise ConfigError(f"{name} is no setting: {removed[name]}")


def refuses_removed(
    removed: Mapping[str, str],
) -> Callable[
    [Callable[Concatenate[Made, Arguments], None]], Callable[Concatenate[Made, Arguments], None]
]:
    """Decorate a constructor: a word that is no parameter is a `ConfigError` with the remedy."""

    def decorate(
        constructor: Callable[Concatenate[Made, Arguments], None],
    ) -> Callable[Concatenate[Made, Arguments], None]:
        @wraps(constructor)
        def checked(self: Made, /, *arguments: Arguments.args, **named: Arguments.kwargs) -> None:
            refuse_removed(removed, named)
            constructor(self, *arguments, **named)

        return checked

    return decorate


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What every learner is set up with; each adds its own fields, annotated with what they may be.

    >>> settings = Settings(epsilon=1, delta=1e-06, horizon=100)
    >>> print(settings.to_toml())
    epsilon = 1.0
    delta = 1e-06
    contributions = 1
    horizon = 100
    >>> Settings.from_toml(settings.to_toml()) == settings
    True
    >>> Settings(epsilon=1.0, delta=1e-6, horizon="soon")
    Traceback (most recent call last):
    discreet.errors.ConfigError: horizon must be a whole number or left out, got 'soon'
    """

    epsilon: float
    delta: float
    contributions: int = 1
    horizon: int | None = None
    seed: int | None = None
    keyed: bool = field(default=False, metadata={"later": True})
    mode: str = field(default="auto", metadata={"later": True})
    """The name of a mode that was forced (discreet/learners/forced.py); "auto" by any
    constructor.
    """
    report: float = 0.0

    removed: ClassVar[Mapping[str, str]] = {}
    """Words of earlier versions, or of other learners, each with what to write instead."""

    def __post_init__(self) -> None:
        check_fields(self)
        if self.horizon is not None:
            require.whole("horizon", self.horizon, 1, MOST_ROUNDS)
        require.number("report", self.report, 0.0, 0.5)
        if self.report and not self.earns:
            raise ConfigError(f"report is {EARNERS}: leave it out, got {self.report}")
        self.privacy  # noqa: B018  refuses impossible ones

    @cached_property
    def privacy(self) -> Privacy:
        """What is asked for."""
        return Privacy(self.epsilon, self.delta, contributions=self.contributions, keyed=self.keyed)

    @property
    def earns(self) -> bool:
        """Whether people say what the decision that they met earned or cost, so that it can be
        reported.
        """
        return False

    @cached_property
    def hash(self) -> str:
        """A short name that two settings share only if they are the same."""
        return fingerprint(self.as_plain())

    def as_plain(self) -> dict[str, object]:
        """The fields that are set, as plain data."""
        plain = as_plain(self)
        del plain["kind"]  # the learner's name is kept beside its settings
        if not self.report:
            del plain[
                "report"
            ]  # who asks for none has the same hash, and coins, as where there are none
        return plain

    @classmethod
    def from_arguments(cls, privacy: Any, **given: Any) -> Self:
        """Return the settings that a constructor's arguments mean."""
        if not isinstance(privacy, Privacy):
            raise ConfigError(
                f"privacy must be a Privacy(epsilon, delta), got {require.shown(privacy)}"
            )
        parts = {
            name: getattr(privacy, name) for name in ("epsilon", "delta", "contributions", "keyed")
        }
        return cls(**parts, **cls.translated(given))

    @classmethod
    def translated(cls, given: dict[str, Any]) -> dict[str, Any]:
        """Return fields for what is given: names in place of the number of items, say."""
        return given

    @classmethod
    def from_plain(cls, plain: dict[str, Any]) -> Self:
        """The inverse of `as_plain`; what `translated` understands may be given too."""
        refuse_removed(cls.removed, plain)
        plain = cls.translated(plain)
        needed = [name for name in cls.needed() if name not in plain]
        if needed:
            raise ConfigError(f"the settings lack {', '.join(needed)}")
        return made(cls, plain, "the settings")

    @classmethod
    def needed(cls) -> list[str]:
        """The fields without which nothing can begin."""
        return [
            field.name
            for field in fields(cls)
            if field.default is MISSING and field.default_factory is MISSING
        ]

    def to_toml(self) -> str:
        """The settings as TOML."""
        return to_toml(self.as_plain())

    @classmethod
    def from_toml(cls, text: str) -> Self:
        """The inverse of `to_toml`."""
        try:
            plain = from_toml(text)
        except ConfigError as error:
            raise ConfigError(f"the settings are {error}") from None
        return cls.from_plain(plain)
