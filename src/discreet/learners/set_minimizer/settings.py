"""The public settings of `SetMinimizer`."""

from dataclasses import dataclass
from typing import Literal

from discreet import require
from discreet.errors import ConfigError
from discreet.functions.costs import CostFunctions, GraphCut, MinusModular
from discreet.functions.sets import (
    AnyFunction,
    ClickModel,
    ConcaveOverModular,
    FacilityLocation,
    WeightedCoverage,
)
from discreet.learners.item_settings import ItemSettings
from discreet.learners.streams import Stream, refuse_adversarial

FORCED = {"full": ("auto", "gradients", "bound"), "bandit": ("auto", "pairwise-search")}
"""The modes of each kind of feedback."""
MOST_ITEMS = 1000
"""Largest number of items with bandit feedback: releases need memory for its square."""
Family = (
    MinusModular
    | GraphCut
    | ClickModel
    | FacilityLocation
    | ConcaveOverModular
    | WeightedCoverage
    | AnyFunction
)


@dataclass(frozen=True, kw_only=True)
class SetMinimizerSettings(ItemSettings):
    """Settings of `SetMinimizer`: its parameters as public data."""

    feedback: Literal["full", "bandit"] = "full"
    stream: Stream = "drifting"
    function: Family = AnyFunction()
    bound: float = 1.0
    explore: float | Literal["auto"] = "auto"
    block: int | Literal["auto"] = "auto"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.feedback != "full":
            refuse_adversarial(
                self.stream, "stream='drifting', or whole cost functions (feedback='full')"
            )
        require.number("bound", self.bound, 1e-70, 1e70)  # fourth powers must stay inside floats
        if self.functions is not None:
            self.functions.width(self.items)  # refuses edges and covers that do not fit
        if self.explore != "auto":
            require.number("explore", self.explore, 1e-9, 0.999)
        if self.mode not in FORCED[self.feedback]:
            forced = " or ".join(FORCED[self.feedback])
            raise ConfigError(
                f"mode must be {forced} for feedback={self.feedback!r}, got {self.mode!r}"
            )
        if self.feedback == "bandit" and self.items > MOST_ITEMS:
            raise ConfigError(
                f"bandit feedback takes at most {MOST_ITEMS} items, got {self.items}: "
                "choose among fewer, or bring whole cost functions (feedback='full')"
            )
        if self.block != "auto":
            require.whole("block", self.block)

    @property
    def earns(self) -> bool:
        return self.feedback != "full"

    @property
    def functions(self) -> CostFunctions | None:
        """The family of cost functions; None if visitors bring callables."""
        return None if isinstance(self.function, AnyFunction) else self.function
