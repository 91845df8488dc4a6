"""Protocols of optional abilities of learners: commands test for these, never for a class."""

from collections.abc import Mapping, Sequence
from typing import Protocol, runtime_checkable

from discreet.engine.labels import Label


@runtime_checkable
class HasCatalogue(Protocol):
    """A learner whose items and horizon can change by public events."""

    def change(
        self, *, add: Sequence[Label | None] = (), retire: Sequence[Label] = (), extend: int = 0
    ) -> list[Label]:
        """Extend the horizon, add items and retire items, all or none; return the added labels."""

    @property
    def active(self) -> list[Label]:
        """The items that may be shown now."""

    @property
    def pending(self) -> list[Label]:
        """The items that may be shown from the next block on, but not yet."""


class HasErrors(Protocol):
    """Released coefficients with standard errors."""

    def errors(self) -> Mapping[str, object]:
        """Return the standard errors by name; None where they are unknown."""


@runtime_checkable
class Publishes(Protocol):
    """A learner of coefficients."""

    @property
    def published(self) -> HasErrors:
        """The newest released coefficients."""


@runtime_checkable
class WarmStarts(Protocol):
    """A learner that can read a log of another policy before the first visitor."""

    @property
    def log_rows(self) -> int:
        """Number of rows of the log that was read; 0 without one."""

    def warm_start(
        self, rows: object, propensity: object = "uniform", *, least_propensity: float | None = None
    ) -> None:
        """Read the log in one release of its own."""
