"""What the whitened mode publishes, and what its phases have in common.

    sizes ──► directions (if they pay) ──► learning ⟲

Which phase a block is in follows from its index. Each phase replaces its own fields of `Public`.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from discreet.arrays import Floats
from discreet.decide.evening import Evening
from discreet.learners.streaming_learner.mode import CoefficientsView
from discreet.learners.streaming_learner.whitened.path import Path
from discreet.turn.plan import State

if TYPE_CHECKING:
    from discreet.learners.streaming_learner.whitened.mode import WhitenedLeader

__all__ = ["TUNED", "Measured", "Public", "WhitenedPhase"]


@dataclass(frozen=True)
class Tuned:
    """Tuned constants.

    A benchmark in brackets runs the kind of cells that the value was chosen on. Which runs chose the
    other values is not recorded: benchmarks/ways.py measures this mode, and shows what a change does.
    """

    # --- measuring --------------------------------------------------------------------------------
    length_level: float = 0.95
    """The quantile of lengths that rows are divided by for second moments."""
    target_level: float = 0.98
    """The quantile of sizes of targets that is their measured bound."""
    target_room: float = 2.0
    """Targets are clipped at this many measured bounds, as bins halve: to cut a little of what was
    measured costs more than noise does."""
    unmeasured: float = 0.2
    """Where noise hides a mean: the usual size over the longest one."""
    least_clip: float = 0.4
    most_clip: float = 1.6
    """Bounds of the clip, in lengths of a usual gradient at the start: a short clip takes less
    noise, a long one learns from large residuals too (benchmarks/ways.py)."""
    clear_regression: float = 0.005
    clear_classes: float = 0.016
    """Between its bounds the clip is this number over the share of noise (benchmarks/ways.py)."""

    # --- learning ---------------------------------------------------------------------------------
    curved: float = 0.05
    """μ for a clip as long as a usual gradient, in curvatures of the loss: clipped gradients grow
    less, too large a guess stops learning, a small one follows people who change
    (benchmarks/ways.py, the streams that are exchanged half-way)."""
    settling: float = 4.0
    """Releases over those that swing at first, at least (benchmarks/ways.py)."""
    small_noise: float = 0.006
    large_noise: float = 0.0125
    """Shares of noise between which averages turn from nearly all points alike to the newest: where
    noise is large, early points are hardly more than the start (benchmarks/ways.py)."""
    actual: float = 0.7
    """α, the curvature that gradients near the start have, in curvatures of the loss
    (benchmarks/ways.py)."""
    stiff: float = 1.0
    """ς, in units of the stiffness for which the bound on regret is least (benchmarks/ways.py)."""
    shrunk: float = 0.8
    """The curvature that the noise of coefficients is computed with, in curvatures of the loss
    (benchmarks/ways.py)."""

    # --- standard errors --------------------------------------------------------------------------
    swinging: float = 0.3
    """Releases in which points swing at first, times μ: errors are told from later ones
    (benchmarks/mended.py, coverage_of_95)."""
    most_clipped: float = 0.5
    """The mean squared length of clipped gradients, in squared clips, above which too many are
    clipped for errors to be told (benchmarks/mended.py, coverage_of_95)."""


TUNED = Tuned()


@dataclass(frozen=True, eq=False)
class Measured:
    """What samples of their own told about rows and targets."""

    length: float
    """The bound that most rows keep."""
    target: float
    """The bound that most targets keep."""
    clip: float
    """The longest that a gradient of a whitened row may be."""
    moments: Evening
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


class WhitenedPhase(CoefficientsView[Public]):
    """A block of the whitened mode."""

    problem: "WhitenedLeader"
    growing: ClassVar[tuple[tuple[str, ...], ...]] = (
        ("measured.moments.vectors", "measured.moments.values"),
    )
