"""Formats of stored records: their numbers, and the way from each format to the next.

A state file and the `columns.json` of a run carry a format number and the version of discreet that
wrote them. Every record of 0.7.0 or later is read for ever: on load, the upgraders from its format
to the present one are applied in order. What is written has the present format. A record of a newer
format is refused.

    UPGRADES = (
        Upgrade(state=from_7.state),      # 7 → 8
        Upgrade(),                        # 8 → 9: what changed was another kind of record
    )

An upgrader takes the plain record of one format (discreet/engine/state_record.py) with its arrays,
and returns that of the next. It reads no file and imports no learner. Once a version with it is
released, it never changes.

Guarantee   docs/guarantees/engine.md, Theorem 3 (files of earlier versions)
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from discreet import __version__
from discreet.errors import StateError

Record = dict[str, Any]
"""A stored record as plain data: texts, numbers, lists, dictionaries, and arrays."""
Upgrader = Callable[[Record], Record]

TRANSLATED = ""
"""The calibration of a state that an upgrader has translated to the present calibration."""


def unchanged(record: Record) -> Record:
    """Return a record whose kind is the same in both formats."""
    return record


@dataclass(frozen=True)
class Upgrade:
    """The way from one format to the next, for each kind of record."""

    state: Upgrader = unchanged
    """For state files."""
    reading: Upgrader = unchanged
    """For `columns.json` of runs."""


class Origin(NamedTuple):
    """Where a record comes from."""

    name: str
    """The name of its file."""
    format: int
    version: str
    """The version of discreet that wrote it."""


@dataclass(frozen=True)
class Formats:
    """The formats that are read, from the first to the newest, which is written.

    >>> formats = Formats(first=7, upgrades=(Upgrade(state=lambda record: record | {"more": 1}),))
    >>> formats.newest
    8
    >>> formats.upgraded("state", {"clock": 3}, Origin("sum.state", 7, "0.7.0"))
    {'clock': 3, 'more': 1}
    >>> formats.upgraded("state", {}, Origin("sum.state", 9, "1.2.0"))
    Traceback (most recent call last):
    discreet.errors.StateError: sum.state needs discreet 1.2.0 or newer (it has format 9, this \
version reads 7 to 8): pip install --upgrade discreet
    """

    first: int
    upgrades: tuple[Upgrade, ...] = ()
    """The way from `first` to the next format, from that to the one after it, and so on."""

    @property
    def newest(self) -> int:
        """The format that is written."""
        return self.first + len(self.upgrades)

    @property
    def read(self) -> str:
        """The formats that are read, in words."""
        return f"{self.first}" if not self.upgrades else f"{self.first} to {self.newest}"

    def check(self, origin: Origin) -> None:
        """Raise `StateError` if records of this format are not read."""
        if origin.format < self.first:
            raise StateError(
                f"{origin.name} is older than discreet 0.7.0 (it has format {origin.format}, and "
                f"{self.first} is the first that is read): begin again in another file or folder"
            )
        if origin.format > self.newest:
            raise StateError(
                f"{origin.name} needs discreet {origin.version} or newer (it has format "
                f"{origin.format}, this version reads {self.read}): pip install --upgrade discreet"
            )

    def upgraded(self, kind: Literal["state", "reading"], record: Record, origin: Origin) -> Record:
        """Return the record in the newest format, or raise `StateError`; no file changes."""
        self.check(origin)
        for number in range(origin.format, self.newest):
            upgrader: Upgrader = getattr(self.upgrades[number - self.first], kind)
            try:
                record = upgrader(record)
            except Exception as error:  # the content of a file may be anything
                raise StateError(
                    f"{origin.name} cannot be upgraded from format {number} to {number + 1} "
                    f"({type(error).__name__}): it is unchanged, go on with discreet "
                    f"{origin.version}, which wrote it"
                ) from None
        return record


UPGRADES: tuple[Upgrade, ...] = ()
"""The way from each format to the next, from that of 0.7.0 on; tests/golden has files of each."""
FORMATS = Formats(7, UPGRADES)
"""The formats that this version reads and writes."""


class Version(NamedTuple):
    """The number of a version of discreet, as files store it."""

    major: int
    minor: int
    patch: int

    @classmethod
    def of(cls, text: str) -> "Version":
        """Return the number of a version.

        >>> str(Version.of("0.7.1rc2"))
        '0.7.1'
        """
        return cls(*(int(part) for part in re.findall(r"\d+", text)[:3]))

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}.{self.patch}"


PRESENT = Version.of(__version__)
