"""The whitened mode: rows are measured first, then the regularised leader learns on whitened
rows.
"""

from discreet.learners.streaming_learner.whitened.mode import WhitenedLeader

__all__ = ["WhitenedLeader"]
