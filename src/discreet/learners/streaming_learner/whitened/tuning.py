"""The tuned constants of the whitened mode, and the benchmarks that measure them."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Tuning:
    """The tuned constants of this mode.

    A benchmark in brackets runs the kind of cells that the value was chosen on. Which runs chose
    the other values is not recorded: benchmarks/ways.py measures this mode, and shows what a change
    does.
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


TUNED = Tuning()
