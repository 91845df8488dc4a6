"""The mode of many passes over samples that are held for one release."""

from discreet.learners.streaming_learner.many_passes.mode import ManyPasses

__all__ = ["ManyPasses"]
