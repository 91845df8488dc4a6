"""The public settings of `Hedge`."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from discreet import require
from discreet.engine.codec import OMITTED
from discreet.engine.settings import FOREIGN, UNWRITTEN, Settings
from discreet.errors import ConfigError
from discreet.learners.labels import Label, labelled, with_labels
from discreet.limits import MOST_CANDIDATES


@dataclass(frozen=True, kw_only=True)
class HedgeSettings(Settings):
    """Settings of `Hedge`: its parameters as public data."""

    actions: int
    labels: tuple[Label, ...] | None = field(default=None, metadata=UNWRITTEN)
    bound: float = 1.0
    block: int | Literal["auto"] = "auto"
    report: float = field(default=0.0, metadata=OMITTED | UNWRITTEN)

    foreign: ClassVar[Mapping[str, str]] = FOREIGN | {
        "stream": "leave it out, nothing is assumed about the stream"
    }
    by_label: ClassVar[Mapping[str, str]] = {"actions": "labels"}

    def __post_init__(self) -> None:
        super().__post_init__()
        require.whole("actions", self.actions, 1, MOST_CANDIDATES)
        if self.labels is not None and labelled(self.labels, "actions")[0] != self.actions:
            raise ConfigError(
                f"there must be one label for each of the {self.actions} actions, got "
                f"{len(self.labels)}"
            )
        require.number("bound", self.bound, 1e-280, 1e280)
        if self.horizon == 1:
            raise ConfigError(
                "a horizon of 1 is too short for one release: nothing would be learned"
            )
        if self.block != "auto":
            require.whole("block", self.block)
            if self.horizon is None:
                raise ConfigError("without a horizon, block must be 'auto'")
            if self.block >= self.horizon:
                raise ConfigError(
                    f"a block of {self.block} is too long for one release in {self.horizon} "
                    "rounds: nothing would be learned"
                )

    @classmethod
    def translated(cls, given: dict[str, object]) -> dict[str, object]:
        """Return the fields for given arguments: labels may stand for the number of actions."""
        return with_labels(given, cls.by_label)
