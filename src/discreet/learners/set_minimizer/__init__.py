"""Which set of items costs least, visitor after visitor: one file a way of learning."""

from discreet.learners.set_minimizer.learner import SetMinimizer
from discreet.learners.set_minimizer.settings import SetMinimizerSettings

__all__ = ["SetMinimizer", "SetMinimizerSettings"]
