"""Settings that all learners of sets share: items, by number or by label, and a horizon."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from discreet import require
from discreet.engine.settings import UNWRITTEN, Settings
from discreet.errors import ConfigError
from discreet.functions.sets import AnyFunction, SetFunction
from discreet.learners.labels import Label, labelled, with_labels
from discreet.limits import MOST_CANDIDATES


@dataclass(frozen=True, kw_only=True)
class ItemSettings(Settings):
    """Settings of a learner that chooses among items; each such learner adds its own fields."""

    items: int
    labels: tuple[Label, ...] | None = field(default=None, metadata=UNWRITTEN)

    needs_horizon: ClassVar[bool] = True
    by_label: ClassVar[Mapping[str, str]] = {"items": "labels"}

    def __post_init__(self) -> None:
        super().__post_init__()
        require.whole("items", self.items, 1, MOST_CANDIDATES)
        if self.labels is not None and labelled(self.labels)[0] != self.items:
            raise ConfigError(
                f"there must be one label for each of the {self.items} items, got "
                f"{len(self.labels)}"
            )

    @property
    def rounds(self) -> int:
        """Number of visitors."""
        assert self.horizon is not None
        return self.horizon

    @classmethod
    def translated(cls, given: dict[str, object]) -> dict[str, object]:
        """Return the fields for given arguments: labels as items, and people's own functions."""
        if "function" in given and (given["function"] is None or given["function"] is SetFunction):
            given = given | {"function": AnyFunction()}
        return with_labels(given, cls.by_label)
