"""The tuned constants of the mode of many passes, and the benchmarks that measure them."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Tuning:
    """The tuned constants of this mode.

    A benchmark in brackets runs the kind of cells on which the value was chosen. The runs that
    chose the other values are not recorded; benchmarks/real.py and benchmarks/ways.py (`fit`)
    measure this mode, and show the effect of a change.
    """

    # --- how the budget is shared ---------------------------------------------------------------
    measuring: float = 0.02
    """The share of the budget for each histogram."""
    whitening_regression: float = 0.18
    """The share of the budget for second moments of a regression (benchmarks/ways.py)."""
    whitening_classes: float = 0.1
    """The share of the budget for second moments of a classifier."""
    regression_passes: int = 20
    class_passes: int = 50
    """The largest numbers of passes."""
    hidden_classes: float = 0.1
    """For a classifier, second moments pay if noise hides less than this share of their trace."""
    hidden_regression: float = 0.04
    """For a regression, one ridge regression is better than passes if noise would hide more than
    this share of second moments."""

    # --- passes ---------------------------------------------------------------------------------
    usual_regression: float = 0.25
    usual_classes: float = 0.95
    """The quantile of norms by which rows are divided. It is lower for regressions, which release
    second moments, so that their noise is small."""
    unmeasured_regression: float = 0.5
    unmeasured_classes: float = 1.0
    """The share of the bound that replaces the quantile where a histogram would be mostly noise."""
    clip_level: float = 0.97
    """The quantile of norms of gradients that is the clip of a regression."""
    clip: float = 0.1
    """The clip of a classifier, in units of the norm of rows."""
    distance_whitened: float = 2000.0
    distance_plain: float = 800.0
    """The total length of the steps of a classifier, in clips, if noise is small and there are at
    least half as many samples."""
    prior: float = 1.0
    """The assumed squared norm of the whitened coefficients of a regression, in squares of the
    target's bound (benchmarks/ways.py)."""
    most_ridge: float = 0.2
    """The strongest ridge of a regression."""


TUNED = Tuning()
