"""Settings of learners: frozen, public, hashed; the same in Python, TOML, JSON and state files."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, ClassVar, Self

from discreet import require
from discreet.budget.privacy import Privacy
from discreet.engine.codec import (
    OMITTED,
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

FOREIGN = {"report": f"it is {EARNERS}"}
"""The settings of other learners that no learner without them takes."""

UNWRITTEN = {"unwritten": True}
"""Metadata of a field that no TOML of a user has: a constructor or a command sets it."""


def refuse_foreign(reasons: Mapping[str, str], given: Iterable[str]) -> None:
    """Raise `ConfigError`, with the reason, for a setting that another learner has."""
    for name in given:
        if name in reasons:
            raise ConfigError(f"{name} is no setting here: {reasons[name]}")


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
    keyed: bool = field(default=False, metadata=OMITTED)
    mode: str = field(default="auto", metadata=OMITTED | UNWRITTEN)
    """Name of a forced mode (discreet/learners/forced.py); every constructor sets "auto"."""
    report: float = field(default=0.0, metadata=OMITTED)

    foreign: ClassVar[Mapping[str, str]] = FOREIGN
    """Settings of other learners, each with the reason why this one does not take it."""
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
        known = [field.name for field in fields(cls)]
        refuse_foreign(cls.foreign, [name for name in plain if name not in known])
        require.known_keys(plain, known)
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
