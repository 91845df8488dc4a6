"""Base class of the phases of the whitened mode.

The phase of a block follows from its index (`MEASURING` in mode.py, then `Learning`).
"""

from typing import TYPE_CHECKING

from discreet.learners.streaming_learner.mode import CoefficientsPhase
from discreet.learners.streaming_learner.whitened.public import Public

if TYPE_CHECKING:
    from discreet.learners.streaming_learner.whitened.mode import WhitenedLeader


class WhitenedPhase(CoefficientsPhase[Public]):
    """Phase of a block of the whitened mode."""

    mode: "WhitenedLeader"
