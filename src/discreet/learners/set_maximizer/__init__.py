"""Choose k of n items to show to each visitor: `SetMaximizer`; one file or folder per mode."""

from discreet.learners.set_maximizer.learner import SetMaximizer
from discreet.learners.set_maximizer.settings import SetMaximizerSettings

__all__ = ["SetMaximizer", "SetMaximizerSettings"]
