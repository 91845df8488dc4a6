"""What learners of sets have in their settings: items, by number or by name, and a horizon."""

from dataclasses import dataclass
from typing import Any, Self

from discreet import require
from discreet.errors import ConfigError
from discreet.learners.labels import Label, labelled
from discreet.learners.streams import check_stream
from discreet.limits import MOST_CANDIDATES
from discreet.turn.settings import Settings

__all__ = ["ItemSettings"]


@dataclass(frozen=True, kw_only=True)
class ItemSettings(Settings):
    """Settings of a learner that chooses among items; each such learner adds its own fields."""

    items: int
    labels: tuple[Label, ...] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        require.whole("horizon", self.horizon)
        require.whole("items", self.items, 1, MOST_CANDIDATES)
        if self.labels is not None and labelled(self.labels)[0] != self.items:
            raise ConfigError(
                f"there must be one label for each of the {self.items} items, got {len(self.labels)}"
            )

    @property
    def rounds(self) -> int:
        """How many visitors."""
        assert self.horizon is not None
        return self.horizon

    @classmethod
    def from_plain(cls, plain: dict[str, Any]) -> Self:
        """Also with the labels in place of the number of items."""
        check_stream(plain.get("stream"))
        if isinstance(plain.get("items"), list):
            count, labels = labelled(plain["items"])
            plain = plain | {"items": count, "labels": labels}
        return super().from_plain(plain)
