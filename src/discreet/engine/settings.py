"""Settings of learners: frozen, public, hashed; the same in Python, TOML, JSON and state files."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property, wraps
from typing import Any, ClassVar, Concatenate, ParamSpec, Self, TypeVar

from discreet import require
from discreet.budget.privacy import Privacy
from discreet.engine.codec import (
    as_plain,
    check_fields,
    fingerprint,
    from_toml,
    made,
    needed_fields,
    to_toml,
)
from discreet.engine.coins import Coin
from discreet.errors import ConfigError
from discreet.limits import MOST_ROUNDS

EARNERS = (
    "for learners that see what their decision earned (ContextualBandit, SetSelector; "
    "feedback='bandit' or 'clicks' of sets)"
)
NO_REPORT = {"report": f"it is {EARNERS}"}
"""For learners that never see what a decision earned."""

UNWRITTEN: Mapping[str, bool] = {"unwritten": True}
"""Metadata of a field that no TOML of a user has: a constructor or a command sets it."""

Arguments = ParamSpec("Arguments")
Made = TypeVar("Made")


def refuse_removed(removed: Mapping[str, str], given: Iterable[str]) -> None:
    """Raise `ConfigError` for a setting that does not exist (any more), with the remedy."""
    for name in given:
        if name in removed:
            raise ConfigError(f"{name} is no setting: {removed[name]}")


def refuses_removed(
    removed: Mapping[str, str],
) -> Callable[
    [Callable[Concatenate[Made, Arguments], None]], Callable[Concatenate[Made, Arguments], None]
]:
    """Return a decorator of constructors that raises `ConfigError` for removed parameters."""

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
    """Settings that all learners share; each learner adds its own annotated fields.

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
    mode: str = field(default="auto", metadata={"later": True, **UNWRITTEN})
    """Name of a forced mode (discreet/learners/forced.py); every constructor sets "auto"."""
    report: float = 0.0

    removed: ClassVar[Mapping[str, str]] = {}
    """Settings of earlier versions or of other learners, each with its remedy."""
    by_label: ClassVar[Mapping[str, str]] = {}
    """Settings for which a list of labels may stand, each with the field of the labels."""

    needs_horizon: ClassVar[bool] = False
    """Whether the number of rounds must be known beforehand."""

    def __post_init__(self) -> None:
        check_fields(self)
        if self.horizon is not None or self.needs_horizon:
            require.whole("horizon", self.horizon, 1, MOST_ROUNDS)
        require.number("report", self.report, 0.0, 0.5)
        if self.report and not self.earns:
            raise ConfigError(f"report is {EARNERS}: leave it out, got {self.report}")
        self.privacy  # noqa: B018  raises for impossible budgets

    @cached_property
    def privacy(self) -> Privacy:
        """The privacy that these settings ask for."""
        return Privacy(self.epsilon, self.delta, contributions=self.contributions, keyed=self.keyed)

    @property
    def earns(self) -> bool:
        """Whether feedback states what the shown decision earned or cost, as `report` needs."""
        return False

    def coin(self, number: int) -> Coin:
        """Return a public coin that is fixed before the first round: the same for all copies."""
        return Coin(bytes.fromhex(self.hash), number)

    @cached_property
    def hash(self) -> str:
        """Hash of all fields that are set."""
        return fingerprint(self.as_plain())

    def as_plain(self) -> dict[str, object]:
        """Return the fields that are set, as plain data."""
        plain = as_plain(self)
        del plain["kind"]  # the learner's name is stored beside its settings
        if not self.report:
            # So that hashes and coins are those of learners that have no reports.
            del plain["report"]
        return plain

    @classmethod
    def from_arguments(cls, privacy: object, **given: object) -> Self:
        """Return the settings for the arguments of a constructor."""
        if not isinstance(privacy, Privacy):
            raise ConfigError(
                f"privacy must be a Privacy(epsilon, delta), got {require.shown(privacy)}"
            )
        parts = {
            name: getattr(privacy, name) for name in ("epsilon", "delta", "contributions", "keyed")
        }
        translated: dict[str, Any] = cls.translated(given)
        return cls(**parts, **translated)

    @classmethod
    def translated(cls, given: dict[str, object]) -> dict[str, object]:
        """Return the fields for arguments, such as labels in place of the number of items."""
        return given

    @classmethod
    def written(cls) -> list[str]:
        """Return the names of the fields that a user may write into a TOML file."""
        return [field.name for field in fields(cls) if not field.metadata.get("unwritten", False)]

    @classmethod
    def from_plain(cls, plain: dict[str, object]) -> Self:
        """Return the settings of plain data, as `as_plain` or a constructor has them."""
        refuse_removed(cls.removed, plain)
        require.known_keys(plain, [field.name for field in fields(cls)])
        plain = cls.translated(plain)
        missing = [name for name in needed_fields(cls) if name not in plain]
        if missing:
            raise ConfigError(f"the settings lack {', '.join(missing)}")
        return made(cls, plain, "the settings")

    def to_toml(self) -> str:
        """Return the settings as TOML."""
        return to_toml(self.as_plain())

    @classmethod
    def from_toml(cls, text: str) -> Self:
        """Return the settings of a TOML text, as `to_toml` writes them."""
        try:
            plain = from_toml(text)
        except ConfigError as error:
            raise ConfigError(f"the settings are {error}") from None
        return cls.from_plain(plain)
