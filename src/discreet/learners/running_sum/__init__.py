"""A private running sum: the total so far, released after every person or block."""

from discreet.learners.running_sum.learner import RunningSum
from discreet.learners.running_sum.settings import RunningSumSettings

__all__ = ["RunningSum", "RunningSumSettings"]
