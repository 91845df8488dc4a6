"""The tuned constants of the whitened mode, and the benchmarks that measure them."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Tuning:
    """The tuned constants of this mode.

    A benchmark in brackets runs the kind of cells on which the value was chosen. The runs that
    chose the other values are not recorded; benchmarks/ways.py measures this mode, and shows the
    effect of a change.
    """

    # --- measuring --------------------------------------------------------------------------------
    length_level: float = 0.95
    """The quantile of norms by which rows are divided for second moments."""
    target_level: float = 0.98
    """The quantile of absolute targets that is their measured bound."""
    target_room: float = 2.0
    """Targets are clipped at this multiple of the measured bound. Bins are coarse, factors of two,
    and clipping slightly too much costs more than noise does."""
    unmeasured: float = 0.2
    """The assumed ratio of the mean size to the largest one, where noise hides the mean."""
    least_clip: float = 0.4
    most_clip: float = 1.6
    """Bounds of the clip, in units of the usual norm of a gradient at the start. A short clip needs
    less noise, a long one learns from large residuals too (benchmarks/ways.py)."""
    clear_regression: float = 0.005
    clear_classes: float = 0.016
    """Between its bounds the clip is this number over `noise_share` (benchmarks/ways.py)."""

    # --- learning ---------------------------------------------------------------------------------
    curved: float = 0.05
    """μ for a clip equal to the usual norm of a gradient, in units of the curvature of the loss.
    Clipped gradients grow more slowly. Too large a value stops learning; a small one follows people
    who change (benchmarks/ways.py, the streams that are exchanged half-way)."""
    settling: float = 4.0
    """The least ratio of all releases to the first ones, in which points swing
    (benchmarks/ways.py)."""
    small_noise: float = 0.006
    large_noise: float = 0.0125
    """The values of `noise_share` between which weights of averages change from nearly equal to
    favouring the newest points. Where noise is large, early points are close to the start
    (benchmarks/ways.py)."""
    actual: float = 0.7
    """α, the curvature of gradients near the start, in units of the curvature of the loss
    (benchmarks/ways.py)."""
    stiff: float = 1.0
    """ς, in units of the stiffness that minimises the bound on regret (benchmarks/ways.py)."""
    shrunk: float = 0.8
    """The curvature from which the noise of coefficients is computed, in units of the curvature of
    the loss (benchmarks/ways.py)."""

    # --- standard errors --------------------------------------------------------------------------
    swinging: float = 0.3
    """The number of first releases in which points swing, times μ. Standard errors are computed
    from later ones (benchmarks/mended.py, coverage_of_95)."""
    most_clipped: float = 0.5
    """The mean squared norm of clipped gradients, in squared clips, above which too many are
    clipped to compute standard errors (benchmarks/mended.py, coverage_of_95)."""


TUNED = Tuning()
