"""The world that each person of a stream comes from, one of two.

    iid          all from the first
    drift        from the second with a probability that grows from 0 to 1
    exchange     from the second in the later half
    alternate    from the second in every other block of the learner that meets the stream

An alternating stream is made while a learner runs: each learner meets changes at its own releases.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Literal, get_args

import numpy as np

from discreet.arrays import Floats, Mask
from discreet.errors import ConfigError

Data = Literal["iid", "drift", "exchange", "alternate"]
DATA: tuple[Data, ...] = get_args(Data)
APART = 5000
"""The difference between the seeds of the two worlds."""


@dataclass(frozen=True)
class Mixing:
    """Two worlds that make one stream of people.

    >>> Mixing("exchange", 4, seed=0).of_other(range(4), releases=0)
    array([False, False,  True,  True])
    """

    data: Data
    people: int
    seed: int

    def __post_init__(self) -> None:
        if self.data not in DATA:
            raise ConfigError(f"data must be one of {', '.join(DATA)}, got {self.data!r}")

    def of_other(self, piece: range, releases: int) -> Mask:
        """Return whether each person of a piece comes from the second world."""
        if self.data == "alternate":
            return np.full(len(piece), releases % 2 == 1)
        progress = np.arange(piece.start, piece.stop) / self.people
        if self.data == "exchange":
            return np.asarray(progress >= 0.5)
        if self.data == "drift":
            return np.asarray(self._lots[piece.start : piece.stop] < progress)
        return np.zeros(len(piece), dtype=np.bool_)

    @cached_property
    def _lots(self) -> Floats:
        return np.random.default_rng([self.seed, 3]).random(self.people)
