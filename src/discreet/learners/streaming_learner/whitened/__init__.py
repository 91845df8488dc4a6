"""The whitened mode: measure rows first, then follow the regularised leader on whitened rows."""

from discreet.learners.streaming_learner.whitened.mode import WhitenedLeader

__all__ = ["WhitenedLeader"]
