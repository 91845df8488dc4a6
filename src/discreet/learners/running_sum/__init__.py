"""A private running sum: after every person, the total so far."""

from discreet.learners.running_sum.learner import RunningSum
from discreet.learners.running_sum.settings import RunningSumSettings

__all__ = ["RunningSum", "RunningSumSettings"]
