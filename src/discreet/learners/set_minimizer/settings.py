"""The public settings of a set minimiser."""

from dataclasses import dataclass
from typing import Literal

from discreet import require
from discreet.arrivals.cost_functions import CostFunctions, GraphCut, MinusModular
from discreet.arrivals.set_functions import (
    AnyFunction,
    ClickModel,
    ConcaveOverModular,
    FacilityLocation,
    WeightedCoverage,
)
from discreet.errors import ConfigError
from discreet.learners.item_settings import ItemSettings
from discreet.learners.streams import Stream, check_stream

__all__ = ["SetMinimizerSettings"]

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
    """What `SetMinimizer` is made with: its parameters, as public data."""

    feedback: Literal["full", "bandit"] = "full"
    stream: Stream = "drifting"
    function: Family = AnyFunction()
    bound: float = 1.0
    clip: float | Literal["auto"] = "auto"
    regulariser: Literal["adaptive", "bound"] = "adaptive"
    expert: Literal["auto", "pairs", "chains"] = "auto"
    explore: float | Literal["auto"] = "auto"
    block: int | Literal["auto"] = "auto"

    def __post_init__(self) -> None:
        check_stream(self.stream)
        super().__post_init__()
        require.number("bound", self.bound, 1e-70, 1e70)  # fourth powers must stay inside floats
        if self.functions is not None:
            self.functions.width(self.items)  # refuses edges and covers that do not fit
        if self.explore != "auto":
            require.number("explore", self.explore, 1e-9, 0.999)
        if self.clip != "auto":
            require.number("clip", self.clip, 1e-6, 4.0)
        if self.expert != "auto" and self.feedback == "full":
            raise ConfigError(f"expert is for feedback='bandit': leave it, got {self.expert!r}")
        if self.block != "auto":
            require.whole("block", self.block)

    @property
    def earns(self) -> bool:
        return self.feedback != "full"

    @property
    def functions(self) -> CostFunctions | None:
        """The family of cost functions; None if visitors bring callables."""
        return None if isinstance(self.function, AnyFunction) else self.function
