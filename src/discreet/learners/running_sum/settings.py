"""The public settings of `RunningSum`."""

from dataclasses import dataclass, field
from math import inf

from discreet import require
from discreet.engine.codec import OMITTED
from discreet.engine.settings import UNWRITTEN, Settings


@dataclass(frozen=True, kw_only=True)
class RunningSumSettings(Settings):
    """Settings of `RunningSum`: its parameters as public data."""

    dimension: int
    bound: float
    norm: float = field(default=2, metadata={"infinite": True})
    nonnegative: bool = False
    block: int = 1
    report: float = field(default=0.0, metadata=OMITTED | UNWRITTEN)

    def __post_init__(self) -> None:
        super().__post_init__()
        require.whole("dimension", self.dimension, 1, 2**27)
        require.number("bound", self.bound, 1e-280, 1e280)
        require.one_of("norm", self.norm, (1.0, 2.0, inf))
        require.whole("block", self.block)
