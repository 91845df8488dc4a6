"""The TOML file of a run: the learner, its settings, and how the log is read."""

from pathlib import Path
from typing import NamedTuple, TypedDict

from discreet import require
from discreet.errors import ConfigError
from discreet.learners.log_adapter import LogAdapter, log_adapter_of
from discreet.runs.files import read_toml
from discreet.runs.log_settings import LogKeys, LogSettings

USUAL_LEARNER = "SetMaximizer"
"""The learner of a file that names none."""


class RunKeys(TypedDict, total=False):
    """Keys of a run's TOML beside `LogKeys` and the settings of its learner.

    Parameters
    ----------
    learner
        The name of the learner; without it, SetMaximizer.
    person
        The column with the person of each row; needed with `keyed = true`.
    """

    learner: str
    person: str


ALL_KEYS = (*RunKeys.__annotations__, *LogKeys.__annotations__)
"""Keys of a run's TOML beside the settings, and the keys about the log that its learner reads."""


class Configured(NamedTuple):
    """The learner's name, its log adapter with the settings, and how the log is read."""

    name: str
    adapter: LogAdapter
    person: str | None
    """The column with the person of each row."""
    log: LogSettings


def configured(config: Path) -> Configured:
    """Read the settings of a run."""
    plain = read_toml(config)
    name = plain.pop("learner", USUAL_LEARNER)
    person = plain.pop("person", None)
    try:
        log = LogSettings.taken_from(plain)
        adapter = log_adapter_of(name).from_plain(plain, beside=ALL_KEYS)
        if log.layout is not None and adapter.slots is None:
            raise ConfigError('layout is for slates: feedback = "clicks" or "bandit"')
        is_needed = adapter.settings.keyed
        if not isinstance(person, str) and (person is not None or is_needed):
            raise ConfigError(
                "person must be the name of the column with the person of each row, "
                f"got {require.shown(person)}"
            )
        return Configured(name, adapter, person, log)
    except ConfigError as error:
        raise ConfigError(f"{config}: {error}") from None


def log_settings_in(config: Path) -> LogSettings:
    """Return `rename` and `layout` of a TOML file: that of a run, or one with these two alone."""
    plain = read_toml(config)
    if not set(plain) <= set(LogKeys.__annotations__):
        return configured(config).log  # refuses misspelt settings
    try:
        return LogSettings.taken_from(plain)
    except ConfigError as error:
        raise ConfigError(f"{config}: {error}") from None
