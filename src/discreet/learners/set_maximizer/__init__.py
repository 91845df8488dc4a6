"""Which k of n items to show, visitor after visitor: one file a way of learning."""

from discreet.learners.set_maximizer.learner import SetMaximizer
from discreet.learners.set_maximizer.settings import SetMaximizerSettings

__all__ = ["SetMaximizer", "SetMaximizerSettings"]
