"""What the whitened mode publishes.

    sizes ──► directions (if they pay) ──► learning ⟲

Each phase replaces its own fields of `Public`: the measuring phases `measured`, learning all
others.
"""

from dataclasses import dataclass

from discreet.arrays import Floats
from discreet.engine.plan import State
from discreet.learners.streaming_learner.whitened.path import Path
from discreet.optim.spiked_covariance import SpikedCovariance


@dataclass(frozen=True, eq=False)
class Measured:
    """What samples of their own told about rows and targets."""

    length: float
    """The bound that most rows keep."""
    target: float
    """The bound that most targets keep."""
    clip: float
    """The longest that a gradient of a whitened row may be."""
    moments: SpikedCovariance
    """The second moments of rows."""


@dataclass(frozen=True, eq=False)
class Public:
    """What releases have produced."""

    coefficients: Floats
    """The average, shrunk by its noise: what is decided."""
    measured: Measured
    point: Floats
    """Where the leader stands."""
    mean: Floats
    """The mean of the points at which gradients were computed."""
    average: Floats
    """The average of all points, with more weight on later ones."""
    path: Path
    gradient: State
    """The running total of gradients, in clips."""
