"""Online minimisation of submodular costs: one file or folder per mode."""

from discreet.learners.set_minimizer.learner import SetMinimizer
from discreet.learners.set_minimizer.settings import SetMinimizerSettings

__all__ = ["SetMinimizer", "SetMinimizerSettings"]
