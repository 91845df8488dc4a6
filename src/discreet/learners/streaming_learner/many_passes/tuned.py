"""Constants of many passes that benchmarks chose."""

from dataclasses import dataclass

__all__ = ["TUNED"]


@dataclass(frozen=True)
class Tuned:
    """Constants that benchmarks chose."""

    # --- how the budget is shared ---------------------------------------------------------------
    measuring: float = 0.02
    """The share of the budget for each histogram (benchmarks/real.py)."""
    whitening_regression: float = 0.18
    whitening_classes: float = 0.1
    """The share of the budget for second moments (benchmarks/real.py)."""
    regression_passes: int = 20
    class_passes: int = 50
    """The most passes (benchmarks/real.py)."""
    hidden_classes: float = 0.1
    """Classifiers: second moments pay if noise hides less than this share of their trace
    (benchmarks/real.py)."""
    hidden_regression: float = 0.04
    """Regressions: if noise would hide more than this share of second moments, one ridge regression
    is better than passes (benchmarks/real.py)."""

    # --- passes ---------------------------------------------------------------------------------
    usual_regression: float = 0.25
    usual_classes: float = 0.95
    """The quantile of lengths that rows are divided by: where second moments are released, noise is
    to be small (benchmarks/real.py)."""
    unmeasured_regression: float = 0.5
    unmeasured_classes: float = 1.0
    """The share of the bound that takes its place where a histogram would be noise
    (benchmarks/real.py)."""
    clip_level: float = 0.97
    """Regressions: the quantile of lengths of gradients that is the clip (benchmarks/real.py)."""
    clip: float = 0.1
    """Classifiers: the clip, in lengths of rows (benchmarks/real.py)."""
    way_whitened: float = 2000.0
    way_plain: float = 800.0
    """Classifiers: how far all steps together go, in clips, if noise is small and there are half as
    many samples (benchmarks/real.py)."""
    prior: float = 1.0
    """Regressions: the square that whitened coefficients have together, in squares of the target's
    bound (benchmarks/real.py)."""
    most_ridge: float = 0.2
    """Regressions: the strongest ridge (benchmarks/real.py)."""


TUNED = Tuned()
