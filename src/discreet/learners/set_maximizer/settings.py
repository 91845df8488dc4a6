"""The public settings of a set maximiser."""

from dataclasses import dataclass
from typing import Literal

from discreet import require
from discreet.errors import ConfigError
from discreet.functions.sets import (
    AnyFunction,
    ClickModel,
    ConcaveOverModular,
    FacilityLocation,
    SetFunctions,
    WeightedCoverage,
)
from discreet.learners.item_settings import ItemSettings
from discreet.learners.streams import Stream, refuse_adversarial
from discreet.limits import MOST_CANDIDATES

FORCED = {
    False: ("auto", "gain-sum", "disjoint-greedy", "ordered-experts"),
    True: ("auto", "incumbent-search"),
}
"""Modes that may be chosen, by whether feedback is partial (clicks and rewards)."""
Family = ClickModel | FacilityLocation | ConcaveOverModular | WeightedCoverage | AnyFunction


@dataclass(frozen=True, kw_only=True)
class SetMaximizerSettings(ItemSettings):
    """Parameters of `SetMaximizer`, as public data."""

    slots: int
    feedback: Literal["full", "bandit", "clicks"] = "full"
    stream: Stream = "drifting"
    function: Family = ClickModel()
    bound: float = 1.0
    explore: float | Literal["auto"] = "auto"
    block: int | Literal["auto"] = "auto"
    max_items: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        require.whole("slots", self.slots)
        if self.slots > self.items:
            raise ConfigError(f"slots ({self.slots}) must not exceed items ({self.items})")
        if self.feedback != "full":
            refuse_adversarial(
                self.stream, "stream='drifting', or whole preferences (feedback='full')"
            )
        if self.max_items is not None:
            require.whole("max_items", self.max_items, self.items, MOST_CANDIDATES)
        require.number("bound", self.bound, 1e-100, 1e100)
        if self.bound != 1 and self.feedback != "bandit" and self.functions is not None:
            kind = type(self.function).__name__
            raise ConfigError(
                f"bound is for callables and rewards; rows of {kind} lie in [0, 1] already, got "
                f"{self.bound}"
            )
        if self.functions is not None:
            self.functions.width(self.room)  # refuses covers that do not fit
        if self.explore != "auto":
            require.number("explore", self.explore, 1e-9, 0.999)
            if self.feedback == "full":
                raise ConfigError("explore is for feedback='clicks' or 'bandit': leave it out")
        if self.block != "auto":
            require.whole("block", self.block)
        forced = FORCED[self.feedback != "full"]
        if self.mode not in forced:
            raise ConfigError(
                f"mode must be {' or '.join(forced)} for feedback={self.feedback!r}, got "
                f"{self.mode!r}"
            )

    @property
    def room(self) -> int:
        """Largest number of items ever, including later ones."""
        return self.items if self.max_items is None else self.max_items

    @property
    def earns(self) -> bool:
        return self.feedback != "full"

    @property
    def functions(self) -> SetFunctions | None:
        """The family of set functions; None if visitors bring callables."""
        return None if isinstance(self.function, AnyFunction) else self.function
