"""A learner's configuration: frozen, public, hashed, and the same in Python, in TOML and in a state file."""

import json
import tomllib
from dataclasses import asdict, dataclass, fields
from hashlib import blake2b
from typing import Any, Self

import numpy as np

from discreet.errors import ConfigError
from discreet.release.privacy import Privacy

__all__ = ["Config"]


@dataclass(frozen=True, kw_only=True)
class Config:
    """What every learner is configured with; each adds its own fields.

    Values are numbers, strings, booleans, lists of them, or None (which TOML leaves out).

    >>> config = Config(epsilon=1.0, delta=1e-06, horizon=100)
    >>> print(config.to_toml())
    epsilon = 1.0
    delta = 1e-06
    contributions = 1
    horizon = 100
    calibration = "tight"
    >>> Config.from_toml(config.to_toml()) == config
    True
    """

    epsilon: float
    delta: float
    contributions: int = 1
    horizon: int | None
    seed: int | None = None
    calibration: str = "tight"

    def __post_init__(self) -> None:
        for field in fields(self):  # NumPy's numbers are numbers too, but JSON and TOML do not know them
            value = getattr(self, field.name)
            if isinstance(value, np.generic):
                object.__setattr__(self, field.name, value.item())

    @property
    def privacy(self) -> Privacy:
        """What is asked for."""
        return Privacy(self.epsilon, self.delta, contributions=self.contributions)

    @property
    def hash(self) -> str:
        """A short name that two configurations share only if they are the same."""
        return blake2b(json.dumps(self.as_plain(), sort_keys=True).encode(), digest_size=16).hexdigest()

    def as_plain(self) -> dict[str, Any]:
        """The fields that are set."""
        return {name: value for name, value in asdict(self).items() if value is not None}

    @classmethod
    def from_plain(cls, plain: dict[str, Any]) -> Self:
        """The configuration with these fields."""
        known = {field.name for field in fields(cls)}
        if unknown := sorted(set(plain) - known):
            raise ConfigError(f"unknown setting {unknown[0]!r}: known are {', '.join(sorted(known))}")
        optional: dict[str, Any] = {"horizon": None}
        return cls(**(optional | plain))

    def check_whole(self, *names: str) -> None:
        """Refuse fields that are not whole numbers, at least 1."""
        for name in names:
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                raise ConfigError(f"{name} must be a whole number, at least 1, got {value!r}")

    def check_number(self, name: str, low: float, high: float) -> None:
        """Refuse a field that is no number between these two."""
        value = getattr(self, name)
        if not isinstance(value, int | float) or isinstance(value, bool) or not low <= value <= high:
            raise ConfigError(f"{name} must be a number between {low:g} and {high:g}, got {value!r}")

    def check_one_of(self, **allowed: tuple[str, ...]) -> None:
        """Refuse fields that are none of the allowed words."""
        for name, values in allowed.items():
            if getattr(self, name) not in values:
                raise ConfigError(f"{name} must be one of {', '.join(values)}, got {getattr(self, name)!r}")

    def to_toml(self) -> str:
        """The configuration as TOML. JSON's numbers, strings and lists are TOML's."""
        return "\n".join(f"{name} = {json.dumps(value)}" for name, value in self.as_plain().items())

    @classmethod
    def from_toml(cls, text: str) -> Self:
        """The inverse of `to_toml`."""
        try:
            return cls.from_plain(tomllib.loads(text))
        except tomllib.TOMLDecodeError as error:
            raise ConfigError(f"the configuration is not TOML: {error}") from None
