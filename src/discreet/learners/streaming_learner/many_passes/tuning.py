"""The tuned constants of the mode of many passes, and the benchmarks that measure them."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Tuning:
    """The tuned constants of this mode.

    A benchmark in brackets runs the kind of cells that the value was chosen on. Which runs chose
    the other values is not recorded: benchmarks/real.py and benchmarks/ways.py (`fit`) measure this
    mode, and show what a change does.
    """

    # --- how the budget is shared ---------------------------------------------------------------
    measuring: float = 0.02
    """The share of the budget for each histogram."""
    whitening_regression: float = 0.18
    """Regressions: the share of the budget for second moments (benchmarks/ways.py)."""
    whitening_classes: float = 0.1
    """Classifiers: the share of the budget for second moments."""
    regression_passes: int = 20
    class_passes: int = 50
    """The most passes."""
    hidden_classes: float = 0.1
    """Classifiers: second moments pay if noise hides less than this share of their trace."""
    hidden_regression: float = 0.04
    """Regressions: if noise would hide more than this share of second moments, one ridge regression
    is better than passes."""

    # --- passes ---------------------------------------------------------------------------------
    usual_regression: float = 0.25
    usual_classes: float = 0.95
    """The quantile of lengths that rows are divided by: where second moments are released, noise is
    to be small."""
    unmeasured_regression: float = 0.5
    unmeasured_classes: float = 1.0
    """The share of the bound that takes its place where a histogram would be noise."""
    clip_level: float = 0.97
    """Regressions: the quantile of lengths of gradients that is the clip."""
    clip: float = 0.1
    """Classifiers: the clip, in lengths of rows."""
    way_whitened: float = 2000.0
    way_plain: float = 800.0
    """Classifiers: how far all steps together go, in clips, if noise is small and there are half as
    many samples."""
    prior: float = 1.0
    """Regressions: the square that whitened coefficients have together, in squares of the target's
    bound (benchmarks/ways.py)."""
    most_ridge: float = 0.2
    """Regressions: the strongest ridge."""


TUNED = Tuning()
