"""Public state of the whitened mode.

    sizes ──► directions (if they pay) ──► learning ⟲

The measuring phases replace the field `measured` of `Public`, the learning phase all the rest.
"""

from dataclasses import dataclass

from discreet.arrays import Floats
from discreet.engine.declarations import Stored
from discreet.learners.streaming_learner.whitened.path import Path
from discreet.optim.spiked_covariance import SpikedCovariance


@dataclass(frozen=True, eq=False)
class Measured:
    """Bounds and second moments that the measuring phases released."""

    length: float
    """The bound on the norm of most rows."""
    target: float
    """The bound on most targets."""
    clip: float
    """The norm to which gradients of whitened rows are clipped."""
    moments: SpikedCovariance
    """The second moments of rows."""


@dataclass(frozen=True, eq=False)
class Public(Stored):
    """Public state of the whitened mode."""

    growing = (("measured.moments.vectors", "measured.moments.values"),)

    coefficients: Floats
    """The average after shrinkage: the decision of every round."""
    measured: Measured
    point: Floats
    """The point of the leader."""
    mean: Floats
    """The mean of the points at which gradients were computed."""
    average: Floats
    """The average of all points, with more weight on later ones."""
    path: Path
