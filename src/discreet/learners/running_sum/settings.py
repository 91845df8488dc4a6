"""The public settings of a running sum."""

from dataclasses import dataclass
from math import inf
from typing import Literal

from discreet import require
from discreet.turn.settings import Settings

__all__ = ["RunningSumSettings"]


@dataclass(frozen=True, kw_only=True)
class RunningSumSettings(Settings):
    """What `RunningSum` is made with: its parameters, as public data."""

    dimension: int
    bound: float
    norm: float = 2
    nonnegative: bool = False
    method: Literal["auto", "tree", "honaker", "toeplitz", "fresh"] = "auto"
    block: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        require.whole("dimension", self.dimension, 1, 2**27)
        require.number("bound", self.bound, 1e-280, 1e280)
        require.one_of("norm", self.norm, (1.0, 2.0, inf))
        require.whole("block", self.block)
